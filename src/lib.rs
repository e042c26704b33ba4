//! Keeps a renderer's short-lived images and buffers on the chip.
//!
//! On GPUs with `VK_QCOM_tile_memory_heap`, a part of the memory that tiles are drawn in is a Vulkan heap. This crate decides which of a frame's
//! resources are placed there and when, plans shared space in ordinary memory for all others, gives the reason for each placement, and creates, binds
//! and records what it planned. Without tile memory, the same program runs with the same plan minus that part.
//!
//! ```text
//! describe ──► measure ──► plan ──► bind ──► record ──► submit
//!  frame       profile      plan    └──────── runtime ────────┘
//!  └──── pure, no driver, no unsafe ────┘
//! ```
//! Each stage takes plain data and returns plain data. A plan is a value, the same for the same input on every machine, and a separate
//! module checks it ([`Plan::check`](plan::Plan::check)). The crate `tileheap-pack` is the packing engine; `tileheap-tensor` plans
//! networks with it, and `tileheap-textures` streams textures.
//!
//! ```
//! use std::sync::Arc;
//!
//! use ash::vk;
//! use tileheap::measure::estimate;
//! use tileheap::plan::{MemoryKind, plan};
//! use tileheap::profile::DeviceProfile;
//! use tileheap::{ClearValue, FrameBuilder, ImageDesc, LoadOp, PlanOptions};
//!
//! let extent = vk::Extent2D { width: 1280, height: 720 };
//! let mut frame = FrameBuilder::new("two passes", extent);
//! let albedo = frame.image("albedo", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
//! let lit = frame.image("lit", ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, extent));
//! let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
//! let submit = frame.submit(graphics);
//! let batch = frame.batch(submit);
//! let scene = frame.command_buffer(batch, "scene");
//! frame.render_pass(scene, "gbuffer").color(albedo, LoadOp::Clear(ClearValue::ZERO));
//! frame.render_pass(scene, "lighting").sampled(albedo).color(lit, LoadOp::DontCare);
//! let frame = frame.build()?;
//!
//! // The numbers of a device by name; `runtime::Device::plan` queries the driver instead.
//! let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
//! let needs = Arc::new(estimate(&frame, &profile)?);
//! let plan = plan(&frame, &needs, &profile, &PlanOptions::default())?;
//! assert_eq!(plan.memory_of(albedo), Some(MemoryKind::Tile));
//! println!("{plan}"); // the placement of every resource, and why
//! # Ok::<(), tileheap::Error>(())
//! ```
//!
//! # The types a renderer needs
//! All of them are on this page; everything else is in modules, by purpose.
//!
//! | | |
//! |---|---|
//! | describe | [`FrameBuilder`] builds a [`Frame`] of images ([`ImageDesc`]), buffers ([`BufferDesc`]) and passes ([`LoadOp`], [`ClearValue`]), identified by [`ResourceId`] and [`PassId`] |
//! | plan | [`Device::plan`] with [`PlanOptions`] makes a [`Checked`]`<`[`Plan`]`>` |
//! | bind | [`DeviceSupport`] queries what a physical device supports, and [`Device`] wraps the caller's `VkDevice`; [`BoundFrame`] owns the objects of a plan, [`DynamicFrame`] those of changing descriptions |
//! | record | [`FrameRecorder`] records a frame with its [`Imports`], [`Commands`] a command buffer and [`PassCommands`] a pass |
//! | handle errors | [`Error`] |
//!
//! | module | for |
//! |---|---|
//! | [`frame`] | everything else about descriptions: access kinds, parts of images, persistence, JSON, reflection, rules of valid usage |
//! | [`measure`], [`profile`] | memory requirements and devices, without a driver |
//! | [`plan`](mod@plan) | placements and their reasons, planning strategies, the checker, JSON |
//! | [`execute`] | frames that run in place of described ones, and the map between them |
//! | [`arrange`] | searches for other orders, merges and strips |
//! | [`lower`] | plans as flat tables, for renderers that record and submit themselves |
//! | [`runtime`] | everything else that calls Vulkan: detection, imports, pipelines' targets, hooks, objects and memory |
//! | [`units`], [`format`](mod@format), [`names`], [`ffi`] | quantities, formats, names of Vulkan's values, bindings that `ash` lacks |
//!
//! # What it is not
//! Not a render graph that owns the passes, a shader compiler, an allocator for a renderer's own assets, or a neural-network runtime. A frame runs as
//! it is described, unless another [arrangement](arrange) is requested. No phone has run it yet; tile memory is executed on the emulator.
//!
//! # Features
//! `runtime` (default): everything that calls Vulkan. `reflect` (default): checks passes against their SPIR-V. `shaders`: compiles the shaders of the
//! runtime's stores from source, instead of using the SPIR-V that comes with the crate. `check` (default): checks
//! [tables of lowered frames](lower::check). `arrange`: [arrangements](arrange). `import`: the loose descriptions of [`frame::import`]. Without any feature, only the pure planner is built.

#[cfg(feature = "arrange")]
#[forbid(unsafe_code)]
pub mod arrange;
mod checked;
pub mod error;
#[forbid(unsafe_code)]
pub mod execute;
#[forbid(unsafe_code)]
pub mod frame;
pub mod lower;
#[forbid(unsafe_code)]
pub mod measure;
#[forbid(unsafe_code)]
pub mod plan;
mod quick_hash;
#[cfg(feature = "runtime")]
pub mod runtime;

pub use checked::Checked;
pub use error::{Error, Result};
#[doc(inline)]
pub use frame::{BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, ResourceId};
#[doc(inline)]
pub use plan::{Plan, PlanOptions};
#[cfg(feature = "runtime")]
#[doc(inline)]
pub use runtime::{
    BoundFrame, Commands, Device, DeviceSupport, DynamicFrame, FrameRecorder, Imports, PassCommands,
};
pub use tileheap_device::{ffi, format, names, profile};
pub use tileheap_units as units;

/// Counts the allocations of unit tests.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: tileheap_testkit::counting::CountingAllocator =
    tileheap_testkit::counting::CountingAllocator;

/// Compiles the README's example as a documentation test.
#[cfg(all(doctest, feature = "runtime"))]
#[doc = include_str!("../README.md")]
struct Readme;
