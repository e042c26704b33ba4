#!/usr/bin/env bash
# measure-emulator.sh [PAIRS [WHAT...]]: what the emulator costs, on lavapipe. WHAT: instructions, layer-unused, tile-memory, poison.
#
# Instructions of each driver call while recording dispatches and draws (crates/emulator/examples/recording.rs says which calls), by
# callgrind, from the difference of two lengths: without the layer, with it on a device without tile memory, with tile memory, and with the order of accesses followed. Then processor time (user and system) of examples/deferred, in PAIRS (30)
# interleaved pairs each: layer against none without tile memory; tile memory without poison against the layer alone and against
# none; poison against no poison. FRAMES (20) says how many frames each renders. Medians, and the mean of the pairs' ratios with its 95 % confidence interval (Student's t).
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

pairs=${1:-30}
what=("${@:2}")
[ ${#what[@]} -gt 0 ] || what=(instructions layer-unused tile-memory poison)
size=320x180 frames=${FRAMES:-20}
need_vulkan
need_packages valgrind time
layer=$root/target/emulator-release
PROFILE=layer bash scripts/stage-emulator.sh "$layer"
cargo build --quiet --package tileheap-emulator --example recording
cargo build --quiet --example deferred
results=$root/target/measurements
mkdir -p "$results"

unset "${!VK_@}" "${!TILEHEAP_@}"
drivers=(/usr/share/vulkan/icd.d/lvp_icd*.json)
export VK_DRIVER_FILES=${drivers[0]} LC_ALL=C
none=(env)
loaded=(env VK_TILEHEAP_EMULATOR_ORDER=false VK_LAYER_PATH="$layer" VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator VK_TILEHEAP_EMULATOR_POISON=false)
ordered=("${loaded[@]}" VK_TILEHEAP_EMULATOR_ORDER=true)
poisoned=("${loaded[@]}" VK_TILEHEAP_EMULATOR_POISON=true)

# count MODE WORK ROUNDS ENVIRONMENT...: how many instructions the program executes, and how many driver calls it makes.
count() {
    local log=$results/callgrind instructions
    "${@:4}" valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$log" \
        target/debug/examples/recording "$1" "$2" "$3" >"$results/output" 2>&1 || {
        cat "$results/output"
        die "failed: recording $1 $2 $3"
    }
    instructions=$(awk '/Collected/ {print $NF}' "$log")
    echo "${instructions:?callgrind counted nothing}" "$(tail -n 1 "$results/output")"
}

# each_call MODE WORK ENVIRONMENT...: instructions of one driver call.
each_call() {
    {
        count "$1" "$2" 1000 "${@:3}"
        count "$1" "$2" 5000 "${@:3}"
    } | awk '{instructions[NR] = $1; calls[NR] = $2}
        END {print (instructions[2] - instructions[1]) / (calls[2] - calls[1])}'
}

# seconds COMMAND...: processor time.
seconds() {
    env time -f '%U %S' -o "$results/time" "$@" >"$results/output" 2>&1 || {
        cat "$results/output"
        die "failed: $*"
    }
    awk '{print $1 + $2}' "$results/time"
}

deferred=(target/debug/examples/deferred --size "$size" --frames "$frames" --output "$results/frame.png")

# compare NAME FIRST... -- SECOND...: runs both in turn, the first first in every other pair.
compare() {
    local name=$1 pair a b first=() second=()
    say "$name: processor time of $frames frames of $size, seconds, $pairs pairs"
    shift
    while [ "$1" != -- ]; do first+=("$1") && shift; done
    second=("${@:2}")
    for ((pair = 0; pair < pairs; pair++)); do
        if ((pair % 2)); then
            a=$(seconds "${first[@]}") b=$(seconds "${second[@]}")
        else
            b=$(seconds "${second[@]}") a=$(seconds "${first[@]}")
        fi
        echo "$a $b"
    done >"$results/$name"
    awk -v name="$name" -f scripts/judge-pairs.awk "$results/$name"
}

measure_instructions() {
    local work plain beside tile order
    say "Instructions of a driver call while recording: without the layer; with it, without tile memory; with tile memory; with order followed"
    for work in dispatches draws; do
        plain=$(each_call plain "$work" "${none[@]}")
        beside=$(each_call plain "$work" "${loaded[@]}")
        tile=$(each_call tile "$work" "${loaded[@]}")
        order=$(each_call tile "$work" "${ordered[@]}")
        echo "$work $plain $beside $tile $order"
    done | awk '
        function row(name, plain, beside, tile, order) {
            printf "%-11s %8.1f  %8.1f %+6.2f %%  %8.1f %+6.2f %%  %8.1f %+6.2f %%\n", name, plain, beside, (beside / plain - 1) * 100,
                tile, (tile / plain - 1) * 100, order, (order / plain - 1) * 100
        }
        { row($1, $2, $3, $4, $5); plain += $2; beside += $3; tile += $4; order += $5 }
        END { row("both", plain / NR, beside / NR, tile / NR, order / NR) }' | tee "$results/instructions"
}

for part in "${what[@]}"; do
    case $part in
        instructions) measure_instructions ;;
        layer-unused) compare "$part" "${none[@]}" "${deferred[@]}" --no-tile-memory -- "${loaded[@]}" "${deferred[@]}" --no-tile-memory ;;
        tile-memory) compare "$part" "${none[@]}" "${deferred[@]}" -- "${loaded[@]}" "${deferred[@]}" ;;
        poison) compare "$part" "${loaded[@]}" "${deferred[@]}" -- "${poisoned[@]}" "${deferred[@]}" ;;
        *) die "nothing to measure by the name of $part" ;;
    esac
done
