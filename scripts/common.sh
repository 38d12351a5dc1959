# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: strict mode, the root of the tree, the target directory.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# One target directory for all cargo workspaces of the tree, so that shared dependencies are compiled once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
tools=$root/.sdk/tools

# What tests and checks build: the workspace, with all that it has. Given other arguments, or another compiler, cargo would build
# again, and replace programs that tests are using.
workspace=(--locked --workspace --all-features)
all_targets=(--bins --tests --benches --examples)
checked() { # a command that calls cargo: also with the lints of clippy and rustdoc
  RUSTC_WORKSPACE_WRAPPER=$root/scripts/rustc.sh "$@"
}

stages='' failures=0
say() { # starts a stage; print_stages prints the duration of each, and the time that its processes used
  end_stage
  read_cpu
  stage=$* stage_began=$SECONDS stage_cpu=$cpu_s
  printf '\n== %s\n' "$stage"
}
end_stage() {
  [ -n "${stage:-}" ] || return 0
  read_cpu
  stages+=$(printf '%5d s %5d s  %s' $((SECONDS - stage_began)) $((cpu_s - stage_cpu)) "$stage")$'\n'
  stage=''
}
read_cpu() { # sets cpu_s: the CPU time of the ended processes that this shell has waited for, in s (proc_pid_stat(5))
  local fields
  read -r fields </proc/$BASHPID/stat
  read -ra fields <<<"${fields##*) }"
  cpu_s=$(((fields[13] + fields[14]) / $(getconf CLK_TCK)))
}
stage_failed() { # the other stages are executed all the same
  stage="FAILED: $stage" failures=$((failures + 1))
}
attempt() { # a stage that may fail: its name, and the command
  local status=0
  say "$1"
  shift
  set +e # not `|| stage_failed`, which would hold for all commands of a function
  (set -e && "$@")
  status=$?
  set -e
  [ "$status" = 0 ] || stage_failed
}
all_passed() { # at the end of stages that may fail
  end_stage
  [ "$failures" = 0 ] || fail "$failures of $(grep -c . <<<"$stages") stages failed" 'the list of durations marks them'
}
print_stages() { # at the end of a script
  end_stage
  printf '\n== durations of %s: elapsed time, CPU time\n%s' "$(basename "$0")" "$stages"
}

needs_root() { # prints a filter of nextest: the tests that need root
  sed -nE 's/^([^# ]+) ?(.*)$/(binary_id(=\1) \& test(\/^\2\/))/p' "$root/.config/needs-root.txt" | paste -sd '|'
}

fail() { # prints an error and a hint, and exits
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}
