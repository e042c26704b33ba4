//! Declarations of passes, compared with their shaders and derived from them.

use super::*;
use tileheap::frame::{CommandBufferId, FrameBuilder, PassId};

const LIGHTING: &str = include_str!("shaders/lighting.glsl");

/// A frame with `pass` appended, and the pass.
fn with_pass(file: &Value, pass: &Value) -> (Frame, PassId) {
    let mut document = file["base"].clone();
    let passes = &mut document["submits"][0]["batches"][0]["command_buffers"][0]["passes"];
    passes.as_array_mut().expect("passes").push(pass.clone());
    let frame = Frame::from_json(&document.to_string()).unwrap();
    let pass = frame.pass_named("lighting").unwrap();
    (frame, pass)
}

/// The messages about a pass that runs these shaders.
fn messages(frame: &Frame, pass: PassId, pipeline: &PipelineShaders<'_>) -> Vec<String> {
    let mismatches = check(frame, pass, std::slice::from_ref(pipeline));
    let mismatches = mismatches.iter();
    mismatches
        .map(|it| format!("{}: {it}", if it.is_error() { "error" } else { "note" }))
        .collect()
}

/// A pipeline with one shader that accesses `albedo`, `depth` and `lights`.
fn pipeline<'a>(frame: &Frame, entry: &'a EntryPoint) -> PipelineShaders<'a> {
    let names = ["albedo", "depth", "lights"].into_iter().zip(0..);
    names.fold(
        PipelineShaders::new().shader(entry),
        |pipeline, (name, binding)| pipeline.bind(0, binding, frame.resource_named(name).unwrap()),
    )
}

#[test]
fn passes_agree_with_their_shaders_or_every_mismatch_is_found() {
    tileheap_testkit::assert_cases("shader_passes", |file, case| {
        let source = case
            .get("source")
            .map_or(LIGHTING, |source| source.as_str().expect("GLSL"));
        let entry = entry_of(stage_of(case), source, 6);
        let (frame, pass) = with_pass(file, &case["pass"]);
        messages(&frame, pass, &pipeline(&frame, &entry)).into()
    });
}

/// The frame of the cases without any pass of a case, and its command buffer.
fn scene() -> (Frame, FrameBuilder, CommandBufferId) {
    let file = std::fs::read_to_string(tileheap_testkit::data("cases/shader_passes.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let frame = Frame::from_json(&file["base"].to_string()).unwrap();
    let (builder, commands) = (frame.to_builder(), frame.passes()[0].command_buffer);
    (frame, builder, commands)
}

#[test]
fn derived_accesses_agree_with_the_shaders_they_come_from() {
    let vertex = entry_of(
        Stage::Vertex,
        "layout(binding = 2) buffer L { vec4 lights[]; }; void main() { gl_Position = lights[1]; lights[2] = vec4(0); }",
        6,
    );
    let fragment = entry_of(Stage::Fragment, LIGHTING, 6);
    let (scene, mut frame, commands) = scene();
    let [lights, target] = ["lights", "target"].map(|name| scene.resource_named(name).unwrap());
    let pipeline = pipeline(&scene, &fragment).shader(&vertex);
    let pass = frame
        .render_pass(commands, "lighting")
        .shaders(std::slice::from_ref(&pipeline));
    let pass = pass.color(target, LoadOp::DontCare).id();
    let frame = frame.build().unwrap();
    let material = "note: pass `lighting` uses set 0 binding 3 as a sampled image, but no resource of the frame is bound there";
    assert_eq!(messages(&frame, pass, &pipeline), [material]);
    let mut accesses = frame.accesses_of(pass).iter();
    let access = accesses.find(|access| access.resource == lights).unwrap();
    assert_eq!(
        (access.kind, access.reads, access.writes),
        (K::StorageBuffer, true, true)
    );
    assert_eq!(
        access.stages,
        vk::PipelineStageFlags2::VERTEX_SHADER | vk::PipelineStageFlags2::FRAGMENT_SHADER
    );
}

#[test]
fn derived_accesses_know_versions_and_addresses() {
    let entry = entry_of(
        Stage::Compute,
        include_str!("shaders/history_and_address.glsl"),
        6,
    );
    let (scene, mut frame, commands) = scene();
    let [history, lights] = ["history", "lights"].map(|name| scene.resource_named(name).unwrap());
    let pipeline = PipelineShaders::new()
        .shader(&entry)
        .bind_previous(0, 0, history)
        .bind(0, 1, history)
        .address(AddressSource::PushConstant { offset: Some(0) }, lights);
    let pass = frame
        .compute_pass(commands, "lighting")
        .shaders(std::slice::from_ref(&pipeline))
        .id();
    let frame = frame.build().unwrap();
    assert_eq!(messages(&frame, pass, &pipeline), [""; 0]);
    let accesses = frame.accesses_of(pass).iter();
    let kinds: Vec<_> = accesses.map(|it| (it.kind, it.reads, it.load_op)).collect();
    assert_eq!(
        kinds,
        [
            (K::SampledImage, true, LoadOp::Load),
            (K::StorageImage, false, LoadOp::DontCare),
            (K::DeviceAddress, false, LoadOp::DontCare),
        ]
    );
}

#[test]
fn pipelines_are_compared_with_the_accesses_of_their_subpass() {
    let gbuffer = entry_of(
        Stage::Fragment,
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b; void main() { a = vec4(0); b = vec4(1); }",
        6,
    );
    let lighting = entry_of(
        Stage::Fragment,
        "layout(input_attachment_index = 0, binding = 0) uniform subpassInput albedo; \
         layout(location = 0) out vec4 color; void main() { color = subpassLoad(albedo); }",
        6,
    );
    let (scene, mut frame, commands) = scene();
    let [albedo, normals, lit] =
        ["albedo", "history", "target"].map(|name| scene.resource_named(name).unwrap());
    let gbuffer = PipelineShaders::new().shader(&gbuffer);
    let lighting = PipelineShaders::new().shader(&lighting).bind(0, 0, albedo);
    let pipelines = [gbuffer.clone().in_subpass(0), lighting.clone().in_subpass(1)];
    let pass = frame.render_pass(commands, "lighting");
    let pass = pass
        .color(albedo, LoadOp::DontCare)
        .color(normals, LoadOp::DontCare);
    let pass = pass.shaders(&pipelines).next_subpass().shaders(&pipelines);
    let pass = pass.color(lit, LoadOp::DontCare).id();
    let frame = frame.build().unwrap();
    let input = |it: &&tileheap::frame::tables::Access| it.kind == K::InputAttachment;
    let inputs = frame.accesses_of(pass).iter().filter(input);
    let inputs: Vec<_> = inputs.map(|it| (it.resource, it.subpass)).collect();
    assert_eq!(inputs, [(albedo, 1)]);

    let found = |pipelines: &[PipelineShaders<'_>]| {
        let found = check(&frame, pass, pipelines);
        found.into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(found(&pipelines), none);
    // Without the numbers of the subpasses, nothing more is known than that the pipelines run in one of them.
    assert_eq!(found(&[gbuffer.clone(), lighting.clone()]), none);
    assert_eq!(
        found(&[gbuffer.in_subpass(1), lighting.clone().in_subpass(1)]),
        [
            "pass `lighting` writes color output 1 in a fragment shader of subpass 1, but has no such attachment"
        ]
    );
    assert_eq!(
        found(&[pipelines[1].clone(), lighting.clone().in_subpass(0)]),
        [
            "pass `lighting` uses `albedo` as an input attachment (set 0 binding 0), but does not declare it",
            "pass `lighting` has the color attachment `history`, but no fragment shader writes output 1 of subpass 0",
        ]
    );
    assert_eq!(
        found(&[lighting.in_subpass(2)]),
        ["pass `lighting` runs a pipeline in subpass 2, but its last subpass is 1"]
    );
}
