//! Memory accesses of shaders, read from SPIR-V of every version: each way to access memory, proven accesses, damaged modules.

use tileheap_testkit::glsl;
use tileheap_testkit::spirv;

mod accesses;
mod certain;
mod certain_paths;
mod guarded;
mod hostile;
mod pixel;
mod pointers;
mod reflect;

use ash::vk;
use rspirv::spirv::{Op, StorageClass};
use serde_json::{Value, json};
use spirv::{Assembler, Types};
use tileheap_device::AccessKind;
use tileheap_spirv::{EntryPoint, ShaderError, ShaderModule};
use tileheap_testkit::glsl::Stage;

use AccessKind as K;

const SHADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pure/shaders");

fn flags(stage: Stage) -> vk::ShaderStageFlags {
    match stage {
        Stage::Vertex => vk::ShaderStageFlags::VERTEX,
        Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
        Stage::Compute => vk::ShaderStageFlags::COMPUTE,
    }
}

fn stage_of(case: &Value) -> Stage {
    match case["stage"].as_str() {
        Some("vertex") => Stage::Vertex,
        Some("fragment") => Stage::Fragment,
        _ => Stage::Compute,
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
