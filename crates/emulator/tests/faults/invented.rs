//! Commands that the machine's driver lacks: the driver below the layer implements them itself, with numbers as handles.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::dispatch::EntryPoint;
use tileheap_layer::{array, entry_point};

use crate::driver::{Any, LIVE, fails, wrappers};

/// First handle of pipelines that do not exist in the machine's driver.
const FIRST: u64 = 0xFA00_0000_0000_0000;

/// Returns the command of that name, if it is one of these.
pub(crate) fn invented(name: &CStr) -> Option<EntryPoint> {
    type Preprocess = unsafe extern "system" fn(vk::CommandBuffer, Any, vk::CommandBuffer);
    type CreatePipelines = vk::PFN_vkCreateRayTracingPipelinesKHR;
    match name.to_bytes() {
        b"vkCmdPreprocessGeneratedCommandsEXT" => {
            Some(entry_point!(|_: &()| None::<Preprocess>, |_, _, state| {
                STATE_COMMANDS.store(state.as_raw(), SeqCst);
            }))
        }
        b"vkCreateRayTracingPipelinesKHR" => Some(entry_point!(
            |_: &()| None::<CreatePipelines>,
            |_, _, _, count, _, _, out| {
                for (handle, out) in (FIRST..).zip(array!(mut out, count)) {
                    let error = fails("vkCreateRayTracingPipelinesKHR");
                    *out = vk::Pipeline::from_raw(if error.is_some() { 0 } else { handle });
                    if let Some(error) = error {
                        return error;
                    }
                    LIVE.fetch_add(1, SeqCst);
                }
                vk::Result::SUCCESS
            }
        )),
        _ => None,
    }
}

/// The last state command buffer passed to `vkCmdPreprocessGeneratedCommandsEXT`.
pub(crate) static STATE_COMMANDS: AtomicU64 = AtomicU64::new(0);

/// One address for all commands that are only looked up.
#[inline(never)]
pub(crate) unsafe extern "system" fn anything() {}

wrappers! {
    wrapper:
    vkDestroyPipeline: vk::PFN_vkDestroyPipeline => |device, pipeline, allocator| below {
        LIVE.fetch_sub((!pipeline.is_null()).into(), SeqCst);
        if pipeline.as_raw() < FIRST {
            // SAFETY: The layer's arguments.
            unsafe { below(device, pipeline, allocator) };
        }
    }
}
