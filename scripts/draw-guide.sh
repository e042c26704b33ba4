#!/usr/bin/env bash
# Draws those pictures of docs/guide anew that this project's own programs draw: the forward renderer's frame, its plans before and
# after the last step, and the walls of the texture cache's arenas. The others are drawn by hand.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_vulkan
need_packages chromium
pictures=$root/docs/guide/pictures work=$root/target/guide
mkdir -p "$work"
say "Building"
cargo build --example forward --bins
built=${CARGO_TARGET_DIR:-target}/debug # cargo run --bin would build the crate again, without the example's features.
tileheap() { "$built/tileheap" "$@"; }
forward() { "$built/examples/forward" "$@"; }

forward --output "$pictures/forward.png"
for step in 3 4; do
    forward --step "$step" --dump-frame "$work/forward_$step.json"
    tileheap report "$work/forward_$step.json" --profile adreno-830 --detail plan --svg "$pictures/forward_$step.svg"
done
tileheap trace switch -o "$work/switch.trace" --frames 900
tileheap replay "$work/switch.trace" --policy arenas --budget 6MiB --plot "$work" >"$work/replay.txt"
browser=(chromium --headless --disable-gpu --hide-scrollbars)
[ "$(id -u)" != 0 ] || browser+=(--no-sandbox)
# As large as the drawing.
size=$(sed -n '1s/.* width="\([0-9]*\)" height="\([0-9]*\)".*/\1,\2/p' "$work/switch-arenas.svg")
"${browser[@]}" --window-size="$size" --screenshot="$pictures/walls.png" "file://$work/switch-arenas.svg" >"$work/browser.log" 2>&1
say "Drawn anew in $pictures"
