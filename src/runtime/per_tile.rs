//! Per-tile execution: commands of a pass with tile shading that run once for each of its tiles.
//!
//! The flag `PER_TILE_EXECUTION` is never used: render passes must not have it (VUID-vkCmdBeginRendering-flags-10642,
//! VUID-vkCreateRenderPass-flags-10646), and secondary command buffers only if they are executed inside per-tile execution
//! (VUID-vkCmdExecuteCommands-pCommandBuffers-10624), which a subpass with secondary contents cannot begin. Secondary command buffers therefore begin
//! per-tile execution themselves.

use std::fmt;

use ash::vk;

use super::device_state::DeviceState;
use super::error::{RuntimeError, RuntimeRule};
use super::frame_recorder::FrameRecorder;
use crate::Result;
use crate::ffi::{DispatchTileInfoQCOM, PerTileBeginInfoQCOM, PerTileEndInfoQCOM, tile_shading};
use crate::frame::PassId;
use crate::frame::tables::Pass;
use crate::profile::OptionalFeatures;

/// Per-tile execution that has begun; passed to the closure that records its commands.
pub struct PerTileExecution<'a> {
    state: &'a DeviceState,
    functions: &'a tile_shading::Device,
    commands: vk::CommandBuffer,
    pass: &'a str,
}

impl PerTileExecution<'_> {
    /// Records the commands of `record` between `vkCmdBeginPerTileExecutionQCOM` and `vkCmdEndPerTileExecutionQCOM`.
    ///
    /// # Safety
    /// `commands` is recording inside `pass`, outside of per-tile execution.
    pub(super) unsafe fn record<R>(
        state: &DeviceState,
        commands: vk::CommandBuffer,
        pass: &Pass,
        record: impl FnOnce(&PerTileExecution<'_>) -> R,
    ) -> Result<R> {
        if !pass.tile_shading {
            return Err(RuntimeRule::PerTile.broken(format!(
                "pass `{}` cannot have per-tile execution: describe it with tile shading",
                pass.name
            )));
        }
        // VUID-vkCmdBeginPerTileExecutionQCOM-None-10665.
        let needed = [
            OptionalFeatures::TILE_SHADING_PER_TILE_DRAW,
            OptionalFeatures::TILE_SHADING_PER_TILE_DISPATCH,
        ];
        let functions = state.functions.tile_shading.as_ref();
        let functions = functions.filter(|_| needed.into_iter().any(|one| state.profile.may_have(one)));
        let Some(functions) = functions else {
            let why = "per-tile execution needs the feature tileShadingPerTileDraw or tileShadingPerTileDispatch, neither of which is enabled";
            return Err(RuntimeError::unsupported_pass(pass.name.as_str(), why));
        };
        // SAFETY: the caller's duty; the pass has tile shading, and one of the features is enabled.
        unsafe { functions.cmd_begin_per_tile_execution(commands, &PerTileBeginInfoQCOM::default()) };
        let _end = EndOnDrop { functions, commands };
        Ok(record(&PerTileExecution {
            state,
            functions,
            commands,
            pass: &pass.name,
        }))
    }

    /// Records `vkCmdDispatchTileQCOM`: one dispatch for each tile. The driver derives the number of workgroups from the size of the tile and the shading
    /// rate of the shader.
    ///
    /// # Errors
    /// When the features `tileShadingDispatchTile` and `tileShadingPerTileDispatch` are not both enabled.
    ///
    /// # Safety
    /// - A compute pipeline is bound, with the resources that its shader uses. The shader has the execution mode `TileShadingRateQCOM`.
    /// - Its accesses to the attachments are described ([`tile_read`](crate::frame::PassBuilder::tile_read),
    ///   [`tile_write`](crate::frame::PassBuilder::tile_write)).
    pub unsafe fn dispatch_tile(&self) -> Result<()> {
        // VUID-vkCmdDispatchTileQCOM-None-10669, VUID-vkCmdDispatchTileQCOM-None-10674.
        let needed = OptionalFeatures::TILE_SHADING_DISPATCH_TILE
            .union(OptionalFeatures::TILE_SHADING_PER_TILE_DISPATCH);
        if !self.state.profile.may_have(needed) {
            let why = "vkCmdDispatchTileQCOM needs the features tileShadingDispatchTile and tileShadingPerTileDispatch, which are not both enabled";
            return Err(RuntimeError::unsupported_pass(self.pass, why));
        }
        // SAFETY: inside of per-tile execution, with its features enabled; the caller's duty.
        unsafe {
            self.functions
                .cmd_dispatch_tile(self.commands, &DispatchTileInfoQCOM::default())
        };
        Ok(())
    }
}

/// Ends per-tile execution when it is dropped, even if the closure panics.
struct EndOnDrop<'a> {
    functions: &'a tile_shading::Device,
    commands: vk::CommandBuffer,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        // SAFETY: made where per-tile execution has begun; the command buffer is still recording.
        unsafe {
            self.functions
                .cmd_end_per_tile_execution(self.commands, &PerTileEndInfoQCOM::default())
        };
    }
}

impl fmt::Debug for PerTileExecution<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerTile")
            .field("commands", &self.commands)
            .field("pass", &self.pass)
            .finish_non_exhaustive()
    }
}

impl FrameRecorder<'_> {
    /// Records per-tile execution in a secondary command buffer of a pass with tile shading, as
    /// [`PassCommands::per_tile`](super::PassCommands::per_tile) does in a primary one.
    ///
    /// # Errors
    /// Same as [`PassCommands::per_tile`](super::PassCommands::per_tile).
    ///
    /// # Safety
    /// `command_buffer` is a secondary command buffer that was [begun](FrameRecorder::begin_secondary) for this pass in this frame. It is recording,
    /// outside of per-tile execution.
    pub unsafe fn per_tile_secondary<R>(
        &self,
        command_buffer: vk::CommandBuffer,
        pass: PassId,
        record: impl FnOnce(&PerTileExecution<'_>) -> R,
    ) -> Result<R> {
        let bound = self.bound();
        let pass = bound.plan.frame.pass(bound.plan.pass_of_input(pass));
        // SAFETY: the caller's duty.
        unsafe { PerTileExecution::record(&bound.state, command_buffer, pass, record) }
    }
}
