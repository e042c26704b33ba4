#!/usr/bin/env bash
# memcheck-emulator.sh [TEST...]: runs tests of the emulator under valgrind's memcheck, and says ok or prints what it blames the
# layer for: errors and leaks whose innermost frame that is no allocator's is the layer's own.
#
# Drivers and the loader are noisy. What happens in their frames is theirs, also where the layer called them: the layer hands
# down the application's pointers. That memcheck saw the layer at all is checked by the layer's tables, which it keeps for ever.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_vulkan
need_packages valgrind
bash scripts/stage-emulator.sh
unset "${!VK_@}" "${!TILEHEAP_@}"
drivers=(/usr/share/vulkan/icd.d/lvp_icd*.json)
export VK_DRIVER_FILES=${drivers[0]}

tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(proposal traces contents passes rules)
logs=$root/target/memcheck
mkdir -p "$logs"
status=0
for name in "${tests[@]}"; do
    program=$(cargo test --quiet --package tileheap-emulator --test "$name" --no-run --message-format=json |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    log=$logs/$name.log
    # Some threads of the driver never end, and the code that it makes at run time is its own.
    valgrind --leak-check=full --show-leak-kinds=all --keep-debuginfo=yes --num-callers=40 --log-file="$log" \
        "$program" --test-threads=1 >"$logs/$name.out" 2>&1 || {
        tail -n 20 "$logs/$name.out"
        echo "$name: the tests fail under valgrind"
        status=1
        continue
    }
    awk -v name="$name" -f scripts/judge-memcheck.awk "$log" || status=1
done
exit "$status"
