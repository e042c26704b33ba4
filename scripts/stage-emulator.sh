#!/usr/bin/env bash
# stage-emulator.sh [FOLDER]: builds the emulator and puts its library and manifest into FOLDER (target/emulator), which then
# is a layer path: VK_ADD_LAYER_PATH=FOLDER VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator program
#
# PROFILE=release builds what is worth measuring.
set -euo pipefail
folder=${1:+$(realpath -m "$1")}
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
folder=${folder:-$root/target/emulator}
need_rust

case ${PROFILE:-dev} in
    dev) built=target/debug ;;
    *) built=target/$PROFILE ;;
esac
cargo build --quiet --package tileheap-emulator --profile "${PROFILE:-dev}"
mkdir -p "$folder"
# Renamed into place: a program that runs keeps the library it loaded.
cp "${CARGO_TARGET_DIR:-$root/target}/${built#target/}/libtileheap_emulator.so" "$folder/.library.$$"
mv -f "$folder/.library.$$" "$folder/libtileheap_emulator.so"
cp crates/emulator/VkLayer_tileheap_emulator.json "$folder/"
