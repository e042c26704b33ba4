//! What shaders do with memory, read from SPIR-V of every version: each way to reach memory, and passes against shaders.

use tileheap_testkit::glsl;
use tileheap_testkit::spirv;

mod passes;
mod pointers;
mod reach;

use ash::vk;
use rspirv::spirv::{Op, StorageClass};
use spirv::{Assembler, Types};
use tileheap::frame::shaders::{
    AddressSource, EntryPoint, Mismatch, PipelineShaders, ShaderError, ShaderModule, check,
};
use tileheap::frame::{
    AccessKind, BufferDesc, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence,
};
use tileheap::units::Bytes;
use tileheap_testkit::glsl::Stage;

use AccessKind as K;

fn flags(stage: Stage) -> vk::ShaderStageFlags {
    match stage {
        Stage::Vertex => vk::ShaderStageFlags::VERTEX,
        Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
        Stage::Compute => vk::ShaderStageFlags::COMPUTE,
    }
}

fn entry_of(stage: Stage, source: &str, minor: usize) -> EntryPoint {
    let module = ShaderModule::parse(&glsl::compile(stage, source, minor)).unwrap();
    assert_eq!(module.version(), (1, minor as u32));
    module.entry_point("main", flags(stage)).unwrap()
}

/// Binding, kind, reads, writes.
type Row = (u32, AccessKind, bool, bool);

fn rows(entry: &EntryPoint) -> Vec<Row> {
    let bindings = entry.bindings.iter();
    bindings
        .map(|it| (it.binding, it.kind, it.reads, it.writes))
        .collect()
}

/// In every version of SPIR-V from 1.`first`.
fn same_from(first: usize, stage: Stage, source: &str, expected: &[Row]) {
    for minor in first..=6 {
        assert_eq!(
            rows(&entry_of(stage, source, minor)),
            expected,
            "SPIR-V 1.{minor}"
        );
    }
}

fn same(stage: Stage, source: &str, expected: &[Row]) {
    same_from(0, stage, source, expected);
}
