#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the documentation as a book, in the target directory. A broken link is an error.
. "$(dirname -- "$0")/common.sh"

sources=$CARGO_TARGET_DIR/book-sources book=$CARGO_TARGET_DIR/book
cargo xtask book "$sources"
"$tools/bin/mdbook" build --dest-dir "$book" "$sources"
printf 'built the book: %s/index.html\n' "$book"
