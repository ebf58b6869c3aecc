#!/bin/sh
# Drives the bookshop example with the TypeScript SDK's client, pinned to the revision 2026-07-28.
#
#   BOOKSHOP=path      use this binary instead of building the example
#
# See peers/install.sh for where packages are installed, and what happens where they cannot be had. Relative paths start at
# the repository's root.
set -eu

cd "$(dirname "$0")/../.."
. peers/install.sh

install_npm peers/npm "$peers/npm" || exit 0
build_bookshop
echo "node $("$node" --version)"
exec "$node" "$peers/npm/drive_bookshop.mjs" "$BOOKSHOP"
