#!/usr/bin/env bash
# random-frames.sh [COUNT [SEED]]: runs COUNT (10,000) random descriptions of frames from seed SEED (1), in a release build on the test bed
# under core and synchronization validation. Prints the number that ran, and how often each rule rejected one; a description that fails is
# printed with its seed, reduced to the part that fails. `random-frames.sh 1 SEED` runs one again. If a driver crashes the process, the
# seed is in target/tmp/random-description.
#
# Examples:
#   bash scripts/random-frames.sh 2000 3600001             # seeds 3600001 to 3602000
#   bash scripts/random-frames.sh 1 3605712                # one of them again
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

for number in "$@"; do
    [[ $number =~ ^[0-9]+$ ]] || {
        echo "error: \`$number\` is not a number; see --help" >&2
        exit 2
    }
done

need_vulkan
need_testbed
# The caller's environment must not select the driver or the layers.
unset "${!VK_@}" "${!TILEHEAP_VALID@}" TILEHEAP_DEVICE TILEHEAP_EMULATOR TILEHEAP_RUNNER
export TILEHEAP_FRAMES=${1:-10000} TILEHEAP_SEED=${2:-1}
export PATH=$root/scripts:$PATH CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=run-in-testbed.sh
cargo test --release --package tileheap --test vulkan random_descriptions -- --nocapture </dev/null
