#!/usr/bin/env bash
# measure-emulator.sh [PAIRS [WHAT...]]: measures the cost of the emulator, on lavapipe. WHAT: instructions, layer-unused, tile-memory, poison; angle
# only if named.
#
# Instructions of each driver call while recording dispatches and draws (crates/emulator/examples/recording.rs lists the calls), with
# callgrind, as the difference between a short and a long run: without the layer, with it on a device without tile memory, with tile memory, with
# the order of accesses tracked, and with the aliasing layer while buffers share memory. Then processor time (user and system) of
# examples/deferred, in PAIRS (30) interleaved pairs each: with the layer and without it, on a device without tile memory; tile memory
# without poison, compared with no layer; with and without poison. FRAMES (20) is the number of frames that each
# renders. angle: processor time of the first SEEDS (300) random sequences of test-angle.sh, which fetches the libraries, on ANGLE 147 and
# 149, PAIRS runs each: the emulator compared with a device without tile memory, and with ANGLE's own simulation of tile memory without the
# layer. Prints medians, and the mean of the pairs' ratios with its 95 % confidence interval (Student's t).
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

pairs=${1:-30}
what=("${@:2}")
[ ${#what[@]} -gt 0 ] || what=(instructions layer-unused tile-memory poison)
# shellcheck source=scripts/measure.sh
source scripts/measure.sh
layer=$root/target/emulator-release
PROFILE=layer bash scripts/stage-emulator.sh "$layer"
PROFILE=layer bash scripts/stage-aliasing.sh "$layer"
aliasing=(env VK_LAYER_PATH="$layer" VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_aliasing)
loaded=(env VK_TILEHEAP_EMULATOR_ORDER=false VK_LAYER_PATH="$layer" VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator VK_TILEHEAP_EMULATOR_POISON=false)
ordered=("${loaded[@]}" VK_TILEHEAP_EMULATOR_ORDER=true)
poisoned=("${loaded[@]}" VK_TILEHEAP_EMULATOR_POISON=true)

measure_instructions() {
    local work plain beside tile order shared
    say "Instructions of a driver call while recording: without the layer; with it, without tile memory; with tile memory; with order followed; with the aliasing layer"
    for work in dispatches draws; do
        plain=$(each_call plain "$work" "${none[@]}")
        beside=$(each_call plain "$work" "${loaded[@]}")
        tile=$(each_call tile "$work" "${loaded[@]}")
        order=$(each_call tile "$work" "${ordered[@]}")
        shared=$(each_call shared "$work" "${aliasing[@]}")
        echo "$work $plain $beside $tile $order $shared"
    done | awk '
        function row(name, plain, beside, tile, order, shared) {
            printf "%-11s %8.1f  %8.1f %+6.2f %%  %8.1f %+6.2f %%  %8.1f %+6.2f %%  %8.1f %+6.2f %%\n", name, plain, beside, (beside / plain - 1) * 100,
                tile, (tile / plain - 1) * 100, order, (order / plain - 1) * 100, shared, (shared / plain - 1) * 100
        }
        { row($1, $2, $3, $4, $5, $6); plain += $2; beside += $3; tile += $4; order += $5; shared += $6 }
        END { row("both", plain / NR, beside / NR, tile / NR, order / NR, shared / NR) }' | tee "$results/instructions"
}

# measure_angle VERSION: each run prints the processor seconds of its three variants.
measure_angle() {
    local folder=$root/target/angle pair
    [ -e "$folder/$1/libGLESv2.so" ] || die "run scripts/test-angle.sh first: it fetches ANGLE $1"
    c++ -std=c++17 -O1 crates/emulator/tests/angle/sequences.cpp -ldl -o "$folder/sequences"
    say "angle $1: processor time of ${SEEDS:-300} sequences, seconds, $pairs runs"
    for ((pair = 0; pair < pairs; pair++)); do
        # Stops after the times: the program would continue by reducing faulty sequences.
        stdbuf -oL "$folder/sequences" "$folder/$1" "$layer" --seeds 1 "${SEEDS:-300}" 2>/dev/null |
            sed -n '/processor seconds/{s/[^0-9. ]//g;p;q}'
    done >"$results/angle-$1"
    awk '{print $1, $2}' "$results/angle-$1" | awk -v name="emulator/plain" -f scripts/judge-pairs.awk
    awk '{print $3, $2}' "$results/angle-$1" | awk -v name="emulator/simulation" -f scripts/judge-pairs.awk
}

for part in "${what[@]}"; do
    case $part in
        instructions) measure_instructions ;;
        layer-unused) compare "$part" "${none[@]}" "${deferred[@]}" --no-tile-memory -- "${loaded[@]}" "${deferred[@]}" --no-tile-memory ;;
        tile-memory) compare "$part" "${none[@]}" "${deferred[@]}" -- "${loaded[@]}" "${deferred[@]}" ;;
        poison) compare "$part" "${loaded[@]}" "${deferred[@]}" -- "${poisoned[@]}" "${deferred[@]}" ;;
        angle) measure_angle 147.0.2 && measure_angle 149.0.0 ;;
        *) die "unknown measurement \`$part\`" ;;
    esac
done
