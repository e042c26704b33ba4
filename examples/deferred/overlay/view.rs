//! What the overlay shows: the current plan, and notices.

use ash::vk;
use tileheap::plan::Plan;
use tileheap::units::Bytes;

use super::request::Request;

/// The window and the plan that the frame is drawn with.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// Size of the window in points.
    pub(crate) extent: vk::Extent2D,
    pub(crate) plan: &'a Plan,
    /// Why the last request was refused.
    pub(crate) refusal: Option<&'a str>,
}

/// Shown on a device without tile memory.
const EMULATOR: [&str; 3] = [
    "No tile memory on this device: this is the plan in ordinary memory, where resources whose lifetimes do not overlap share bytes.",
    "With the emulator the same program has a tile heap: bash scripts/stage-emulator.sh, then start it with",
    "VK_ADD_LAYER_PATH=target/emulator VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator",
];

/// Paragraphs above the map.
pub(super) fn notices(view: &View<'_>) -> Vec<String> {
    match (view.plan.profile.tile, view.refusal) {
        (None, _) => EMULATOR.map(str::to_owned).to_vec(),
        (Some(_), Some(refusal)) => vec![format!("Refused: {refusal}")],
        (Some(_), None) => Vec::new(),
    }
}

/// The limit on tile memory, and the size of the heap.
pub(super) fn limit_of(plan: &Plan, request: &Request) -> (Bytes, Bytes) {
    let whole = plan.profile.tile.map_or(Bytes::ZERO, |tile| tile.size);
    (request.limit.unwrap_or(whole).min(whole), whole)
}
