#!/usr/bin/env bash
# measure-capture.sh [PAIRS [WHAT...]]: measures the cost of the capture layer while it waits for its frame, on lavapipe. WHAT:
# instructions, nanoseconds, unused, waiting.
#
# Instructions and nanoseconds of each driver call while recording dispatches and draws (crates/emulator/examples/recording.rs lists the
# calls): without the layer, with the layer and nothing to capture (no folder), and while it waits for a frame that never comes. Then
# processor time (user and system) of examples/deferred in PAIRS (30) interleaved pairs: with nothing to capture and while it waits, each
# compared with no layer. FRAMES (20) is the number of frames that each renders. Prints medians, and the mean of the pairs' ratios with its 95 %
# confidence interval.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

pairs=${1:-30}
what=("${@:2}")
[ ${#what[@]} -gt 0 ] || what=(instructions nanoseconds unused waiting)
# shellcheck source=scripts/measure.sh
source scripts/measure.sh
layer=$root/target/capture-release
PROFILE=layer bash scripts/stage-capture.sh "$layer"
unused=(env VK_LAYER_PATH="$layer" VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_capture)
waiting=("${unused[@]}" VK_TILEHEAP_CAPTURE_FOLDER="$results/capture" VK_TILEHEAP_CAPTURE_FRAMES=1000000000 VK_TILEHEAP_CAPTURE_BORDER=submits:1)

# table TITLE COMMAND: a value for each call, for both kinds of work, without the layer, unused and waiting.
table() {
    local work
    say "$1 of a driver call while recording: without the layer; with it, nothing to capture; waiting for a frame"
    for work in dispatches draws; do
        echo "$work $("$2" plain "$work" "${none[@]}") $("$2" plain "$work" "${unused[@]}") $("$2" plain "$work" "${waiting[@]}")"
    done | awk '
        function row(name, plain, unused, waiting) {
            printf "%-11s %8.1f  %8.1f %+7.1f  %8.1f %+7.1f\n", name, plain, unused, unused - plain, waiting, waiting - plain
        }
        { row($1, $2, $3, $4); plain += $2; unused += $3; waiting += $4 }
        END { row("both", plain / NR, unused / NR, waiting / NR) }' | tee "$results/capture-$1"
}

# time_each_call MODE WORK ENVIRONMENT...: nanoseconds of one driver call, the median of five.
time_each_call() {
    local run
    for run in 1 2 3 4 5; do
        local few many
        few=$(wall "$1" "$2" 20000 "${@:3}")
        many=$(wall "$1" "$2" 220000 "${@:3}")
        awk -v few="$few" -v many="$many" -v calls="$([ "$2" = draws ] && echo 6 || echo 5)" \
            'BEGIN {print (many - few) * 1e9 / (200000 * calls)}'
    done | sort -g | sed -n 3p
}

# wall MODE WORK ROUNDS ENVIRONMENT...: seconds of processor time.
wall() { seconds "${@:4}" target/debug/examples/recording "$1" "$2" "$3"; }

for part in "${what[@]}"; do
    case $part in
        instructions) table instructions each_call ;;
        nanoseconds) table nanoseconds time_each_call ;;
        unused) compare "capture-$part" "${none[@]}" "${deferred[@]}" -- "${unused[@]}" "${deferred[@]}" ;;
        waiting) compare "capture-$part" "${none[@]}" "${deferred[@]}" -- "${waiting[@]}" "${deferred[@]}" ;;
        *) die "unknown measurement \`$part\`" ;;
    esac
done
