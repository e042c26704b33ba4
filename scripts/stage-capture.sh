#!/usr/bin/env bash
# stage-capture.sh [--built] [FOLDER]: builds the capture layer and copies its library and manifest to FOLDER (default: target/capture),
# for use as a layer path:
# VK_ADD_LAYER_PATH=FOLDER VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_capture VK_TILEHEAP_CAPTURE_FOLDER=frames program
#
# --built skips the build and copies the existing library. PROFILE=layer builds with optimizations.
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
LAYER=capture exec bash "$(dirname "${BASH_SOURCE[0]}")/stage-emulator.sh" "$@"
