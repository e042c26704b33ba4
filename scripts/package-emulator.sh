#!/usr/bin/env bash
# package-emulator.sh: packages the emulator layer for users without Rust into target/package/tileheap-emulator-VERSION-SYSTEM.tar.gz, which
# contains the library (optimized, stripped), its manifest, a script that runs programs with it, documents and licenses. Then
# unpacks it elsewhere, and runs a C++ program with it.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_vulkan
need_packages libvulkan-dev binutils
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=tileheap-emulator-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
folder=$root/target/package/$name
rm -rf "$folder"
PROFILE=${PROFILE:-layer} bash scripts/stage-emulator.sh "$folder"
strip --strip-unneeded "$folder/libVkLayer_tileheap_emulator.so"
cp scripts/run-on-emulator.sh crates/emulator/LICENSE-* crates/emulator/LIMITS.md crates/emulator/examples/tile_memory.cpp "$folder"
# In the archive, all documents are in one folder.
for page in crates/emulator/README.md docs/guide/emulator.md docs/guide/test_bots.md; do
    sed 's|](\.\./\.\./docs/guide/|](|g' "$page" >"$folder/$(basename "$page")"
done
tar -C "$root/target/package" --owner=0 --group=0 -czf "$folder.tar.gz" "$name"

elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
tar -C "$elsewhere" -xzf "$folder.tar.gz"
c++ -std=c++17 "$elsewhere/$name/tile_memory.cpp" -lvulkan -o "$elsewhere/program"
unset "${!VK_@}"
drivers=(/usr/share/vulkan/icd.d/lvp_icd*.json)
export VK_DRIVER_FILES=${drivers[0]} VK_TILEHEAP_EMULATOR_PROFILE=generous
cd "$elsewhere"
said=$(VK_ADD_LAYER_PATH=$elsewhere/$name VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator ./program)
grep -q 'read back: 0x12345678' <<<"$said" || die "unpacked in $elsewhere, it does not work: $said"
"$name/run-on-emulator.sh" ./program >/dev/null || die "run-on-emulator.sh fails where nothing is wrong"
status=0
said=$("$name/run-on-emulator.sh" --log log.jsonl ./program --forget 2>&1) || status=$?
if [ "$status" != 3 ] || ! grep -q 'TILEHEAP-transfer-unbound: 1' <<<"$said" || [ ! -s log.jsonl ]; then
    die "run-on-emulator.sh exited with $status: $said"
fi
libc=$(objdump -T "$name/libVkLayer_tileheap_emulator.so" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
say "$(du -h "$folder.tar.gz" | cut -f 1) in $folder.tar.gz, for $libc or newer"
