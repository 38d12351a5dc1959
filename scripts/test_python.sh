#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the Python package of the wheel, with the programs and drivers of the target directory.
#
#   scripts/test_python.sh [PYTHON [TESTS]]
#
# PYTHON is by default `python3`, which needs no pandas, and TESTS the module with the tests that need none.
. "$(dirname -- "$0")/common.sh"

export PATH=$CARGO_TARGET_DIR/debug:$PATH DDSMARK_DRIVER_PATH=${DDSMARK_DRIVER_PATH:-$CARGO_TARGET_DIR/drivers}
export PYTHONPATH=$root/python:$root/python/tests PYTHONDONTWRITEBYTECODE=1
exec "${1:-python3}" -W error -m unittest "${2:-test_package}"
