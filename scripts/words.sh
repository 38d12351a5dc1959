#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the number of lines that match each phrase of scripts/words-budget.txt with the number there. More lines fail.
# Fewer lines fail until `scripts/words.sh --lower` has written the lower numbers, so a number never rises.
. "$(dirname -- "$0")/common.sh"
export LC_ALL=C # the same counts on every host

budget=scripts/words-budget.txt
# Text that people write. Generated files follow their source.
written=(':(top)' ":(exclude)$budget" ':(exclude)docs/reference' ':(exclude)schemas' ':(exclude)fuzz/corpus'
  ':(exclude,glob)**/golden/**' ':(exclude,glob)**/snapshots/**')

matches() { # the lines that match $1, in the working tree or in the commit $2, as git grep prints them with the options that follow
  local regex=$1 commit=$2
  shift 2
  git grep --no-color --no-column -IP "$@" -e "$regex" ${commit:+"$commit"} -- "${written[@]}" || [ $? = 1 ] ||
    fail "git grep failed on the phrase $regex" 'check the phrase; git needs support for Perl-compatible regexes'
}

places() { # up to ten places of $1: those that are new since the budget was written, or, if there are none, the first ones
  local since
  since=$(git log -1 --format=%H -- "$budget")
  awk '
    before { old[$0]; next }
    { text = $0; sub(/^[^:]*:[0-9]+:/, "", text) }
    text in old { if (known++ < 10) first = first "\n  " $0; next }
    added++ < 10 { new = new "\n  " $0 }
    END { print substr(added ? new : first, 2) }
  ' before=1 <([ -z "$since" ] || matches "$1" "$since" -h) before= <(matches "$1" '' -n)
}

lines=() status=0 lower=0
while IFS=$'\t' read -r number regex; do
  case $number in '#'*) lines+=("$number${regex:+$'\t'$regex}") && continue ;; esac
  count=$(matches "$regex" '' -h | wc -l)
  if [ "$count" -gt "$number" ]; then
    printf 'error: %s lines match a phrase to avoid, the budget is %s: %s\n' "$count" "$number" "$regex" >&2
    places "$regex" >&2
    printf 'hint: rephrase the new lines; the rules are under "Words" in CONTRIBUTING.md\n' >&2
    status=1
  elif [ "$count" -lt "$number" ]; then
    lower=1
    [ "${1:-}" = --lower ] || printf 'error: %s lines match, the budget is %s: %s\n' "$count" "$number" "$regex" >&2
    number=$count
  fi
  lines+=("$number"$'\t'"$regex")
done <"$budget"

if [ "${1:-}" = --lower ]; then
  printf '%s\n' "${lines[@]}" >"$budget"
elif [ "$lower" = 1 ]; then
  fail "the numbers in $budget are too high" 'run `scripts/words.sh --lower` and commit the file'
fi
exit "$status"
