//! Buffers that both sides see: inputs, outputs, staging.

use ash::vk;

use crate::Result;
use tileheap::plan::{Home, Object};
use tileheap::runtime::objects::Called;
use tileheap::runtime::objects::{Block, BlockDesc, Dedication};
use tileheap::runtime::{Buffer, Device, RuntimeError};
use tileheap::units::Bytes;

/// A storage buffer in memory that the host sees too: what a network's inputs and outputs can be bound to.
///
/// ```no_run
/// # fn f(device: &tileheap::runtime::Device) -> crate::Result<()> {
/// use tileheap_tensor::vulkan::HostBuffer;
///
/// let mut buffer = HostBuffer::new(device, 1024)?;
/// buffer.write(&[0u8; 1024]);
/// let bound = buffer.buffer(); // what is handed to a run
/// # let _ = bound;
/// // SAFETY: nothing on the device uses it.
/// unsafe { buffer.destroy(device) };
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct HostBuffer {
    buffer: Buffer,
    /// Taken when it is destroyed.
    memory: Option<HostMemory>,
}

struct HostMemory(Block);

impl std::fmt::Debug for HostMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostMemory")
    }
}

impl HostBuffer {
    /// A buffer of `size` bytes.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn new(device: &Device, size: u64) -> Result<HostBuffer> {
        HostBuffer::on(device, size)
    }

    pub(super) fn on(inner: &Device, size: u64) -> Result<HostBuffer> {
        use vk::{BufferUsageFlags as U, MemoryPropertyFlags as M};
        let usage = U::STORAGE_BUFFER | U::TRANSFER_SRC | U::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(size.max(4)).usage(usage);
        let what = || format!("a host buffer of {}", Bytes(size));
        // SAFETY: the size is not 0.
        let handle = unsafe { inner.raw().create_buffer(&info, None) }.called("vkCreateBuffer", what)?;
        let answer = inner.buffer_needs(handle, false);
        let wanted = M::HOST_VISIBLE | M::HOST_COHERENT;
        let types = inner.profile().type_bits(|kind| kind.flags.contains(wanted));
        let desc = BlockDesc {
            name: "host buffer",
            object: Object {
                home: Home::Own,
                memory_type: (types & answer.memory_type_bits & inner.profile().ordinary_type_bits())
                    .trailing_zeros(),
                size: answer.size,
            },
            alignment: answer.alignment.get(),
            dedication: Dedication::None,
            device_address: false,
        };
        let bound = inner
            .memory()
            .allocate(inner.raw(), inner.profile(), &desc)
            .and_then(|block| {
                let (memory, offset) = block.place();
                // SAFETY: both just created; size, alignment and type are what the buffer asked for.
                let bound = unsafe { inner.raw().bind_buffer_memory(handle, memory, offset) };
                if bound.is_err() {
                    // SAFETY: nothing is bound to it.
                    unsafe { inner.memory().free(inner.raw(), block) };
                    bound.called("vkBindBufferMemory", what)?;
                    unreachable!("an error was returned");
                }
                Ok(block)
            });
        if bound.is_err() {
            // SAFETY: just created, and used by nothing.
            unsafe { inner.raw().destroy_buffer(handle, None) };
        }
        let mut made = HostBuffer {
            buffer: Buffer {
                handle,
                offset: 0,
                size: size.max(4),
                address: 0,
            },
            memory: Some(HostMemory(bound?)),
        };
        if made.bytes().is_none() {
            let by = inner.profile().name.clone();
            // SAFETY: nothing uses it.
            unsafe { made.destroy_on(inner) };
            let what = "host-visible memory that is mapped".to_owned();
            return Err(RuntimeError::Lacks { by, what }.into());
        }
        Ok(made)
    }

    /// The buffer.
    pub fn buffer(&self) -> Buffer {
        self.buffer
    }

    /// Its bytes, for the host.
    fn bytes(&mut self) -> Option<&mut [u8]> {
        match &mut self.memory.as_mut()?.0 {
            Block::Allocated(allocation) => allocation.mapped_slice_mut(),
            Block::Raw(_) => None,
        }
    }

    /// Writes from its start. No frame or run that uses it is in flight.
    ///
    /// # Panics
    /// If it is smaller.
    pub fn write(&mut self, bytes: &[u8]) {
        self.bytes().expect("made with mapped memory")[..bytes.len()].copy_from_slice(bytes);
    }

    /// Writes elements of 32 bits from its start.
    ///
    /// # Panics
    /// If it is smaller.
    pub fn write_floats(&mut self, elements: &[f32]) {
        let all = self.bytes().expect("made with mapped memory");
        for (bytes, element) in all.as_chunks_mut::<4>().0[..elements.len()]
            .iter_mut()
            .zip(elements)
        {
            *bytes = element.to_ne_bytes();
        }
    }

    /// Its bytes. No run that writes it is in flight.
    pub fn read(&self) -> &[u8] {
        let memory = self.memory.as_ref().expect("not destroyed");
        let Block::Allocated(allocation) = &memory.0 else {
            unreachable!("host buffers come from the allocator");
        };
        &allocation.mapped_slice().expect("made with mapped memory")[..self.buffer.size as usize]
    }

    /// Its contents as elements of 32 bits.
    pub fn read_floats(&self) -> Vec<f32> {
        let (elements, _) = self.read().as_chunks::<4>();
        elements.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect()
    }

    /// Destroys it.
    ///
    /// # Safety
    /// Nothing on the device uses it any more.
    pub unsafe fn destroy(mut self, device: &Device) {
        // SAFETY: the caller's duty.
        unsafe { self.destroy_on(device) };
    }

    /// # Safety
    /// Nothing on the device uses it any more.
    pub(super) unsafe fn destroy_on(&mut self, inner: &Device) {
        if let Some(HostMemory(block)) = self.memory.take() {
            // SAFETY: the caller's duty.
            unsafe { inner.raw().destroy_buffer(self.buffer.handle, None) };
            // SAFETY: the buffer in it is gone.
            unsafe { inner.memory().free(inner.raw(), block) };
        }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if self.memory.is_some() {
            tracing::warn!("HostBuffer dropped without HostBuffer::destroy: it leaks");
            std::mem::forget(self.memory.take());
        }
    }
}
