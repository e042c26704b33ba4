//! The staging ring: host memory to which texels are written, and from which pending frames copy.
//!
//! ```text
//!         tail                      head
//! ├────────┼──────────┬──────────────┼─────────┤      an allocation that would cross the end starts at 0
//!           frame 7    frame 8
//! ```

use std::collections::VecDeque;

use ash::vk;

use crate::Result;
use tileheap::runtime::Device;
use tileheap::runtime::objects::{MemoryDesc, OwnedObjects, VkResultExt};
use tileheap::units::Bytes;

/// The used part of the staging ring, from `tail` to `head`: positions only increase, and offsets are positions modulo the size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ring {
    size: u64,
    head: u64,
    tail: u64,
    /// Pending frames, each with the value that `head` had at its end.
    frames: VecDeque<(u64, u64)>,
}

impl Ring {
    /// Allocates `bytes` bytes at a multiple of `alignment`; returns their offset, or `None` if the ring is too small or pending frames leave too
    /// little room.
    fn take(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        let lap = self.head / self.size * self.size;
        let offset = (self.head - lap).next_multiple_of(alignment);
        let start = if offset + bytes <= self.size {
            lap + offset
        } else {
            lap + self.size
        };
        if bytes > self.size || start + bytes - self.tail > self.size {
            return None;
        }
        self.head = start + bytes;
        Some(start % self.size)
    }

    fn end_frame(&mut self, frame: u64) {
        if self.frames.back().map_or(self.tail, |&(_, head)| head) != self.head {
            self.frames.push_back((frame, self.head));
        }
    }

    fn free(&mut self, complete: u64) {
        while let Some(&(_, head)) = self.frames.front().filter(|(frame, _)| *frame <= complete) {
            self.tail = head;
            self.frames.pop_front();
        }
        if self.frames.is_empty() && self.tail == self.head {
            (self.head, self.tail) = (0, 0);
        }
    }
}

/// A persistently mapped ring buffer.
pub(super) struct Staging {
    pub(super) buffer: vk::Buffer,
    bytes: *mut u8,
    ring: Ring,
}

impl Staging {
    /// An empty ring.
    pub(super) fn none() -> Staging {
        Staging {
            buffer: vk::Buffer::null(),
            bytes: std::ptr::null_mut(),
            ring: Ring::default(),
        }
    }

    /// Creates the buffer of the ring, and maps it.
    pub(super) fn make(
        &mut self,
        device: &Device,
        owned: &mut OwnedObjects,
        size: Bytes,
        frames: usize,
    ) -> Result<()> {
        use vk::MemoryPropertyFlags as P;
        let name = format!("a staging ring of {size}");
        let info = vk::BufferCreateInfo::default()
            .size(size.0)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC);
        let (wanted, guarded) = (P::HOST_VISIBLE | P::HOST_COHERENT, P::DEVICE_COHERENT_AMD);
        // Every device has one for buffers (Vulkan specification, "Device Memory").
        let profile = device.profile();
        let types = profile.type_bits(|kind| kind.flags.contains(wanted) && !kind.flags.intersects(guarded));
        let types = types & !profile.tile_type_bits();
        // SAFETY: the size is not 0.
        let (buffer, memory) = unsafe { create_buffer(device, owned, &name, &info, types) }?;
        self.buffer = buffer;
        let all = vk::MemoryMapFlags::empty();
        // SAFETY: host visible, and mapped once.
        let bytes = unsafe { device.raw().map_memory(memory, 0, vk::WHOLE_SIZE, all) };
        self.bytes = bytes.with_call("vkMapMemory", || name)?.cast();
        self.ring.size = size.0;
        self.ring.frames.reserve(frames);
        Ok(())
    }

    /// Allocates `bytes` bytes at a multiple of `alignment`; returns their offset, or `None` if the ring is too small or pending frames leave too
    /// little room.
    pub(super) fn take(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        self.ring.take(bytes, alignment)
    }

    /// The writable bytes of a range of the most recent allocation.
    pub(super) fn texels(&mut self, bytes: std::ops::Range<u64>) -> &mut [u8] {
        assert!(
            bytes.start <= bytes.end && bytes.end <= self.ring.size,
            "the range is inside the ring"
        );
        // SAFETY: inside the mapping.
        let start = unsafe { self.bytes.add(bytes.start as usize) };
        // SAFETY: mapped up to the end of the ring, and borrowed with it; no pending frame reads bytes that were just taken.
        unsafe { std::slice::from_raw_parts_mut(start, (bytes.end - bytes.start) as usize) }
    }

    /// The current position in the ring, to which [`take_back`](Staging::take_back) returns.
    pub(super) fn mark(&self) -> u64 {
        self.ring.head
    }

    /// Releases everything allocated since a mark.
    pub(super) fn take_back(&mut self, mark: u64) {
        self.ring.head = mark;
    }

    /// Marks allocations so far as in use until `frame` is complete.
    pub(super) fn end_frame(&mut self, frame: u64) {
        self.ring.end_frame(frame);
    }

    pub(super) fn free(&mut self, complete: u64) {
        self.ring.free(complete);
    }
}

/// Creates a buffer and its memory, using the first of the memory types `types` that supports it.
///
/// # Safety
/// `info` is valid.
pub(super) unsafe fn create_buffer(
    device: &Device,
    owned: &mut OwnedObjects,
    name: &str,
    info: &vk::BufferCreateInfo<'_>,
    types: u32,
) -> Result<(vk::Buffer, vk::DeviceMemory)> {
    // SAFETY: the caller's duty.
    let (buffer, needs) = unsafe { owned.create_buffer(name, info) }?;
    let types = needs.memory_type_bits & types;
    let (memory, offset) = owned
        .allocate(&MemoryDesc {
            own_object: true,
            ..MemoryDesc::new(name, types.trailing_zeros(), needs.size, needs.alignment)
        })?
        .location();
    // SAFETY: of the size and type that the buffer requires, and both are new.
    unsafe { device.raw().bind_buffer_memory(buffer, memory, offset) }
        .with_call("vkBindBufferMemory", || name)?;
    Ok((buffer, memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random allocations, compared with a list of those in use.
    #[test]
    fn nothing_is_taken_twice_before_its_frame_is_complete() {
        let mut random = tileheap::units::SplitMix64::new(5);
        let mut ring = Ring {
            size: 1000,
            ..Ring::default()
        };
        let mut used: Vec<(u64, u64, u64)> = Vec::new();
        let mut taken = 0;
        for frame in 1..2000 {
            for _ in 0..random.below(4) {
                let (bytes, alignment) = (1 + random.below(300), 1 << random.below(5));
                if let Some(offset) = ring.take(bytes, alignment) {
                    taken += 1;
                    assert!(offset % alignment == 0 && offset + bytes <= 1000);
                    let apart = |&(_, first, end): &(u64, u64, u64)| offset + bytes <= first || offset >= end;
                    assert!(used.iter().all(apart), "{offset} of {bytes} in {used:?}");
                    used.push((frame, offset, offset + bytes));
                }
            }
            ring.end_frame(frame);
            let complete = frame.saturating_sub(random.below(4));
            ring.free(complete);
            used.retain(|&(frame, ..)| frame > complete);
        }
        assert!(taken > 1000, "{taken}");
    }
}
