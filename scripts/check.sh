#!/usr/bin/env bash
# Runs everything that CI runs. Without arguments all steps; or the names of some of them.
#
#   MCP_SPEC_DIR     where the specification's revisions are; without it the tests that read them are skipped,
#                    unless CI is set: then they fail
#   REQUIRE_PEERS=1  makes a missing peer (Python, npm, nginx, Chromium) a failure instead of a skip
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
    printf '\n== %s ==\n' "$1"
    local started=$SECONDS
    "step_$1"
    printf -- '-- %s: %d s\n' "$1" $((SECONDS - started))
}

step_format() {
    cargo fmt --all -- --check
    # Rows are included, not modules: cargo fmt does not see them.
    rustfmt --edition 2024 --check tests/tests/rows/*.rs
    (cd bench && cargo fmt --all -- --check)
    (cd core/no-std-proof && cargo fmt -- --check)
}

step_clippy() {
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy --workspace --all-targets --all-features -- -D warnings
}

# The README's test command.
step_test() {
    cargo test
}

# Every feature alone, none, and all.
step_features() {
    cargo check -p sansio-mcp --no-default-features
    cargo check -p sansio-mcp --no-default-features --features seal
    cargo check -p sansio-mcp-sdk --no-default-features
    cargo check -p sansio-mcp-sdk --no-default-features --features schemars
    cargo check -p sansio-mcp-sdk --no-default-features --features blocking
    cargo check -p sansio-mcp-stdio --no-default-features
    cargo check -p sansio-mcp-sdk --no-default-features --features validate
    local features
    for features in smol tokio threads smol,tokio tokio,threads; do
        cargo clippy -p sansio-mcp-stdio --no-default-features --features "$features" -- -D warnings
    done
    cargo check -p sansio-mcp-http --no-default-features
    for features in server server,smol server,tokio server,smol,tokio \
        client client,smol client,tokio client,tls client,tls,smol client,tls,tokio; do
        cargo clippy -p sansio-mcp-http --no-default-features --features "$features" -- -D warnings
    done
    cargo test -p sansio-mcp-http --features tokio --example axum
    cargo check --workspace --all-features --all-targets
    cargo test -p sansio-mcp-tests --features validate --test validate
}

step_docs() {
    RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps
}

# Builds only if nothing below pulls in std. With std it must fail, and for that reason: there are two panic handlers.
step_no_std() {
    local said
    cargo build --manifest-path core/no-std-proof/Cargo.toml
    if said=$(cargo build --manifest-path core/no-std-proof/Cargo.toml --features std 2>&1); then
        echo 'the proof builds with std as well, so it proves nothing' >&2
        return 1
    fi
    if ! grep -q 'duplicate lang item `panic_impl`' <<<"$said"; then
        echo 'with std the proof fails, but not for its two panic handlers:' >&2
        printf '%s\n' "$said" >&2
        return 1
    fi
}

# Neither core nor sdk depends on an executor.
step_dependencies() {
    local crate tree
    for crate in sansio-mcp sansio-mcp-sdk; do
        tree=$(cargo tree -e normal -p "$crate" --all-features --prefix none)
        if grep -E '^(smol|tokio|async-std|async-io|async-executor) ' <<<"$tree"; then
            echo "$crate depends on an executor or reactor" >&2
            return 1
        fi
    done
    tree=$(cargo tree -e normal -p sansio-mcp-stdio --no-default-features --prefix none)
    if grep -E '^(smol|tokio|async-io) ' <<<"$tree"; then
        echo "sansio-mcp-stdio without features depends on an executor or reactor" >&2
        return 1
    fi
    if grep -E '^(schemars|blocking) ' <<<"$tree"; then
        echo "sansio-mcp-stdio without features brings the sdk's" >&2
        return 1
    fi
    # The rules of the HTTP binding know neither an executor nor an implementation of HTTP.
    tree=$(cargo tree -e normal -p sansio-mcp-http --no-default-features --prefix none)
    if grep -E '^(smol|tokio|async-io|hyper|tower|sansio-mcp-sdk) ' <<<"$tree"; then
        echo "sansio-mcp-http without features depends on more than its rules need" >&2
        return 1
    fi
    # Each driver brings its own runtime and no other; on plain threads there is none.
    local smol='smol|async-io|async-executor|async-std|blocking|polling' tokio='tokio|mio|socket2|async-std'
    no_other_runtime sansio-mcp-stdio smol "tokio|mio|async-std|async-executor"
    no_other_runtime sansio-mcp-stdio tokio "$smol"
    no_other_runtime sansio-mcp-stdio threads "$smol|$tokio"
    local part
    for part in server client client,tls; do
        no_other_runtime sansio-mcp-http "$part" "$smol|mio|socket2"
        no_other_runtime sansio-mcp-http "$part,smol" "mio|socket2|async-std"
        no_other_runtime sansio-mcp-http "$part,tokio" "$smol"
    done
    echo "no executor in core and sdk, one in each driver, none on plain threads"
}

# A crate with these features does not depend on what the pattern names. hyper uses channels, locks and traits of tokio on any
# runtime; mio is what makes it one.
no_other_runtime() {
    local tree
    tree=$(cargo tree -e normal -p "$1" --no-default-features --features "$2" --prefix none)
    if grep -E "^($3) " <<<"$tree"; then
        echo "$1 with $2 brings another runtime" >&2
        return 1
    fi
}

step_examples() {
    cargo run -q --example by_hand
    local first second
    first=$(cargo run -q --example tour)
    second=$(cargo run -q --example tour)
    printf '%s\n' "$first"
    if [[ "$first" != "$second" ]]; then
        echo "the tour differs from run to run" >&2
        return 1
    fi
    first=$(cargo run -q --example tour -- --http)
    second=$(cargo run -q --example tour -- --http)
    if [[ "$first" != "$second" ]] || ! grep -q '503 Service Unavailable' <<<"$first"; then
        echo "the tour over HTTP differs from run to run, or was none" >&2
        return 1
    fi
    first=$(cargo run -q -p sansio-mcp-memory --example disappears)
    second=$(cargo run -q -p sansio-mcp-memory --example disappears)
    if [[ "$first" != "$second" ]]; then
        echo "the simulation differs from run to run" >&2
        return 1
    fi
    shows '11500 ms: the hold is released' echo "$first"
    shows '10000 ms: the hold is released' echo "$first" >/dev/null
    cargo run -q -p sansio-mcp-memory --example soak -- --seed 1000 --steps 10000
    # The same server on every runtime, launched by a client.
    local built=${CARGO_TARGET_DIR:-target}/debug/examples runtime
    cargo build -q -p sansio-mcp-stdio --features tokio,threads --examples
    for runtime in smol tokio threads; do
        shows 'the server exited (exit status: 0)' "$built/client" "$built/on_$runtime"
    done
    shows 'there in frame 4' "$built/game_loop"
}

# Runs a command, and wants a line of its output.
shows() {
    local line=$1 output
    shift
    output=$("$@")
    printf '%s\n' "$output"
    if ! grep -qxF "$line" <<<"$output"; then
        echo "$1 does not say: $line" >&2
        return 1
    fi
}

step_peers() {
    bash peers/servers/run.sh
    bash peers/python/run.sh
    bash peers/npm/run.sh
    bash peers/http/run.sh
}

# The official suite against the server and the client of conformance/, judged by what stands in its table.
step_conformance() {
    bash conformance/run.sh
}

# Compiles the measurements; running them is for a quiet machine.
step_bench() {
    (cd bench && cargo check --all-targets)
}

all=(format clippy test features docs no_std dependencies examples peers conformance bench)
if [[ $# -gt 0 ]]; then
    chosen=("$@")
else
    chosen=("${all[@]}")
fi
for name in "${chosen[@]}"; do
    step "$name"
done
printf '\nall steps passed: %s\n' "${chosen[*]}"
