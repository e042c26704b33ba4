#!/usr/bin/env bash
# check-windows.sh [PART...]: checks that the command, the library and the layers build for Windows, without Windows. Writes
# docs/windows_check.md, a log with date and versions. PART, all by default:
#
#   check    `cargo check` of the command, the library and the three layers; faster than the build
#   build    the command, the library and the three layers for x86_64-pc-windows-gnu, standard library built from source, linked by
#            mingw-w64
#   exports  the functions that Vulkan loaders look up in the layers' DLLs
#   wine     the command plans a frame under Wine, with the same result as on Linux; the unit tests of five crates and
#            the tests `pure` pass there
#   package  a folder with the command, the layers' DLLs and their manifests: target/windows
#
# LAYERS selects layers. Needs Debian, about 400 MB from its mirror, and 5 GB of disk in TILEHEAP_CROSS (target/cross). Run it manually; CI
# does not run it.
#
# Examples:
#   bash scripts/check-windows.sh check                    # the fastest part
#   bash scripts/check-windows.sh build package            # target/windows, to copy to a Windows machine
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
all_parts=(check build exports wine package)
choose_parts "$@"
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=scripts/cross.sh
source scripts/cross.sh

need_packages gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix binutils-mingw-w64-x86-64 wine wine64
need_rust_source
target=x86_64-pc-windows-gnu
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc-posix
export CARGO_TARGET_DIR=$cross/windows
built=$CARGO_TARGET_DIR/$target/debug
read -ra layers <<<"${LAYERS:-emulator capture aliasing}"

check() {
    step "the library and the layers ${layers[*]} pass \`cargo check\`" cross_cargo check "$target" --lib \
        --package tileheap "${layers[@]/#/--package=tileheap-}"
    step "the command passes \`cargo check\`" cross_cargo check "$target" --package tileheap-cli --no-default-features
}

build() {
    step "the standard library, tileheap and the layers ${layers[*]} build and link" cross_cargo build "$target" --lib \
        --package tileheap "${layers[@]/#/--package=tileheap-}"
    step "the command builds and links" cross_cargo build "$target" --package tileheap-cli --no-default-features
}

# exports_of LAYER: asserts the exports of a layer's DLL.
exports_of() {
    local layer=$1 library=$built/tileheap_$1.dll symbols name
    symbols=$(x86_64-w64-mingw32-objdump -p "$library" | awk '/\[Ordinal\/Name Pointer\] Table/ {on = 1} on {print $NF}')
    for name in vkNegotiateLoaderLayerInterfaceVersion "VK_LAYER_TILEHEAP_${layer}GetInstanceProcAddr" \
        "VK_LAYER_TILEHEAP_${layer}GetDeviceProcAddr"; do
        grep -qxF "$name" <<<"$symbols" || die "$library does not export $name"
    done
}

exports() {
    local layer
    for layer in "${layers[@]}"; do
        step "tileheap_$layer.dll exports what loaders look up" exports_of "$layer"
    done
}

# Runs a Windows program, without a display and without input.
on_windows() {
    WINEPREFIX=$cross/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' nice -n 15 wine "$@" </dev/null
}

plan_alike() {
    local frame=crates/cli/tests/data/three_passes.json
    on_windows "$built/tileheap.exe" plan "$frame" --profile adreno-830 --json | tr -d '\r' >"$cross/windows.json"
    [ -s "$cross/windows.json" ] || die "the command printed nothing"
    local command=${TILEHEAP_COMMAND:-$root/target/debug/tileheap}
    [ -e "$command" ] || die "$command does not exist: build it with cargo, or name another one in TILEHEAP_COMMAND"
    "$command" plan "$frame" --profile adreno-830 --json >"$cross/linux.json"
    cmp "$cross/windows.json" "$cross/linux.json" || die "the plans differ"
}

# run_tests ARGUMENT...: builds one program of tests per `--package=NAME`, with these arguments of cargo, and runs each in its package's
# folder. All run, even if one fails.
run_tests() {
    local packages folder program programs failed=()
    packages=$(printf '%s\n' "$@" | grep -c '^--package=')
    programs=$(cross_cargo test "$target" --no-run --message-format json "$@" |
        sed -n 's/.*"manifest_path":"\([^"]*\)\/Cargo.toml".*"executable":"\([^"]*\.exe\)".*/\1 \2/p')
    [ "$(wc -l <<<"$programs")" = "$packages" ] || die "not one program of tests per package: $programs"
    while read -r folder program; do
        (cd "$folder" && on_windows "$program" --quiet) || failed+=("$program")
    done <<<"$programs"
    [ ${#failed[@]} = 0 ] || die "failed: ${failed[*]}"
}

# Wine 8 has no bcryptprimitives.dll, from which Rust's standard library gets random numbers: builds one for the programs' folders.
need_random_numbers() {
    local folder
    cat >"$cross/random.c" <<'END'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, (ULONG)size); }
END
    mkdir -p "$built/deps"
    for folder in "$built" "$built/deps"; do
        x86_64-w64-mingw32-gcc-posix -shared -o "$folder/bcryptprimitives.dll" "$cross/random.c" -ladvapi32
    done
}

# The tests contain a compiler of shaders in C++: copies the libraries of the C++ compiler beside them.
need_cpp_libraries() {
    local library
    for library in libstdc++-6.dll libgcc_s_seh-1.dll libwinpthread-1.dll; do
        cp "$(x86_64-w64-mingw32-g++-posix -print-file-name="$library")" "$built/deps/"
    done
}

wine() {
    need_random_numbers
    need_cpp_libraries
    local units=(units json pack device layer) pure=(shaders pack spirv sync tensor textures)
    step "tileheap.exe plans a frame under Wine as the command does on Linux" plan_alike
    step "the unit tests of ${units[*]} pass under Wine" run_tests --lib "${units[@]/#/--package=tileheap-}"
    # The installed compiler of shaders is a program for Linux, so another one is built in.
    step "the tests \`pure\` of tileheap, ${pure[*]} pass under Wine" run_tests --test=pure --package=tileheap \
        "${pure[@]/#/--package=tileheap-}" --features=tileheap-shaders/bundled
}

package() {
    local layer folder=$root/target/windows
    mkdir -p "$folder"
    cp "$built/tileheap.exe" "$folder/"
    for layer in "${layers[@]}"; do
        cp "$built/tileheap_$layer.dll" "$folder/VkLayer_tileheap_$layer.dll"
        # In a manifest, a backslash in a path is doubled.
        sed "s|\"\./libVkLayer_tileheap_$layer\.so\"|\".\\\\\\\\VkLayer_tileheap_$layer.dll\"|" \
            "crates/$layer/VkLayer_tileheap_$layer.json" >"$folder/VkLayer_tileheap_$layer.json"
        grep -qF "\".\\\\VkLayer_tileheap_$layer.dll\"" "$folder/VkLayer_tileheap_$layer.json" ||
            die "the manifest of the layer $layer does not name its DLL"
    done
    note "- target/windows has the command, the layers and manifests that name the DLLs: yes"
}

run_parts "$root/docs/windows_check.md" "Checks for Windows" "${parts[@]}"
