//! Transitions from UNDEFINED, which discard the contents of a tile image.

use ash::vk;
use ash::vk::Handle;

use super::history::{Discard, DiscardReason};
use super::recording::Recording;
use super::resources::Resources;

/// Whether a transition discards: from UNDEFINED, unless that is the new layout, too, which since synchronization2 is no
/// transition.
#[inline]
pub(crate) fn discards(from: vk::ImageLayout, to: vk::ImageLayout) -> bool {
    from == vk::ImageLayout::UNDEFINED && to != from
}

/// Discards of a transition from UNDEFINED: all of a tile image, outside render passes.
pub(crate) fn from_undefined(
    recording: &mut Recording,
    resources: &Resources,
    image: vk::Image,
    range: vk::ImageSubresourceRange,
) -> Option<Discard> {
    let image = resources.images.get(image.as_raw())?;
    let place = image
        .place
        .get()
        .filter(|_| image.is_all(&range) && recording.pass.is_none())?;
    let discard = place.discard(DiscardReason::Transition);
    Some(recording.discard(discard, Some(image.object)))
}
