#!/usr/bin/env bash
# demo.sh: renders a frame of examples/deferred on this machine's driver, or on lavapipe if there is none: in ordinary memory, and in
# tile memory, which is emulated if the driver has none. The two pictures (target/demo) are identical; the plans are printed.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_compilers
need_driver &
driver=$!
mkdir -p target/demo

say "Building (the first time takes a few minutes)"
# All at once, so that shared dependencies are built once; the driver is installed in the meantime.
cargo build --no-default-features --package tileheap-examples --example deferred --package tileheap-cli --bin tileheap \
    --package tileheap-emulator --lib
built=${CARGO_TARGET_DIR:-target}/debug
bash scripts/stage-emulator.sh --built
wait "$driver"
say "Rendering, and the plan for this machine's driver"
"$built/examples/deferred" --output target/demo/ordinary.png --dump-frame target/demo/frame.json
say "Rendering in tile memory (emulated, unless the driver has it), and the plan for that"
VK_ADD_LAYER_PATH=$root/target/emulator VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator \
    "$built/examples/deferred" --output target/demo/frame.png
cmp target/demo/ordinary.png target/demo/frame.png || die "the two pictures differ"
say "The same frame's plan for the profile adreno-830, sizes estimated"
"$built/tileheap" plan target/demo/frame.json --profile adreno-830
"$built/tileheap" report target/demo/frame.json --profile adreno-830 -o target/demo/report.html
say "The pictures are the same: $root/target/demo/frame.png"
say "The plan as a page to look at: file://$root/target/demo/report.html"
say_rust
