#!/usr/bin/env bash
# build-cpp.sh [--built]: builds the programs of examples/cpp with CMake in target/cpp, with all warnings as errors, as a user of an
# installed libtileheap would. --built uses the library from cargo's last debug build.
#
# CXX names the compiler. CPP_FOLDER (target/cpp) and CPP_FLAGS are the folder and additional compiler options, such as sanitizers.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
folder=${CPP_FOLDER:-$root/target/cpp}
need_compilers
need_packages cmake make libvulkan-dev
need_vma

PROFILE=dev bash scripts/stage-c.sh "$@" "$folder/installed"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Werror"
cmake -S examples/cpp -B "$folder" -DCMAKE_PREFIX_PATH="$folder/installed" -DVMA_INCLUDE_DIR="$vma" -DCMAKE_BUILD_TYPE=Debug -DTILEHEAP_TESTS=ON \
    -DCMAKE_C_FLAGS="$warnings ${CPP_FLAGS:-}" -DCMAKE_CXX_FLAGS="$warnings ${CPP_FLAGS:-}"
cmake --build "$folder" --parallel
