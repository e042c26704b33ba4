//! Passes compared with the shaders that they run.

use tileheap_testkit::glsl;

mod passes;

use ash::vk;
use serde_json::Value;
use tileheap::frame::shaders::{AddressSource, EntryPoint, PipelineShaders, ShaderModule, check};
use tileheap::frame::{AccessKind, Frame, LoadOp};
use tileheap_testkit::glsl::Stage;

use AccessKind as K;

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
