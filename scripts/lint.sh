#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks the text of the tree. With the argument `fix`, formats it instead.
. "$(dirname -- "$0")/common.sh"

trap print_stages EXIT
manifests=(Cargo.toml drivers/Cargo.toml)
c_files() { git ls-files -co --exclude-standard -z -- '*.c' '*.h' '*.cpp' '*.hpp'; }

if [ "${1:-}" = fix ]; then
  for manifest in "${manifests[@]}"; do cargo fmt --all --manifest-path "$manifest"; done
  c_files | xargs -0r "$tools/bin/clang-format" -i
  exit 0
fi

say 'format'
for manifest in "${manifests[@]}"; do
  cargo fmt --all --check --manifest-path "$manifest" || fail "$manifest: not formatted" 'make format'
done
unformatted=$(c_files | while IFS= read -r -d '' file; do
  "$tools/bin/clang-format" "$file" | cmp -s - "$file" || printf ' %s' "$file"
done)
[ -z "$unformatted" ] || fail "not formatted:$unformatted" 'make format'

say 'words'
scripts/words.sh

# Cargo repeats the warnings of what is built already.
for manifest in "${manifests[@]}"; do
  say "clippy, rustdoc: $manifest"
  found=$(checked cargo build --quiet "${workspace[@]}" "${all_targets[@]}" --manifest-path "$manifest" 2>&1) ||
    fail "$manifest: $found" 'correct the errors above'
  [ -z "$found" ] || fail "$manifest: $found" 'correct the warnings above'
done

for manifest in "${manifests[@]}"; do
  say "licences and sources of dependencies: $manifest"
  "$tools/bin/cargo-deny" --locked --config "$root/deny.toml" --manifest-path "$manifest" \
    check --hide-inclusion-graph bans licenses sources
done

say 'generated files'
checked "$CARGO_TARGET_DIR/debug/xtask" generate --check
