#!/usr/bin/env bash
# Shared by measure-emulator.sh and measure-capture.sh: instructions of a driver call, and processor time of two commands that alternate.
# Sourced after setup.sh; `results` is the folder for results, `pairs` the number of timed pairs.

need_vulkan
need_packages valgrind time
results=$root/target/measurements
mkdir -p "$results"
unset "${!VK_@}" "${!TILEHEAP_@}"
drivers=(/usr/share/vulkan/icd.d/lvp_icd*.json)
export VK_DRIVER_FILES=${drivers[0]} LC_ALL=C
none=(env)
size=320x180 frames=${FRAMES:-20}
deferred=(target/debug/examples/deferred --size "$size" --frames "$frames" --output "$results/frame.png")
cargo build --quiet --package tileheap-emulator --example recording
cargo build --quiet --example deferred

# count MODE WORK ROUNDS ENVIRONMENT...: the number of instructions that the program executes, and of driver calls that it makes.
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

# compare NAME FIRST... -- SECOND...: runs both alternately; the order changes from pair to pair.
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
