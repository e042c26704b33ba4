//! Blocks of ordinary memory from the program's callbacks.

use std::ffi::c_void;
use std::ptr::NonNull;

use ash::vk;
use tileheap::runtime::objects::BlockRequest as Request;
use tileheap::runtime::objects::{AllocatedBlock, BlockAllocator, BlockError, DedicatedTo};

use crate::callbacks::call_back;
use crate::strings::{StringView, view};
use crate::vulkan::VulkanResult;

/// A request for a block of ordinary memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct BlockRequest {
    /// The size of this structure in the library's version of the header.
    pub struct_size: u32,
    /// `VK_TRUE` if the memory must be allocated with `VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT`.
    pub device_address: vk::Bool32,
    /// The name of the block, for reports; valid during the call.
    pub name: StringView,
    /// Size, alignment, and `memoryTypeBits` with exactly one bit set.
    pub requirements: vk::MemoryRequirements,
    /// The image that the block is for, if the driver wants a dedicated allocation; else null.
    pub dedicated_image: vk::Image,
    /// The buffer that the block is for, if the driver wants a dedicated allocation; else null.
    pub dedicated_buffer: vk::Buffer,
}

/// A block of memory that the program has allocated.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Block {
    /// The memory object.
    pub memory: vk::DeviceMemory,
    /// The offset of the block in the memory object, a multiple of the alignment.
    pub offset: vk::DeviceSize,
    /// Reserved for later versions: null, or the first byte of the block if its memory stays mapped while the block is allocated.
    pub mapped: *mut c_void,
    /// The program's own handle of the block.
    pub token: *mut c_void,
}

/// Allocates a block that nothing else may use until it is freed, and fills `block`, which is zeroed beforehand. If memory runs out, it must
/// return `VK_ERROR_OUT_OF_DEVICE_MEMORY` or `VK_ERROR_OUT_OF_HOST_MEMORY`; the library then frees what it does not need and may ask again.
///
/// The library calls it on the thread that called a function with the device or with one of its frames; if several threads do so at once, it may run
/// on all of them at the same time. It must not wait for a mutex that another thread holds while it calls the library.
pub type AllocateBlockCallback = Option<
    unsafe extern "C" fn(data: *mut c_void, request: *const BlockRequest, block: *mut Block) -> VulkanResult,
>;

/// Frees a block that nothing is bound to any longer. The library calls it on the thread that called a function with the device or with one of its
/// frames; if several threads do so at once, it may run on all of them at the same time. It must not wait for a mutex that another thread holds while
/// it calls the library.
pub type FreeBlockCallback = Option<unsafe extern "C" fn(data: *mut c_void, block: *const Block)>;

/// The program's callbacks that allocate and free blocks.
pub(crate) struct Blocks {
    pub(crate) allocate: unsafe extern "C" fn(*mut c_void, *const BlockRequest, *mut Block) -> VulkanResult,
    pub(crate) free: unsafe extern "C" fn(*mut c_void, *const Block),
    pub(crate) user_data: *mut c_void,
    pub(crate) device_address: bool,
}

// SAFETY: the program allows calls of its callbacks with the pointer on any thread.
unsafe impl Send for Blocks {}
// SAFETY: as above.
unsafe impl Sync for Blocks {}

/// The token by which the runtime identifies a block: the program's own block.
struct Token(Block);

// SAFETY: the pointers are returned to the program, which allows calls of its callbacks on any thread.
unsafe impl Send for Token {}
// SAFETY: as above.
unsafe impl Sync for Token {}

impl Blocks {
    fn free_block(&self, block: &Block) {
        // SAFETY: the program's function, with a block that it has allocated and that is no longer used.
        call_back(|| unsafe { (self.free)(self.user_data, block) });
    }
}

// SAFETY: the program's callbacks return blocks as requested (the duty that the header states).
unsafe impl BlockAllocator for Blocks {
    fn allocate(&self, request: &Request<'_>) -> Result<AllocatedBlock, BlockError> {
        let mut asked = BlockRequest {
            struct_size: size_of::<BlockRequest>() as u32,
            device_address: self.device_address.into(),
            name: view(request.name),
            requirements: request.requirements,
            dedicated_image: vk::Image::null(),
            dedicated_buffer: vk::Buffer::null(),
        };
        match request.dedicated_to {
            Some(DedicatedTo::Image(image)) => asked.dedicated_image = image,
            Some(DedicatedTo::Buffer(buffer)) => asked.dedicated_buffer = buffer,
            None => {}
        }
        let mut block = Block {
            memory: vk::DeviceMemory::null(),
            offset: 0,
            mapped: std::ptr::null_mut(),
            token: std::ptr::null_mut(),
        };
        // SAFETY: the program's function, with structures that are alive.
        let result = call_back(|| unsafe { (self.allocate)(self.user_data, &asked, &mut block) });
        match result {
            vk::Result::SUCCESS => {}
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                return Err(BlockError::OutOfMemory);
            }
            other => {
                return Err(BlockError::Other(
                    format!("allocateBlock returned {other:?}").into(),
                ));
            }
        }
        if block.memory == vk::DeviceMemory::null() {
            return Err(BlockError::Other(
                "allocateBlock returned VK_SUCCESS without a memory object".into(),
            ));
        }
        let alignment = request.requirements.alignment;
        if alignment > 0 && block.offset % alignment != 0 {
            self.free_block(&block);
            let offset = block.offset;
            let message = format!(
                "allocateBlock returned offset {offset}, not a multiple of the alignment {alignment}"
            );
            return Err(BlockError::Other(message.into()));
        }
        let bytes = request.requirements.size as usize;
        let mapped = NonNull::new(block.mapped.cast::<u8>());
        Ok(AllocatedBlock {
            memory: block.memory,
            offset: block.offset,
            mapped: mapped.map(|first| NonNull::slice_from_raw_parts(first, bytes)),
            token: Box::new(Token(block)),
        })
    }

    unsafe fn free(&self, block: AllocatedBlock) {
        let token = block.token.downcast::<Token>();
        self.free_block(&token.expect("the token was created by `allocate`").0);
    }
}
