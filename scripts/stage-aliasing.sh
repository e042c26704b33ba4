#!/usr/bin/env bash
# stage-aliasing.sh [--built] [FOLDER]: builds the aliasing layer and copies its library and manifest to FOLDER (target/aliasing), which then
# is a layer path:
# VK_ADD_LAYER_PATH=FOLDER VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_aliasing program
#
# --built copies what was built last. PROFILE=layer builds it optimized.
set -euo pipefail
LAYER=aliasing exec bash "$(dirname "${BASH_SOURCE[0]}")/stage-emulator.sh" "$@"
