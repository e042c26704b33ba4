#!/usr/bin/env bash
# run.sh [--quick] [--only RUN]...: tests the Vulkan driver of this machine, and prints a table of passed, failed and skipped tests, with
# the reason for each skipped one. Exits with 1 if a test failed. Logs are in the folder `logs` next to this file.
#
#   plain       the library, tensors, textures, and the examples' pictures: planned and unplanned frames have equal pixels
#   adreno-830  the same on the emulator with this profile, in emulated tile memory
#   hostile     the same with the profile `hostile`
#   aliased     the library under the aliasing layer; a test fails if the layer reports a message
#   layers      the tests of the emulator and of capture
#   validated   the library under core and synchronization validation, if VK_LAYER_KHRONOS_validation is installed
#
# --quick skips the examples' pictures; --only RUN runs only RUN. TILEHEAP_DEVICE (part of a name, or an index) and
# VK_DRIVER_FILES select the device. scripts/test-device.sh makes the archive that this file belongs to.
#
# Examples:
#   ./run.sh --quick --only adreno-830
#   TILEHEAP_DEVICE=llvmpipe ./run.sh --quick
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$root"

say() { printf '\n==> %s\n' "$*"; }

usage() { sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

all_runs=(plain adreno-830 hostile aliased layers validated)
runs=() quick=()
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=(--skip programs::) ;;
        --only)
            case " ${all_runs[*]} " in
                *" ${2:-} "*) runs+=("$2") ;;
                *)
                    echo "error: --only needs one of: ${all_runs[*]}" >&2
                    exit 2
                    ;;
            esac
            shift
            ;;
        -h | --help)
            usage
            exit
            ;;
        # Called in place of Cargo: runs the tests that some options select, see `programs`.
        --cargo-test)
            shift
            break
            ;;
        *)
            echo "error: unknown option \`$1\`; see --help" >&2
            exit 2
            ;;
    esac
    shift
done
if [ ! -d tests ] || [ ! -d tree ]; then
    echo "error: this script belongs to the archive that scripts/test-device.sh makes" >&2
    exit 2
fi
[ ${#runs[@]} -gt 0 ] || runs=("${all_runs[@]}")

# Replaces `cargo test`: --test NAME... [-- OPTION...] runs the packed programs of these names, and prints the output of Cargo. A
# program whose tests create many instances runs each test in a separate process: not every driver survives hundreds of instances in
# one.
programs() {
    local names=() program package status=0 test
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        [ "$1" = --test ] || names+=("$1")
        shift
    done
    [ $# = 0 ] || shift
    for name in "${names[@]}"; do
        for program in "$root/tests/$name"@*; do
            package=${program##*@}
            export CARGO_MANIFEST_DIR=$root/tree/${package//_/\/}
            local failed=false
            if [ "$name" = layer ] || [ "$name" = faults ]; then
                while read -r test; do
                    one "$program" --exact "$test" || failed=true
                done < <("$program" --list --format terse "$@" | sed -n 's/: test$//p')
            else
                one "$program" "$@" || failed=true
            fi
            if $failed; then
                echo "error: test failed, to rerun pass \`--test $name\`"
                status=101
            fi
        done
    done
    return "$status"
}

one() {
    echo "     Running $1"
    timeout --kill-after=10 900 "$@"
}

if [ $# -gt 0 ]; then
    programs "$@"
    exit
fi

export TILEHEAP_WORKSPACE=$root/tree TILEHEAP_BUILT_EXAMPLES=$root/examples
unset TILEHEAP_VALIDATE TILEHEAP_EMULATOR TILEHEAP_ALIASING TILEHEAP_RUNNER CARGO_TARGET_DIR
# The machine's own libraries take precedence.
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}
for library in libvulkan.so.1 libstdc++.so.6; do
    if ! { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -q "$library"; then
        mkdir -p lib/used
        cp "lib/$library" lib/used/
        LD_LIBRARY_PATH=$LD_LIBRARY_PATH$root/lib/used
    fi
done
command -v glslangValidator >/dev/null || export GLSLANG=$root/bin/glslangValidator

logs=$root/logs unstable_tests=$root/tree/tests/unstable.md
rm -rf "$logs"
mkdir -p "$logs"
# shellcheck source=scripts/runs.sh
source tree/scripts/runs.sh
ln -sfn tree/scripts scripts # It reads one of its scripts from there.
cargo_test=(bash "$root/run.sh" --cargo-test)

say "tileheap $(cut -d ' ' -f 1 version) on"
bin/tileheap device | tee "$logs/device.log" | head -n 5

# The other tests of `examples` read the checkout and use no driver.
drivers=(--test vulkan --test examples -- --skip guide:: --skip links:: --skip messages:: --skip scripts:: "${quick[@]}")

on_emulator() {
    local -x TILEHEAP_EMULATOR=$root/tree/target/emulator TILEHEAP_TEST_FOLDER=$1
    local -x VK_ADD_LAYER_PATH=$root/tree/target/emulator VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator
    local -x VK_TILEHEAP_EMULATOR_PROFILE=$1 VK_TILEHEAP_EMULATOR_REPORT=all
    run "$1" "${drivers[@]}"
}

aliased() {
    local -x VK_ADD_LAYER_PATH=$root/tree/target/aliasing VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_aliasing
    run aliased --test vulkan -- --skip random_descriptions
}

validated() {
    local folder found=""
    for folder in /usr/share/vulkan /usr/local/share/vulkan /etc/vulkan "$HOME/.local/share/vulkan"; do
        [ ! -e "$folder/explicit_layer.d/VkLayer_khronos_validation.json" ] || found=yes
    done
    [ -z "${VK_LAYER_PATH:-}${VK_ADD_LAYER_PATH:-}" ] || found=yes
    if [ -z "$found" ]; then
        leave_out validated "every test" "VK_LAYER_KHRONOS_validation is not installed"
        return
    fi
    local -x TILEHEAP_VALIDATE=1 VK_LAYER_VALIDATE_SYNC=1
    run validated --test vulkan
}

for name in "${runs[@]}"; do
    case $name in
        plain) run plain "${drivers[@]}" ;;
        adreno-830 | hostile) on_emulator "$name" ;;
        aliased) aliased ;;
        layers)
            run layers --test layer --test faults --test programs -- --skip a_thousand
            leave_out layers "tests of 1,000 devices" "not every driver survives that many instances in one process"
            ;;
        validated) validated ;;
    esac
done
summarize
