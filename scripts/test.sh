#!/usr/bin/env bash
# test.sh [--all | --matrix]: runs the tests: the libraries and the command on this machine's lavapipe, then those that use Vulkan again
# under core and synchronization validation, on the newest lavapipe and in emulated tile memory. Lists skipped tests with the reasons, and
# ends with "N passed, N failed, N skipped". A test that fails runs once more, by itself. Logs are in target/test-logs.
#
# --all adds: the examples' pictures, the runtime's tests under the aliasing layer, the emulator's profile `hostile` on this machine's lavapipe, the
# emulator's own tests below validation, random recordings under synchronization validation and the aliasing layer, the wrong order of layers, the
# emulator's archive, third-party programs under the three layers, ANGLE on the emulator, the comparison with other planners.
# --matrix runs the rest instead: the emulator with six of its profiles, each on one of two drivers, the examples' pictures without layers, the library without
# features, the C library with Clang and as released, the C++ programs under sanitizers and valgrind, the archive on a Debian without Rust, the Python package as
# released, two minutes of ANGLE, 100,000 programs for the synchronization model, 10,000 random frames, 12,000 random recordings, two minutes of
# fuzzing, the packages of all published crates.
# docs/test_matrix.md has its last results.
#
# Examples:
#   bash scripts/test.sh                                   # before a commit
#   bash scripts/test.sh --all                             # the tests of .ci/run
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

all=false matrix=false
case ${1:-} in
    "") ;;
    --all) all=true ;;
    --matrix) matrix=true ;;
esac

need_vulkan
# A browser for reports, a virtual screen for the window test, and the libraries that a window loads by name.
need_packages chromium xvfb libx11-6 libxcursor1 libxi6 libxrandr2 libxkbcommon-x11-0
# Headers for programs in C and C++, and a leak checker for them.
need_packages libvulkan-dev valgrind

logs=$root/target/test-logs
rm -rf "$logs"
mkdir -p "$logs"
# shellcheck source=scripts/runs.sh
source scripts/runs.sh

# The caller's environment must not select the driver, the layers or the screen.
unset "${!VK_@}" "${!TILEHEAP_VALID@}" TILEHEAP_DEVICE TILEHEAP_EMULATOR TILEHEAP_ALIASING TILEHEAP_RUNNER DISPLAY WAYLAND_DISPLAY
export CARGO_TERM_COLOR=never

# on_lavapipe COMMAND...: runs on this machine's software driver only, if there is one.
on_lavapipe() {
    local drivers=(/usr/share/vulkan/icd.d/lvp_icd*.json)
    [ ! -e "${drivers[0]}" ] || local -x VK_DRIVER_FILES=${drivers[0]}
    "$@"
}

# on_testbed COMMAND...: programs that Cargo starts run on the test bed, validated.
on_testbed() {
    local -x PATH=$root/scripts:$PATH CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=run-in-testbed.sh
    local -x TILEHEAP_VALIDATION_LOG=${validation_log:-}
    "$@"
}

# emulated PROFILE DRIVER PROFILE DRIVER: runs the tests that use a driver on the emulator below validation, with one profile on each
# driver; two at once, since one uses less than two cores. A driver that this machine lacks is listed as skipped.
emulated() {
    local i names=() profiles=() icds=() runs=()
    while [ $# -gt 0 ]; do
        if [ -e "${2:-}" ]; then
            profiles+=("$1") icds+=("$2")
            if [ "$2" = "$newest" ]; then names+=("$1"); else names+=("$1-here"); fi
        else
            leave_out "$1" "every test" "this machine has no lavapipe of its own"
        fi
        shift 2
    done
    say "${names[*]}: ${cargo_test[*]} ${drivers[*]}"
    for i in "${!names[@]}"; do
        over_driver "${icds[i]}" "${profiles[i]}" "${names[i]}" execute "${names[i]}" "${drivers[@]}" >/dev/null &
        runs+=($!)
    done
    wait "${runs[@]}" # Not for the log reader.
    for i in "${!names[@]}"; do
        say "${names[i]}"
        cat "$logs/${names[i]}.log"
        over_driver "${icds[i]}" "${profiles[i]}" "${names[i]}" settle "${names[i]}" "${drivers[@]}"
    done
}

# over_driver DRIVER PROFILE NAME COMMAND...: the emulator reports everything that it detects, including errors that validation above it reports.
over_driver() {
    local -x VK_DRIVER_FILES=$1 TILEHEAP_EMULATOR=$root/target/emulator TILEHEAP_TEST_FOLDER=$3
    local -x VK_TILEHEAP_EMULATOR_PROFILE=$2 VK_TILEHEAP_EMULATOR_REPORT=all
    on_testbed "${@:4}"
}

# The emulator's own tests below validation. They select their profiles, make mistakes on purpose, and check which validation messages
# each mistake causes; any other message is a failure. So this run has no profile and no log.
own_tests_validated() {
    local -x VK_DRIVER_FILES=$newest TILEHEAP_EMULATOR=$root/target/emulator
    local validation_log=""
    on_testbed run emulator-validated --test layer
}

# Tests that use a driver, below the aliasing layer: plans share most memory, and any message fails a test. Random descriptions
# resolve and store undefined contents, which the layer reports.
aliased() {
    local -x VK_ADD_LAYER_PATH=$root/target/aliasing VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_aliasing
    on_lavapipe run aliased --test vulkan -- --skip random_descriptions
}

# Random recordings under synchronization validation and the aliasing layer. Most contain mistakes on purpose, so the log is not checked.
recordings() {
    local validation_log=""
    on_testbed run recordings --test recordings "$@"
}

# Validation below the emulator, the wrong order: the emulator reports it, and the commands that it records itself are still valid.
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

# The layer's own log, for all processes: a named pipe, since each process would truncate a plain file.
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

# The C interface with another compiler, and the library as released.
run_c() {
    local cargo_test=(cargo test --no-fail-fast --package tileheap-c)
    run c --test header --test programs --test abi
}

# The library as a subproject of a program's CMake project.
cpp_subdirectory() {
    need_vma
    cmake -S examples/cpp -B target/cpp-subdirectory -DTILEHEAP_FROM_SOURCE=ON -DVMA_INCLUDE_DIR="$vma" \
        -DTILEHEAP_BUILT="${CARGO_TARGET_DIR:-$root/target}/debug/deps"
    cmake --build target/cpp-subdirectory --target plan
    target/cpp-subdirectory/plan
}

# The library without features, which needs no driver.
run_pure() {
    local cargo_test=(cargo test --no-fail-fast --package tileheap --no-default-features)
    run pure --lib --test pure
}

check runs bash scripts/test-runs.sh
# Everything is built once, with one set of features.
say "Building"
cargo test --workspace --no-run </dev/null
cargo build --workspace --examples </dev/null # As programs: those with unit tests were built only as tests.
export TILEHEAP_BUILT_EXAMPLES=${CARGO_TARGET_DIR:-$root/target}/debug/examples
check cpp-built bash scripts/build-cpp.sh --built
check cpp-subdirectory cpp_subdirectory
check emulator-staged bash scripts/stage-emulator.sh --built
check capture-staged bash scripts/stage-capture.sh --built
check aliasing-staged bash scripts/stage-aliasing.sh --built
# The example programs render hundreds of frames: with --all under validation and in emulated tile memory, without layers only in the matrix.
quick=(-- --skip programs::)
drivers=(--test vulkan --test examples)
$all || $matrix || drivers+=("${quick[@]}")

if ! $matrix; then
    check wheel env PROFILE=dev bash scripts/test-wheel.sh
    on_lavapipe run machine "${quick[@]}"
fi
if $all; then
    aliased
    on_lavapipe check compare bash scripts/compare.sh --quick
fi
if $matrix; then
    on_lavapipe run programs-here --test examples -- programs::
    run_pure
    need_packages clang
    run_c
    check c-library bash scripts/stage-c.sh
    check cpp-memcheck bash scripts/memcheck-cpp.sh
    check sync-programs env TILEHEAP_PROGRAMS=100000 cargo test --quiet --package tileheap-sync --test pure agreement
    check wheel bash scripts/test-wheel.sh
    check fuzzing bash scripts/fuzz.sh 60
    check package bash scripts/package-crates.sh
    check package-without-rust bash scripts/test-package.sh
fi

check testbed need_testbed
if [ -e "$TILEHEAP_TESTBED/complete" ]; then
    newest=$TILEHEAP_TESTBED/usr/share/vulkan/icd.d/lvp_icd.json
    machines=(/usr/share/vulkan/icd.d/lvp_icd*.json)
    open_validation_log
    # Only the tests that use a driver: the others would repeat the same work.
    $matrix || on_testbed run validated "${drivers[@]}"
    if $matrix; then
        emulated hostile "$newest" adreno-830 "${machines[0]}"
        emulated adreno-840 "${machines[0]}" validation-icd "$newest"
        emulated x2-85 "${machines[0]}" generous "$newest"
    elif $all; then
        emulated adreno-830 "$newest" hostile "${machines[0]}"
    else
        emulated adreno-830 "$newest"
    fi
    judge_validation_log
    if $all; then
        own_tests_validated
        recordings
        check wrong-order wrong_order
        check programs bash scripts/test-programs.sh --built --quick
        check archive env PROFILE=dev bash scripts/package-emulator.sh
        check angle bash scripts/test-angle.sh 20
    fi
    ! $matrix || check random-frames bash scripts/random-frames.sh
    ! $matrix || TILEHEAP_RECORDINGS=12000 recordings -- agreement
    ! $matrix || check angle bash scripts/test-angle.sh
fi

status=0
summarize || status=$?
$all || $matrix || say "Left to --all: the programs of examples, the profile \`hostile\`, the emulator's own tests below validation, the wrong order of layers, third-party programs, ANGLE, the comparison; to --matrix: other profiles and drivers, releases, fuzzing."
exit "$status"
