//! `VK_QCOM_tile_shading`, as far as a frame with marked passes needs it: marks are accepted and removed; per-tile commands
//! cannot run here, and are reported.

use std::ffi::c_void;

use ash::vk;
use ash::vk::Handle;

use tileheap_layer::entry_points;

use super::device::device_of;
use super::recorder::recording_into;
use crate::model::finding::Finding;
use crate::model::objects::Object;
use crate::tables::messages::MessageId;

/// The commands of the extension have one shape.
pub(crate) type PerTileCommand = unsafe extern "system" fn(vk::CommandBuffer, *const c_void);

entry_points! {
    /// Not supported: nothing is executed per tile.
    fn vkCmdBeginPerTileExecutionQCOM(commands: vk::CommandBuffer, _info: *const c_void) {
        refuse(commands, "vkCmdBeginPerTileExecutionQCOM");
    }

    /// Not supported.
    fn vkCmdEndPerTileExecutionQCOM(commands: vk::CommandBuffer, _info: *const c_void) {
        refuse(commands, "vkCmdEndPerTileExecutionQCOM");
    }

    /// Not supported.
    fn vkCmdDispatchTileQCOM(commands: vk::CommandBuffer, _info: *const c_void) {
        refuse(commands, "vkCmdDispatchTileQCOM");
    }
}

fn refuse(commands: vk::CommandBuffer, command: &'static str) {
    let Some(device) = device_of(commands) else { return };
    // SAFETY: Valid usage: host access to the command buffer is synchronized.
    let at = unsafe { recording_into(commands) }.map(|recorder| {
        let mut recording = recorder.lock();
        recording.at.is_between(command);
        recording.at
    });
    let commands = Object(vk::ObjectType::COMMAND_BUFFER, commands.as_raw());
    let text = format!(
        "{command} in {commands} does nothing: the emulator runs no work per tile, and offers no feature that would allow it \
         (tileShadingPerTileDraw, tileShadingPerTileDispatch, tileShadingDispatchTile)"
    );
    let finding = Finding::new(MessageId::TileShading, commands, text);
    device.reporter.report_all([Finding { at, ..finding }]);
}
