#!/usr/bin/env bash
# run-in-testbed.sh PROGRAM [ARGUMENT...]: runs a program on the test bed (need_testbed in setup.sh): its C library, Vulkan loader, lavapipe and
# validation layers. Cargo uses it as its runner; tests that start other programs prefix them with TILEHEAP_RUNNER.
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"

tree=${TILEHEAP_TESTBED:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/target/testbed/forky}
if [ ! -e "$tree/complete" ]; then
    # shellcheck source=scripts/setup.sh
    (TILEHEAP_TESTBED=$tree && source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" && need_testbed) >&2
fi
libraries=$tree/usr/lib/x86_64-linux-gnu
# A test may hide the driver from a child process.
export VK_DRIVER_FILES=${VK_DRIVER_FILES:-$tree/usr/share/vulkan/icd.d/lvp_icd.json}
export VK_LAYER_PATH=$tree/usr/share/vulkan/explicit_layer.d
unset VK_ADD_LAYER_PATH
export VK_IMPLICIT_LAYER_PATH=$tree # Has none: the machine's own layers are not built for these libraries.
export TILEHEAP_RUNNER=$0

# Validation in every program, even if it does not enable it, and independent of its use of the messages: all of them
# go to a log that test.sh checks. Includes information, with which the layer reports at every start what it checks.
export TILEHEAP_VALIDATE=1
export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation VK_LAYER_VALIDATE_SYNC=1
# Layers 1.4.363 wrap handles and do not unwrap the memory in a VkTileMemoryBindInfoQCOM that a secondary command buffer inherits:
# layers and drivers below get a number that is not a handle.
export VK_LAYER_UNIQUE_HANDLES=0
# The folder that stage-emulator.sh filled: the emulator below validation, which then sees tile memory.
if [ -n "${TILEHEAP_EMULATOR:-}" ]; then
    export VK_LAYER_PATH=$VK_LAYER_PATH:$TILEHEAP_EMULATOR
    export VK_INSTANCE_LAYERS=$VK_INSTANCE_LAYERS:VK_LAYER_TILEHEAP_emulator
fi
if [ -n "${TILEHEAP_VALIDATION_LOG:-}" ]; then
    export VK_LAYER_LOG_FILENAME=$TILEHEAP_VALIDATION_LOG
    export VK_LAYER_DEBUG_ACTION=VK_DBG_LAYER_ACTION_LOG_MSG VK_LAYER_REPORT_FLAGS=error,warn,info
fi
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$@"
