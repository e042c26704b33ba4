#!/usr/bin/env bash
# Machine setup for .ci/run and for most scripts in this folder. Source it, then call the functions that you need. Steps
# that are already done are skipped, so that a second run works without a network. A script that sources it prints its help if its first
# argument is `--help`, and rejects unknown options.

# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit

say() { printf '\n==> %s\n' "$*"; }

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "this needs root, but sudo is not installed: $*"
    fi
}

# apt-get, which waits up to ten minutes while another process holds a lock of the package system.
apt() {
    local deadline=$((SECONDS + 600)) log status
    log=$(mktemp)
    while true; do
        status=0
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 "$@" </dev/null >"$log" 2>&1 || status=$?
        if [ "$status" = 0 ] || ! grep -qE 'Could not get lock|Unable to lock|is another process using it' "$log" ||
            [ "$SECONDS" -ge "$deadline" ]; then
            break
        fi
        sleep 2
    done
    [ "$status" = 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

# Installs the named Debian packages that are missing.
need_packages() {
    local name missing=()
    if ! command -v dpkg-query >/dev/null; then
        say "No Debian packages on this machine: make sure that it has what these hold: $*"
        return
    fi
    for name in "$@"; do
        [ "$(dpkg-query -Wf '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "Installing ${missing[*]}"
    # The machine's package lists may be older than its mirror. A source that is down may not be needed.
    apt install -qq -y --no-install-recommends "${missing[@]}" 2>/dev/null && return
    apt update -qq || true
    apt install -qq -y --no-install-recommends "${missing[@]}"
}

# Puts a recent enough Rust on the path: the machine's, else rustup's, else one unpacked only for this checkout.
need_rust() {
    local wanted
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    PATH=$PATH:$HOME/.cargo/bin
    rust_is_at_least "$wanted" && return
    if command -v rustup >/dev/null; then
        say "Installing Rust $wanted"
        rustup toolchain install "$wanted" --profile minimal --component clippy,rustfmt
        export RUSTUP_TOOLCHAIN=$wanted
        return
    fi
    if [ "$(uname -m)" != x86_64 ] || ! command -v apt-get >/dev/null; then
        die "Rust $wanted or newer is needed: https://www.rust-lang.org/tools/install"
    fi
    unpack_rust "$root/target/rust"
    PATH=$root/target/rust/bin:$PATH
}

# unpack_rust FOLDER [PACKAGE...]: unpacks the Rust of Debian's next release there, with additional packages.
unpack_rust() {
    local tree=$1 libraries=$1/usr/lib/x86_64-linux-gnu name
    [ ! -e "$tree/bin/cargo" ] || return 0
    say "Unpacking a Rust for this checkout alone (about 200 MB to fetch)"
    need_packages ca-certificates patchelf
    bash scripts/unpack-forky.sh "$tree" cargo rustc rust-clippy rustfmt "${@:2}"
    patchelf --remove-rpath "$libraries"/libLLVM.so.* # It would hide the programs' own.
    mkdir "$tree/links" # The other programs in the packages are not used.
    for name in cargo cargo-clippy cargo-fmt clippy-driver rustc rustdoc rustfmt; do
        patchelf --force-rpath --set-rpath "$libraries" --set-interpreter "$libraries/ld-linux-x86-64.so.2" \
            "$tree/usr/bin/$name"
        ln -s "$tree/usr/bin/$name" "$tree/links/$name"
    done
    mv "$tree/links" "$tree/bin"
}

# Prints how to use a Rust that was unpacked only for this checkout.
say_rust() {
    [ ! -e "$root/target/rust/bin/cargo" ] || say "For cargo commands of your own: export PATH=$root/target/rust/bin:\$PATH"
}

rust_is_at_least() {
    local found
    found=$(cargo --version 2>/dev/null | awk '{print $2}') || return 1
    [ -n "$found" ] && [ "$(printf '%s\n%s\n' "$1" "$found" | sort -V | head -n 1)" = "$1" ]
}

# Build tools: a C compiler for linking, a shader compiler, Rust.
need_compilers() {
    need_packages g++ glslang-tools
    need_rust
}

# Runtime dependencies: the loader, and a driver for machines without a GPU.
need_driver() {
    need_packages libvulkan1 mesa-vulkan-drivers
}

need_vulkan() {
    need_compilers
    need_driver
}

# The test bed: the C library, Vulkan loader, lavapipe and validation layers of Debian's next release, unpacked into a
# folder. run-in-testbed.sh runs programs on it.
export TILEHEAP_TESTBED=${TILEHEAP_TESTBED:-$root/target/testbed/forky}

need_testbed() {
    [ ! -e "$TILEHEAP_TESTBED/complete" ] || return 0
    say "Unpacking the newest lavapipe and validation layers (about 75 MB to fetch) into $TILEHEAP_TESTBED"
    # Windows load the X11 libraries by name.
    bash scripts/unpack-forky.sh "$TILEHEAP_TESTBED" libvulkan1 mesa-vulkan-drivers vulkan-validationlayers \
        libx11-6 libxcursor1 libxi6 libxrandr2 libxkbcommon-x11-0
}

# Sets `vma` to a folder with vk_mem_alloc.h, the Vulkan Memory Allocator: the machine's, or Debian's next release's.
need_vma() {
    vma=/usr/include
    [ ! -e "$vma/vk_mem_alloc.h" ] || return 0
    local tree=$root/target/testbed/vma
    vma=$tree/usr/include
    [ ! -e "$tree/complete" ] || return 0
    say "Unpacking the Vulkan Memory Allocator into $tree"
    bash scripts/unpack-forky.sh "$tree" libvulkan-memory-allocator-dev
}

# need_wheel [FOLDER]: builds the Python package and installs it in a virtual environment: the given one, or one that also has
# NumPy and pytest.
need_wheel() {
    local tools=$root/target/python/tools
    environment=${1:-$root/target/python/tests}
    if [ ! -e "$tools/complete" ]; then
        say "Installing maturin, NumPy and pytest into $root/target/python"
        new_environment "$tools" maturin
        new_environment "$root/target/python/tests" numpy pytest
        touch "$tools/complete"
    fi
    rm -rf "$root/target/python/wheels"
    "$tools/bin/maturin" build --locked --quiet --manifest-path crates/python/Cargo.toml --profile "${PROFILE:-release}" \
        --interpreter "$environment/bin/python" --out "$root/target/python/wheels"
    "$environment/bin/pip" install --quiet --force-reinstall --no-deps --no-index "$root"/target/python/wheels/*.whl
}

# new_environment FOLDER PACKAGE...: creates a virtual environment of Debian's Python.
new_environment() {
    rm -rf "$1"
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}
