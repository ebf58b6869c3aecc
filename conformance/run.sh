#!/bin/sh
# Runs the official conformance suite at revision 2026-07-28 against the server and the client of this folder, and judges what
# it finds by expected.tsv.
#
#   run.sh [server] [client]   which of them (default both)
#
#   CONFORMANCE_DIR=path       where the suite writes what it finds (default target/conformance)
#
# See peers/install.sh for where the suite is installed, and what happens where it cannot be had. Relative paths start at the
# repository's root.
set -eu

cd "$(dirname "$0")/.."
. peers/install.sh

results="${CONFORMANCE_DIR:-target/conformance}"
built="${CARGO_TARGET_DIR:-target}/debug"
install_npm conformance/suite "$peers/conformance" || exit 0
suite="$peers/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
cargo build --quiet -p sansio-mcp-conformance

# suite SIDE RESULTS OPTION...: all scenarios of the revision but the extensions'. The exit code of the suite says less than the
# judge does.
suite() {
    side="$1"
    into="$2"
    shift 2
    rm -rf "$into"
    mkdir -p "$into"
    "$node" "$suite" "$side" --suite all --spec-version 2026-07-28 -o "$into" "$@" >"$into/log.txt" 2>&1 || :
}

server=
trap '[ -z "$server" ] || kill "$server"' EXIT

# serve MODE: starts the server, which says where it is; sets `server` and `url`.
serve() {
    mkdir -p "$results"
    said="$results/url.txt"
    : >"$said"
    "$built/server" --http 127.0.0.1:0 "$1" >"$said" &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        url=$(head -n 1 "$said")
        [ -z "$url" ] || return 0
        sleep 0.1
    done
    echo "the server does not say where it is" >&2
    exit 1
}

# server MODE TABLE...: the server scenarios, answered in this mode.
server() {
    mode="$1"
    shift
    echo "server, answers: $mode"
    serve "--$mode"
    suite server "$results/server-$mode" --url "$url"
    kill "$server"
    wait "$server" 2>/dev/null || :
    server=
    "$built/judge" server "$results/server-$mode" "$@"
}

[ $# -gt 0 ] || set -- server client
failed=0
for which in "$@"; do
    case "$which" in
    server)
        # One check wants lists as events. By itself the server answers those in JSON.
        server events conformance/expected.tsv || failed=1
        server auto conformance/expected.tsv conformance/expected-auto.tsv || failed=1
        ;;
    client)
        echo "client"
        suite client "$results/client" --command "$built/client" --timeout 90000
        "$built/judge" client "$results/client" conformance/expected.tsv || failed=1
        ;;
    *)
        echo "unknown: $which" >&2
        exit 2
        ;;
    esac
done
exit $failed
