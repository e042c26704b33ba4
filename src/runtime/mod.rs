//! Everything that touches Vulkan: detect, measure, bind, record, submit.
//!
//! ```text
//! instance, physical device ──► Support ──► Device ──► measure, plan ──► BoundFrame ──► FrameRecorder ──► Commands ──► queue
//!                               what is     wraps the   Requirements     images,        one per           one per
//!                               supported   caller's    and Plan         memory         frame             command buffer
//! ```
//! The caller keeps its instance, device, queues, command pools and command buffers; the interface uses raw `ash` handles. This module owns the
//! objects that it creates, and destroys them when told to ([`BoundFrame::destroy`], [`BoundFrame::retire`], [`Device::destroy`]); dropping something
//! that was not destroyed leaks it and reports that through `tracing`.
//!
//! ```no_run
//! # use ash::vk;
//! # use tileheap::frame::*;
//! # use tileheap::plan::PlanOptions;
//! # use tileheap::runtime::*;
//! # fn main() -> tileheap::Result<()> {
//! // A program without a Vulkan device of its own gets one here; other programs call `DeviceSupport::query` and `Device::new`.
//! let context = Context::new(&ContextDesc::from_env("demo"))?;
//! let tile = context.runtime();
//!
//! // When size or features change: describe, plan, bind.
//! # let frame: Frame = unreachable!();
//! # let (gbuffer, lighting, scene, albedo): (PassId, PassId, CommandBufferId, ResourceId) = unreachable!();
//! let plan = tile.plan(&frame, &PlanOptions::default())?;
//! let mut bound = tile.bind(&plan)?;
//! let target = bound.target(gbuffer); // formats, samples, render pass: what a pipeline is built from
//!
//! // Every frame.
//! # let command_buffer = vk::CommandBuffer::null();
//! // SAFETY: nothing is imported.
//! let recorder = unsafe { bound.begin(&Imports::default()) }?;
//! // SAFETY: the command buffer is in the initial state, and nothing else uses it until the frame is complete.
//! let mut commands = unsafe { recorder.record(command_buffer, scene) }?;
//! commands.pass(gbuffer, |pass| { /* bind pipelines, draw, into pass.command_buffer() */ })?;
//! commands.pass(lighting, |pass| { let _view = pass.access(albedo).view; })?;
//! commands.finish()?;
//! // SAFETY: no other thread uses the queues at the same time.
//! let number = unsafe { recorder.submit() }?;
//! bound.wait(number, u64::MAX)?; // before the command buffer is used again
//! # Ok(()) }
//! ```
//!
//! # Requirements and fallbacks
//! Vulkan 1.1. `synchronization2`, `dynamicRendering`, timeline semaphores and `maintenance4` are used if they are enabled; without them
//! barriers are `vkCmdPipelineBarrier`, passes are `VkRenderPass` objects, frames are counted by fences, and requirements are queried from
//! temporary resources. [`DeviceDesc::without`] forces each of these fallbacks. A pass with input attachments or several subpasses is rendered
//! dynamically if `VK_KHR_dynamic_rendering_local_read` covers it, and through a `VkRenderPass` otherwise.
//!
//! # Not done
//! Sparse resources, protected memory, multi-planar formats, device groups.

mod abandon;
#[cfg(feature = "check")]
mod adopt;
mod barrier;
mod bind;
mod block_residents;
mod border_areas;
mod bound_access;
mod bound_frame;
mod bound_memory;
mod capabilities;
mod choose;
mod command_slot;
pub mod context;
mod context_desc;
mod create_info;
pub mod detached;
mod device;
mod device_additions;
mod device_queue;
mod device_state;
mod dynamic_frame;
mod encoded_frame;
mod enumerate;
mod error;
mod frame_progress;
mod frame_recorder;
mod functions;
mod hooks;
pub mod import;
mod instance;
mod legacy;
mod measure;
mod memory;
mod names;
pub mod objects;
mod one_shot;
mod owned;
mod pass_commands;
mod pass_part;
mod per_tile;
mod planning;
mod pool;
mod pool_budget;
mod pool_garbage;
mod pool_index;
mod pool_key;
mod pool_lending;
mod pool_memory;
mod pool_objects;
mod pool_passes;
mod progress;
mod queue_base;
mod record;
mod refusals;
mod render_pass;
mod render_pass_2;
mod rendering;
mod resources;
mod retire;
mod selected_frame;
mod series;
mod shared_progress;
mod shared_recorder;
mod slab;
mod store;
mod submission;
mod submit;
mod subpass_merge;
mod subpasses;
mod support;
mod swapped_copies;
mod tile_shading_parts;
mod tiles;
mod timelines;
mod use_stamp;
mod view_formats;

/// The objects that accesses of passes use.
pub mod access {
    pub use super::bound_access::{AccessKey, BoundObject};
}

/// Detects the devices of this machine, and determines what to enable on them.
pub mod detect {
    pub use super::device_additions::DeviceAdditions;
    pub use super::enumerate::{EnumeratedDevice, enumerate_devices};
}

pub use crate::lower::{LocalReadMapping, Parity, PipelineTarget, PipelineTargets, RenderingInfo};
pub use bound_access::{BoundAccess, BoundBuffer};
pub use bound_frame::BoundFrame;
pub use bound_memory::BoundMemory;
pub use capabilities::Capabilities;
pub use context::Context;
pub use context_desc::ContextDesc;
pub use device::{Device, DeviceDesc};
pub use device_queue::DeviceQueue;
pub use dynamic_frame::DynamicFrame;
pub use error::{RuntimeError, RuntimeRule};
pub use frame_progress::FrameProgress;
pub use frame_recorder::FrameRecorder;
pub use hooks::Hooks;
pub use import::Imports;
pub use pass_commands::PassCommands;
pub use pass_part::PassPart;
pub use per_tile::PerTileExecution;
pub use progress::FrameNumber;
pub use record::Commands;
pub use selected_frame::SelectedFrame;
pub use submission::SubmitCall;
pub use subpass_merge::SubpassMerge;
pub use support::{DeviceSupport, MissingRequirement};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_recorded_on_several_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Device>();
        shared::<BoundFrame>();
        shared::<FrameRecorder<'_>>();
        shared::<detached::DetachedRecorder>();
        shared::<detached::DetachedCommands>();
        fn movable<T: Send>() {}
        movable::<Commands<'_>>();
        movable::<PassPart<'_>>();
    }
}
