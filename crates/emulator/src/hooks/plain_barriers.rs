//! Dependencies without the access bits of `VK_QCOM_tile_shading`.

use std::any::Any;

use ash::vk;
use tileheap_layer::array;

/// The access bits of `VK_QCOM_tile_shading`.
fn own_accesses() -> vk::AccessFlags2 {
    tileheap_device::ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM
        | tileheap_device::ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM
}

/// Replaces the access bits of tile shading with `MEMORY_READ` and `MEMORY_WRITE`: to the driver, tile attachments are
/// storage images.
fn plain(accesses: vk::AccessFlags2) -> vk::AccessFlags2 {
    if accesses.intersects(own_accesses()) {
        (accesses & !own_accesses()) | vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE
    } else {
        accesses
    }
}

/// Dependencies without the accesses of tile shading.
pub(crate) struct PlainDependencies {
    /// Arrays of barriers that the infos point to.
    _barriers: Vec<Box<dyn Any>>,
    pub(crate) dependencies: Vec<vk::DependencyInfo<'static>>,
    /// True if the dependencies include stages of dispatches, which are not valid inside an ordinary render pass.
    pub(crate) names_compute: bool,
}

impl PlainDependencies {
    /// Copies dependencies without the accesses of tile shading.
    ///
    /// # Safety
    /// `dependencies` are valid and outlive the result.
    pub(crate) unsafe fn new(dependencies: &[vk::DependencyInfo<'_>]) -> PlainDependencies {
        let mut all = PlainDependencies {
            _barriers: Vec::new(),
            dependencies: Vec::new(),
            names_compute: false,
        };
        for info in dependencies {
            // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
            let mut copy =
                unsafe { std::mem::transmute::<vk::DependencyInfo<'_>, vk::DependencyInfo<'static>>(*info) };
            let of_compute = vk::PipelineStageFlags2::COMPUTE_SHADER
                | vk::PipelineStageFlags2::DRAW_INDIRECT
                | vk::PipelineStageFlags2::ALL_COMMANDS;
            macro_rules! strip {
                ($first:ident, $count:ident) => {
                    let mut barriers = array!(copy.$first, copy.$count).to_vec();
                    for it in &mut barriers {
                        all.names_compute |= (it.src_stage_mask | it.dst_stage_mask).intersects(of_compute);
                        it.src_access_mask = plain(it.src_access_mask);
                        it.dst_access_mask = plain(it.dst_access_mask);
                    }
                    copy.$first = barriers.as_ptr();
                    all._barriers.push(Box::new(barriers));
                };
            }
            strip!(p_memory_barriers, memory_barrier_count);
            strip!(p_buffer_memory_barriers, buffer_memory_barrier_count);
            strip!(p_image_memory_barriers, image_memory_barrier_count);
            all.dependencies.push(copy);
        }
        all
    }
}
