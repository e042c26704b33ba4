//! Resources: a frame's images and buffers, before their placement is decided.

use ash::vk;
use ash::vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
use serde::{Deserialize, Serialize};

use super::ResourceId;
use crate::names;
use crate::units::Bytes;
use tileheap_json::is_default;

/// Period for which a resource's contents matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Persistence {
    /// Written and read within the frame; undefined outside.
    #[default]
    Transient,
    /// Written in this frame and read by the next as [`HistoryVersion::Previous`](super::tables::HistoryVersion): two alternating copies if the frame reads
    /// the previous version, one otherwise. The runtime clears them when it creates them, so the first frame after that reads zeros.
    History,
    /// Owned by the caller, who supplies the object for every frame.
    External(ExternalDesc),
}

/// The states in which a caller supplies an external resource and expects it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "External"))]
#[serde(deny_unknown_fields)]
pub struct ExternalDesc {
    /// State before the frame's first access. An entry layout of `UNDEFINED` says that the contents do not matter.
    pub entry: ResourceState,
    /// State after the frame's last access.
    pub exit: ResourceState,
}

impl ExternalDesc {
    /// The family that the resource is acquired from; `None` if there is none, or if its contents do not matter.
    pub(crate) fn acquired_from(&self, is_image: bool) -> Option<ExternalFamily> {
        let needed = !is_image || self.entry.layout != vk::ImageLayout::UNDEFINED;
        self.entry.family.filter(|_| needed)
    }

    /// A swapchain image: contents undefined on entry (the acquire semaphore is waited for at color output), presentable on exit. Devices need
    /// `VK_KHR_swapchain`.
    pub const SWAPCHAIN: ExternalDesc = ExternalDesc {
        entry: ResourceState::new(L::UNDEFINED, S::COLOR_ATTACHMENT_OUTPUT, A::NONE),
        exit: ResourceState::new(L::PRESENT_SRC_KHR, S::NONE, A::NONE),
    };

    /// A buffer that the frame fills and the host reads afterwards: the frame's first use waits for earlier transfer writes, and its writes are made
    /// available to the host.
    pub const READ_BACK: ExternalDesc = ExternalDesc {
        entry: ResourceState::new(L::UNDEFINED, S::ALL_TRANSFER, A::TRANSFER_WRITE),
        exit: ResourceState::new(L::UNDEFINED, S::HOST, A::HOST_READ),
    };

    /// A resource that enters and leaves the frame in `layout`: the frame waits for all earlier work, and all later work waits for the frame.
    pub const fn in_layout(layout: vk::ImageLayout) -> ExternalDesc {
        let access = A::from_raw(A::MEMORY_READ.as_raw() | A::MEMORY_WRITE.as_raw());
        let state = ResourceState::new(layout, S::ALL_COMMANDS, access);
        ExternalDesc {
            entry: state,
            exit: state,
        }
    }
}

/// State of a resource at one moment: its layout and the accesses that must be waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResourceState {
    /// The image layout; `UNDEFINED` for buffers.
    #[serde(default, skip_serializing_if = "is_default", with = "names::value")]
    #[cfg_attr(test, schemars(with = "super::json::schema::Name<vk::ImageLayout>"))]
    pub layout: vk::ImageLayout,
    /// Pipeline stages of the accesses.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    #[cfg_attr(test, schemars(with = "super::json::schema::Bits<vk::PipelineStageFlags2>"))]
    pub stages: vk::PipelineStageFlags2,
    /// Kinds of the accesses.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    #[cfg_attr(test, schemars(with = "super::json::schema::Bits<vk::AccessFlags2>"))]
    pub access: vk::AccessFlags2,
    /// The family outside the device that owns the resource at that moment, if any; otherwise the family of the queue that uses it in the frame owns it.
    ///
    /// The frame acquires the resource from that family, or releases it to that family; the caller's semaphores order the transfer, at `ALL_COMMANDS`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub family: Option<ExternalFamily>,
}

/// A queue family outside the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExternalFamily {
    /// `VK_QUEUE_FAMILY_EXTERNAL`: of another device or process, with the same driver.
    External,
    /// `VK_QUEUE_FAMILY_FOREIGN_EXT`: anything else, such as a camera, a codec or a display. Requires `VK_EXT_queue_family_foreign`.
    Foreign,
}

impl ExternalFamily {
    /// The family's index in barriers.
    pub const fn index(self) -> u32 {
        match self {
            ExternalFamily::External => vk::QUEUE_FAMILY_EXTERNAL,
            ExternalFamily::Foreign => vk::QUEUE_FAMILY_FOREIGN_EXT,
        }
    }
}

impl ResourceState {
    /// A state in which the resource is owned by the family of the queue that uses it in the frame.
    pub const fn new(layout: L, stages: S, access: A) -> ResourceState {
        ResourceState {
            layout,
            stages,
            access,
            family: None,
        }
    }

    /// The same state, owned by a family outside the device.
    pub const fn owned_by(mut self, family: ExternalFamily) -> ResourceState {
        self.family = Some(family);
        self
    }
}

/// The size of an image in texels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// A fixed number of texels, whatever the size of the frame.
    Texels(vk::Extent3D),
    /// Fractions of the frame's base extent, `[x, y]`, rounded up to whole texels, at least one; the depth is 1.
    Scaled([f32; 2]),
}

impl Extent {
    /// The extent in texels in a frame with base extent `base`.
    pub fn resolve(self, base: vk::Extent2D) -> vk::Extent3D {
        match self {
            Extent::Texels(extent) => extent,
            Extent::Scaled([x, y]) => {
                // In f64, since 24 bits of f32 would round 16384 x 0.1 and the like across a whole texel.
                let scale = |texels: u32, by: f32| (f64::from(texels) * f64::from(by)).ceil().max(1.0) as u32;
                vk::Extent3D {
                    width: scale(base.width, x),
                    height: scale(base.height, y),
                    depth: 1,
                }
            }
        }
    }
}

impl From<vk::Extent2D> for Extent {
    fn from(extent: vk::Extent2D) -> Extent {
        Extent::Texels(extent.into())
    }
}

impl From<vk::Extent3D> for Extent {
    fn from(extent: vk::Extent3D) -> Extent {
        Extent::Texels(extent)
    }
}

/// The properties of an image, except those that follow from its accesses, such as the usage that they need.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "super::json::ImageForm", into = "super::json::ImageForm")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Image"))]
pub struct ImageDesc {
    /// Format of the image and its view.
    pub format: vk::Format,
    /// Size of mip level 0.
    pub extent: Extent,
    /// 1D, 2D or 3D.
    pub image_type: vk::ImageType,
    /// Mip levels, at least 1.
    pub mip_levels: u32,
    /// Array layers, at least 1.
    pub array_layers: u32,
    /// Samples per texel.
    pub samples: vk::SampleCountFlags,
    /// Usage in addition to that of the declared accesses.
    pub usage: vk::ImageUsageFlags,
    /// Creation flags in addition to those that the plan sets.
    pub flags: vk::ImageCreateFlags,
    /// Number that the runtime passes to its [`Hooks`](crate::runtime::Hooks), which return structures to chain to the create info; 0 for none.
    ///
    /// The same number is used for the creation of its views. Images with different numbers are never exchanged for each other. The planner queries
    /// from the driver how the chain affects size, alignment and memory types.
    pub hook: u32,
    /// True if each level may become a separate image, placed in tile memory or not by its own size and lifetime, under the same constraint.
    ///
    /// That happens if no access covers several levels: level 0 keeps the id and the name, level 1 of `bloom` is `bloom level 1`
    /// ([`Frame::level`](super::Frame::level)), and passes find their views under the id of level 0. If an access covers several, all levels are one
    /// image, and the plan's [reason](crate::plan::Plan::reason_text) names that pass. Not allowed for external images.
    pub separate_levels: bool,
}

impl ImageDesc {
    /// A 2D image of one level, one layer and one sample.
    pub fn new(format: vk::Format, extent: impl Into<Extent>) -> ImageDesc {
        ImageDesc {
            format,
            extent: extent.into(),
            image_type: vk::ImageType::TYPE_2D,
            mip_levels: 1,
            array_layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::empty(),
            flags: vk::ImageCreateFlags::empty(),
            hook: 0,
            separate_levels: false,
        }
    }

    /// A 2D image that is `x` times as wide and `y` times as high as the frame's base extent.
    pub fn scaled(format: vk::Format, x: f32, y: f32) -> ImageDesc {
        ImageDesc::new(format, Extent::Texels(vk::Extent3D::default())).with_extent(Extent::Scaled([x, y]))
    }

    fn with_extent(mut self, extent: Extent) -> ImageDesc {
        self.extent = extent;
        self
    }
}

/// The properties of a buffer, except those that follow from its accesses, such as the usage that they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Buffer"))]
#[serde(deny_unknown_fields)]
pub struct BufferDesc {
    /// Size in bytes.
    #[cfg_attr(test, schemars(with = "u64"))]
    pub size: Bytes,
    /// Usage in addition to that of the declared accesses.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    #[cfg_attr(test, schemars(with = "super::json::schema::Bits<vk::BufferUsageFlags>"))]
    pub usage: vk::BufferUsageFlags,
    /// Number that the runtime passes to its [`Hooks`](crate::runtime::Hooks), which return structures to chain to the create info; 0 for none.
    ///
    /// As for images ([`ImageDesc::hook`]), buffers with different numbers are never exchanged for each other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hook: u32,
    /// Set for a buffer of lists, one for each tile of the screen. The [`reach`](super::ReadReach) of a read is then a number of lists to each side,
    /// 0 for the list of the pixel's own tile, and a strip may hold only its own lists.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lists: Option<TileLists>,
}

/// Lists of equal length, one for each square tile of the base extent, row by row, such as those that tiled light culling writes.
///
/// ```
/// # use ash::vk;
/// # use tileheap::frame::TileLists;
/// # use tileheap::units::Bytes;
/// // 1024 indices of two bytes for each 16 x 16 pixels.
/// let lists = TileLists { tile: 16, bytes: Bytes(2048) };
/// let base = vk::Extent2D { width: 1920, height: 1080 };
/// assert_eq!(lists.grid(base), vk::Extent2D { width: 120, height: 68 });
/// assert_eq!(lists.size(base), Bytes(120 * 68 * 2048));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TileLists {
    /// Width and height of a tile, in pixels of the base extent.
    pub tile: u32,
    /// Size of one list.
    #[cfg_attr(test, schemars(with = "u64"))]
    pub bytes: Bytes,
}

impl TileLists {
    /// Number of tiles per row and per column of a frame with base extent `base`; tiles at the right and bottom edges may be partly outside.
    pub fn grid(self, base: vk::Extent2D) -> vk::Extent2D {
        let tiles = |pixels: u32| pixels.div_ceil(self.tile.max(1));
        vk::Extent2D {
            width: tiles(base.width),
            height: tiles(base.height),
        }
    }

    /// Total size of the lists of all tiles, for a base extent of `base`.
    pub fn size(self, base: vk::Extent2D) -> Bytes {
        self.size_of(self.grid(base))
    }

    /// Size of the lists of a grid of tiles.
    pub(crate) fn size_of(self, grid: vk::Extent2D) -> Bytes {
        let tiles = u64::from(grid.width) * u64::from(grid.height);
        Bytes(tiles.saturating_mul(self.bytes.0))
    }
}

impl BufferDesc {
    /// A buffer of `size` bytes.
    pub const fn new(size: Bytes) -> BufferDesc {
        BufferDesc {
            size,
            usage: vk::BufferUsageFlags::empty(),
            hook: 0,
            lists: None,
        }
    }
}

/// An image or a buffer, with the properties that follow from the frame's accesses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResourceKind {
    /// An image; `extent` is resolved, and `usage` is complete except for the tile memory bit.
    Image {
        /// The description, as declared.
        desc: ImageDesc,
        /// Size of mip level 0 in texels.
        extent: vk::Extent3D,
        /// Declared and derived usage.
        usage: vk::ImageUsageFlags,
    },
    /// A buffer; `usage` is complete except for the tile memory bit.
    Buffer {
        /// The description, as declared.
        desc: BufferDesc,
        /// Declared and derived usage.
        usage: vk::BufferUsageFlags,
    },
}

/// A named resource of a validated frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// The name, unique in the frame.
    pub name: String,
    /// Image or buffer.
    pub kind: ResourceKind,
    /// Period for which its contents matter.
    pub persistence: Persistence,
    /// Constraint on its placement in tile memory.
    pub tile_constraint: TileConstraint,
    /// The declared image and the mip level, for the separate image of a level; `None` for all other resources, including level 0, which is the declared image
    /// itself.
    pub level_of: Option<SeparateLevel>,
}

/// Identifies an image as a level of another one, whose levels are [separate images](ImageDesc::separate_levels).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeparateLevel {
    /// The declared image, which is level 0.
    pub image: ResourceId,
    /// The level, at least 1.
    pub level: u32,
}

/// Constraint on the placement of a resource in tile memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TileConstraint {
    /// The planner chooses.
    #[default]
    None,
    /// The resource must be placed in tile memory: planning fails if it cannot be.
    Pinned,
    /// The resource must not be placed in tile memory, even if there is room.
    Excluded,
}

impl Resource {
    /// Returns true for an image.
    pub fn is_image(&self) -> bool {
        matches!(self.kind, ResourceKind::Image { .. })
    }

    /// The tile lists that a buffer holds; `None` if it holds none, and for images.
    #[cfg(feature = "arrange")]
    pub(crate) fn lists(&self) -> Option<TileLists> {
        match self.kind {
            ResourceKind::Image { .. } => None,
            ResourceKind::Buffer { desc, .. } => desc.lists,
        }
    }

    pub(super) fn set_lists(&mut self, lists: Option<TileLists>) {
        if let ResourceKind::Buffer { desc, .. } = &mut self.kind {
            desc.lists = lists;
        }
    }

    /// Resizes a buffer of tile lists when the base extent changes from `before` to `after`; does nothing to other resources.
    pub(super) fn resize_lists(&mut self, before: vk::Extent2D, after: vk::Extent2D) {
        let ResourceKind::Buffer { desc, .. } = &mut self.kind else {
            return;
        };
        if let Some(lists) = desc.lists {
            let others = desc.size.0.saturating_sub(lists.size(before).0);
            desc.size = Bytes(others.saturating_add(lists.size(after).0));
        }
    }

    /// Adds all derived usage to the description, so that another resource with this description is created identically.
    pub(crate) fn declare_usage(&mut self) {
        match &mut self.kind {
            ResourceKind::Image { desc, usage, .. } => desc.usage = *usage,
            ResourceKind::Buffer { desc, usage } => desc.usage = *usage,
        }
    }

    /// The image's format, or `UNDEFINED` for a buffer.
    pub fn format(&self) -> vk::Format {
        match self.kind {
            ResourceKind::Image { desc, .. } => desc.format,
            ResourceKind::Buffer { .. } => vk::Format::UNDEFINED,
        }
    }

    /// The image's aspects; empty for a buffer.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        match self.kind {
            ResourceKind::Image { desc, .. } => crate::format::aspects(desc.format),
            ResourceKind::Buffer { .. } => vk::ImageAspectFlags::empty(),
        }
    }
}

impl From<ImageDesc> for ResourceKind {
    fn from(desc: ImageDesc) -> ResourceKind {
        // Validation resolves the extent and completes the usage.
        ResourceKind::Image {
            desc,
            extent: vk::Extent3D::default(),
            usage: desc.usage,
        }
    }
}

impl From<BufferDesc> for ResourceKind {
    fn from(desc: BufferDesc) -> ResourceKind {
        ResourceKind::Buffer {
            desc,
            usage: desc.usage,
        }
    }
}
