#!/usr/bin/env bash
# run-on-emulator.sh [--log FILE] PROGRAM [ARGUMENT...]: runs a program on the emulator; exits with 3 if an error was reported, else
# with the program's own status. `tileheap run` does more; this script needs only the layer, next to this file or in target/emulator.
#
# Each kind of message goes to standard error with its count, and the first message of each in full; FILE gets all of them at
# the end, as one JSON document per line. VK_DRIVER_FILES selects the driver, VK_TILEHEAP_EMULATOR_PROFILE the emulated device.
set -uo pipefail
case ${1:-} in
    -h | --help)
        sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
        exit
        ;;
    --log) ;;
    -*)
        echo "error: unknown option \`$1\`; see --help" >&2
        exit 2
        ;;
esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ -e "$here/libVkLayer_tileheap_emulator.so" ] || here=$here/../target/emulator
if [ ! -e "$here/libVkLayer_tileheap_emulator.so" ]; then
    echo "error: no libVkLayer_tileheap_emulator.so beside this file or in $here" >&2
    exit 2
fi
log=""
if [ "${1:-}" = --log ]; then
    if [ $# = 1 ]; then
        echo "error: --log needs a file" >&2
        exit 2
    fi
    log=$(realpath -m "$2")
    shift 2
fi
if [ $# = 0 ]; then
    echo "error: no program; run-on-emulator.sh [--log FILE] PROGRAM [ARGUMENT...]" >&2
    exit 2
fi
kept=$log
[ -z "$kept" ] || : >"$kept" || exit 2
# A private file: another run may write to the same FILE.
log=$(mktemp) || exit 2
# The loader reads VK_ADD_LAYER_PATH only if VK_LAYER_PATH is not set. Validation, if named, stays above.
path=VK_ADD_LAYER_PATH
[ -z "${VK_LAYER_PATH:-}" ] || path=VK_LAYER_PATH
status=0
env "$path=${!path:+${!path}:}$here" VK_INSTANCE_LAYERS="${VK_INSTANCE_LAYERS:+$VK_INSTANCE_LAYERS:}VK_LAYER_TILEHEAP_emulator" \
    VK_TILEHEAP_EMULATOR_MESSAGE_LOG="$log" "$@" || status=$?
grep -q '"usesTileMemory":true' "$log" || echo "run-on-emulator: the program created no device with tile memory" >&2
sed -n '/"event":"message"/s/.*"id":"\([^"]*\)".*/\1/p' "$log" | sort | uniq -c | while read -r times id; do
    echo "run-on-emulator: $id: $times"
    text=$(grep -m 1 "\"id\":\"$id\"" "$log" | sed 's/.*"text":"\(.*\)"}$/\1/')
    printf '%b\n' "${text//\\\"/\"}"
done >&2
if grep -q '"event":"message".*"severity":"error"' "$log"; then status=3; fi
[ -z "$kept" ] || cp "$log" "$kept"
rm -f "$log"
exit "$status"
