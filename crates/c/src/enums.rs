//! Enumerations and flags of the header, except those that rows of tables use.

use tileheap::frame;
use tileheap::lower;
use tileheap::lower::tables::commands::StoreShader;
use tileheap::measure;
use tileheap::plan;
use tileheap::profile::Features;

use crate::status::Fault;

/// An enumeration that C passes as a number, which may be invalid.
pub(crate) trait FromNumber: Copy + 'static {
    const NAME: &'static str;
    /// Every value, with its number.
    const ALL: &'static [(u32, Self)];

    /// Returns the value with this number; `place` is the argument or field that has it.
    fn from_number(number: u32, place: &'static str) -> Result<Self, Fault> {
        let found = Self::ALL.iter().find(|(known, _)| *known == number);
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| no_value(number, Self::NAME, Self::ALL.len()).within(place))
    }
}

macro_rules! values {
    ($($name:ident: $($value:ident)*;)*) => {$(
        impl FromNumber for $name {
            const NAME: &'static str = concat!("Th", stringify!($name));
            const ALL: &'static [(u32, $name)] = &[$(($name::$value as u32, $name::$value)),*];
        }
    )*};
}

values! {
    Strategy: Optimal Greedy Fast FirstCome Off;
    Ladder: Auto Off Always;
    PlanMode: Plan Now Improve;
    ResourceType: Image Buffer;
    Persistence: Transient History External Swapchain ReadBack;
    TileConstraint: None Pinned Excluded;
    ExternalFamily: None External Foreign;
    PassType: Render Compute Transfer;
    SkippedOutputs: None Kept Lost;
    Dedicated: No Preferred Required;
    StoreShader: Float Int Uint Depth Buffer;
    NameKind: Resource Pass CommandBuffer Semaphore Queue;
    ReportFormat: Text Json;
}

/// The fault for a number that an enumeration of `count` values does not have.
fn no_value(number: u32, name: &str, count: usize) -> Fault {
    Fault::argument(format!("is {number}: {name} has the values 0 to {}", count - 1))
}

/// Checks that flags only have bits that are in the header.
pub(crate) fn known_bits(flags: u32, known: u32, name: &str, place: &str) -> Result<(), Fault> {
    match flags & !known {
        0 => Ok(()),
        unknown => {
            Err(Fault::argument(format!("is {flags:#x}: {name} has no bits {unknown:#x}")).within(place))
        }
    }
}

/// Strategies that choose which resources are placed in tile memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Strategy {
    /// A search that proves optimality or reports a bound.
    Optimal,
    /// A greedy choice by savings per byte and step, the best of several orders.
    Greedy,
    /// A greedy choice in a single order.
    Fast,
    /// The vendor sample's policy: resources in declaration order, with the whole heap always bound.
    FirstCome,
    /// Nothing in tile memory.
    Off,
}

impl From<Strategy> for plan::ResidencyStrategy {
    fn from(strategy: Strategy) -> plan::ResidencyStrategy {
        match strategy {
            Strategy::Optimal => plan::ResidencyStrategy::Optimal,
            Strategy::Greedy => plan::ResidencyStrategy::Greedy,
            Strategy::Fast => plan::ResidencyStrategy::Fast,
            Strategy::FirstCome => plan::ResidencyStrategy::FirstCome,
            Strategy::Off => plan::ResidencyStrategy::Off,
        }
    }
}

/// Tile memory objects of different sizes for resources with overlapping lifetimes: a smaller object is bound in passes in which fewer bytes are
/// alive. A resource that is alive while several are bound has an image in each, at the same offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Ladder {
    /// A ladder if the model estimates a lower binning cost.
    Auto,
    /// No ladder. `thCreateAliasing` requires this.
    Off,
    /// A ladder wherever it reserves fewer bytes.
    Always,
}

impl From<Ladder> for plan::Ladder {
    fn from(ladder: Ladder) -> plan::Ladder {
        match ladder {
            Ladder::Auto => plan::Ladder::Auto,
            Ladder::Off => plan::Ladder::Off,
            Ladder::Always => plan::Ladder::Always,
        }
    }
}

/// Policy of a planner for making and reusing plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PlanMode {
    /// Plans the frame with the given options, or returns the existing plan of a known frame.
    Plan,
    /// Returns a plan at once: a known plan is repaired, or the frame is planned by `TH_STRATEGY_FAST`.
    Now,
    /// Improves the known plan by a search with twice as many steps as before.
    Improve,
}

/// The type of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ResourceType {
    /// An image.
    Image,
    /// A buffer.
    Buffer,
}

/// The time for which the contents of a resource are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Persistence {
    /// Written and read within the frame.
    Transient,
    /// Written in this frame and read in the next one, with `TH_ACCESS_FLAG_PREVIOUS`.
    History,
    /// Owned by the caller; `entry` and `exit` are its states before and after the frame.
    External,
    /// A swapchain image: contents undefined before the frame, presentable after it. `entry` and `exit` are ignored.
    Swapchain,
    /// A buffer that the frame fills and the host reads after it. `entry` and `exit` are ignored.
    ReadBack,
}

/// The constraint on placing a resource in tile memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TileConstraint {
    /// The planner chooses the memory.
    None,
    /// The resource must be in tile memory; planning fails if it cannot be.
    Pinned,
    /// The resource must not be in tile memory.
    Excluded,
}

impl From<TileConstraint> for frame::TileConstraint {
    fn from(constraint: TileConstraint) -> frame::TileConstraint {
        match constraint {
            TileConstraint::None => frame::TileConstraint::None,
            TileConstraint::Pinned => frame::TileConstraint::Pinned,
            TileConstraint::Excluded => frame::TileConstraint::Excluded,
        }
    }
}

/// The queue family, outside of the device, that owns an external resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExternalFamily {
    /// None: the family of the queue that uses the resource in the frame owns it.
    None,
    /// `VK_QUEUE_FAMILY_EXTERNAL`.
    External,
    /// `VK_QUEUE_FAMILY_FOREIGN_EXT`.
    Foreign,
}

/// The kind of commands that a pass records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PassType {
    /// Draws, in one render pass instance.
    Render,
    /// Dispatches and other action commands outside of render passes.
    Compute,
    /// Copies, blits, fills and clears.
    Transfer,
}

/// Permission to skip a pass in a frame, and the state of its outputs if it is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SkippedOutputs {
    /// The pass must not be skipped.
    None,
    /// If the pass is skipped, its outputs keep their contents, or are cleared.
    Kept,
    /// If the pass is skipped, the contents that it would overwrite are undefined.
    Lost,
}

/// The use of a resource by a pass. Stages, accesses, usages and layouts derive from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AccessKind {
    /// A color attachment; the n-th of a pass is attachment n.
    ColorAttachment,
    /// The depth and stencil attachment.
    DepthStencilAttachment,
    /// Receives the resolved samples of `resolveSource`.
    ResolveAttachment,
    /// Read at the fragment's own pixel.
    InputAttachment,
    /// An attachment of the pass that shaders access within their tile (`VK_QCOM_tile_shading`).
    TileAttachment,
    /// A sampled image.
    SampledImage,
    /// A fragment density map.
    FragmentDensityMap,
    /// A storage image.
    StorageImage,
    /// A uniform buffer.
    UniformBuffer,
    /// A storage buffer.
    StorageBuffer,
    /// A uniform texel buffer.
    UniformTexelBuffer,
    /// A storage texel buffer.
    StorageTexelBuffer,
    /// Memory reached through a buffer device address.
    DeviceAddress,
    /// Vertex attributes.
    VertexBuffer,
    /// Indices.
    IndexBuffer,
    /// Parameters of indirect draws and dispatches.
    IndirectBuffer,
    /// The source of a copy, blit or resolve command.
    TransferSource,
    /// The destination of a copy, blit, fill, clear or resolve command.
    TransferDestination,
}

/// A resource's need for a dedicated allocation (`VkMemoryDedicatedRequirements`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Dedicated {
    /// The resource can share an allocation.
    No,
    /// `prefersDedicatedAllocation`.
    Preferred,
    /// `requiresDedicatedAllocation`.
    Required,
}

impl From<Dedicated> for measure::DedicatedRequirement {
    fn from(dedicated: Dedicated) -> measure::DedicatedRequirement {
        match dedicated {
            Dedicated::No => measure::DedicatedRequirement::No,
            Dedicated::Preferred => measure::DedicatedRequirement::Preferred,
            Dedicated::Required => measure::DedicatedRequirement::Required,
        }
    }
}

/// The kind of object that a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NameKind {
    /// A resource.
    Resource,
    /// A pass.
    Pass,
    /// A command buffer.
    CommandBuffer,
    /// A semaphore.
    Semaphore,
    /// A queue.
    Queue,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ReportFormat {
    /// Text for people, of at most 110 columns.
    Text,
    /// JSON, as the command `tileheap` writes and reads it.
    Json,
}

/// The parity of a frame, which selects the current copy of each history resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Parity {
    /// The copy of frames 0, 2, 4 and so on.
    Even,
    /// The copy of frames 1, 3, 5 and so on.
    Odd,
}

impl From<lower::Parity> for Parity {
    fn from(parity: lower::Parity) -> Parity {
        match parity {
            lower::Parity::Even => Parity::Even,
            lower::Parity::Odd => Parity::Odd,
        }
    }
}

/// Device features that change how a frame is planned or recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FeatureFlag {
    /// `synchronization2`.
    Synchronization2 = 1 << 0,
    /// `dynamicRendering`.
    DynamicRendering = 1 << 1,
    /// `timelineSemaphore`.
    TimelineSemaphore = 1 << 2,
    /// `maintenance4`.
    Maintenance4 = 1 << 3,
    /// `VK_ATTACHMENT_STORE_OP_NONE`.
    StoreOpNone = 1 << 4,
    /// `dynamicRenderingLocalRead`.
    LocalRead = 1 << 5,
    /// `separateDepthStencilLayouts`.
    SeparateDepthStencilLayouts = 1 << 6,
    /// `multiview`.
    Multiview = 1 << 7,
    /// `maintenance9`.
    Maintenance9 = 1 << 8,
    /// `VkSubpassDescriptionDepthStencilResolve`.
    DepthStencilResolve = 1 << 9,
    /// `tileMemoryHeap`.
    TileMemory = 1 << 16,
}

const _: () = {
    assert!(FeatureFlag::Synchronization2 as u32 == Features::SYNCHRONIZATION_2.bits());
    assert!(FeatureFlag::DynamicRendering as u32 == Features::DYNAMIC_RENDERING.bits());
    assert!(FeatureFlag::TimelineSemaphore as u32 == Features::TIMELINE_SEMAPHORE.bits());
    assert!(FeatureFlag::Maintenance4 as u32 == Features::MAINTENANCE_4.bits());
    assert!(FeatureFlag::StoreOpNone as u32 == Features::STORE_OP_NONE.bits());
    assert!(FeatureFlag::LocalRead as u32 == Features::LOCAL_READ.bits());
    assert!(
        FeatureFlag::SeparateDepthStencilLayouts as u32 == Features::SEPARATE_DEPTH_STENCIL_LAYOUTS.bits()
    );
    assert!(FeatureFlag::Multiview as u32 == Features::MULTIVIEW.bits());
    assert!(FeatureFlag::Maintenance9 as u32 == Features::MAINTENANCE_9.bits());
    assert!(FeatureFlag::DepthStencilResolve as u32 == Features::DEPTH_STENCIL_RESOLVE.bits());
    assert!(Features::all().bits() < FeatureFlag::TileMemory as u32);
};

/// Properties of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ResourceFlag {
    /// Each level may be a separate image: if no access covers several levels, level 0 keeps the index and the name, and the others are appended to the
    /// resources of the frame (`ThResourceInfo::level_of`), with names such as "bloom level 1".
    SeparateLevels = 1 << 0,
    /// The image is 1D. Without this flag and the next, an image is 2D.
    Image1d = 1 << 1,
    /// The image is 3D.
    Image3d = 1 << 2,
}

/// Properties of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PassFlag {
    /// The contents of the pass are recorded in secondary command buffers.
    Secondary = 1 << 0,
    /// The pass uses tile shading (`VK_QCOM_tile_shading`).
    TileShading = 1 << 1,
    /// The pass renders to `renderArea`; without this flag, to the whole area that all attachments cover. Required for a render pass without attachments.
    RenderArea = 1 << 2,
    /// The pass can run strip by strip; one more execution costs `repeatBytes`.
    Strips = 1 << 3,
}

/// Properties of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AccessFlag {
    /// The access reads.
    Read = 1 << 0,
    /// The access writes.
    Write = 1 << 1,
    /// The access reads the contents that the previous frame left in a history resource.
    Previous = 1 << 2,
    /// `viewType` is used; without this flag, the type of the view follows from the image and the range.
    ViewType = 1 << 3,
    /// `reachTexels` is used.
    Reach = 1 << 4,
    /// `measuredSavings` is used.
    Measured = 1 << 5,
}

/// Planning options that are on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PlanFlag {
    /// Resources do not share bytes.
    NoAliasing = 1 << 0,
    /// No lazily allocated memory.
    NoLazyMemory = 1 << 1,
    /// Lifetimes may be split by copies out of tile memory: rows of `ThLowered::stores` in tables, recorded by the runtime in dynamic frames.
    Split = 1 << 2,
    /// The bins that reserving tile memory adds cost nothing. Without this flag, each costs `binCost`, or the model's cost if that is 0.
    NoBinCost = 1 << 3,
}

/// The changes that a search for arrangements may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SearchFlag {
    /// Passes may run in another order.
    Order = 1 << 0,
    /// Render passes may run as one.
    Merge = 1 << 1,
    /// Batches may be submitted as one.
    Fuse = 1 << 2,
    /// Passes may run strip by strip.
    Strips = 1 << 3,
    /// Images may have narrower formats.
    Format = 1 << 4,
    /// Images may be smaller.
    Extent = 1 << 5,
    /// Uses that keep a resource off chip may be left out.
    Usage = 1 << 6,
}

/// The access kind with this number.
pub(crate) fn access_kind(number: u32) -> Result<frame::AccessKind, Fault> {
    let kind = frame::AccessKind::ALL.get(number as usize).copied();
    kind.ok_or_else(|| no_value(number, "ThAccessKind", frame::AccessKind::ALL.len()).within("kind"))
}
