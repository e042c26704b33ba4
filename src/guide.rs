#![doc = include_str!(concat!(env!("OUT_DIR"), "/guide/README.md"))]

#[doc = include_str!(concat!(env!("OUT_DIR"), "/guide/tile_memory.md"))]
///
/// In the API: [`frame`](crate::frame), [`profile`](crate::profile), [`plan`](crate::plan), and the specification's structs in
/// [`ffi`](crate::ffi).
pub mod tile_memory {}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/guide/integrate.md"))]
///
/// In the API: [`runtime`](crate::runtime), [`Support`](crate::runtime::Support), [`Enable`](crate::runtime::Enable),
/// [`FrameBuilder`](crate::frame::FrameBuilder), [`Bound`](crate::runtime::Bound), [`Turn`](crate::runtime::Turn).
pub mod integrate {}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/guide/reports.md"))]
///
/// In the API: [`Plan`](crate::plan::Plan), [`Reason`](crate::plan::Reason), [`NotTile`](crate::plan::NotTile),
/// [`advise`](crate::plan::advise()), [`Totals`](crate::plan::Totals).
pub mod reports {}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/guide/emulator.md"))]
///
/// In the API: [`Support::emulator`](crate::runtime::Support::emulator), [`PRESETS`](crate::profile::PRESETS).
pub mod emulator {}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/guide/tensors.md"))]
///
/// In the API: [`tensor`](crate::tensor), [`runtime::tensors`](crate::runtime::tensors), [`pack`](crate::pack).
pub mod tensors {}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/guide/textures.md"))]
///
/// In the API: [`cache`](crate::cache), [`runtime::textures`](crate::runtime::textures).
pub mod textures {}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/guide/measuring.md"))]
///
/// In the API: [`survey`](crate::runtime::survey), [`Weights`](crate::frame::Weights), [`model`](crate::plan::model).
pub mod measuring {}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/guide/limits.md"))]
pub mod limits {}
