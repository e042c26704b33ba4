//! Passes against the shaders they run.

use super::*;
use tileheap_testkit::frames::one_queue;

const LIGHTING: &str = include_str!("shaders/lighting.glsl");

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 64,
};

/// A frame that draws `albedo` and `depth`, fills `lights`, and then has the pass under test; and that pass.
struct Scene {
    frame: FrameBuilder,
    commands: CommandBufferId,
    albedo: tileheap::frame::ResourceId,
    depth: tileheap::frame::ResourceId,
    lights: tileheap::frame::ResourceId,
    target: tileheap::frame::ResourceId,
}

impl Scene {
    fn new() -> Scene {
        let mut frame = FrameBuilder::new("scene", EXTENT);
        let color = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
        let albedo = frame.image("albedo", color);
        let depth = frame.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT));
        let lights = frame.buffer("lights", BufferDesc::new(Bytes(256)));
        let target = frame.image("target", color);
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
        let pass = frame.render_pass(commands, "gbuffer");
        pass.color(albedo, LoadOp::DontCare)
            .depth(depth, LoadOp::DontCare);
        frame.compute_pass(commands, "cull").storage_write(lights);
        Scene {
            frame,
            commands,
            albedo,
            depth,
            lights,
            target,
        }
    }

    fn pipeline<'a>(&self, entry: &'a EntryPoint) -> PipelineShaders<'a> {
        PipelineShaders::new()
            .shader(entry)
            .bind(0, 0, self.albedo)
            .bind(0, 1, self.depth)
            .bind(0, 2, self.lights)
    }

    fn build(self) -> (Frame, PassId) {
        let frame = self.frame.build().unwrap();
        let pass = frame.pass_named("lighting").unwrap();
        (frame, pass)
    }
}

fn messages(mismatches: &[Mismatch]) -> Vec<String> {
    let kind = |it: &Mismatch| if it.is_error() { "error" } else { "note" };
    mismatches
        .iter()
        .map(|it| format!("{}: {it}", kind(it)))
        .collect()
}

const MATERIAL: &str =
    "note: pass `lighting` uses set 0 binding 3 as SampledImage, which is bound to nothing of the frame";

#[test]
fn a_pass_that_declares_what_its_shaders_do_agrees_with_them() {
    let entry = entry_of(Stage::Fragment, LIGHTING, 6);
    let mut scene = Scene::new();
    let pipeline = scene.pipeline(&entry);
    let pass = scene.frame.render_pass(scene.commands, "lighting");
    let pass = pass
        .sampled(scene.albedo)
        .sampled(scene.depth)
        .storage_read(scene.lights);
    pass.color(scene.target, LoadOp::DontCare);
    let (frame, pass) = scene.build();
    assert_eq!(
        messages(&check(&frame, pass, std::slice::from_ref(&pipeline))),
        [MATERIAL]
    );
}

#[test]
fn derived_accesses_agree_with_the_shaders_they_come_from() {
    let vertex = entry_of(
        Stage::Vertex,
        "layout(binding = 2) buffer L { vec4 lights[]; }; void main() { gl_Position = lights[1]; lights[2] = vec4(0); }",
        6,
    );
    let fragment = entry_of(Stage::Fragment, LIGHTING, 6);
    let mut scene = Scene::new();
    let pipeline = scene.pipeline(&fragment).shader(&vertex);
    let pass = scene.frame.render_pass(scene.commands, "lighting");
    pass.shaders(std::slice::from_ref(&pipeline))
        .color(scene.target, LoadOp::DontCare);
    let lights = scene.lights;
    let (frame, pass) = scene.build();
    assert_eq!(
        messages(&check(&frame, pass, std::slice::from_ref(&pipeline))),
        [MATERIAL]
    );
    let access = frame
        .accesses_of(pass)
        .iter()
        .find(|access| access.resource == lights)
        .unwrap();
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
    let mut scene = Scene::new();
    let history = scene.frame.resource(
        "history",
        ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT),
        Persistence::History,
    );
    let pipeline = PipelineShaders::new()
        .shader(&entry)
        .bind_previous(0, 0, history)
        .bind(0, 1, history)
        .address(AddressSource::PushConstant { offset: Some(0) }, scene.lights);
    let pass = scene.frame.compute_pass(scene.commands, "lighting");
    pass.shaders(std::slice::from_ref(&pipeline));
    let (frame, pass) = scene.build();
    assert_eq!(check(&frame, pass, std::slice::from_ref(&pipeline)), []);
    let kinds: Vec<_> = frame
        .accesses_of(pass)
        .iter()
        .map(|it| (it.kind, it.reads, it.load_op))
        .collect();
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
fn every_mismatch_is_found() {
    let found = |source: &str, stage: Stage, declare: &dyn Fn(&mut Scene)| {
        let entry = entry_of(stage, source, 6);
        let mut scene = Scene::new();
        let pipeline = scene.pipeline(&entry);
        declare(&mut scene);
        let (frame, pass) = scene.build();
        messages(&check(&frame, pass, std::slice::from_ref(&pipeline)))
    };
    let said = |messages: &[String], text: &str| {
        assert!(
            messages.iter().any(|message| message == text),
            "wanted: {text}\nfound: {messages:#?}"
        );
    };

    let nothing = found(LIGHTING, Stage::Fragment, &|scene| {
        scene.frame.render_pass(scene.commands, "lighting");
    });
    said(
        &nothing,
        "error: pass `lighting` uses `albedo` as SampledImage (set 0 binding 0) and does not declare it",
    );
    said(
        &nothing,
        "note: pass `lighting` writes colour output 0 in a fragment shader and has no such attachment",
    );

    let other = found(LIGHTING, Stage::Fragment, &|scene| {
        let pass = scene.frame.render_pass(scene.commands, "lighting");
        let pass = pass
            .input(scene.albedo)
            .sampled(scene.depth)
            .uniform(scene.lights);
        pass.color(scene.target, LoadOp::DontCare);
    });
    said(
        &other,
        "error: pass `lighting` uses `albedo` as SampledImage (set 0 binding 0) and declares it as InputAttachment",
    );
    said(
        &other,
        "note: pass `lighting` declares `albedo` as InputAttachment, and no shader uses it so",
    );

    let store = "layout(binding = 2) buffer L { uint lights[]; }; layout(local_size_x = 1) in;
        void main() { lights[0] = 1; }";
    let read_only = found(store, Stage::Compute, &|scene| {
        scene
            .frame
            .compute_pass(scene.commands, "lighting")
            .storage_read(scene.lights);
    });
    said(
        &read_only,
        "error: pass `lighting` writes `lights` (set 0 binding 2) and declares it as only read",
    );
    said(
        &read_only,
        "note: pass `lighting` declares that it reads `lights`, and no shader does",
    );

    let update = store.replace("[0] = 1", "[0] += 1");
    let write_only = found(&update, Stage::Compute, &|scene| {
        scene
            .frame
            .compute_pass(scene.commands, "lighting")
            .storage_write(scene.lights);
    });
    said(
        &write_only,
        "note: pass `lighting` reads `lights` (set 0 binding 2) and declares it as only written",
    );

    let wrong_stage = found(store, Stage::Compute, &|scene| {
        let pass = scene
            .frame
            .compute_pass(scene.commands, "lighting")
            .storage_write(scene.lights);
        pass.at(vk::PipelineStageFlags2::FRAGMENT_SHADER);
    });
    said(
        &wrong_stage,
        "error: pass `lighting` uses `lights` (set 0 binding 2) in COMPUTE_SHADER and declares it for FRAGMENT_SHADER",
    );

    let wrong_pass = found(store, Stage::Compute, &|scene| {
        scene
            .frame
            .render_pass(scene.commands, "lighting")
            .storage_write(scene.lights);
    });
    said(
        &wrong_pass,
        "error: pass `lighting` is a Render pass and cannot run a COMPUTE shader",
    );

    let too_much = found(LIGHTING, Stage::Fragment, &|scene| {
        let pass = scene.frame.render_pass(scene.commands, "lighting");
        let pass = pass
            .sampled(scene.albedo)
            .sampled(scene.depth)
            .storage_update(scene.lights);
        pass.color(scene.target, LoadOp::DontCare);
    });
    said(
        &too_much,
        "note: pass `lighting` declares that it writes `lights`, and no shader does",
    );
}
