//! Memory accesses of shaders: read from SPIR-V by [`tileheap_spirv`], compared with a pass's declared accesses, or used to declare them.
//!
//! ```text
//! SPIR-V words ──parse──► ShaderModule ──entry_point──► EntryPoint: bindings, addresses, outputs
//!                                                          │  with resources: PipelineShaders
//!                               Frame, PassId ──check──────┴──► mismatches
//!                               PassBuilder::shaders ◄─────────┘ derived accesses
//! ```
//!
//! ```no_run
//! use ash::vk;
//! use tileheap::frame::shaders::{PipelineShaders, ShaderModule, check};
//! # use tileheap::frame::{Frame, PassId, ResourceId};
//!
//! # fn with(frame: Frame, lighting: PassId, [albedo, lit]: [ResourceId; 2]) -> Result<(), Box<dyn std::error::Error>> {
//! let module = ShaderModule::from_bytes(&std::fs::read("lighting.comp.spv")?)?;
//! let entry = module.entry_point("main", vk::ShaderStageFlags::COMPUTE)?;
//! for binding in &entry.bindings {
//!     println!("set {} binding {}: {:?}", binding.set, binding.binding, binding.kind);
//! }
//! // Bind the resources of the pass, then compare its declared accesses with those of the shader.
//! let pipeline = PipelineShaders::new().shader(&entry).bind(0, 0, albedo).bind(0, 1, lit);
//! for mismatch in check(&frame, lighting, &[pipeline]) {
//!     println!("{mismatch}");
//! }
//! # Ok(())
//! # }
//! ```

mod check;
mod mismatch;
mod pipeline;

pub use check::check;
pub use mismatch::{Mismatch, MismatchKind};
pub use pipeline::{BindingTarget, PipelineShaders, ShaderBinding};
#[doc(inline)]
pub use tileheap_spirv::{
    AccessRange, AccessRegion, AddressSource, AddressUse, Binding, CertainAccess, ColorOutput, Comparison,
    Dispatch, ElementIndex, EntryPoint, Guard, GuardValue, InvocationId, InvocationIndex, ShaderError,
    ShaderModule, TexelIndex,
};
