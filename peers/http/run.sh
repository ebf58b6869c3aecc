#!/bin/sh
# The bookshop over HTTP: three of them behind nginx, and one before a browser.
#
#   run.sh [replicas] [browser]   which of them (default both)
#   BOOKSHOP=path                 use this binary instead of building the example
#
# nginx and Chromium are those of the machine, or Debian's packages. See peers/install.sh for what happens where they cannot
# be had. Relative paths start at the repository's root. Everything listens on the loopback alone.
set -eu

cd "$(dirname "$0")/../.."
. peers/install.sh

built="${CARGO_TARGET_DIR:-target}/debug"
scratch=
driver=

# Whatever happens, the driver ends what it has started.
clean() {
    if [ -n "$driver" ]; then
        kill "$driver" 2>/dev/null || true
        wait "$driver" 2>/dev/null || true
        driver=
    fi
    [ -z "$scratch" ] || rm -rf "$scratch"
    scratch=
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# drive PROGRAM PEER: runs a program against the bookshop, in a folder of its own.
drive() {
    scratch=$(mktemp -d)
    "$built/$1" "$2" "$BOOKSHOP" "$scratch" &
    driver=$!
    status=0
    wait "$driver" || status=$?
    driver=
    if [ "$status" != 0 ]; then
        find "$scratch" -name error.log -exec tail -n 20 {} \; >&2
        exit 1
    fi
    clean
}

[ $# -gt 0 ] || set -- replicas browser
for which in "$@"; do
    case "$which" in
    replicas)
        install_nginx || continue
        build_bookshop
        cargo build --quiet -p sansio-mcp-http-peers
        echo "three bookshops behind nginx"
        drive replicas "$nginx"
        ;;
    browser)
        install_chromium || continue
        build_bookshop
        cargo build --quiet -p sansio-mcp-http-peers
        echo "pages in a browser before the bookshop"
        drive browser "$chromium"
        ;;
    *)
        echo "unknown: $which" >&2
        exit 2
        ;;
    esac
done
