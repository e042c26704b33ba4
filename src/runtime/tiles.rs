//! The tiles of a render pass: what is declared about them, and what the driver makes of it.
//!
//! While tile memory is bound, the driver has less to bin with, and its tiles are smaller. So wherever tile properties are asked
//! for, and in passes with tile shading, the size of what is bound goes along (`VkTileMemorySizeInfoQCOM`), from the plan: the two
//! cannot get out of step.

use super::bound::BoundFrame;
use super::device_state::DeviceState;
use super::error::VkResultExt;
use super::rendering::Rendering;
use super::{Capabilities, FrameRecorder, RuntimeError};
use crate::Result;
use crate::ffi::{
    RenderPassTileShadingCreateInfoQCOM, TileMemorySizeInfoQCOM, TilePropertiesQCOM,
    TileShadingRenderPassFlagsQCOM,
};
use crate::frame::{Pass, PassId};
use crate::plan::Plan;
use crate::units::Bytes;

/// What is chained to a render pass, or to a rendering, about its tiles.
pub(super) struct Tiles {
    /// Where tile properties can be asked for.
    pub(super) size: Option<TileMemorySizeInfoQCOM<'static>>,
    /// In passes with tile shading.
    pub(super) shading: Option<RenderPassTileShadingCreateInfoQCOM<'static>>,
}

impl Tiles {
    /// For a pass during which `bound` bytes are bound.
    pub(super) fn new(state: &DeviceState, pass: &Pass, bound: Bytes) -> Tiles {
        let properties = state.capabilities.contains(Capabilities::TILE_PROPERTIES);
        let shaded = pass.tile_shading && state.capabilities.contains(Capabilities::TILE_SHADING);
        let size = TileMemorySizeInfoQCOM::default().size(bound.0);
        let enable =
            RenderPassTileShadingCreateInfoQCOM::default().flags(TileShadingRenderPassFlagsQCOM::ENABLE);
        Tiles {
            size: (properties && bound > Bytes::ZERO).then_some(size),
            shading: shaded.then_some(enable),
        }
    }
}

/// The bytes that are bound during a pass.
pub(super) fn bound_bytes(plan: &Plan, pass: PassId) -> Bytes {
    let bound = plan.passes[pass.index()].bound;
    bound.map_or(Bytes::ZERO, |object| plan.objects[object.index()].size)
}

/// An error if a pass is marked for tile shading on a device without it.
pub(super) fn check_shading(state: &DeviceState, plan: &Plan) -> Result<()> {
    let there = state.capabilities.contains(Capabilities::TILE_SHADING);
    match plan
        .frame
        .passes()
        .iter()
        .find(|pass| pass.tile_shading && !there)
    {
        Some(pass) => Err(RuntimeError::UnsupportedPass {
            pass: pass.name.clone(),
            why: "it is marked for tile shading, and VK_QCOM_tile_shading is not enabled",
        }
        .into()),
        None => Ok(()),
    }
}

impl FrameRecorder<'_> {
    /// The tiles in which the driver renders a pass, with as much tile memory bound as the plan binds there.
    ///
    /// `None` where `VK_QCOM_tile_properties` is not [enabled](Capabilities::TILE_PROPERTIES).
    ///
    /// # Errors
    /// The driver's.
    ///
    /// # Panics
    /// If the pass is no render pass.
    pub fn tile_properties(&self, pass: PassId) -> Result<Option<TilePropertiesQCOM<'static>>> {
        let bound: &BoundFrame = self.bound();
        let frame = &bound.plan.frame;
        let pass = bound.plan.pass_of(pass);
        let rendering = bound.tables(self.parity()).renderings[pass.index()].as_ref();
        let name = || format!("pass `{}`", frame.pass(pass).name);
        let rendering = rendering.unwrap_or_else(|| panic!("{} is no render pass", name()));
        let Some(functions) = &bound.state.functions.tile_properties else {
            return Ok(None);
        };
        let mut properties = [TilePropertiesQCOM::default()];
        match rendering {
            Rendering::Dynamic(dynamic) => dynamic
                .with_info(false, |info| {
                    // SAFETY: the views are alive, the plan's or imported for this turn; the feature is on.
                    unsafe { functions.get_dynamic_rendering_tile_properties(info, &mut properties[0]) }
                })
                .with_call("vkGetDynamicRenderingTilePropertiesQCOM", name)?,
            Rendering::Object(object) => {
                // SAFETY: the framebuffer is alive, made for this turn's views; it has one subpass; the feature is on.
                unsafe { functions.get_framebuffer_tile_properties(object.framebuffer, &mut properties) }
                    .with_call("vkGetFramebufferTilePropertiesQCOM", name)?;
            }
        }
        let [properties] = properties;
        Ok(Some(properties))
    }
}
