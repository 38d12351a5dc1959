#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Appends links to the artifacts of a job to GITHUB_STEP_SUMMARY: REPORT_URL is the page, RESULT_URL the whole result. Without
# any, it does nothing.
set -euo pipefail

links=()
[ -z "${REPORT_URL:-}" ] || links+=("[Report with charts]($REPORT_URL)")
[ -z "${RESULT_URL:-}" ] || links+=("[result]($RESULT_URL)")
[ "${#links[@]}" = 0 ] || printf '\n%s%s\n' "${links[0]}" "${links[1]:+, ${links[1]}}" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
