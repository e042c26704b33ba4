//! Transitions from UNDEFINED, which discard what a tile image holds.

use ash::vk;
use ash::vk::Handle;

use crate::chain::elements;
use crate::recording::Recorder;

/// Barriers of the first kind come next.
///
/// # Safety
/// `first` points to `count` valid structures.
#[inline]
pub(crate) unsafe fn before(recorder: &Recorder, first: *const vk::ImageMemoryBarrier<'_>, count: u32) {
    // Most have none.
    if count > 0 {
        // SAFETY: The caller's promise.
        transitions(recorder, unsafe { elements(first, count) });
    }
}

#[inline(never)]
fn transitions(recorder: &Recorder, barriers: &[vk::ImageMemoryBarrier<'_>]) {
    for barrier in barriers {
        let layouts = (barrier.old_layout, barrier.new_layout);
        transition(recorder, layouts, barrier.image, barrier.subresource_range);
    }
}

/// Barriers of the second kind come next.
///
/// # Safety
/// `dependencies` are valid.
pub(crate) unsafe fn before2(recorder: &Recorder, dependencies: &[vk::DependencyInfo<'_>]) {
    for info in dependencies {
        // SAFETY: The caller's promise.
        let barriers = unsafe { elements(info.p_image_memory_barriers, info.image_memory_barrier_count) };
        for barrier in barriers {
            transition(
                recorder,
                (barrier.old_layout, barrier.new_layout),
                barrier.image,
                barrier.subresource_range,
            );
        }
    }
}

/// An image goes from one layout to another: what it holds ends with UNDEFINED, unless that is where it goes, too, which since
/// synchronization2 is no transition.
fn transition(
    recorder: &Recorder,
    (from, to): (vk::ImageLayout, vk::ImageLayout),
    image: vk::Image,
    range: vk::ImageSubresourceRange,
) {
    if from != vk::ImageLayout::UNDEFINED || to == from {
        return;
    }
    let Some(image) = recorder.device.resources.images.get(image.as_raw()) else {
        return;
    };
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    let whole = image.single && (!image.two_aspects || range.aspect_mask.contains(both));
    let Some(place) = image.place.get().filter(|_| whole) else {
        return;
    };
    let mut recording = recorder.lock();
    if recording.pass.is_none() {
        recording.contents.discard(place.first, place.end);
        recorder.poison(place.first, place.end, "a transition from UNDEFINED");
    }
}

/// The bits that `VK_QCOM_tile_shading` adds to accesses.
fn own_accesses() -> vk::AccessFlags2 {
    tileheap_device::ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM
        | tileheap_device::ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM
}

/// What stands for them below: the same attachments, reached as storage images.
fn plain(accesses: vk::AccessFlags2) -> vk::AccessFlags2 {
    if accesses.intersects(own_accesses()) {
        (accesses & !own_accesses()) | vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE
    } else {
        accesses
    }
}

/// Dependencies without the accesses of tile shading.
pub(crate) struct Plain {
    _memory: Vec<Vec<vk::MemoryBarrier2<'static>>>,
    _buffers: Vec<Vec<vk::BufferMemoryBarrier2<'static>>>,
    _images: Vec<Vec<vk::ImageMemoryBarrier2<'static>>>,
    pub(crate) dependencies: Vec<vk::DependencyInfo<'static>>,
}

impl Plain {
    /// # Safety
    /// `dependencies` are valid and outlive the result.
    pub(crate) unsafe fn new(dependencies: &[vk::DependencyInfo<'_>]) -> Plain {
        let mut plain = Plain {
            _memory: Vec::new(),
            _buffers: Vec::new(),
            _images: Vec::new(),
            dependencies: Vec::new(),
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
            for barrier in &mut memory {
                barrier.src_access_mask = self::plain(barrier.src_access_mask);
                barrier.dst_access_mask = self::plain(barrier.dst_access_mask);
            }
            for barrier in &mut buffers {
                barrier.src_access_mask = self::plain(barrier.src_access_mask);
                barrier.dst_access_mask = self::plain(barrier.dst_access_mask);
            }
            for barrier in &mut images {
                barrier.src_access_mask = self::plain(barrier.src_access_mask);
                barrier.dst_access_mask = self::plain(barrier.dst_access_mask);
            }
            copy.p_memory_barriers = memory.as_ptr();
            copy.p_buffer_memory_barriers = buffers.as_ptr();
            copy.p_image_memory_barriers = images.as_ptr();
            plain.dependencies.push(copy);
            plain._memory.push(memory);
            plain._buffers.push(buffers);
            plain._images.push(images);
        }
        plain
    }
}
