#!/usr/bin/env bash
# check-programs.sh: Debian's vkcube and vulkaninfo run with the emulator as they run without it: the same exit status, the same
# words, also from the test bed's validation layers; vulkaninfo lists one heap more, and nothing less.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_vulkan
need_packages vulkan-tools xvfb
bash scripts/stage-emulator.sh
results=$root/target/programs
mkdir -p "$results"
unset "${!VK_@}" TILEHEAP_EMULATOR WAYLAND_DISPLAY
drivers=(/usr/share/vulkan/icd.d/lvp_icd*.json)
export VK_DRIVER_FILES=${drivers[0]} LC_ALL=C
layer=(VK_LAYER_PATH="$root/target/emulator" VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator)
failed=0

# One screen for all, up before anything asks for it, and not begun anew when a program leaves it (it refuses the next for that moment).
: >"$results/display"
Xvfb -noreset -displayfd 3 -screen 0 640x480x24 -nolisten tcp 3>"$results/display" >"$results/xvfb.log" 2>&1 &
trap "kill $!" EXIT
until [ -s "$results/display" ]; do
    kill -0 $! || die "no screen: $(cat "$results/xvfb.log")"
    sleep 0.1
done
DISPLAY=:$(cat "$results/display")
export DISPLAY

# both NAME COMMAND...: runs it without and with the layer; exit status and output must be the same.
both() {
    local name=$1 status=0 other=0
    shift
    "$@" >"$results/$name.without" 2>&1 || status=$?
    env "${layer[@]}" "$@" >"$results/$name.with" 2>&1 || other=$?
    if [ "$status" != 0 ] || [ "$other" != 0 ]; then
        echo "$name: exit status $status without the layer, $other with it"
        tail -n 5 "$results/$name.with"
        failed=1
    fi
}

same() {
    if diff "$results/$1.without" "$results/$1.with"; then
        echo "$1: ok"
    else
        failed=1
    fi
}

both vkcube vkcube --c 60
same vkcube
# On the test bed's own driver, where this vkcube makes a mistake that is seen. The messages by name, for handles and the screen's timing differ from run to run.
validated() {
    VK_DRIVER_FILES="" TILEHEAP_EMULATOR=$1 bash scripts/run-in-testbed.sh "$(command -v vkcube)" --c 60 >"$results/validated.log" 2>&1 || return
    { grep -oE '(VUID|UNASSIGNED|SYNC)-[A-Za-z0-9-]+' "$results/validated.log" || true; } | sort -u
}
need_testbed
if without=$(validated "") && with=$(validated "$root/target/emulator") && [ "$without" = "$with" ]; then
    echo "vkcube-validated: ok, the same messages:" $with
else
    echo "vkcube-validated: without the layer:" $without "with it:" ${with:-}
    failed=1
fi

both vulkaninfo vulkaninfo
heaps() { awk '/^memoryHeaps: count/ {print $NF; exit}' "$results/vulkaninfo.$1"; }
# What the device has, and the layer took: counts may grow.
lost=$(diff <(sed -n '/^Device Properties/,$p' "$results/vulkaninfo.without") \
    <(sed -n '/^Device Properties/,$p' "$results/vulkaninfo.with") | sed -n '/count = /d; /^</p' || true)
if [ -n "$lost" ]; then
    echo "vulkaninfo: gone with the layer (the first twenty lines):"
    sed -n 1,20p <<<"$lost"
    failed=1
fi
before=$(heaps without) after=$(heaps with)
if [ "${after:-0}" = $((${before:-0} + 1)) ]; then
    echo "vulkaninfo: ok, $after heaps instead of $before"
else
    echo "vulkaninfo: ${after:-no} heaps, and ${before:-no} without the layer"
    failed=1
fi
exit "$failed"
