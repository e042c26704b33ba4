#!/usr/bin/env bash
# fuzz.sh [SECONDS [TARGET]]: coverage-guided fuzzing, SECONDS for each target (default 60).
#   pack_problem   bytes as packing problems; every answer is checked
#   read_files     bytes as files for the readers of graphs and of other planners' output
# Uses no sanitizer, since neither crate has unsafe code in these paths, and so needs no nightly toolchain.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_packages g++ # libFuzzer is C++.
need_rust
tools=$root/target/tools
PATH=$tools/bin:$PATH
if ! cargo fuzz --version >/dev/null 2>&1; then
    say "Installing cargo-fuzz into $tools"
    cargo install --debug --quiet --locked --root "$tools" cargo-fuzz
fi
seconds=${1:-60}

# run_target CRATE TARGET [SEEDS]...: new inputs are kept in target/fuzz/TARGET; SEEDS are folders of examples.
run_target() {
    local crate=$1 target=$2 found=$root/target/fuzz/$2
    shift 2
    mkdir -p "$found"
    say "Fuzzing $target for $seconds s"
    cd "$root/crates/$crate"
    cargo fmt --check --manifest-path fuzz/Cargo.toml
    cargo fuzz run --sanitizer none --codegen-units 16 "$target" "$found" "$@" -- -max_total_time="$seconds" -print_final_stats=1
}

target=${2:-}
case $target in
    "" | pack_problem | read_files) ;;
    *) die "unknown fuzzing target \`$target\`: pack_problem, read_files" ;;
esac
if [ "${target:-pack_problem}" = pack_problem ]; then run_target pack pack_problem; fi
if [ "${target:-read_files}" = read_files ]; then run_target tensor read_files "$root"/tests/data/tensor/{judge,compilers,onnx}; fi
