#!/usr/bin/env bash
# test-device.sh [--built] [-o | --output FILE]: packs everything that tests a Vulkan driver into an archive for another x86-64 machine, which
# needs neither a compiler nor Rust: test programs, examples, the three layers, the command, and their data. One command runs it:
#
#   tar -xf tileheap-device-tests.tar.xz && tileheap-device-tests/run.sh
#
# run.sh --help lists its options; it ends with a table of passed, failed and skipped tests. `TILEHEAP_DEVICE` and the variables of the
# Vulkan loader select the driver. FILE is target/device/tileheap-device-tests.tar.xz unless --output names another; --built packs the last
# build.
#
# Example:
#   bash scripts/test-device.sh --output /tmp/tests.tar.xz
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

build=true output=$root/target/device/tileheap-device-tests.tar.xz
while [ $# -gt 0 ]; do
    case $1 in
        --built) build=false ;;
        --output | -o)
            [ $# -gt 1 ] || usage_error "--output needs a file"
            output=$(realpath -m "$2")
            shift
            ;;
    esac
    shift
done
max_bytes=$((40 << 20))

need_vulkan
need_packages binutils xz-utils glslang-tools libvulkan1
need_rust
if $build; then
    say "Building the test programs and the examples"
    cargo test --workspace --no-run </dev/null
    cargo build --workspace --examples --bins </dev/null
fi
built=${CARGO_TARGET_DIR:-$root/target}/debug
name=tileheap-device-tests
folder=$root/target/device/$name
rm -rf "$folder"
mkdir -p "$folder"/{tests,examples,bin,lib,tree}

# The programs that call a driver, each with its package: Cargo adds hashes to their names.
say "Packing"
cargo test --workspace --no-run --message-format=json 2>/dev/null </dev/null |
    python3 -c '
import json, os, sys
for line in sys.stdin:
    message = json.loads(line) if line.startswith("{") else {}
    target = message.get("target", {})
    if message.get("executable") and "test" in target.get("kind", []):
        package = os.path.dirname(message["manifest_path"])
        print(target["name"], os.path.relpath(package), message["executable"])
' >"$folder/programs.txt"
tests=(vulkan examples layer faults programs)
while read -r test package program; do
    case " ${tests[*]} " in
        *" $test "*) ;;
        *) continue ;;
    esac
    [ "$package" != crates/c ] || [ "$test" != programs ] || continue # It compiles C.
    # A file per package: tests/vulkan@crates_tensor
    strip -o "$folder/tests/$test@${package//\//_}" "$program"
done <"$folder/programs.txt"
rm "$folder/programs.txt"
for example in examples/*/main.rs; do
    example=$(basename "$(dirname "$example")")
    [ ! -x "$built/examples/$example" ] || strip -o "$folder/examples/$example" "$built/examples/$example"
done
strip -o "$folder/bin/tileheap" "$built/tileheap"
cp "$(command -v glslangValidator)" "$folder/bin/"
for library in libvulkan.so.1 libstdc++.so.6; do
    cp -L "$(ldconfig -p | awk -v name="$library" '$1 == name && /x86-64/ {print $NF; exit}')" "$folder/lib/"
done

git archive HEAD -- Cargo.lock Cargo.toml tests examples shaders crates scripts | tar -C "$folder/tree" -xf -
for layer in emulator capture aliasing; do
    LAYER=$layer bash scripts/stage-emulator.sh --built "$folder/tree/target/$layer"
    strip --strip-unneeded "$folder/tree/target/$layer"/*.so
done
cp scripts/run-device-tests.sh "$folder/run.sh"
git log -1 --format='%H %cs' >"$folder/version"

mkdir -p "$(dirname "$output")"
tar -C "$root/target/device" --owner=0 --group=0 -cf - "$name" | xz -T0 -6 >"$output"
rm -rf "$folder"
bytes=$(stat -c %s "$output")
[ "$bytes" -le $max_bytes ] || die "$output has $bytes bytes, but the limit is $max_bytes"
say "$((bytes >> 20)) MiB in ${output#"$root"/}. On the other machine: tar -xf $(basename "$output") && $name/run.sh"
