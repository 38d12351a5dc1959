#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packs each crate as for a registry, and checks that the programs can be built from the packages alone. Publishes nothing:
# no crate may be published, so `cargo package` cannot look up one in the registry for another, and has no lock file for it.
. "$(dirname -- "$0")/common.sh"

packages=$CARGO_TARGET_DIR/package
rm -rf "$packages"
cargo package --workspace --exclude fuzz --no-verify --no-metadata --allow-dirty --exclude-lockfile --quiet

# A workspace of the packages, in a folder without the tree around it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for package in "$packages"/*.crate; do tar -xzf "$package" -C "$work"; done
{
  printf '[workspace]\nresolver = "3"\nmembers = ["*"]\n[patch.crates-io]\n'
  for folder in "$work"/*/; do
    folder=$(basename "$folder")
    printf '%s = { path = "%s" }\n' "${folder%-[0-9]*}" "$folder"
  done
} >"$work/Cargo.toml"
cp Cargo.lock "$work"
cargo check --quiet --manifest-path "$work/Cargo.toml" --package ddsmark --package agent ||
  fail 'a package does not build without the tree' 'see above; a file outside of a crate is missing: link it into the crate'
printf 'the programs can be built from the %s packages in %s\n' "$(ls "$packages"/*.crate | wc -l)" "$packages"
