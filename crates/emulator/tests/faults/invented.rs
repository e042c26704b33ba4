//! Commands that the machine's driver lacks: the driver below the layer answers them itself, with objects that are mere numbers.

use std::ffi::CStr;
use std::mem::transmute;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use ash::vk;
use ash::vk::Handle;

use crate::driver::{Any, LIVE, fails, machines};

/// Pipelines that exist nowhere else have handles from here on.
const FIRST: u64 = 0xFA00_0000_0000_0000;

/// The command of that name, if it is one of these.
pub(crate) fn invented(name: &CStr) -> Option<unsafe extern "system" fn()> {
    if name == c"vkCmdPreprocessGeneratedCommandsEXT" {
        type Pointer = unsafe extern "system" fn(vk::CommandBuffer, Any, vk::CommandBuffer);
        let command: Pointer = preprocess_generated_commands;
        // SAFETY: As below.
        return Some(unsafe { transmute::<Pointer, unsafe extern "system" fn()>(command) });
    }
    if name != c"vkCreateRayTracingPipelinesKHR" {
        return None;
    }
    let command: vk::PFN_vkCreateRayTracingPipelinesKHR = create_ray_tracing_pipelines;
    // SAFETY: A function pointer, which whoever asked for it by name calls as what it is.
    Some(unsafe { transmute::<vk::PFN_vkCreateRayTracingPipelinesKHR, unsafe extern "system" fn()>(command) })
}

/// The command buffer whose state `vkCmdPreprocessGeneratedCommandsEXT` was last given.
pub(crate) static STATE_COMMANDS: AtomicU64 = AtomicU64::new(0);

unsafe extern "system" fn preprocess_generated_commands(
    _: vk::CommandBuffer,
    _: Any,
    state: vk::CommandBuffer,
) {
    STATE_COMMANDS.store(state.as_raw(), SeqCst);
}

/// What stands for commands that are only looked up.
pub(crate) unsafe extern "system" fn anything() {}

unsafe extern "system" fn create_ray_tracing_pipelines(
    _: vk::Device,
    _: vk::DeferredOperationKHR,
    _: vk::PipelineCache,
    count: u32,
    _: *const vk::RayTracingPipelineCreateInfoKHR<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Pipeline,
) -> vk::Result {
    for index in 0..count {
        let error = fails("vkCreateRayTracingPipelinesKHR");
        let handle = if error.is_some() {
            0
        } else {
            FIRST + u64::from(index)
        };
        // SAFETY: Room for so many.
        unsafe {
            out.wrapping_add(index as usize)
                .write(vk::Pipeline::from_raw(handle))
        };
        if let Some(error) = error {
            return error;
        }
        LIVE.fetch_add(1, SeqCst);
    }
    vk::Result::SUCCESS
}

pub(crate) unsafe extern "system" fn destroy_pipeline(
    device: vk::Device,
    pipeline: vk::Pipeline,
    allocator: Any,
) {
    if pipeline != vk::Pipeline::null() {
        LIVE.fetch_sub(1, SeqCst);
    }
    if pipeline.as_raw() >= FIRST {
        return;
    }
    // SAFETY: The command's type, and the layer's arguments.
    unsafe { machines::<vk::PFN_vkDestroyPipeline>("vkDestroyPipeline")(device, pipeline, allocator.cast()) };
}
