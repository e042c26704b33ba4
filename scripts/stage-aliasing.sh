#!/usr/bin/env bash
# stage-aliasing.sh [--built] [FOLDER]: builds the aliasing layer and copies its library and manifest to FOLDER (default:
# target/aliasing), for use as a layer path:
# VK_ADD_LAYER_PATH=FOLDER VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_aliasing program
#
# --built skips the build and copies the existing library. PROFILE=layer builds with optimizations.
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
LAYER=aliasing exec bash "$(dirname "${BASH_SOURCE[0]}")/stage-emulator.sh" "$@"
