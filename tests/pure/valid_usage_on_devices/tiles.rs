//! Features of tile shading.

use super::*;

/// A feature of tile shading: the device has only this one, or all others.
macro_rules! part {
    ($rule:expr, $describe:expr, $($part:ident)|+, without $($missing:ident)|+) => {
        case(
            $rule,
            $describe,
            |device| device.optional_features = Some(Feature::TILE_SHADING $(| Feature::$part)+),
            |device| device.optional_features = Some(Feature::all() $(- Feature::$missing)+),
        )
    };
}

/// A pass that draws a color attachment and reads it in the tile, at these stages or at the default ones.
fn color(scene: &mut Scene, stages: Option<S>) {
    let out = scene.out;
    let pass = scene.render().tile_shading().color(out, CLEAR).tile_read(out);
    if let Some(stages) = stages {
        pass.at(stages);
    }
}

/// Like `color`, for depth or stencil.
fn depth_read(scene: &mut Scene, format: F) {
    let image = scene.frame.image("image", of_format(format));
    let pass = scene.render().tile_shading();
    pass.depth(image, CLEAR_DEPTH).tile_read(image);
}

pub(super) fn tiles() -> Vec<Case> {
    const DISPATCHES: &str = "VUID-vkCmdDispatch-None-10674";
    const DEPTH: &str = "VUID-RuntimeSpirv-OpTypeImage-10708";
    const STENCIL: &str = "VUID-RuntimeSpirv-OpTypeImage-10709";
    vec![
        part!(
            DISPATCHES,
            |scene| color(scene, Some(S::COMPUTE_SHADER)),
            TILE_SHADING_COLOR_ATTACHMENTS | TILE_SHADING_PER_TILE_DISPATCH,
            without TILE_SHADING_PER_TILE_DISPATCH
        ),
        part!(
            DISPATCHES,
            |scene| color(scene, None),
            TILE_SHADING_COLOR_ATTACHMENTS | TILE_SHADING_FRAGMENT_STAGE,
            without TILE_SHADING_PER_TILE_DISPATCH | TILE_SHADING_FRAGMENT_STAGE
        ),
        part!(
            DISPATCHES,
            |scene| {
                let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
                let out = scene.out;
                let pass = scene.render().tile_shading().color(out, CLEAR);
                pass.storage_write(buffer).at(S::COMPUTE_SHADER);
            },
            TILE_SHADING_PER_TILE_DISPATCH,
            without TILE_SHADING_PER_TILE_DISPATCH
        ),
        part!(
            "VUID-RuntimeSpirv-TileShadingQCOM-10699",
            |scene| color(scene, Some(S::FRAGMENT_SHADER)),
            TILE_SHADING_COLOR_ATTACHMENTS | TILE_SHADING_FRAGMENT_STAGE,
            without TILE_SHADING_FRAGMENT_STAGE
        ),
        part!(
            "VUID-RuntimeSpirv-OpTypeImage-10707",
            |scene| color(scene, None),
            TILE_SHADING_COLOR_ATTACHMENTS | TILE_SHADING_PER_TILE_DISPATCH,
            without TILE_SHADING_COLOR_ATTACHMENTS
        ),
        part!(
            DEPTH,
            |scene| depth_read(scene, F::D32_SFLOAT),
            TILE_SHADING_DEPTH_ATTACHMENTS | TILE_SHADING_PER_TILE_DISPATCH,
            without TILE_SHADING_DEPTH_ATTACHMENTS
        ),
        // With both aspects, the descriptor is for depth.
        part!(
            DEPTH,
            |scene| depth_read(scene, F::D32_SFLOAT_S8_UINT),
            TILE_SHADING_DEPTH_ATTACHMENTS | TILE_SHADING_PER_TILE_DISPATCH,
            without TILE_SHADING_DEPTH_ATTACHMENTS
        ),
        part!(
            STENCIL,
            |scene| depth_read(scene, F::S8_UINT),
            TILE_SHADING_STENCIL_ATTACHMENTS | TILE_SHADING_PER_TILE_DISPATCH,
            without TILE_SHADING_STENCIL_ATTACHMENTS
        ),
        part!(
            "VUID-RuntimeSpirv-OpTypeImage-10710",
            |scene| {
                let image = scene.frame.image("image", plain());
                scene.render().color(image, CLEAR);
                let out = scene.out;
                let pass = scene.render().tile_shading().input(image).tile_read(image);
                pass.color(out, CLEAR);
            },
            TILE_SHADING_INPUT_ATTACHMENTS | TILE_SHADING_PER_TILE_DISPATCH,
            without TILE_SHADING_INPUT_ATTACHMENTS
        ),
    ]
}
