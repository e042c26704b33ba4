#!/usr/bin/env bash
# fuzz.sh [SECONDS]: packing problems made of any bytes, led by coverage, every answer judged; a minute of them unless told
# otherwise. No sanitizer, for there is no unsafe code in there: so it needs no nightly toolchain.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_packages g++ # The fuzzer itself.
need_rust
tools=$root/target/tools
PATH=$tools/bin:$PATH
if ! cargo fuzz --version >/dev/null 2>&1; then
    say "Installing cargo-fuzz into $tools"
    cargo install --debug --quiet --locked --root "$tools" cargo-fuzz
fi
cd "$root/crates/pack"
cargo fmt --check --manifest-path fuzz/Cargo.toml
cargo fuzz run --sanitizer none --codegen-units 16 pack_problem -- -max_total_time="${1:-60}" -print_final_stats=1
