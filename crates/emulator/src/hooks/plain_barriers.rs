//! Dependencies without the access bits of `VK_QCOM_tile_shading`.

use ash::vk;
use tileheap_layer::arrays::elements;

/// The bits that `VK_QCOM_tile_shading` adds to accesses.
fn own_accesses() -> vk::AccessFlags2 {
    tileheap_device::ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM
        | tileheap_device::ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM
}

/// Replaces them by the accesses to storage images, which the attachments are below.
fn plain(accesses: vk::AccessFlags2) -> vk::AccessFlags2 {
    if accesses.intersects(own_accesses()) {
        (accesses & !own_accesses()) | vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE
    } else {
        accesses
    }
}

/// Dependencies without the accesses of tile shading.
pub(crate) struct PlainDependencies {
    _memory: Vec<Vec<vk::MemoryBarrier2<'static>>>,
    _buffers: Vec<Vec<vk::BufferMemoryBarrier2<'static>>>,
    _images: Vec<Vec<vk::ImageMemoryBarrier2<'static>>>,
    pub(crate) dependencies: Vec<vk::DependencyInfo<'static>>,
    /// They name stages of dispatches, which only a tile shading pass may have inside.
    pub(crate) names_compute: bool,
}

impl PlainDependencies {
    /// # Safety
    /// `dependencies` are valid and outlive the result.
    pub(crate) unsafe fn new(dependencies: &[vk::DependencyInfo<'_>]) -> PlainDependencies {
        let mut all = PlainDependencies {
            _memory: Vec::new(),
            _buffers: Vec::new(),
            _images: Vec::new(),
            dependencies: Vec::new(),
            names_compute: false,
        };
        for info in dependencies {
            // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
            let mut copy =
                unsafe { std::mem::transmute::<vk::DependencyInfo<'_>, vk::DependencyInfo<'static>>(*info) };
            // SAFETY: The caller's promise.
            let mut memory = unsafe { elements(copy.p_memory_barriers, copy.memory_barrier_count) }.to_vec();
            // SAFETY: The caller's promise.
            let mut buffers =
                unsafe { elements(copy.p_buffer_memory_barriers, copy.buffer_memory_barrier_count) }.to_vec();
            // SAFETY: The caller's promise.
            let mut images =
                unsafe { elements(copy.p_image_memory_barriers, copy.image_memory_barrier_count) }.to_vec();
            let of_compute = vk::PipelineStageFlags2::COMPUTE_SHADER
                | vk::PipelineStageFlags2::DRAW_INDIRECT
                | vk::PipelineStageFlags2::ALL_COMMANDS;
            macro_rules! strip {
                ($barriers:ident) => {
                    for it in &mut $barriers {
                        all.names_compute |= (it.src_stage_mask | it.dst_stage_mask).intersects(of_compute);
                        it.src_access_mask = plain(it.src_access_mask);
                        it.dst_access_mask = plain(it.dst_access_mask);
                    }
                };
            }
            strip!(memory);
            strip!(buffers);
            strip!(images);
            copy.p_memory_barriers = memory.as_ptr();
            copy.p_buffer_memory_barriers = buffers.as_ptr();
            copy.p_image_memory_barriers = images.as_ptr();
            all.dependencies.push(copy);
            all._memory.push(memory);
            all._buffers.push(buffers);
            all._images.push(images);
        }
        all
    }
}
