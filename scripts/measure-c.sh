#!/usr/bin/env bash
# measure-c.sh: counts the instructions of a frame of 30 passes and 40 resources through the C interface and from Rust (crates/c/benches/cost), with
# callgrind, as the difference between a run of 20 and a run of 60 frames. The aim is at most 10 % more for a known frame and 5 % more for a changed one.
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_compilers
need_packages valgrind
bench=$(cargo bench --workspace --bench cost --no-run --message-format=json </dev/null | sed -n 's/.*"executable":"\([^"]*cost-[^"]*\)".*/\1/p')
folder=$root/target/measurements
mkdir -p "$folder"

# count GROUP/NAME CALLS: the instructions of the program with that number of calls.
count() {
    TILEHEAP_COUNT=$1=$2 valgrind --tool=callgrind --child-silent-after-fork=yes --callgrind-out-file="$folder/callgrind.${1//[ \/]/-}" \
        --log-file="$folder/callgrind.log" "$bench" --bench >/dev/null
    awk '/Collected/ {print $NF}' "$folder/callgrind.log"
}

# frame GROUP/NAME: the instructions of one more frame.
frame() {
    local few many
    few=$(count "$1" 20)
    many=$(count "$1" 60)
    echo $(((many - few) / 40))
}

say "Instructions of a frame of 30 passes and 40 resources: from Rust, and through C"
for group in "planning known" "planning changed" "recording known" "recording changed"; do
    echo "$group, $(frame "$group/rust"), $(frame "$group/c")"
done | awk -F ', ' '{printf "%-17s %10d %10d %+6.1f %%\n", $1, $2, $3, ($3 / $2 - 1) * 100}'
