#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures a base and a change in alternating blocks, appends a summary in Markdown to GITHUB_STEP_SUMMARY, and exits with
# the status of the criteria. The inputs of action.yml are its variables, so it also runs outside of GitHub Actions.
set -euo pipefail

summary=${GITHUB_STEP_SUMMARY:-/dev/stdout}
ddsmark=${DDSMARK:-ddsmark}
out=${OUT:-ddsmark-result}

finish() { # with a status, and an annotation of the job
  local status=$1 kind=$2 text=$3
  printf '\n**%s** (exit status %s)\n' "$text" "$status" >>"$summary"
  printf '::%s title=ddsmark::%s (exit status %s)\n' "$kind" "$text" "$status"
  [ -z "${GITHUB_OUTPUT:-}" ] || printf 'status=%s\n' "$status" >>"$GITHUB_OUTPUT"
  exit "$status"
}

experiment=${EXPERIMENT:-} base=${BASE:-} head=${HEAD:-}
printf '## ddsmark: `%s`\n\n| | arguments |\n|---|---|\n| base (A) | `%s` |\n| change (B) | `%s` |\n\n' \
  "$experiment" "$base" "$head" >>"$summary"
[ -n "$experiment" ] || finish 2 error 'The input `experiment` is empty'
[ "$base" != "$head" ] || finish 2 error 'The inputs `base` and `head` are the same'
command -v "$ddsmark" >/dev/null || finish 2 error "\`$ddsmark\` not found: install ddsmark in a step before this one"

criteria=()
while IFS= read -r criterion; do
  [[ $criterion =~ ^[[:space:]]*$ ]] || criteria+=(--fail-if "$criterion")
done <<<"${FAIL_IF:-}"
read -r -d '' -a further <<<"${ARGUMENTS:-}" || true # ends at the end of the text

measured=0
"$ddsmark" compare --interleave "$experiment $base" "$experiment $head" "${further[@]}" --out "$out" || measured=$?
case $measured in
  # 4: some runs are invalid, and excluded; the others can be compared
  0 | 4) ;;
  *) finish "$measured" error 'The measurement failed: see the log of this step' ;;
esac

# The page as an artifact has the name of the result, so that several jobs of a workflow can have one.
[ ! -f "$out/report.html" ] || cp "$out/report.html" "$out.html"

[ "${ALLOW_INCONCLUSIVE:-true}" != true ] || criteria+=(--allow-inconclusive)
status=0
"$ddsmark" compare "$out" "${criteria[@]}" --markdown >>"$summary" || status=$?
[ "$status" != 0 ] || status=$measured
case $status in
  0) finish 0 notice 'No criterion was shown to fail' ;;
  1) finish 1 error 'A criterion failed: the change is shown to exceed the limit' ;;
  4) finish 4 error 'Inconclusive, or some runs are invalid' ;;
  *) finish "$status" error 'The comparison failed: see the log of this step' ;;
esac
