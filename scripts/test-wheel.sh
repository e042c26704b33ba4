#!/usr/bin/env bash
# test-wheel.sh [PYTEST OPTION...]: builds the Python package as a wheel, installs it in a new virtual environment with NumPy and
# pytest, and runs its tests; with `-s` they print planning times. PROFILE selects a Cargo profile other than `release`.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_packages g++ python3-venv
need_rust
need_wheel
"$environment/bin/python" -m pytest -q "$@" crates/python/tests
