#!/usr/bin/env bash
# test.sh [--all]: runs the tests: the libraries and the command on this machine's lavapipe, then what touches Vulkan again under core and
# synchronization validation, on the newest lavapipe and in emulated tile memory. Lists what was skipped and why, and closes with
# "N passed, N failed, N skipped". Logs stay in target/test-logs.
#
# --all adds: the examples' pictures, the emulator's other profiles, the emulator's own tests below validation, the wrong order of
# layers, Debian's programs and ANGLE on the emulator, a minute of fuzzing, the comparison with other planners, and the pure library alone.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

all=false
case ${1:-} in
    "") ;;
    --all) all=true ;;
    -h | --help)
        sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
        exit
        ;;
    *)
        echo "error: \`$1\` is no option; see --help" >&2
        exit 2
        ;;
esac

need_vulkan
# A browser for reports, a screen for the test of the window, and the libraries that a window loads by name.
need_packages chromium xvfb libx11-6 libxcursor1 libxi6 libxrandr2 libxkbcommon-x11-0
# Headers for the program in C++ that runs on the emulator.
need_packages libvulkan-dev

logs=$root/target/test-logs
rm -rf "$logs"
mkdir -p "$logs"
passed=0 failed=0 skipped=0 quick=()

# Nothing of the caller's chooses the driver, the layers or the screen.
unset "${!VK_@}" "${!TILEHEAP_VALID@}" TILEHEAP_DEVICE TILEHEAP_EMULATOR TILEHEAP_RUNNER DISPLAY WAYLAND_DISPLAY
export CARGO_TERM_COLOR=never

# run NAME COMMAND...: a command that runs tests; their counts go to the sums, their skips to the list.
run() {
    say "$1: ${*:2}"
    execute "$@"
    tally "$1"
}

# execute NAME COMMAND...: leaves its output in a log, and how it ended.
execute() {
    local name=$1 status=0
    shift
    : >"$logs/$name.early"
    TILEHEAP_SKIP_LOG=$logs/$name.early "$@" </dev/null 2>&1 | tee "$logs/$name.log" || status=$?
    echo "$status" >"$logs/$name.status"
}

tally() {
    local name=$1 log=$logs/$1.log early=$logs/$1.early status ok bad ignored returned
    status=$(cat "$logs/$name.status")
    read -r ok bad ignored < <(awk '/^test result: / {ok += $4; bad += $6; ignored += $8}
        END {print ok + 0, bad + 0, ignored + 0}' "$log")
    if [ $((ok + bad)) = 0 ] || { [ "$status" != 0 ] && [ "$bad" = 0 ]; }; then
        bad=1 # It did not build, it crashed, or it ran nothing.
    fi
    sed -n "s/^test \(.*\) \.\.\. ignored\(, \)*\(.*\)/$name: \1: \3/p" "$log" >>"$logs/skipped"
    sort -u "$early" | sed "s/^skipped/$name/" >>"$logs/skipped"
    returned=$(sort -u "$early" | wc -l) # Cargo counts these as passed.
    count "$name" $((ok - returned)) "$bad" $((ignored + returned))
}

# check NAME COMMAND...: a command that is one test itself.
check() {
    local name=$1
    shift
    say "$name: $*"
    if "$@" </dev/null 2>&1 | tee "$logs/$name.log"; then
        count "$name" 1 0 0
    else
        count "$name" 0 1 0
    fi
}

# finish NAME PROCESS: the same of a command that was started before, its output in the log.
finish() {
    local name=$1 status=0
    wait "$2" || status=$?
    say "$name"
    cat "$logs/$name.log"
    count "$name" $((status == 0)) $((status != 0)) 0
}

count() {
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    printf '%-22s %5d passed %5d failed %5d skipped\n' "$@" >>"$logs/summary"
}

# on_lavapipe COMMAND...: with this machine's software driver, where it is found, and no other.
on_lavapipe() {
    local drivers=(/usr/share/vulkan/icd.d/lvp_icd*.json)
    [ ! -e "${drivers[0]}" ] || local -x VK_DRIVER_FILES=${drivers[0]}
    "$@"
}

# on_testbed COMMAND...: what Cargo starts runs on the test bed, validated.
on_testbed() {
    local -x PATH=$root/scripts:$PATH CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=run-in-testbed.sh
    local -x TILEHEAP_VALIDATION_LOG=${validation_log:-}
    "$@"
}

# emulated PROFILE DRIVER PROFILE DRIVER: what uses a driver, on the emulator below validation, with a profile over a driver each; two at
# once, for little of it keeps two cores busy. A driver that this machine lacks is listed as skipped.
emulated() {
    local name names=() runs=() command=(cargo test --workspace --no-fail-fast "${drivers[@]}")
    while [ $# -gt 0 ]; do
        if [ -e "${2:-}" ]; then
            name=$1
            [ "$2" = "$newest" ] || name=$1-here
            over_driver "$2" "$1" "$name" "${command[@]}" &
            runs+=($!) names+=("$name")
        else
            leave_out "$1" "every test" "this machine has no lavapipe of its own"
        fi
        shift 2
    done
    say "${names[*]}: ${command[*]}"
    wait "${runs[@]}" # Not for the log's reader.
    for name in "${names[@]}"; do
        say "$name"
        cat "$logs/$name.log"
        tally "$name"
    done
}

# over_driver DRIVER PROFILE NAME COMMAND...: the emulator reports all that it sees, also what validation above it reports.
over_driver() {
    local -x VK_DRIVER_FILES=$1 TILEHEAP_EMULATOR=$root/target/emulator TILEHEAP_TEST_FOLDER=$3
    local -x VK_TILEHEAP_EMULATOR_PROFILE=$2 VK_TILEHEAP_EMULATOR_REPORT=all
    on_testbed execute "${@:3}" >/dev/null
}

# The emulator's own tests below validation. They choose their profiles, make mistakes on purpose, and say themselves which messages of
# validation each mistake earns, any other being a failure: so no profile and no log.
own_tests_validated() {
    local -x VK_DRIVER_FILES=$newest TILEHEAP_EMULATOR=$root/target/emulator
    local validation_log=""
    on_testbed run emulator-validated cargo test --workspace --no-fail-fast --test layer
}

# Validation below the emulator, the wrong order: the emulator says so, and what it records itself is in order all the same.
wrong_order() {
    local libraries=$TILEHEAP_TESTBED/usr/lib/x86_64-linux-gnu said
    said=$(VK_DRIVER_FILES=$newest VK_IMPLICIT_LAYER_PATH=$TILEHEAP_TESTBED \
        VK_LAYER_PATH=$root/target/emulator:$TILEHEAP_TESTBED/usr/share/vulkan/explicit_layer.d \
        VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator:VK_LAYER_KHRONOS_validation VK_TILEHEAP_EMULATOR_LOG=true \
        VK_LAYER_VALIDATE_SYNC=1 VK_LAYER_REPORT_FLAGS=error,warn VK_LAYER_LOG_FILENAME=stdout \
        VK_LAYER_DEBUG_ACTION=VK_DBG_LAYER_ACTION_LOG_MSG \
        "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "${CARGO_TARGET_DIR:-target}/debug/examples/tile_bugs" \
        --bug smaller-object --fixed --output "$logs/wrong-order.png" 2>&1) || {
        echo "$said"
        return 1
    }
    echo "$said"
    grep -q TILEHEAP-above-validation <<<"$said" && ! grep -qE 'SYNC-HAZARD|VUID-' <<<"$said"
}

# leave_out NAME TEST REASON: a test program that a run cannot use.
leave_out() {
    echo "$1: $2: $3" >>"$logs/skipped"
    count "$1: $2" 0 0 1
}

# The layer's own log, of every process: no plain file, for each process would start that anew.
open_validation_log() {
    validation_log=$logs/validation.fifo
    mkfifo "$validation_log"
    cat "$validation_log" >"$logs/validation.log" &
    log_reader=$!
    exec {log_writer}>"$validation_log"
}

judge_validation_log() {
    exec {log_writer}>&-
    wait "$log_reader"
    check validation-log awk -f scripts/judge-validation.awk crates/testkit/src/false_positives.txt "$logs/validation.log"
}

# Everything is built once, with one set of features.
say "Building"
cargo test --workspace --no-run </dev/null
cargo build --workspace --examples </dev/null # As programs: those with tests of their own were built as tests alone.
export TILEHEAP_BUILT_EXAMPLES=${CARGO_TARGET_DIR:-$root/target}/debug/examples
check emulator-staged bash scripts/stage-emulator.sh --built
check capture-staged bash scripts/stage-capture.sh --built
check wheel bash scripts/test-wheel.sh
# The programs of examples render hundreds of frames, for as long as all others together.
$all || quick=(-- --skip programs::)
on_lavapipe run machine cargo test --workspace --no-fail-fast "${quick[@]}"

if $all; then
    run pure cargo test --no-fail-fast --package tileheap --no-default-features --lib --test pure
    say "pack-fuzz, beside the next"
    bash scripts/fuzz.sh 60 </dev/null >"$logs/pack-fuzz.log" 2>&1 &
    fuzzer=$!
    check compare bash scripts/compare.sh --quick
    finish pack-fuzz "$fuzzer"
fi

check testbed need_testbed
if [ -e "$TILEHEAP_TESTBED/complete" ]; then
    # The programs that use a driver; the others have nothing to say to it.
    drivers=(--test vulkan --test examples "${quick[@]}")
    newest=$TILEHEAP_TESTBED/usr/share/vulkan/icd.d/lvp_icd.json
    machines=(/usr/share/vulkan/icd.d/lvp_icd*.json)
    open_validation_log
    on_testbed run validated cargo test --workspace --no-fail-fast "${drivers[@]}"
    # Every profile and every driver, in pairs that cover both, not each with each.
    if ! $all; then
        emulated adreno-830 "$newest"
    else
        emulated adreno-830 "$newest" hostile "${machines[0]}"
        emulated adreno-840 "${machines[0]}" validation-icd "$newest"
        emulated x2-85 "${machines[0]}" generous "$newest"
    fi
    judge_validation_log
    if $all; then
        own_tests_validated
        check wrong-order wrong_order
        check programs bash scripts/test-programs.sh --quick
        check archive env PROFILE=dev bash scripts/package-emulator.sh
        check angle bash scripts/test-angle.sh
    fi
fi

say "Skipped"
[ ! -e "$logs/skipped" ] || sort -u "$logs/skipped"
say "All runs (logs in ${logs#"$root"/})"
cat "$logs/summary"
$all || echo "Left to --all: the programs of examples, other profiles of the emulator, its own tests below validation, the wrong order of layers, Debian's programs, ANGLE, fuzzing, comparison, the pure library alone."
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
