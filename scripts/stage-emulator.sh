#!/usr/bin/env bash
# stage-emulator.sh [--built] [FOLDER]: builds the emulator and copies its library and manifest to FOLDER
# (target/emulator), which then is a layer path: VK_ADD_LAYER_PATH=FOLDER VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator program
#
# --built copies what was built last. PROFILE=layer builds it optimized.
set -euo pipefail
build=true
case ${1:-} in
    --built) build=false && shift ;;
esac
folder=${1:+$(realpath -m "$1")}
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
layer=${LAYER:-emulator} # stage-capture.sh and stage-aliasing.sh name the others
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
# Renamed into place: a running program keeps the library that it loaded.
# Of whatever was built last, a program or its tests.
cp "${CARGO_TARGET_DIR:-$root/target}/$built/deps/libtileheap_$layer.so" "$folder/.library.$$"
mv -f "$folder/.library.$$" "$folder/libVkLayer_tileheap_$layer.so"
cp "crates/$layer/VkLayer_tileheap_$layer.json" "$folder/"
