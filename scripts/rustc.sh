#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compiles a crate for the tests (cargo's RUSTC_WORKSPACE_WRAPPER) with the lints of clippy, and lets rustdoc check its
# documentation. As stages of their own, clippy and rustdoc would first read all dependencies again.
set -euo pipefail

clippy-driver "$@"

# What rustdoc has to know. It takes no settings of code generation, and cargo would pass it other lints.
shift
documentation=(-D warnings --document-private-items) kind=''
while [ $# -gt 0 ]; do
  case $1 in
    --test) exit 0 ;;
    --crate-type) kind=$2 documentation+=("$1" "$2") && shift ;;
    --out-dir) documentation+=(-o "${2%/*}/doc") && shift ;;
    -C) shift ;;
    -C* | --emit=* | --allow=* | --warn=* | --deny=* | --forbid=*) ;;
    *) documentation+=("$1") ;;
  esac
  shift
done
case $kind in lib | bin) exec rustdoc "${documentation[@]}" ;; esac
