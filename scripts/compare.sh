#!/usr/bin/env bash
# compare.sh [--quick] [--output FOLDER] [TABLE]...: compares tileheap with every baseline implemented in this repository, on this
# machine, and writes a page: index.html, index.md and rows.json in FOLDER (target/compare).
#
# Tables: planning, on-chip, splits, frames, arenas, allocator, tensors, cache; default: all. --quick uses fewer cases, fewer runs and the
# debug build: its counts are correct, but its times are not those of a release. Third-party files in ../shared and the driver are used if
# available, else listed as skipped.
#
# Example:
#   bash scripts/compare.sh --quick planning tensors       # two tables
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"

quick=() output=target/compare tables=()
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=(--quick) ;;
        --output)
            [ $# -gt 1 ] || usage_error "--output needs a folder"
            output=$2
            shift
            ;;
        planning | on-chip | splits | frames | arenas | allocator | tensors | cache) tables+=("$1") ;;
        *) usage_error "unknown table \`$1\`" ;;
    esac
    shift
done
case $output in /*) ;; *) output=$PWD/$output ;; esac

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
need_vulkan

# Values that the benchmark cannot determine.
TILEHEAP_COMPARE_DATE=$(date -u '+%Y-%m-%d %H:%M UTC')
TILEHEAP_COMPARE_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo "no git checkout")
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || TILEHEAP_COMPARE_COMMIT+=", with changes"
export TILEHEAP_COMPARE_DATE TILEHEAP_COMPARE_COMMIT

command=(cargo bench --quiet --package tileheap --bench compare --)
# With the features of the whole workspace, as tests are built.
[ ${#quick[@]} = 0 ] || command=(cargo test --quiet --workspace --bench compare -- --bench)
say "Building and measuring"
"${command[@]}" "${quick[@]}" --output "$output" "${tables[@]}" </dev/null
for page in index.html index.md rows.json; do
    [ -s "$output/$page" ] || die "$output/$page was not written"
done
say "The comparison: file://$output/index.html"
