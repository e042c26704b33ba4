#!/usr/bin/env bash
# check-android.sh [PART...]: checks that the library and the layers build for Android and run on arm64, without an NDK and without a
# phone. Writes docs/android_check.md, a log with date and versions. PART, all by default:
#
#   build    the library and the three layers for aarch64-linux-android, standard library built from source, linked against stubs of
#            Android's libraries
#   exports  symbols that Android's loader looks up in the layers, segments aligned to 16 KiB, the Android functions they use
#   arm64    the runtime's tests and the emulator's driver-error tests, for arm64 Linux, under qemu-user with lavapipe
#
# LAYERS selects layers. Needs Debian, about 600 MB from its mirror, and 5 GB of disk in TILEHEAP_CROSS (target/cross). Run it manually; CI
# does not run it.
#
# Examples:
#   bash scripts/check-android.sh build exports            # without the tests under qemu-user
#   LAYERS=capture bash scripts/check-android.sh build     # one layer
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
all_parts=(build exports arm64)
choose_parts "$@"
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=scripts/cross.sh
source scripts/cross.sh

need_packages clang lld llvm binutils qemu-user gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
need_rust_source
target=aarch64-linux-android
read -ra layers <<<"${LAYERS:-emulator capture aliasing}"

# Libraries of Android without contents: the linker uses their names, and the device provides their functions.
make_stand_ins() {
    local name
    mkdir -p "$cross/android"
    : >"$cross/android/empty.c"
    for name in c m dl log unwind gcc; do
        clang --target=${target}26 -shared -nostdlib -fuse-ld=lld -Wl,-soname,"lib$name.so" -o "$cross/android/lib$name.so" \
            -x c "$cross/android/empty.c"
    done
    cat >"$cross/android/linker" <<LINKER
#!/bin/sh
exec clang --target=${target}26 -fuse-ld=lld -nostdlib -L'$cross/android' "\$@"
LINKER
    chmod +x "$cross/android/linker"
    export CARGO_TARGET_AARCH64_LINUX_ANDROID_LINKER=$cross/android/linker
}

build() {
    make_stand_ins
    step "the standard library, tileheap and the layers ${layers[*]} build and link" cross_cargo build "$target" --lib \
        --package tileheap "${layers[@]/#/--package=tileheap-}"
}

# exports_of LAYER: asserts the exports, the alignment and the needed libraries of a linked layer.
exports_of() {
    local layer=$1 library=$CARGO_TARGET_DIR/$target/debug/libtileheap_$1.so name symbols needed
    symbols=$(nm -D --defined-only "$library" | awk '{print $3}')
    for name in vkEnumerateInstanceLayerProperties vkEnumerateInstanceExtensionProperties vkEnumerateDeviceLayerProperties \
        vkEnumerateDeviceExtensionProperties "VK_LAYER_TILEHEAP_${layer}GetInstanceProcAddr" \
        "VK_LAYER_TILEHEAP_${layer}GetDeviceProcAddr"; do
        grep -qxF "$name" <<<"$symbols" || die "$library does not export $name"
    done
    # The last column of a segment's line is its alignment.
    readelf -lW "$library" | awk '$1 == "LOAD" {print $NF}' >"$cross/alignments"
    [ -s "$cross/alignments" ] || die "$library has no segments"
    while read -r name; do
        [ $((name % 16384)) = 0 ] || die "$library has segments aligned to $name, not to 16 KiB"
    done <"$cross/alignments"
    # The stubs have no functions, so the linker drops libraries that it does not need; the functions that the device provides are named here.
    symbols=$(nm -D --undefined-only "$library" | awk '{print $2}')
    for name in __android_log_write __system_property_get; do
        grep -qxF "$name" <<<"$symbols" || die "$library does not use $name"
    done
    needed=$(readelf -dW "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
    name=$(grep -vxE 'lib(c|m|dl|log|unwind|gcc)\.so' <<<"$needed" | grep .) && die "$library needs $name, which Android does not have"
    return 0
}

exports() {
    local layer
    for layer in "${layers[@]}"; do
        step "libtileheap_$layer.so exports what Android's loader looks up, has segments aligned to 16 KiB, and uses Android's log and properties" \
            exports_of "$layer"
    done
}

# run_arm64 PACKAGE FOLDER TEST: builds the test program of a package for arm64 Linux, and runs it.
run_arm64() {
    local library=$cross/arm64/usr/lib/aarch64-linux-gnu binary
    binary=$(cross_cargo test aarch64-unknown-linux-gnu --package "$1" --test "$3" --no-run --message-format json |
        sed -n "s/.*\"executable\":\"\([^\"]*\/$3-[^\"]*\)\".*/\1/p" | tail -n 1)
    [ -n "$binary" ] || die "cargo named no test program"
    cd "$2"
    CARGO_MANIFEST_DIR=$2 VK_DRIVER_FILES=$(echo "$cross"/arm64/usr/share/vulkan/icd.d/lvp_icd*.json) \
        QEMU_LD_PREFIX=$cross/arm64 LP_NUM_THREADS=2 nice -n 15 \
        qemu-aarch64 -E LD_LIBRARY_PATH="$library" "$binary" | tee "$cross/$3.log"
}

arm64() {
    local driver
    if [ ! -e "$cross/arm64/complete" ]; then
        bash scripts/unpack-forky.sh "$cross/arm64" mesa-vulkan-drivers:arm64 libvulkan1:arm64 libgcc-s1:arm64 libstdc++6:arm64
        ln -sfn usr/lib "$cross/arm64/lib" # Of the base system, where programs look for the loader.
    fi
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    driver=$(sed -n 's/^mesa-vulkan-drivers_\([^_]*\)_arm64.deb/\1/p' "$cross/arm64/versions")
    step "the emulator's tests of driver errors pass on arm64 lavapipe $driver" run_arm64 tileheap-emulator "$root/crates/emulator" faults
    note "  ($(sed -n 's/^test result: //p' "$cross/faults.log"))"
    step "the runtime's tests pass on arm64 lavapipe $driver" run_arm64 tileheap "$root" vulkan
    note "  ($(sed -n 's/^test result: //p' "$cross/vulkan.log"))"
}

run_parts "$root/docs/android_check.md" "Checks for Android" "${parts[@]}"
