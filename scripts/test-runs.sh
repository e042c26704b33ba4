#!/usr/bin/env bash
# test-runs.sh: tests scripts/runs.sh on a generated package: its tests pass, fail, are skipped, and fail or crash only the first time.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
need_rust

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/src" "$folder/tests" "$folder/logs"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "tried"
edition = "2024"
[workspace]
TOML
cat >"$folder/src/lib.rs" <<'RUST'
/// Whether this is the first call with the name, of all processes.
pub fn is_first(name: &str) -> bool {
    std::fs::File::create_new(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).is_ok()
}

/// ```
/// assert!(!tried::is_first("documented"), "the first try of the example");
/// ```
pub fn documented() {}
RUST
cat >"$folder/tests/flaky.rs" <<'RUST'
#[test]
fn passes() {}

#[test]
fn fails_the_first_time() {
    assert!(!tried::is_first("fails"), "the first try of the test");
}

#[test]
#[ignore = "it is not ready"]
fn is_left_out() {}
RUST
cat >"$folder/tests/crash.rs" <<'RUST'
#[test]
fn crashes_the_first_time() {
    println!("the program's output");
    if tried::is_first("crashes") {
        std::process::abort();
    }
}

#[test]
fn passes_too() {}
RUST
cat >"$folder/tests/wrong.rs" <<'RUST'
#[test]
fn always_fails() {
    panic!("wrong every time");
}
RUST

logs=$folder/logs unstable_tests=$folder/unstable.md
printf '| 2026-01-01 | good | fails_the_first_time | a reason |\n' >"$unstable_tests"
# shellcheck source=scripts/runs.sh
source scripts/runs.sh
cd "$folder"
ln -s "$root/scripts" scripts
export CARGO_TARGET_DIR=$folder/target CARGO_TERM_COLOR=never
unset RUSTC_WORKSPACE_WRAPPER
fails_once() { [ -e once ] || { touch once && echo "the first try of the command" && false; }; }

expect() {
    grep -qF -- "$2" "$1" || die "\`$2\` is not in: $(cat "$1")"
}
{
    run good --test flaky --test crash --lib
    run documented --doc
    run skipped --test flaky -- --skip fails
    check command fails_once
} >"$folder/output" 2>&1
summarize >"$folder/sums" || die "unstable tests failed the run: $(cat "$folder/sums")"
expect "$folder/sums" "7 passed, 0 failed, 2 skipped"
expect "$folder/sums" 'good: `fails_the_first_time` failed, and passed when it was run again. It has a line in'
expect "$folder/sums" "the first try of the test"
expect "$folder/sums" 'good: `--test crash` failed, and passed when it was run again. Add a line to'
expect "$folder/sums" "signal: 6"
expect "$folder/sums" "the first try of the example"
expect "$folder/sums" "the first try of the command"
expect "$folder/sums" "test fails_the_first_time ... ok"
expect "$folder/sums" "good: is_left_out: it is not ready"

{
    run wrong --test wrong --test flaky
    run nothing --test flaky -- nothing_of_that_name
    run not_built --test missing
    check false false
} >"$folder/output" 2>&1
! summarize >"$folder/sums" || die "failures passed: $(cat "$folder/sums")"
expect "$folder/sums" "9 passed, 4 failed, 3 skipped"
! grep -q always_fails "$folder/sums" || die "a test that fails twice is not unstable: $(cat "$folder/sums")"
echo "runs.sh counts as it should"
