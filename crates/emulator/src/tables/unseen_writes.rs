//! Writes that the layer cannot see, by kind, and the resources that each kind can reach.
//!
//! ```text
//! a command of the kind                     Reads of lost contents are only possible findings from then on
//! ADDRESSES: a shader writes by address     of buffers with SHADER_DEVICE_ADDRESS, and of buffers that share bytes with them
//! DESCRIPTORS: update-after-bind, ...       of storage buffers and storage images, and of buffers that share bytes with them
//! ```

use std::ops::{BitOr, BitOrAssign};
use std::sync::atomic::{AtomicU16, Ordering};

use ash::vk;
use vk::{BufferUsageFlags as B, ImageUsageFlags as I};

/// A set of kinds of unseen writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnseenWrites(u16);

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $bit:literal, $reach:literal, [$($buffer:ident)*], [$($image:ident)*];)+) => {
        impl UnseenWrites {
            $($(#[$doc])* pub(crate) const $kind: UnseenWrites = UnseenWrites(1 << $bit);)+

            /// Every kind.
            const ALL: &[UnseenWrites] = &[$(UnseenWrites::$kind),+];

            /// Describes the resources that these kinds can reach.
            pub(crate) fn reach(self) -> String {
                let all = [$((UnseenWrites::$kind, $reach)),+];
                let reached = all.into_iter().filter(|(kind, _)| self.intersects(*kind));
                let reached: Vec<&str> = reached.map(|(_, reach)| reach).collect();
                reached.join(", or ")
            }

            /// The kinds that can reach a buffer with this usage.
            pub(crate) fn to_buffer(usage: B) -> UnseenWrites {
                let mut kinds = UnseenWrites::ANYTHING;
                $(if usage.intersects(B::empty() $(| B::$buffer)*) { kinds |= UnseenWrites::$kind; })+
                kinds
            }

            /// The kinds that can reach an image with this usage.
            pub(crate) fn to_image(usage: I) -> UnseenWrites {
                let mut kinds = UnseenWrites::ANYTHING;
                $(if usage.intersects(I::empty() $(| I::$image)*) { kinds |= UnseenWrites::$kind; })+
                kinds
            }
        }
    };
}

kinds! {
    /// Writes by address.
    ADDRESSES = 0, "buffers with SHADER_DEVICE_ADDRESS", [SHADER_DEVICE_ADDRESS], [];
    /// Writes by shaders, through descriptors that are unknown when the command is recorded.
    DESCRIPTORS = 1, "storage buffers, storage texel buffers and storage images", [STORAGE_BUFFER STORAGE_TEXEL_BUFFER], [STORAGE];
    /// Writes by transform feedback.
    TRANSFORM_FEEDBACK = 2, "buffers for transform feedback",
        [TRANSFORM_FEEDBACK_BUFFER_EXT TRANSFORM_FEEDBACK_COUNTER_BUFFER_EXT], [];
    /// Writes by builds and copies of acceleration structures. `SHADER_BINDING_TABLE_KHR` equals `RAY_TRACING_NV`, the usage of scratch buffers.
    ACCELERATION_STRUCTURES = 3, "buffers of acceleration structures",
        [ACCELERATION_STRUCTURE_STORAGE_KHR SHADER_BINDING_TABLE_KHR], [];
    /// Writes by builds and copies of micromaps.
    MICROMAPS = 4, "buffers of micromaps", [MICROMAP_STORAGE_EXT], [];
    /// Writes by video coding.
    VIDEO = 5, "destinations and reference pictures of video coding", [VIDEO_ENCODE_DST_KHR],
        [VIDEO_DECODE_DST_KHR VIDEO_DECODE_DPB_KHR VIDEO_ENCODE_DPB_KHR];
    /// Writes of markers, to buffers in a command's arguments.
    MARKERS = 6, "buffers for transfers", [TRANSFER_DST], [];
    /// Writes by the host, outside of command buffers.
    HOST = 7, "images for transfers by the host, and buffers of acceleration structures and micromaps",
        [ACCELERATION_STRUCTURE_STORAGE_KHR MICROMAP_STORAGE_EXT], [HOST_TRANSFER_EXT];
    /// Copies from memory to images in a command's arguments.
    IMAGE_COPIES = 9, "images for transfers", [], [TRANSFER_DST];
    /// Writes to any resource.
    ANYTHING = 8, "any image or buffer", [], [];
}

impl UnseenWrites {
    /// No writes.
    pub(crate) const NONE: UnseenWrites = UnseenWrites(0);

    /// The union of two sets.
    pub(crate) const fn or(self, others: UnseenWrites) -> UnseenWrites {
        UnseenWrites(self.0 | others.0)
    }

    /// Returns `true` if the set is empty.
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns `true` if this set includes all kinds of the other one.
    pub(crate) fn contains(self, others: UnseenWrites) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns `true` if the two sets have a kind in common.
    pub(crate) fn intersects(self, others: UnseenWrites) -> bool {
        self.0 & others.0 != 0
    }

    /// Iterates over the kinds, each as a set of its own.
    pub(crate) fn each(self) -> impl Iterator<Item = UnseenWrites> {
        let all = UnseenWrites::ALL.iter().copied();
        all.filter(move |kind| self.intersects(*kind))
    }

    /// The kinds of this set that `others` does not include.
    pub(crate) fn without(self, others: UnseenWrites) -> UnseenWrites {
        UnseenWrites(self.0 & !others.0)
    }

    /// This set if a condition is met, otherwise the empty set.
    pub(crate) fn only_if(self, is_met: bool) -> UnseenWrites {
        if is_met { self } else { UnseenWrites::NONE }
    }
}

impl BitOr for UnseenWrites {
    type Output = UnseenWrites;

    fn bitor(self, other: UnseenWrites) -> UnseenWrites {
        self.or(other)
    }
}

impl BitOrAssign for UnseenWrites {
    fn bitor_assign(&mut self, other: UnseenWrites) {
        self.0 |= other.0;
    }
}

/// A set of kinds that grows while other threads read it.
#[derive(Debug, Default)]
pub(crate) struct SharedUnseenWrites(AtomicU16);

impl SharedUnseenWrites {
    /// The kinds that were added so far.
    pub(crate) fn get(&self) -> UnseenWrites {
        UnseenWrites(self.0.load(Ordering::Relaxed))
    }

    /// Adds kinds.
    pub(crate) fn add(&self, writes: UnseenWrites) {
        self.0.fetch_or(writes.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usages_decide_which_writes_reach_a_resource() {
        let anything = UnseenWrites::ANYTHING;
        assert_eq!(UnseenWrites::to_buffer(B::VERTEX_BUFFER), anything);
        assert_eq!(
            UnseenWrites::to_buffer(B::STORAGE_BUFFER | B::SHADER_DEVICE_ADDRESS),
            UnseenWrites::DESCRIPTORS | UnseenWrites::ADDRESSES | anything
        );
        assert_eq!(UnseenWrites::to_image(I::SAMPLED | I::COLOR_ATTACHMENT), anything);
        assert_eq!(
            UnseenWrites::to_image(I::STORAGE | I::HOST_TRANSFER_EXT),
            UnseenWrites::DESCRIPTORS | UnseenWrites::HOST | anything
        );
    }

    #[test]
    fn each_kind_says_what_it_reaches() {
        for (index, kind) in UnseenWrites::ALL.iter().enumerate() {
            assert_eq!(kind.each().count(), 1);
            assert!(!kind.reach().is_empty());
            assert!(
                UnseenWrites::ALL[..index]
                    .iter()
                    .all(|other| !other.intersects(*kind))
            );
        }
        let two = UnseenWrites::ADDRESSES | UnseenWrites::MICROMAPS;
        assert_eq!(
            two.reach(),
            "buffers with SHADER_DEVICE_ADDRESS, or buffers of micromaps"
        );
        assert_eq!(two.without(UnseenWrites::ADDRESSES), UnseenWrites::MICROMAPS);
        assert!(two.only_if(false).is_empty() && UnseenWrites::NONE.each().next().is_none());
    }
}
