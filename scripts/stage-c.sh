#!/usr/bin/env bash
# stage-c.sh [--built] [FOLDER]: builds libtileheap with CMake (crates/c/CMakeLists.txt) and installs it in FOLDER (target/c):
#
#   FOLDER/include/tileheap.h, tileheap.hpp, tileheap_requirements.h, tileheap_vulkan.h
#   FOLDER/lib/libtileheap.so, libtileheap.so.0.N, libtileheap.a
#   FOLDER/lib/cmake/tileheap, FOLDER/lib/pkgconfig/tileheap.pc
#
#   cc examples/c/plan.c -I FOLDER/include -L FOLDER/lib -ltileheap -Wl,-rpath,FOLDER/lib -o plan
#
# --built installs cargo's last build. The library is optimized for size and stripped; PROFILE=dev builds it for debugging. PACK_RELOCATIONS=OFF
# builds one that loads with glibc before 2.36.
#
# Example:
#   bash scripts/stage-c.sh --built /opt/tileheap
set -euo pipefail
build=true
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
case ${1:-} in
    --built) build=false && shift ;;
esac
folder=${1:+$(realpath -m "$1")}
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
folder=${folder:-$root/target/c}
need_compilers
need_packages cmake make

profile=${PROFILE:-small}
packed=${PACK_RELOCATIONS:-ON}
options=(-DTILEHEAP_PROFILE="$profile" -DTILEHEAP_PACK_RELOCATIONS="$packed" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$folder")
if $build; then
    options+=(-DTILEHEAP_BUILT=)
else
    options+=(-DTILEHEAP_BUILT="${CARGO_TARGET_DIR:-$root/target}/${profile/dev/debug}/deps")
fi
tree=$root/target/cmake/c-$profile
mkdir -p "$root/target/cmake"
cmake -S crates/c -B "$tree" "${options[@]}" >"$root/target/cmake/c-$profile.log"
cmake --build "$tree"
cmake --install "$tree" >>"$root/target/cmake/c-$profile.log"
if [ "$profile" = small ]; then
    library=$(realpath "$folder/lib/libtileheap.so")
    size=$(stat -c %s "$library")
    say "$library: $size bytes"
    limit=3000000 # Bytes; relocations that are not packed take about 115,000.
    [ "$packed" = OFF ] || limit=2885000
    [ "$size" -lt $limit ] || die "$library has $size bytes, but the limit is $limit"
fi
