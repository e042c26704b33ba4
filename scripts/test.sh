#!/usr/bin/env bash
# Proves tileheap right: the pure part alone, then everything on this machine's lavapipe, then everything that touches
# Vulkan under core and synchronization validation: on the newest lavapipe, and in emulated tile memory of every kind on both.
# Runs all that can run, lists what was skipped and why, and closes with "N passed, N failed, N skipped". Logs stay in
# target/test-logs.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_vulkan
# A browser for reports, a screen for the test of the window, and the libraries that a window loads by name.
need_packages chromium xvfb libx11-6 libxcursor1 libxi6 libxrandr2 libxkbcommon-x11-0
# Headers for the program in C++ that runs on the emulator.
need_packages libvulkan-dev

logs=$root/target/test-logs
rm -rf "$logs"
mkdir -p "$logs"
passed=0 failed=0 skipped=0

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

# emulated PROFILE: the same on the emulator with a profile, below validation, over both drivers at once: little of it keeps two
# cores busy.
emulated() {
    local profile=$1 name names=("$1") command=(cargo test --no-fail-fast "${drivers[@]}") runs
    say "$profile: ${command[*]}"
    over_driver "$newest" "$profile" "$profile" "${command[@]}" &
    runs=($!)
    if [ -e "${machines[0]}" ]; then
        over_driver "${machines[0]}" "$profile" "$profile-here" "${command[@]}" &
        runs+=($!) names+=("$profile-here")
    fi
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
    local validation_log="" test tests=()
    for test in emulator/tests/*.rs emulator/tests/*/main.rs; do
        test=${test#emulator/tests/} test=${test%/main.rs} test=${test%.rs}
        case $test in
            faults) leave_out emulator-validated "$test" "the layer stands without a loader there, and so without validation above it" ;;
            house) leave_out emulator-validated "$test" "it reads sources and uses no driver" ;;
            *) tests+=("--test=$test") ;;
        esac
    done
    on_testbed run emulator-validated cargo test --no-fail-fast --package tileheap-emulator "${tests[@]}"
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
    check validation-log awk -f scripts/judge-validation.awk tests/support/false_positives.txt "$logs/validation.log"
}

# Its other tests run with the driver's below; that they build alone is for clippy (.ci/run).
run pure cargo test --no-fail-fast --package tileheap --no-default-features --features onnx --lib --benches
# The fuzzer takes one core.
say "pack-fuzz, beside the next two"
bash scripts/fuzz.sh 60 </dev/null >"$logs/pack-fuzz.log" 2>&1 &
fuzzer=$!
check emulator-builds bash scripts/stage-emulator.sh
check compare bash scripts/compare.sh --quick
finish pack-fuzz "$fuzzer"
on_lavapipe run lavapipe cargo test --no-fail-fast
on_lavapipe run emulator cargo test --no-fail-fast --package tileheap-emulator

check testbed need_testbed
if [ -e "$TILEHEAP_TESTBED/complete" ]; then
    # The tests that use a driver; the others have nothing to say to it.
    mapfile -t drivers < <(grep -l 'feature = "runtime"' tests/*.rs tests/*/main.rs |
        sed 's|^tests/||; s|/main\.rs$||; s|\.rs$||; s|^|--test=|')
    newest=$TILEHEAP_TESTBED/usr/share/vulkan/icd.d/lvp_icd.json
    check programs bash scripts/check-programs.sh
    check wrong-order wrong_order
    open_validation_log
    on_testbed run validated cargo test --no-fail-fast "${drivers[@]}"
    own_tests_validated
    machines=(/usr/share/vulkan/icd.d/lvp_icd*.json)
    for profile in adreno-830 adreno-840 x2-85 validation-icd hostile generous; do
        emulated "$profile"
    done
    judge_validation_log
fi

say "Skipped"
sort -u "$logs/skipped"
say "All runs (logs in ${logs#"$root"/})"
cat "$logs/summary"
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
