#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `make test` and everything that takes long. All stages are executed, and the list of their durations marks those that
# failed.
. "$(dirname -- "$0")/common.sh"
trap print_stages EXIT

make=(make --no-print-directory)
attempt 'tests, also those that take long' scripts/test.sh all
attempt 'packages' "${make[@]}" dist
attempt 'packages in a bare root file system' scripts/test_dist.sh
attempt 'pages in a browser' scripts/test_pages.sh --install
attempt 'results in pandas, R and DuckDB, imports of bags' scripts/test_data.sh
attempt 'crates without the tree' scripts/packages.sh
attempt 'the book' scripts/docs.sh
attempt 'kills' "${make[@]}" kills
attempt 'allocations and page faults' \
  cargo test --release -p agent --test page_faults --test allocations --test paced_writer_allocations
attempt 'calibration of the statistics' cargo bench -p stats --bench calibration
attempt 'calibration of claims, also about systems' cargo bench -p simulate --bench calibration -- claims systems
all_passed
