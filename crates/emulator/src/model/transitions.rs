//! Transitions from `UNDEFINED`, which discard the contents of a tile image.

use ash::vk;
use ash::vk::Handle;

use super::discards::{Discard, DiscardReason};
use super::recording::Recording;
use super::resources::Resources;

/// Returns true if a transition discards contents: it is from `UNDEFINED` to another layout. Since synchronization2, a barrier with
/// equal layouts performs no transition.
#[inline]
pub(crate) fn discards(from: vk::ImageLayout, to: vk::ImageLayout) -> bool {
    from == vk::ImageLayout::UNDEFINED && to != from
}

/// The bytes that a transition from `UNDEFINED` poisons: all bytes of a tile image if `range` covers the whole image and no render pass is active,
/// otherwise none.
pub(crate) fn from_undefined(
    recording: &Recording,
    resources: &Resources,
    image: vk::Image,
    range: vk::ImageSubresourceRange,
) -> Option<Discard> {
    let image = resources.images.get(image.as_raw())?;
    let place = image
        .tile_place()
        .filter(|_| image.is_all(&range) && recording.pass.is_none())?;
    Some(place.discard(DiscardReason::Transition))
}
