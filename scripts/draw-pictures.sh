#!/usr/bin/env bash
# draw-pictures.sh: redraws the pictures of docs/ that this project's programs draw; heap.svg, lives.svg and two_ways.svg of the guide are drawn by
# hand.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_vulkan
need_packages chromium
pictures=$root/docs guide=$root/docs/guide/pictures work=$root/target/pictures
mkdir -p "$work"
say "Building"
cargo build --example deferred --example forward --example tile_bugs --example alias_bugs --bins
bash scripts/stage-emulator.sh
built=${CARGO_TARGET_DIR:-target}/debug
tileheap() { "$built/tileheap" "$@"; }
forward() { "$built/examples/forward" "$@"; }
on_emulator() {
    VK_ADD_LAYER_PATH=$root/target/emulator VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator "$built/examples/$@"
}
# photograph WIDTH,HEIGHT PAGE PICTURE [OPTION...]
photograph() {
    local size=$1 page=$2 picture=$3 browser=(chromium --headless --disable-gpu --hide-scrollbars)
    shift 3
    [ "$(id -u)" != 0 ] || browser+=(--no-sandbox)
    "${browser[@]}" "$@" --window-size="$size" --screenshot="$picture" "file://$page" >"$work/browser.log" 2>&1
}

say "The renderer, its heap map and its report"
on_emulator deferred --output "$pictures/frame.png" --dump-frame "$work/deferred.json" >"$work/deferred.txt"
on_emulator deferred --overlay --output "$pictures/overlay.png" >"$work/overlay.txt"
tileheap report "$work/deferred.json" --profile adreno-830 -o "$work/report.html"
photograph 1200,1030 "$work/report.html" "$pictures/report.png"
photograph 1200,1030 "$work/report.html" "$pictures/report_dark.png" --blink-settings=preferredColorScheme=0

captured=$root/target/programs/godot.adreno-830/report.html
if [ -e "$captured" ]; then
    say "The report of a captured frame"
    # A test compares the pictures with the page of this report, and draws them.
    cp "${captured%.html}.json" crates/cli/tests/data/pictured_report.json
    TILEHEAP_REFRESH_PICTURES=1 cargo test --package tileheap-cli --test cli the_pictures_of_the_first_page_are_current
else
    say "No report of a captured frame: bash scripts/test-programs.sh godot makes one"
fi

say "Bugs: none, and three of them"
on_emulator tile_bugs --bug smaller-object --fixed --output "$work/fixed.png" >"$work/bugs.txt"
cells='<img src="fixed.png">'
for bug in smaller-object shared-bytes store-dont-care; do
    on_emulator tile_bugs --bug $bug --output "$work/$bug.png" >>"$work/bugs.txt"
    cells+="<img src=\"$bug.png\">"
done
cat >"$work/bugs.html" <<HTML
<!doctype html><style>
body { margin: 4px; display: grid; grid-template-columns: 480px 480px; gap: 8px; }
img { width: 480px; display: block; }
</style>$cells
HTML
photograph 976,556 "$work/bugs.html" "$pictures/tile_bugs.png" --default-background-color=00000000

say "Bugs with shared memory: none, and three of them"
alias_bugs() { "$built/examples/alias_bugs" "$@" >>"$work/bugs.txt"; }
alias_bugs --bug short-lifetime --fixed --output "$work/fixed.png"
cells='<img src="fixed.png">'
for bug in oversized-clear stale-offset uncleared-target; do
    alias_bugs --bug $bug --output "$work/$bug.png"
    cells+="<img src=\"$bug.png\">"
done
cat >"$work/aliases.html" <<HTML
<!doctype html><style>
body { margin: 4px; display: grid; grid-template-columns: 384px 384px; gap: 8px; }
img { width: 384px; display: block; }
</style>$cells
HTML
photograph 784,448 "$work/aliases.html" "$guide/aliases.png" --default-background-color=00000000

say "The guide's: the forward renderer, its plans before and after the last step, and the walls of the texture cache's arenas"
forward --output "$guide/forward.png"
for step in 3 4; do
    forward --step "$step" --dump-frame "$work/forward_$step.json"
    tileheap report "$work/forward_$step.json" --profile adreno-830 --detail plan --svg "$guide/forward_$step.svg"
done
tileheap trace switch -o "$work/switch.trace" --frames 900
tileheap replay "$work/switch.trace" --policy arenas --memory 6MiB --plot "$work" >"$work/replay.txt"
# The size of the drawing.
size=$(sed -n '1s/.* width="\([0-9]*\)" height="\([0-9]*\)".*/\1,\2/p' "$work/switch-arenas.svg")
photograph "$size" "$work/switch-arenas.svg" "$guide/walls.png"
say "Drawn anew in $pictures"
