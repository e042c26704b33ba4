#!/usr/bin/env bash
# package-crates.sh [OPTION...]: packages every published crate, and builds each from its package only. Nothing is uploaded.
set -euo pipefail
# shellcheck source=scripts/options.sh
source "$(dirname "${BASH_SOURCE[0]}")/options.sh"
check_arguments "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

crates=(tileheap)
for manifest in crates/*/Cargo.toml; do
    grep -q '^publish = false' "$manifest" || crates+=("tileheap-$(basename "$(dirname "$manifest")")")
done
cargo package "${crates[@]/#/--package=}" "$@"
