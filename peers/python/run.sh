#!/bin/sh
# Drives the bookshop example with the Python SDK's client.
#
#   BOOKSHOP=path      use this binary instead of building the example
#   PEERS_DIR=path     where the SDK is installed (default target/peers)
#   REQUIRE_PEERS=1    fail when Python or the SDK cannot be had, instead of skipping
#
# Relative paths start at the repository's root.
set -eu

cd "$(dirname "$0")/../.."

venv="${PEERS_DIR:-target/peers}/python"
wanted=peers/python/requirements.txt
log="$venv/install.log"

skip() {
    if [ "${REQUIRE_PEERS:-0}" = 1 ]; then
        echo "failed: $1" >&2
        exit 1
    fi
    echo "skipped: $1"
    exit 0
}

command -v python3 >/dev/null 2>&1 || skip "no python3"

# The requirements are copied into the environment last, so an interrupted installation is done again.
if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    mkdir -p "$venv"
    python3 -m venv "$venv" >"$log" 2>&1 || skip "python3 cannot create an environment, see $log"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted" >"$log" 2>&1 ||
        skip "the packages of $wanted cannot be installed, see $log"
    cp "$wanted" "$venv/installed.txt"
fi

if [ -z "${BOOKSHOP:-}" ]; then
    cargo build --quiet --example bookshop -p sansio-mcp-stdio
    BOOKSHOP="${CARGO_TARGET_DIR:-target}/debug/examples/bookshop"
fi

exec "$venv/bin/python" peers/python/drive_bookshop.py "$BOOKSHOP"
