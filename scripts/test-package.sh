#!/usr/bin/env bash
# test-package.sh [ARCHIVE]: installs a Debian without Rust in a folder, unpacks an archive of package.sh there (default: builds one), and follows
# its README: builds the examples with CMake, and runs them, also on emulated tile memory. Also tests pkg-config and the static library. Needs
# root, for chroot.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

archive=${1:-}
if [ -z "$archive" ]; then
    rm -f "$root"/target/package/tileheap-[0-9]*.tar.gz
    bash scripts/package.sh
    archives=("$root"/target/package/tileheap-[0-9]*.tar.gz)
    archive=${archives[0]}
fi
need_packages mmdebstrap
mirror=$(bash scripts/debian-mirror.sh)
tree=$root/target/package/root
as_root rm -rf --one-file-system "$tree"
say "Installing Debian 13 in $tree (about 150 MB to fetch)"
as_root mmdebstrap --quiet --variant=minbase --include=cmake,make,g++,pkg-config,glslang-tools,libvulkan-dev,libvulkan-memory-allocator-dev,mesa-vulkan-drivers \
    trixie "$tree" "$mirror"
as_root mkdir "$tree/tileheap"
as_root mount -t proc proc "$tree/proc"
trap 'as_root umount "$tree/proc"' EXIT
as_root tar -C "$tree/tileheap" --strip-components=1 -xzf "$archive"
# Every file that the README names in its table exists, and every link between the documents has its target.
tar -C "$root/target/package" -xzf "$archive" && python3 scripts/check-links.py "$root/target/package/$(basename "$archive" .tar.gz)"
# The commands of the README, and of pkg-config and the static library.
seconds=$SECONDS
# shellcheck disable=SC2016 # For the shell there.
as_root chroot "$tree" sh -euxc '
    cd /tileheap
    if command -v cargo; then exit 1; fi
    cmake -S examples/cpp -B build
    cmake --build build -j 2
    bin/tileheap plan examples/three_passes.json --profile adreno-830 >/dev/null
    build/tables --toggle --resize 641x359 --texels ordinary
    bin/tileheap run -- build/tables --toggle --resize 641x359 --texels tile
    cmp ordinary tile
    bin/tileheap run -- build/runtime --toggle --resize 641x359 --texels tile
    cmp ordinary tile
    bin/tileheap run --layer aliasing -- build/guide_2
    build/plan | grep -q tile
    export PKG_CONFIG_PATH=/tileheap/lib/pkgconfig
    cc examples/c/plan.c $(pkg-config --cflags --libs tileheap) -Wl,-rpath,/tileheap/lib -o plan-shared
    cc examples/c/plan.c $(pkg-config --cflags tileheap) lib/libtileheap.a -lpthread -ldl -lm -lgcc_s -o plan-static
    [ "$(./plan-shared)" = "$(build/plan)" ]
    [ "$(./plan-static)" = "$(build/plan)" ]
    bin/tileheap --version
'
say "The README works in a Debian without Rust: $((SECONDS - seconds)) s"
