#!/bin/sh
# Drives servers written with other implementations with our client, over stdio.
#
#   run.sh [python] [npm]   which of them (default both)
#
# See peers/install.sh for where their packages are installed, and what happens where they cannot be had. Relative paths
# start at the repository's root.
set -eu

cd "$(dirname "$0")/../.."
. peers/install.sh

here=peers/servers
drive=

# The client, built once there is something to drive.
drive() {
    if [ -z "$drive" ]; then
        cargo build --quiet -p sansio-mcp-peers
        drive="${CARGO_TARGET_DIR:-target}/debug/drive"
    fi
    echo "our client against the server of $1"
    "$drive" "$@"
}

[ $# -gt 0 ] || set -- python npm
for which in "$@"; do
    case "$which" in
    python)
        install_python || continue
        drive python "$python" -W ignore "$here/python/server.py"
        ;;
    npm)
        install_npm "$here/npm" "$peers/npm-server" || continue
        drive npm "$node" "$peers/npm-server/server.mjs"
        ;;
    *)
        echo "unknown: $which" >&2
        exit 2
        ;;
    esac
done
