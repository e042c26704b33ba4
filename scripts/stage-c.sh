#!/usr/bin/env bash
# stage-c.sh [--built] [FOLDER]: builds libtileheap and copies it with its headers to FOLDER (target/c):
#
#   FOLDER/include/tileheap.h, tileheap_vulkan.h
#   FOLDER/lib/libtileheap.so, libtileheap.so.0.N, libtileheap.a
#
#   cc examples/c/plan.c -I FOLDER/include -L FOLDER/lib -ltileheap -Wl,-rpath,FOLDER/lib -o plan
#
# --built copies what was built last. The library is built small and optimized, and stripped; PROFILE=dev builds it for debugging.
set -euo pipefail
build=true
case ${1:-} in
    --built) build=false && shift ;;
    -h | --help)
        sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
        exit
        ;;
esac
folder=${1:+$(realpath -m "$1")}
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
folder=${folder:-$root/target/c}
need_rust

profile=${PROFILE:-small}
case $profile in
    dev) built=debug ;;
    *) built=$profile ;;
esac
# Functions of equal code are kept once, which is a quarter of the library, where the linker can do that (lld, Rust's own on x86-64 Linux).
folds_code() {
    local probe
    probe=$(mktemp -d)
    echo | rustc --crate-type cdylib -C link-arg=-Wl,--icf=all -o "$probe/probe.so" - 2>/dev/null
    local status=$?
    rm -r "$probe"
    return "$status"
}
if $build; then
    if [ "$profile" != dev ] && folds_code; then
        export TILEHEAP_C_LINK_ARGS=-Wl,--icf=all
    fi
    # Not as a library for Rust too: that one cannot be optimized as a whole.
    cargo rustc --quiet --package tileheap-c --lib --profile "$profile" --crate-type cdylib,staticlib
fi
# Of whatever was built last, the library or its tests.
from=${CARGO_TARGET_DIR:-$root/target}/$built/deps
# The interface's version, which the library itself says.
soname=$(readelf --dynamic "$from/libtileheap_c.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ -n "$soname" ] || die "$from/libtileheap_c.so has no SONAME"
mkdir -p "$folder/include" "$folder/lib"
cp crates/c/include/*.h "$folder/include/"
# Renamed into place: a running program keeps the library that it loaded.
cp "$from/libtileheap_c.so" "$folder/lib/.library.$$"
cp "$from/libtileheap_c.a" "$folder/lib/.archive.$$"
if [ "$profile" != dev ]; then
    strip --strip-unneeded "$folder/lib/.library.$$"
    strip --strip-debug "$folder/lib/.archive.$$"
fi
mv -f "$folder/lib/.library.$$" "$folder/lib/$soname"
mv -f "$folder/lib/.archive.$$" "$folder/lib/libtileheap.a"
ln -sf "$soname" "$folder/lib/libtileheap.so"
if [ "$profile" = small ]; then
    size=$(stat -c %s "$folder/lib/$soname")
    say "$folder/lib/$soname: $size bytes"
    [ "$size" -lt 3000000 ] || die "$soname has $size bytes, and is to have less than 3,000,000"
fi
