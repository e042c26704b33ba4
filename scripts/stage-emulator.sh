#!/usr/bin/env bash
# stage-emulator.sh [--built] [FOLDER]: builds the emulator and copies its library and manifest to FOLDER (default:
# target/emulator), for use as a layer path: VK_ADD_LAYER_PATH=FOLDER VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator program
#
# --built skips the build and copies the existing library. PROFILE=layer builds with optimizations.
set -euo pipefail
build=true
case ${1:-} in
    --built) build=false && shift ;;
esac
folder=${1:+$(realpath -m -- "$1")}
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
layer=${LAYER:-emulator} # stage-capture.sh and stage-aliasing.sh select the others
folder=${folder:-$root/target/$layer}

case ${PROFILE:-dev} in
    dev) built=debug ;;
    *) built=$PROFILE ;;
esac
if $build; then
    need_rust
    cargo build --quiet --package "tileheap-$layer" --profile "${PROFILE:-dev}"
fi
mkdir -p "$folder"
# Renamed into place: a running program keeps the library that it loaded. The library of the last build, of a
# program or of its tests.
cp "${CARGO_TARGET_DIR:-$root/target}/$built/deps/libtileheap_$layer.so" "$folder/.library.$$"
mv -f "$folder/.library.$$" "$folder/libVkLayer_tileheap_$layer.so"
cp "crates/$layer/VkLayer_tileheap_$layer.json" "$folder/"
