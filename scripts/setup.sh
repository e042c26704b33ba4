#!/usr/bin/env bash
# What demo.sh, test.sh and .ci/run share: the set-up of the machine. Source it, then call the functions it needs.
# Everything here is skipped when it is there already, so that a second run works without a network.

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
        die "this needs root, and there is no sudo: $*"
    fi
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
    as_root apt-get update -qq || true # A source that is down may not be one that is needed.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" </dev/null
}

# Puts a Rust that is new enough on the path.
need_rust() {
    local wanted
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    [ -d "$HOME/.cargo/bin" ] && PATH=$PATH:$HOME/.cargo/bin
    if rust_is_at_least "$wanted"; then
        return
    fi
    if command -v rustup >/dev/null; then
        say "Installing Rust $wanted"
        rustup toolchain install "$wanted" --profile minimal --component clippy,rustfmt
        export RUSTUP_TOOLCHAIN=$wanted
    fi
    rust_is_at_least "$wanted" || die "Rust $wanted or newer is needed: see https://www.rust-lang.org/tools/install"
}

rust_is_at_least() {
    local found
    found=$(cargo --version 2>/dev/null | awk '{print $2}') || return 1
    [ -n "$found" ] && [ "$(printf '%s\n%s\n' "$1" "$found" | sort -V | head -n 1)" = "$1" ]
}

# A C++ compiler for glslang, the loader, and a driver for machines without a GPU.
need_vulkan() {
    need_packages g++ libvulkan1 mesa-vulkan-drivers
    need_rust
}

# Debian's next release's C library, Vulkan loader, lavapipe and validation layers, unpacked into a folder: the test bed.
# run-in-testbed.sh runs programs on it.
export TILEHEAP_TESTBED=${TILEHEAP_TESTBED:-$root/target/testbed/forky}

need_testbed() {
    [ ! -e "$TILEHEAP_TESTBED/complete" ] || return 0
    say "Unpacking the newest lavapipe and validation layers (about 75 MB to fetch) into $TILEHEAP_TESTBED"
    bash scripts/make-testbed.sh "$TILEHEAP_TESTBED"
}
