#!/usr/bin/env bash
# Runs a program on the test bed (see need_testbed in setup.sh): its C library, Vulkan loader, lavapipe and validation
# layers. Cargo's runner, and for child processes the one named by TILEHEAP_RUNNER.
set -euo pipefail

libraries=$TILEHEAP_TESTBED/usr/lib/x86_64-linux-gnu
export VK_LAYER_PATH=$TILEHEAP_TESTBED/usr/share/vulkan/explicit_layer.d
# The machine's own layers were not built for the test bed's libraries.
export VK_LOADER_LAYERS_DISABLE='~implicit~'
# A test may hide the driver from a child.
export VK_DRIVER_FILES=${VK_DRIVER_FILES:-$TILEHEAP_TESTBED/usr/share/vulkan/icd.d/lvp_icd.json}
export TILEHEAP_VALIDATE=1 TILEHEAP_RUNNER=$0
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$@"
