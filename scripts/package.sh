#!/usr/bin/env bash
# package.sh: packages everything for users without Rust into target/package/tileheap-VERSION-SYSTEM.tar.gz:
#
#   bin/tileheap             the command
#   emulator, capture,
#   aliasing                 the Vulkan layers
#   include, lib             libtileheap with its headers, and files for CMake and pkg-config
#   examples, shaders        programs in C and C++, with a CMakeLists.txt, and a frame as JSON
#   docs                     the guide, the JSON Schema of frames, results of tests
#
# Everything is optimized and stripped; PROFILE=dev uses cargo's last debug build. test-package.sh tests it.
#
# Examples:
#   bash scripts/package.sh && bash scripts/test-package.sh
#   PROFILE=dev bash scripts/package.sh                    # from the last debug build
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_vulkan
need_packages libvulkan-dev binutils cmake make
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=tileheap-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
folder=$root/target/package/$name
rm -rf "$folder"

if [ "${PROFILE:-}" = dev ]; then
    built=--built layers=dev library=dev command=debug
else
    built="" layers=layer library=small command=release
    cargo build --quiet --package tileheap-cli --release </dev/null
fi
# shellcheck disable=SC2086 # No argument if it is empty.
{
    PACK_RELOCATIONS=OFF PROFILE=$library bash scripts/stage-c.sh $built "$folder"
    PROFILE=$layers bash scripts/stage-emulator.sh $built "$folder/emulator"
    PROFILE=$layers bash scripts/stage-capture.sh $built "$folder/capture"
    PROFILE=$layers bash scripts/stage-aliasing.sh $built "$folder/aliasing"
}
mkdir -p "$folder/bin" "$folder/examples" "$folder/shaders"
cp "${CARGO_TARGET_DIR:-$root/target}/$command/tileheap" "$folder/bin/"
strip --strip-unneeded "$folder/bin/tileheap" "$folder"/{emulator,capture,aliasing}/*.so
cp crates/emulator/examples/tile_memory.cpp "$folder/examples/"
cp scripts/run-on-emulator.sh crates/emulator/LIMITS.md "$folder/emulator/"
cp -r examples/c examples/cpp "$folder/examples/"
cp crates/cli/tests/data/three_passes.json "$folder/examples/"
cp -r docs "$folder/"
cp shaders/fullscreen.vert shaders/plaza* "$folder/shaders/"
cp LICENSE-* "$folder/"
# The library's page is docs/c.md here. Links to other files of the sources are their text.
cp crates/c/README.md "$folder/docs/c.md"
sed -i -E 's#\]\(\.\./\.\./docs/#](#g' "$folder/docs/c.md"
sed -i -E 's#\]\(\.\./\.\./crates/c/README\.md#](../c.md#g' "$folder"/docs/guide/*.md
find "$folder/docs" "$folder/emulator" -name '*.md' -exec sed -i -E 's#\[([^]]*)\]\((\.\./)+(crates|sync|spirv|scripts|examples|src)[^)]*\)#\1#g' {} +
cp crates/c/PACKAGE.md "$folder/README.md"
tar -C "$root/target/package" --owner=0 --group=0 --sort=name -czf "$folder.tar.gz" "$name"
needs=$(objdump -p "$folder"/lib/libtileheap.so "$folder"/{emulator,capture,aliasing}/*.so "$folder/bin/tileheap")
# Packed relocations came with glibc 2.36.
libc=$(grep -o 'GLIBC_[0-9A-Z_.]*' <<<"$needs" | sed 's/ABI_DT_RELR/2.36/' | sort -Vu | tail -n 1)
say "$(du -h "$folder.tar.gz" | cut -f 1) in $folder.tar.gz, for $libc or newer"
