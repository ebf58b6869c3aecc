#!/bin/sh
# Drives the bookshop example with the Python SDK's client.
#
#   BOOKSHOP=path      use this binary instead of building the example
#
# See peers/install.sh for where packages are installed, and what happens where they cannot be had. Relative paths start at
# the repository's root.
set -eu

cd "$(dirname "$0")/../.."
. peers/install.sh

install_python || exit 0
build_bookshop
exec "$python" peers/python/drive_bookshop.py "$BOOKSHOP"
