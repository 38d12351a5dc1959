#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Executes a command that gets only the time that no other process wants.
#
#   scripts/idle.sh COMMAND [ARGUMENT]...
chrt --idle --pid 0 $$ 2>/dev/null || renice -n 19 -p $$ >/dev/null
exec "$@"
