//! The state of each object.

use std::collections::BTreeSet;
use std::ffi::CString;

use ash::vk;
use tileheap::runtime::Capabilities;

use super::journal::Command;

pub(super) struct Record {
    pub(super) kind: vk::ObjectType,
    pub(super) alive: bool,
    /// The parent: the instance or device that must outlive the object, or the pool with which it is destroyed.
    pub(super) parent: u64,
    /// Objects that must be alive when the object is used.
    pub(super) uses: BTreeSet<u64>,
    pub(super) detail: Detail,
}

/// Details of an object in addition to its type.
#[derive(Default)]
pub(super) enum Detail {
    #[default]
    Nothing,
    Instance(Vec<CString>),
    Device(Enabled),
    Queue {
        family: u32,
        index: u32,
    },
    Memory(Memory),
    Image(ImageFacts),
    Buffer(BufferFacts),
    RenderPass(Vec<AttachmentFacts>, PassTiles),
    Framebuffer {
        views: Vec<vk::ImageView>,
        width: u32,
        height: u32,
    },
    CommandPool {
        resets: bool,
    },
    CommandBuffer(Recording),
    Fence {
        signaled: bool,
    },
    /// `value` is `None` for a binary semaphore.
    Semaphore {
        value: Option<u64>,
    },
}

/// Extensions and features that a device was created with.
#[derive(Clone, Debug, Default)]
pub(super) struct Enabled {
    pub(super) extensions: Vec<CString>,
    pub(super) features: Capabilities,
    /// True if `tileShadingPerTileDraw` or `tileShadingPerTileDispatch` is enabled.
    pub(super) per_tile: bool,
    /// True if `tileShadingDispatchTile` is enabled.
    pub(super) dispatch_tile: bool,
}

#[derive(Default)]
pub(super) struct Memory {
    pub(super) memory_type: u32,
    pub(super) size: u64,
    pub(super) tile: bool,
    /// The handle types that the memory was imported from.
    pub(super) imported: vk::ExternalMemoryHandleTypeFlags,
    /// The handle types that the memory may be exported to.
    pub(super) exported: vk::ExternalMemoryHandleTypeFlags,
    /// The contents of the memory while it is mapped.
    pub(super) mapped: Option<Vec<u8>>,
}

/// Properties of an image that determine its requirements.
#[derive(Clone, Debug, Default)]
pub(super) struct ImageFacts {
    pub(super) format: vk::Format,
    pub(super) extent: vk::Extent3D,
    pub(super) kind: vk::ImageType,
    pub(super) mips: u32,
    pub(super) layers: u32,
    pub(super) samples: u32,
    pub(super) tiling: vk::ImageTiling,
    pub(super) usage: vk::ImageUsageFlags,
    /// True for fixed-rate compression (`VkImageCompressionControlEXT`), which halves the size.
    pub(super) compressed: bool,
    /// The handle types that the image's memory may be imported from.
    pub(super) external: vk::ExternalMemoryHandleTypeFlags,
    pub(super) bound: Option<(vk::DeviceMemory, u64)>,
}

/// Properties of a buffer that determine its requirements.
#[derive(Clone, Debug, Default)]
pub(super) struct BufferFacts {
    pub(super) size: u64,
    pub(super) usage: vk::BufferUsageFlags,
    /// The external handle types of memory that the buffer may be bound to.
    pub(super) external: vk::ExternalMemoryHandleTypeFlags,
    pub(super) bound: Option<(vk::DeviceMemory, u64)>,
}

/// An attachment of a `VkRenderPass`; `resolve` is true if a subpass resolves into it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttachmentFacts {
    pub(super) load_op: vk::AttachmentLoadOp,
    pub(super) store_op: vk::AttachmentStoreOp,
    pub(super) resolve: bool,
}

/// The tile settings of a render pass, as its structures declare them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassTiles {
    /// The size in `VkTileMemorySizeInfoQCOM`; `None` without the structure.
    pub(super) size: Option<u64>,
    /// True if `VkRenderPassTileShadingCreateInfoQCOM` has the flag `ENABLE`.
    pub(super) shading: bool,
}

/// Reads the tile settings of a render pass from a chain.
macro_rules! pass_tiles {
    ($next:expr) => {
        $crate::fake_driver::records::PassTiles {
            size: tileheap_layer::chained!($next => tileheap::ffi::TileMemorySizeInfoQCOM<'_>).map(|info| info.size),
            shading: tileheap_layer::chained!($next => tileheap::ffi::RenderPassTileShadingCreateInfoQCOM<'_>)
                .is_some_and(|info| info.flags.contains(tileheap::ffi::TileShadingRenderPassFlagsQCOM::ENABLE)),
        }
    };
}
pub(super) use pass_tiles;

#[derive(Default)]
pub(super) struct Recording {
    pub(super) stage: Stage,
    pub(super) secondary: bool,
    pub(super) one_time: bool,
    pub(super) commands: Vec<Command>,
    /// Objects that the recorded commands name.
    pub(super) names: BTreeSet<u64>,
    /// The tile memory object that is active, by binding or inheritance.
    pub(super) active: Option<vk::DeviceMemory>,
    /// The tile memory object that a secondary command buffer inherited when it was begun.
    pub(super) inherits: Option<vk::DeviceMemory>,
    /// Inside a render pass instance: true if its contents are secondary command buffers; `None` outside.
    pub(super) rendering: Option<bool>,
    /// True inside a render pass instance with tile shading.
    pub(super) shading: bool,
    /// True in per-tile execution.
    pub(super) per_tile: bool,
}

/// The state of a command buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Initial,
    Recording,
    Executable,
    Pending,
    Invalid,
}

/// A submitted batch that is not complete.
pub(super) struct Pending {
    pub(super) queue: u64,
    pub(super) command_buffers: Vec<u64>,
    pub(super) signals: Vec<(u64, u64)>,
    pub(super) fence: Option<u64>,
}
