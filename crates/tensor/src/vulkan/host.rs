//! Host-visible buffers: inputs, outputs, staging.

use std::ptr::NonNull;

use ash::vk;

use crate::error::Result;
use tileheap::runtime::objects::{MemoryDesc, OwnedObjects, VkResultExt};
use tileheap::runtime::{BoundBuffer, Device, RuntimeError};
use tileheap::units::Bytes;

/// A host-visible storage buffer, which can be bound to a network's input or output.
///
/// ```no_run
/// # fn f(device: &tileheap::runtime::Device) -> tileheap_tensor::Result<()> {
/// use tileheap_tensor::vulkan::HostBuffer;
///
/// let mut buffer = HostBuffer::new(device, 1024)?;
/// buffer.write(&[0u8; 1024]);
/// let bound = buffer.buffer(); // passed to a run
/// # let _ = bound;
/// // SAFETY: nothing on the device uses it.
/// unsafe { buffer.destroy() };
/// # Ok(()) }
/// ```
pub struct HostBuffer {
    buffer: BoundBuffer,
    /// The buffer and its memory; taken when it is destroyed.
    owned: Option<OwnedObjects>,
}

impl HostBuffer {
    /// Creates a buffer of `size` bytes, but at least 4.
    ///
    /// # Errors
    /// Memory runs out.
    pub fn new(device: &Device, size: u64) -> Result<HostBuffer> {
        use vk::{BufferUsageFlags as U, MemoryPropertyFlags as M};
        let usage = U::STORAGE_BUFFER | U::TRANSFER_SRC | U::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(size.max(4)).usage(usage);
        let name = format!("a host buffer of {}", Bytes(size));
        let mut owned = device.owned_objects();
        let created = (|| -> tileheap::Result<vk::Buffer> {
            // SAFETY: the size is not 0.
            let (handle, answer) = unsafe { owned.create_buffer(&name, &info) }?;
            let (profile, wanted) = (device.profile(), M::HOST_VISIBLE | M::HOST_COHERENT);
            let types = profile.type_bits(|kind| kind.flags.contains(wanted)) & profile.ordinary_type_bits();
            let types = types & answer.memory_type_bits;
            let desc = MemoryDesc::new(&name, types.trailing_zeros(), answer.size, answer.alignment);
            let block = owned.allocate(&desc)?;
            if block.mapped_ptr().is_none() {
                let missing_from = device.profile().name.clone();
                let what = "host-visible memory that is mapped".to_owned();
                return Err(RuntimeError::MissingFeature { missing_from, what }.into());
            }
            let (memory, offset) = block.location();
            // SAFETY: both just created; size, alignment and type are what the buffer requires.
            unsafe { device.raw().bind_buffer_memory(handle, memory, offset) }
                .with_call("vkBindBufferMemory", || name.as_str())?;
            Ok(handle)
        })();
        let handle = created.inspect_err(|_| {
            // SAFETY: just created, and used by nothing.
            unsafe { owned.destroy() };
        })?;
        Ok(HostBuffer {
            buffer: BoundBuffer {
                handle,
                offset: 0,
                size: size.max(4),
                address: 0,
            },
            owned: Some(owned),
        })
    }

    /// The buffer, to be bound to an input or output.
    pub fn buffer(&self) -> BoundBuffer {
        self.buffer
    }

    fn mapped(&self) -> NonNull<[u8]> {
        let owned = self.owned.as_ref().expect("not destroyed");
        owned.blocks()[0]
            .mapped_ptr()
            .expect("`HostBuffer::new` rejects memory that is not mapped")
    }

    /// The mapped bytes of the buffer.
    fn bytes(&mut self) -> &mut [u8] {
        let mut bytes = self.mapped();
        // SAFETY: they live as long as the buffer, which is borrowed exclusively; whoever runs commands that use it keeps the host
        // away meanwhile.
        unsafe { bytes.as_mut() }
    }

    /// Writes `bytes` at the start of the buffer. No frame or run that uses it may be in flight.
    ///
    /// # Panics
    /// If the buffer is smaller than `bytes`.
    pub fn write(&mut self, bytes: &[u8]) {
        self.bytes()[..bytes.len()].copy_from_slice(bytes);
    }

    /// Writes 32-bit floats at the start of the buffer.
    ///
    /// # Panics
    /// If the buffer is smaller than `elements`.
    pub fn write_floats(&mut self, elements: &[f32]) {
        let bytes = &mut self.bytes()[..size_of_val(elements)];
        for (bytes, element) in bytes.chunks_exact_mut(4).zip(elements) {
            bytes.copy_from_slice(&element.to_ne_bytes());
        }
    }

    /// The bytes of the buffer. No run that writes it may be in flight.
    pub fn read(&self) -> &[u8] {
        // SAFETY: they live as long as the buffer, which is borrowed; whoever runs commands that write it keeps the host
        // away meanwhile.
        let bytes = unsafe { self.mapped().as_ref() };
        &bytes[..self.buffer.size as usize]
    }

    /// The contents of the buffer as 32-bit floats.
    pub fn read_floats(&self) -> Vec<f32> {
        let element = |bytes: &[u8]| f32::from_ne_bytes(bytes.try_into().expect("4 bytes"));
        self.read().chunks_exact(4).map(element).collect()
    }

    /// Destroys the buffer and frees its memory.
    ///
    /// # Safety
    /// Nothing on the device uses it any more.
    pub unsafe fn destroy(mut self) {
        if let Some(mut owned) = self.owned.take() {
            // SAFETY: the caller's duty.
            unsafe { owned.destroy() };
        }
    }
}

impl std::fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBuffer")
            .field("buffer", &self.buffer)
            .finish_non_exhaustive()
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if self.owned.is_some() {
            tracing::warn!("HostBuffer dropped without HostBuffer::destroy: it leaks");
        }
    }
}
