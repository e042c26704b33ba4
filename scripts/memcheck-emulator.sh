#!/usr/bin/env bash
# memcheck-emulator.sh [MODULE...]: runs modules of the test program `layer` under valgrind's memcheck, and prints ok or the errors
# and leaks whose innermost frame outside allocators is the layer's own.
# Drivers and the loader produce many findings. Errors in their frames are ignored even if the layer called them, since the
# layer passes the application's pointers on. The layer's tables, which are never freed, prove that memcheck sees the layer.
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
program=$(cargo test --quiet --package tileheap-emulator --test layer --no-run --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
for name in "${tests[@]}"; do
    log=$logs/$name.log
    # Some threads of the driver never end, and it generates code at run time.
    valgrind --leak-check=full --show-leak-kinds=all --keep-debuginfo=yes --num-callers=40 --log-file="$log" \
        "$program" --test-threads=1 "$name::" --skip third_party >"$logs/$name.out" 2>&1 || {
        tail -n 20 "$logs/$name.out"
        echo "$name: the tests fail under valgrind"
        status=1
        continue
    }
    awk -v name="$name" -f scripts/judge-memcheck.awk "$log" || status=1
done
exit "$status"
