#!/usr/bin/env bash
# Renders a frame of examples/deferred to target/demo/frame.png, on this machine's driver or on lavapipe where there is
# none, and prints where every resource lives and why: here, and on a phone's tile memory.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_vulkan
mkdir -p target/demo

say "Building (the first time takes a few minutes)"
cargo build --example deferred --bins
say "Rendering, and the plan for this machine's driver"
cargo run --quiet --example deferred -- --output target/demo/frame.png --dump-frame target/demo/frame.json
say "The same frame's plan for the profile adreno-830"
cargo run --quiet --bin tileheap -- plan target/demo/frame.json --profile adreno-830
say "The picture: $root/target/demo/frame.png"
