#!/usr/bin/env bash
# memcheck-cpp.sh: runs programs of examples/cpp, compiled by g++ and by clang++, under AddressSanitizer and UBSan, and three of them
# (tables, runtime, split) under valgrind. Prints ok or the findings. Logs are in target/memcheck.
#
# The driver leaks a little when it is unloaded, so it is preloaded and stays loaded, and its allocations are suppressed, as are the dynamic
# linker's wide reads. The tests, which run with validation, find leaked Vulkan objects.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_vulkan
need_packages clang libclang-rt-14-dev valgrind libvulkan-dev
logs=$root/target/memcheck
mkdir -p "$logs"
cargo build --quiet --package tileheap-c </dev/null
export PROFILE=dev
drivers=(/usr/share/vulkan/icd.d/lvp_icd*.json)
driver=$(sed -n 's/.*"library_path": *"\(.*\)".*/\1/p' "${drivers[0]}")
arguments=(--size 160x90 --resize 101x59 --toggle --frames 6 --output "$logs/picture.png" --texels)
status=0

# judge NAME COMMAND...: runs a command, and prints whether it succeeded.
judge() {
    local name=$1
    shift
    if "$@" >"$logs/$name.out" 2>"$logs/$name.log"; then
        echo "$name: ok"
    else
        echo "$name: failed with $?; $logs/$name.log ends with"
        tail -n 20 "$logs/$name.log"
        status=1
    fi
}

printf 'leak:%s\n' "$(basename "$driver")" libLLVM >"$logs/sanitizer-suppressions"
for object in "$(basename "$driver")" ld-linux-x86-64.so.2; do
    for kind in Leak Cond Value8 Value16 Addr8 Addr16; do
        printf '{\n  foreign\n  Memcheck:%s\n  ...\n  obj:*/%s\n  ...\n}\n' "$kind" "$object"
    done
done >"$logs/valgrind-suppressions"

for compiler in gcc clang; do
    folder=$root/target/cpp-$compiler
    cpp=${compiler/gcc/g}++
    libraries=()
    [ "$compiler" = clang ] || libraries=("$(g++ -print-file-name=libasan.so)" "$(g++ -print-file-name=libubsan.so)")
    CC=$compiler CXX=$cpp CPP_FOLDER=$folder CPP_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all" \
        bash scripts/build-cpp.sh --built >"$logs/$compiler-build.log" 2>&1 || {
        echo "$compiler: it does not compile: $logs/$compiler-build.log"
        status=1
        continue
    }
    sanitized=(env VK_DRIVER_FILES="${drivers[0]}" LD_PRELOAD="${libraries[*]} $driver" ASAN_OPTIONS=detect_leaks=1
        LSAN_OPTIONS="suppressions=$logs/sanitizer-suppressions")
    for program in tables runtime guide_{0..6}; do
        judge "$program-$compiler-sanitized" "${sanitized[@]}" "$folder/$program" "${arguments[@]}" "$logs/$program-$compiler.rgba"
    done
    for program in test_runtime strips split; do
        judge "$program-$compiler-sanitized" "${sanitized[@]}" "$folder/$program"
    done
done
bash scripts/build-cpp.sh --built >"$logs/build.log" 2>&1
checked=(env VK_DRIVER_FILES="${drivers[0]}" valgrind --error-exitcode=9 --leak-check=full --keep-debuginfo=yes --num-callers=40
    --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect --suppressions="$logs/valgrind-suppressions")
for program in tables runtime; do
    judge "$program-valgrind" "${checked[@]}" "$root/target/cpp/$program" "${arguments[@]}" "$logs/$program-valgrind.rgba"
done
judge split-valgrind "${checked[@]}" "$root/target/cpp/split"
for picture in tables-gcc tables-clang runtime-gcc runtime-clang runtime-valgrind; do
    cmp "$logs/$picture.rgba" "$logs/tables-valgrind.rgba" || status=1
done
for picture in guide_{0..6}-{gcc,clang}; do
    cmp "$logs/$picture.rgba" "$logs/guide_0-gcc.rgba" || status=1
done
exit "$status"
