#!/usr/bin/env bash
# test-angle.sh [SECONDS | --seeds FIRST LAST | --run "SEQUENCE"]: tests the emulator with OpenGL ES programs on ANGLE's
# release libraries, for SECONDS (120). --seeds and --run draw only the given random sequences or the given sequence.
#
# Versions 147 and 149 on lavapipe, 149 on its own SwiftShader too: directed and random sequences of commands, each drawn on an ordinary
# device, on the emulator, and with ANGLE's own simulation of tile memory. Prints the number of pictures that differ, the faults that
# only the emulator shows, the emulator's cost, and the shortest sequences with each fault. Fails if 149's two known faults are not among them, or
# if a sequence that every version draws correctly is drawn incorrectly on the emulator. crates/emulator/tests/angle/sequences.cpp has the commands of a sequence.
#
# Examples:
#   bash scripts/test-angle.sh 20                          # directed sequences, then random ones for 20 seconds
#   bash scripts/test-angle.sh --seeds 0 50                # these random sequences
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

seconds=120 options=()
case ${1:-} in
    --seeds | --run) options=("$@") ;;
    *) seconds=${1:-120} ;;
esac
[ "$(uname -m)" = x86_64 ] || die "ANGLE's libraries in the package are for x86_64"

need_vulkan
need_packages libegl-dev libgles-dev ca-certificates
command -v npm >/dev/null || need_packages npm
folder=$root/target/angle
bash scripts/stage-emulator.sh

# need_angle VERSION: unpacks the libraries of the package of a headless browser.
need_angle() {
    local libraries=$folder/$1 package
    [ ! -e "$libraries/libGLESv2.so" ] || return 0
    say "Fetching ANGLE $1 (about 70 MB)"
    rm -rf "$libraries.new"
    mkdir -p "$libraries.new"
    package=$(cd "$libraries.new" && npm pack --silent "@sparticuz/chromium@$1")
    tar -xOf "$libraries.new/$package" package/bin/swiftshader.tar.br >"$libraries.new/archive"
    rm "$libraries.new/$package"
    node -e 'process.stdout.write(require("zlib").brotliDecompressSync(require("fs").readFileSync(process.argv[1])))' \
        "$libraries.new/archive" | tar -x -C "$libraries.new"
    rm "$libraries.new/archive"
    mv "$libraries.new" "$libraries"
}

need_angle 147.0.2
need_angle 149.0.0
c++ -std=c++17 -O1 -Wall -Wextra -Werror crates/emulator/tests/angle/sequences.cpp -ldl -o "$folder/sequences"

unset "${!VK_@}" "${!ANGLE_@}"
failed=0
# sequences VERSION DRIVER SHARE OPTION...: runs for a share of the time, in percent; SwiftShader writes a line about each unknown structure.
sequences() {
    local log
    log=$folder/$1.log
    say "ANGLE $1, driver $2"
    [ ${#options[@]} -gt 0 ] || set -- "$1" "$2" "$3" "${@:4}" --seconds $((seconds * $3 / 100))
    VK_DRIVER_FILES=$2 "$folder/sequences" "$folder/$1" "$root/target/emulator" "${options[@]}" "${@:4}" 2>"$log" || {
        grep -v UNSUPPORTED "$log" | tail -n 5 || true
        failed=1
    }
}
lavapipe=(/usr/share/vulkan/icd.d/lvp_icd*.json)
known=()
[ "${options[0]:-}" = --run ] || known=(--expect "draw 0; flush; blit 0.1" --expect "draw 0; flush; clear 2")
sequences 147.0.2 "${lavapipe[0]}" 30
sequences 149.0.0 "${lavapipe[0]}" 45 "${known[@]}"
sequences 149.0.0 "$folder/149.0.0/vk_swiftshader_icd.json" 25
exit "$failed"
