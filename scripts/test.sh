#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tests: of the workspace (with those that run real processes on real middleware), and of each driver.
. "$(dirname -- "$0")/common.sh"

# Programs and tests in one build, so that nothing is compiled twice; the end-to-end tests run the programs.
say 'cargo test: the workspace'
cargo build --workspace --all-features --locked --bins --tests
cargo test --workspace --all-features --locked --no-fail-fast

for manifest in drivers/*/Cargo.toml; do
  say "cargo test: ${manifest%/*}"
  cargo test --all-features --locked --no-fail-fast --manifest-path "$manifest"
done

for build in "$CARGO_TARGET_DIR"/cmake/*/; do
  say "ctest: drivers/$(basename "$build")"
  ctest --test-dir "$build" --output-on-failure --no-tests=error
done
