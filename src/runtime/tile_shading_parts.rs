//! The features of `VK_QCOM_tile_shading` other than `tileShading`: one table, from which querying, enabling and reading a caller's struct derive.

use crate::ffi::PhysicalDeviceTileShadingFeaturesQCOM;
use crate::profile::OptionalFeatures;

/// Defines the conversions below, from one row for each part: the optional feature and the member that enables it.
macro_rules! parts {
    ($($feature:ident = $member:ident;)*) => {
        /// The parts that `features` offers or enables.
        pub(super) fn parts_of(features: &PhysicalDeviceTileShadingFeaturesQCOM<'_>) -> OptionalFeatures {
            let mut parts = OptionalFeatures::empty();
            $(parts.set(OptionalFeatures::$feature, features.$member != 0);)*
            parts
        }

        /// `features` with these parts enabled, and the others disabled.
        pub(super) fn with_parts(
            features: PhysicalDeviceTileShadingFeaturesQCOM<'_>,
            parts: OptionalFeatures,
        ) -> PhysicalDeviceTileShadingFeaturesQCOM<'_> {
            features$(.$member(parts.contains(OptionalFeatures::$feature)))*
        }
    };
}

parts! {
    TILE_SHADING_FRAGMENT_STAGE = tile_shading_fragment_stage;
    TILE_SHADING_COLOR_ATTACHMENTS = tile_shading_color_attachments;
    TILE_SHADING_DEPTH_ATTACHMENTS = tile_shading_depth_attachments;
    TILE_SHADING_STENCIL_ATTACHMENTS = tile_shading_stencil_attachments;
    TILE_SHADING_INPUT_ATTACHMENTS = tile_shading_input_attachments;
    TILE_SHADING_SAMPLED_ATTACHMENTS = tile_shading_sampled_attachments;
    TILE_SHADING_PER_TILE_DRAW = tile_shading_per_tile_draw;
    TILE_SHADING_PER_TILE_DISPATCH = tile_shading_per_tile_dispatch;
    TILE_SHADING_DISPATCH_TILE = tile_shading_dispatch_tile;
    TILE_SHADING_ATOMIC_OPS = tile_shading_atomic_ops;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_one_member() {
        let all = OptionalFeatures::TILE_SHADING_SUBFEATURES;
        for part in all.iter() {
            let features = with_parts(PhysicalDeviceTileShadingFeaturesQCOM::default(), part);
            assert_eq!(parts_of(&features), part);
        }
        let features = with_parts(PhysicalDeviceTileShadingFeaturesQCOM::default(), all);
        assert_eq!(parts_of(&features), all);
        assert_eq!(features.tile_shading, 0, "not a part");
    }
}
