//! Tile shading, and the tile settings of render passes.

use ash::vk;
use tileheap::ffi::{self, tile_shading};
use tileheap::runtime::Capabilities;
use tileheap_layer::chained;

use super::entry::{Since, entry_points};
use super::journal::Command;
use super::recording::{Place, record};
use super::records::{Enabled, PassTiles};
use super::state::Entered;

/// Reads which tile shading features a device create info enables.
pub(super) fn read_parts(info: &vk::DeviceCreateInfo<'_>, enabled: &mut Enabled) {
    if let Some(shading) = chained!(info.p_next => ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>) {
        enabled.per_tile = [
            shading.tile_shading_per_tile_draw,
            shading.tile_shading_per_tile_dispatch,
        ] != [0, 0];
        enabled.dispatch_tile = shading.tile_shading_dispatch_tile != 0;
    }
}

/// Checks the tile structures of a render pass that begins while the tile memory `bound` is bound.
pub(super) fn judge(call: &mut Entered, tiles: PassTiles, bound: Option<vk::DeviceMemory>) {
    let bound = bound.and_then(|memory| call.memory(memory));
    let bound = bound.map_or(0, |memory| memory.size);
    let known = call.enables(Capabilities::TILE_PROPERTIES | Capabilities::TILE_MEMORY);
    let said = tiles.size;
    if said != known.then_some(bound) {
        // Not a rule of Vulkan, in which an absent structure means 0: the runtime always states the size if tools can read it.
        call.violation(format_args!(
            "VkTileMemorySizeInfoQCOM says {said:?} while {bound} bytes of tile memory are bound"
        ));
    }
    if tiles.shading && !call.enables(Capabilities::TILE_SHADING) {
        // VUID-VkRenderPassTileShadingCreateInfoQCOM-tileShading-10658.
        call.violation("the feature tileShading is off");
    }
}

/// Records a tile shading command. `before` and `after` state whether per-tile execution is on before and after the command.
fn record_per_tile(
    call: &mut Entered,
    command_buffer: vk::CommandBuffer,
    [before, after]: [bool; 2],
    command: Command,
) {
    let enabled = call.enabled();
    if !enabled.per_tile {
        // VUID-vkCmdBeginPerTileExecutionQCOM-None-10665.
        call.violation("the features tileShadingPerTileDraw and tileShadingPerTileDispatch are off");
    }
    record(call, command_buffer, Place::InRendering, &[], command);
    let Some(recording) = call.recording(command_buffer) else {
        return;
    };
    let (was, shading) = (recording.per_tile, recording.shading);
    recording.per_tile = after;
    if !shading {
        // VUID-vkCmdBeginPerTileExecutionQCOM-None-10664, VUID-vkCmdEndPerTileExecutionQCOM-None-10667.
        call.violation("the render pass has no tile shading");
    }
    if was != before {
        // VUID-vkCmdEndPerTileExecutionQCOM-None-10666, VUID-vkCmdDispatchTileQCOM-None-10668.
        call.violation(format_args!("per-tile execution is {was}"));
    }
}

entry_points! {
    look_up:
    Since::Extension(tile_shading::NAME) => tile_shading::PFN_vkCmdBeginPerTileExecutionQCOM(command_buffer, _) |call| {
        let command = Command::State(call.function);
        record_per_tile(&mut call, command_buffer, [false, true], command);
    }

    Since::Extension(tile_shading::NAME) => tile_shading::PFN_vkCmdEndPerTileExecutionQCOM(command_buffer, _) |call| {
        let command = Command::State(call.function);
        record_per_tile(&mut call, command_buffer, [true, false], command);
    }

    Since::Extension(tile_shading::NAME) => tile_shading::PFN_vkCmdDispatchTileQCOM(command_buffer, _) |call| {
        if !call.enabled().dispatch_tile {
            // VUID-vkCmdDispatchTileQCOM-None-10669.
            call.violation("the feature tileShadingDispatchTile is off");
        }
        record_per_tile(&mut call, command_buffer, [true, true], Command::Dispatch);
    }
}
