//! What shaders do with memory, read from SPIR-V of every version: each way to reach memory, and passes against shaders.

#[path = "support/glsl.rs"]
mod glsl;
#[path = "support/spirv.rs"]
mod spirv;

use ash::vk;
use glslang::ShaderStage as Stage;
use rspirv::spirv::{Op, StorageClass};
use spirv::{Assembler, Types};
use tileheap::frame::shaders::{
    AddressSource, EntryPoint, Mismatch, PipelineShaders, ShaderFault, ShaderModule, check,
};
use tileheap::frame::{
    AccessKind, Before, BufferDesc, CommandBufferId, Frame, FrameBuilder, ImageDesc, Lifetime, PassId,
};
use tileheap::units::Bytes;

use AccessKind as K;

fn flags(stage: Stage) -> vk::ShaderStageFlags {
    match stage {
        Stage::Vertex => vk::ShaderStageFlags::VERTEX,
        Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
        Stage::Compute => vk::ShaderStageFlags::COMPUTE,
        other => panic!("no test needs {other:?}"),
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

#[test]
fn every_kind_of_descriptor() {
    let source = "
        layout(set = 0, binding = 0) uniform sampler2D combined;
        layout(set = 0, binding = 1) uniform texture2D separate;
        layout(set = 0, binding = 2) uniform sampler wrap;
        layout(set = 0, binding = 3, rgba8) uniform readonly image2D source;
        layout(set = 0, binding = 4, rgba8) uniform writeonly image2D target;
        layout(set = 0, binding = 5, r32ui) uniform uimage2D counts;
        layout(set = 0, binding = 6) uniform samplerBuffer texels;
        layout(set = 0, binding = 7, r32f) uniform imageBuffer storageTexels;
        layout(set = 0, binding = 8) uniform Constants { vec4 a; };
        layout(set = 0, binding = 9) buffer Data { vec4 b[]; };
        layout(set = 0, binding = 10) readonly buffer Input { vec4 c[]; } inputs;
        layout(set = 0, binding = 11) writeonly buffer Result { vec4 d[]; } results;
        layout(set = 0, binding = 12) uniform sampler2D unused;
        layout(set = 1, binding = 0) buffer Sized { float e[]; } sized;
        layout(local_size_x = 1) in;
        void main() {
            vec4 sum = texture(combined, vec2(0)) + texture(sampler2D(separate, wrap), vec2(0));
            sum += imageLoad(source, ivec2(0)) + texelFetch(texels, 0) + a + inputs.c[1];
            imageStore(target, ivec2(0), sum);
            imageAtomicAdd(counts, ivec2(0), 1u);
            imageStore(storageTexels, 0, sum);
            b[0] += sum;
            results.d[sized.e.length()] = sum;
        }";
    same(
        Stage::Compute,
        source,
        &[
            (0, K::SampledImage, true, false),
            (1, K::SampledImage, true, false),
            (3, K::StorageImage, true, false),
            (4, K::StorageImage, false, true),
            (5, K::StorageImage, true, true),
            (6, K::UniformTexelBuffer, true, false),
            (7, K::StorageTexelBuffer, false, true),
            (8, K::UniformBuffer, true, false),
            (9, K::StorageBuffer, true, true),
            (10, K::StorageBuffer, true, false),
            (11, K::StorageBuffer, false, true),
            // Only asked for its length.
            (0, K::StorageBuffer, false, false),
        ],
    );
    let entry = entry_of(Stage::Compute, source, 6);
    let names: Vec<&str> = entry.bindings.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names[..3], ["combined", "separate", "source"]);
    assert_eq!(names[7], "Constants");
    assert!(entry.bindings[2].non_writable && !entry.bindings[2].non_readable);
    assert!(entry.bindings[3].non_readable);
    assert!(entry.bindings[9].non_writable && entry.bindings[10].non_readable);
    assert_eq!(entry.bindings[0].stages, vk::PipelineStageFlags2::COMPUTE_SHADER);
}

#[test]
fn a_fragment_shader_has_inputs_and_outputs() {
    let source = "
        layout(input_attachment_index = 3, binding = 0) uniform subpassInput color;
        layout(input_attachment_index = 1, binding = 1) uniform usubpassInputMS samples;
        layout(location = 0) out vec4 first;
        layout(location = 2) out vec4 more[2];
        layout(location = 7) out vec4 never;
        void main() {
            first = subpassLoad(color) + vec4(subpassLoad(samples, 1));
            more[1] = vec4(1);
            gl_FragDepth = 0.5;
        }";
    for minor in 0..=6 {
        let entry = entry_of(Stage::Fragment, source, minor);
        assert_eq!(
            rows(&entry),
            [
                (0, K::InputAttachment, true, false),
                (1, K::InputAttachment, true, false)
            ]
        );
        assert_eq!(entry.bindings[0].input_attachment_index, Some(3));
        let outputs: Vec<u32> = entry.outputs.iter().map(|output| output.location).collect();
        assert_eq!(outputs, [0, 2, 3], "SPIR-V 1.{minor}");
        assert!(entry.writes_depth);
    }
    let plain = entry_of(
        Stage::Vertex,
        "layout(location = 0) out vec4 v; void main() { v = vec4(1); }",
        6,
    );
    assert_eq!((plain.outputs.len(), plain.writes_depth), (0, false));
}

#[test]
fn only_what_the_entry_point_can_reach_counts() {
    let source = "
        layout(binding = 0) buffer A { uint a; };
        layout(binding = 1) buffer B { uint b; };
        layout(binding = 2) buffer C { uint c; };
        layout(local_size_x = 1) in;
        void deep() { c = a; }
        void never() { b = 1; }
        void shallow() { deep(); }
        void main() { shallow(); }";
    same(
        Stage::Compute,
        source,
        &[
            (0, K::StorageBuffer, true, false),
            (2, K::StorageBuffer, false, true),
        ],
    );
}

#[test]
fn images_are_followed_through_parameters() {
    let source = "
        #extension GL_EXT_shader_image_load_formatted : require
        layout(binding = 0) uniform image2D a;
        layout(binding = 1) uniform image2D b;
        layout(binding = 2) uniform image2D c[4];
        layout(binding = 3) uniform sampler2D d;
        layout(binding = 4) uniform sampler2D e;
        layout(local_size_x = 1) in;
        void store(image2D target, float value) { imageStore(target, ivec2(0), vec4(value)); }
        float load(image2D source) { return imageLoad(source, ivec2(0)).x; }
        float relay(image2D source) { return load(source); }
        float pick(sampler2D source) { return textureLod(source, vec2(0), 0).x; }
        int size(sampler2D source) { return textureSize(source, 0).x; }
        void main() { store(a, relay(b) + pick(d)); store(c[2], size(e)); }";
    same(
        Stage::Compute,
        source,
        &[
            (0, K::StorageImage, false, true),
            (1, K::StorageImage, true, false),
            (2, K::StorageImage, false, true),
            (3, K::SampledImage, true, false),
            (4, K::SampledImage, false, false),
        ],
    );
    assert_eq!(entry_of(Stage::Compute, source, 3).bindings[2].count, Some(4));
}

#[test]
fn structures_arrays_and_atomics_are_followed() {
    let source = "
        #extension GL_EXT_nonuniform_qualifier : require
        struct Light { vec4 position; uint next[4]; };
        layout(binding = 0) buffer Lights { Light lights[]; };
        layout(binding = 1) buffer Counter { uint count; };
        layout(binding = 2) buffer Many { uint values[]; } many[];
        layout(binding = 3) buffer Whole { Light one; Light two; };
        layout(local_size_x = 1) in;
        void main() {
            uint at = atomicAdd(count, 1);
            lights[at].next[2] = at;
            many[nonuniformEXT(at)].values[3] = at;
            Light copy = two;
            one = copy;
            atomicMax(lights[at].next[1], 3u);
        }";
    same(
        Stage::Compute,
        source,
        &[
            (0, K::StorageBuffer, true, true),
            (1, K::StorageBuffer, true, true),
            (2, K::StorageBuffer, false, true),
            (3, K::StorageBuffer, true, true),
        ],
    );
    assert_eq!(entry_of(Stage::Compute, source, 6).bindings[2].count, None);
}

#[test]
fn two_variables_may_share_a_descriptor() {
    let source = "
        layout(binding = 0) buffer A { uint a[]; };
        layout(binding = 0) buffer B { float b[]; };
        layout(local_size_x = 1) in;
        void main() { a[1] = uint(b[0]); }";
    same(Stage::Compute, source, &[(0, K::StorageBuffer, true, true)]);
}

#[test]
fn device_addresses_are_followed_to_where_they_are() {
    let source = "
        #extension GL_EXT_buffer_reference : require
        #extension GL_EXT_buffer_reference2 : require
        #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
        layout(buffer_reference) buffer Node;
        layout(buffer_reference, std430) buffer Node { uint value; Node next; };
        layout(buffer_reference, std430) readonly buffer Table { uint values[]; };
        layout(push_constant) uniform Push { uint count; Node written; Table read; uint64_t raw; };
        layout(binding = 0) uniform Constants { vec4 pad; Table tables[2]; };
        layout(binding = 1) buffer Out { uint result; };
        layout(local_size_x = 1) in;
        void main() {
            written.value = count;
            Table local = read;
            result = local.values[count] + tables[1].values[2];
            Node other = Node(raw + 16ul);
            other.next.value = 1;
        }";
    for minor in 0..=6 {
        let entry = entry_of(Stage::Compute, source, minor);
        assert_eq!(
            rows(&entry),
            [
                (0, K::UniformBuffer, true, false),
                (1, K::StorageBuffer, false, true)
            ]
        );
        let addresses: Vec<_> = entry
            .addresses
            .iter()
            .map(|it| (it.source, it.reads, it.writes))
            .collect();
        assert_eq!(
            addresses,
            [
                (AddressSource::PushConstant { offset: Some(8) }, false, true),
                (AddressSource::PushConstant { offset: Some(16) }, true, false),
                (AddressSource::PushConstant { offset: Some(24) }, true, false),
                (
                    AddressSource::Descriptor {
                        set: 0,
                        binding: 0,
                        // The second of an array with a stride of 16 bytes.
                        offset: Some(32)
                    },
                    true,
                    false
                ),
                // The node after the one that is read.
                (AddressSource::Memory, false, true),
            ],
            "SPIR-V 1.{minor}"
        );
    }
}

#[test]
fn an_address_through_a_parameter_or_an_index_keeps_its_source() {
    let source = "
        #extension GL_EXT_buffer_reference : require
        layout(buffer_reference, std430) buffer Data { uint value; };
        layout(push_constant) uniform Push { uint at; Data many[4]; };
        layout(binding = 1) buffer Addresses { Data all[]; };
        layout(local_size_x = 1) in;
        void set(Data data) { data.value = 1; }
        uint get(inout Data data) { return data.value; }
        void main() { set(many[at]); Data copy = all[at]; at == get(copy); }";
    let entry = entry_of(Stage::Compute, source, 5);
    let addresses: Vec<_> = entry
        .addresses
        .iter()
        .map(|it| (it.source, it.reads, it.writes))
        .collect();
    assert_eq!(
        addresses,
        [
            (AddressSource::PushConstant { offset: None }, false, true),
            (
                AddressSource::Descriptor {
                    set: 0,
                    binding: 1,
                    offset: None
                },
                true,
                false
            ),
        ]
    );
}

#[test]
fn the_other_byte_order_reads_the_same() {
    let words = glsl::compile(Stage::Compute, "layout(local_size_x = 1) in; void main() {}", 4);
    let swapped: Vec<u32> = words.iter().map(|word| word.swap_bytes()).collect();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for module in [ShaderModule::parse(&swapped), ShaderModule::from_bytes(&bytes)] {
        let module = module.unwrap();
        let declared: Vec<_> = module.entry_points().collect();
        assert_eq!(declared, [("main", vk::ShaderStageFlags::COMPUTE)]);
    }
}

#[test]
fn what_is_no_module_is_refused() {
    let words = glsl::compile(Stage::Compute, "layout(local_size_x = 1) in; void main() {}", 6);
    let message = |words: &[u32]| ShaderModule::parse(words).unwrap_err().to_string();
    assert_eq!(
        message(&[]),
        "a SPIR-V module has 5 to 16777216 words, and this has 0"
    );
    assert_eq!(
        message(&[0; 5]),
        "a SPIR-V module begins with 0x07230203, and this with 0x00000000"
    );
    let with = |index: usize, word: u32| {
        let mut words = words.clone();
        words[index] = word;
        words
    };
    assert_eq!(
        message(&with(1, 0x0001_0700)),
        "SPIR-V version word 0x00010700 is not supported: 1.0 to 1.6 are"
    );
    assert_eq!(message(&with(3, 1)).split(':').next(), Some("SPIR-V word 7"));
    assert_eq!(
        message(&with(5, 0)),
        "SPIR-V word 5: OpNop has 0 words, and needs 1 at least, 90 at most"
            .replace("90", &(words.len() - 5).to_string())
    );
    assert_eq!(
        message(&with(5, 0x0001_FFFF)),
        "SPIR-V word 5: opcode 65535 is not known"
    );
    let cut = &words[..words.len() - 1];
    assert_eq!(
        ShaderModule::parse(cut).unwrap_err(),
        ShaderFault::Malformed {
            word: cut.len(),
            problem: "the last function does not end".to_owned()
        }
    );
    assert_eq!(
        ShaderModule::from_bytes(&[1, 2, 3]).unwrap_err().to_string(),
        "a SPIR-V module is made of 4-byte words, and this has 3 bytes"
    );
    let module = ShaderModule::parse(&words).unwrap();
    assert_eq!(
        module
            .entry_point("main", vk::ShaderStageFlags::VERTEX)
            .unwrap_err()
            .to_string(),
        "the SPIR-V module has no VERTEX entry point `main`: it has COMPUTE `main`"
    );
    // The bound may be anything: nothing is allocated for it.
    assert!(ShaderModule::parse(&with(3, u32::MAX)).is_ok());
}

const LIGHTING: &str = "
    layout(binding = 0) uniform sampler2D albedo;
    layout(binding = 1) uniform sampler2D depth;
    layout(binding = 2) buffer Lights { vec4 lights[]; };
    layout(binding = 3) uniform sampler2D material;
    layout(location = 0) out vec4 color;
    void main() { color = texture(albedo, vec2(0)) * texture(depth, vec2(0)) + lights[0] + texture(material, vec2(0)); }";

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
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        let pass = frame.render_pass(commands, "gbuffer");
        pass.color(albedo, Before::Overwrite)
            .depth(depth, Before::Overwrite);
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

fn messages(mismatches: &[Mismatch]) -> Vec<(bool, String)> {
    mismatches
        .iter()
        .map(|it| (it.is_error(), it.to_string()))
        .collect()
}

const MATERIAL: &str =
    "pass `lighting` uses set 0 binding 3 as SampledImage, which is bound to nothing of the frame";

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
    pass.color(scene.target, Before::Overwrite);
    let (frame, pass) = scene.build();
    assert_eq!(
        messages(&check(&frame, pass, std::slice::from_ref(&pipeline))),
        [(false, MATERIAL.to_owned())]
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
        .color(scene.target, Before::Overwrite);
    let lights = scene.lights;
    let (frame, pass) = scene.build();
    assert_eq!(
        messages(&check(&frame, pass, std::slice::from_ref(&pipeline))),
        [(false, MATERIAL.to_owned())]
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
        "#extension GL_EXT_buffer_reference : require
        layout(buffer_reference, std430) buffer Data { uint value; };
        layout(push_constant) uniform Push { Data data; };
        layout(binding = 0) uniform sampler2D before;
        layout(binding = 1, rgba8) uniform writeonly image2D after;
        layout(local_size_x = 1) in;
        void main() { imageStore(after, ivec2(0), textureLod(before, vec2(0), 0)); data.value = 1; }",
        6,
    );
    let mut scene = Scene::new();
    let history = scene.frame.resource(
        "history",
        ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT),
        Lifetime::History,
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
        .map(|it| (it.kind, it.reads, it.before))
        .collect();
    assert_eq!(
        kinds,
        [
            (K::SampledImage, true, Before::Load),
            (K::StorageImage, false, Before::Overwrite),
            (K::DeviceAddress, false, Before::Overwrite),
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
    let said = |messages: &[(bool, String)], is_error: bool, text: &str| {
        let wanted = (is_error, text.to_owned());
        assert!(messages.contains(&wanted), "wanted: {text}\nfound: {messages:#?}");
    };

    let nothing = found(LIGHTING, Stage::Fragment, &|scene| {
        scene.frame.render_pass(scene.commands, "lighting");
    });
    said(
        &nothing,
        true,
        "pass `lighting` uses `albedo` as SampledImage (set 0 binding 0) and does not declare it",
    );
    said(
        &nothing,
        false,
        "pass `lighting` writes colour output 0 in a fragment shader and has no such attachment",
    );

    let other = found(LIGHTING, Stage::Fragment, &|scene| {
        let pass = scene.frame.render_pass(scene.commands, "lighting");
        let pass = pass
            .input(scene.albedo)
            .sampled(scene.depth)
            .uniform(scene.lights);
        pass.color(scene.target, Before::Overwrite);
    });
    said(
        &other,
        true,
        "pass `lighting` uses `albedo` as SampledImage (set 0 binding 0) and declares it as InputAttachment",
    );
    said(
        &other,
        false,
        "pass `lighting` declares `albedo` as InputAttachment, and no shader uses it so",
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
        true,
        "pass `lighting` writes `lights` (set 0 binding 2) and declares it as only read",
    );
    said(
        &read_only,
        false,
        "pass `lighting` declares that it reads `lights`, and no shader does",
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
        false,
        "pass `lighting` reads `lights` (set 0 binding 2) and declares it as only written",
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
        true,
        "pass `lighting` uses `lights` (set 0 binding 2) in COMPUTE_SHADER and declares it for FRAGMENT_SHADER",
    );

    let wrong_pass = found(store, Stage::Compute, &|scene| {
        scene
            .frame
            .render_pass(scene.commands, "lighting")
            .storage_write(scene.lights);
    });
    said(
        &wrong_pass,
        true,
        "pass `lighting` is a Render pass and cannot run a COMPUTE shader",
    );

    let too_much = found(LIGHTING, Stage::Fragment, &|scene| {
        let pass = scene.frame.render_pass(scene.commands, "lighting");
        let pass = pass
            .sampled(scene.albedo)
            .sampled(scene.depth)
            .storage_update(scene.lights);
        pass.color(scene.target, Before::Overwrite);
    });
    said(
        &too_much,
        false,
        "pass `lighting` declares that it writes `lights`, and no shader does",
    );
}

/// A module with five storage buffers, whose entry point has the given body; and what it does with the buffers.
fn by_hand(body: impl FnOnce(&mut Assembler, &Types, [u32; 5])) -> Vec<Row> {
    let mut assembler = Assembler::new();
    let types = Types::new(&mut assembler);
    let buffers = [0, 1, 2, 3, 4].map(|binding| assembler.storage_buffer(types.pointer_to_block, binding));
    assembler.push(Op::Function, &[types.void, Assembler::MAIN, 0, types.function]);
    assembler.declare(Op::Label, &[]);
    let pointers =
        buffers.map(|buffer| assembler.value(Op::AccessChain, types.pointer, &[buffer, types.zero]));
    body(&mut assembler, &types, pointers);
    assembler.push(Op::Return, &[]);
    assembler.push(Op::FunctionEnd, &[]);
    let module = ShaderModule::parse(&assembler.finish()).unwrap();
    rows(&module.entry_point("main", vk::ShaderStageFlags::COMPUTE).unwrap())
}

/// Rows of the storage buffers 0, 1, …, by whether they are read and written.
fn buffers(done: [(bool, bool); 5]) -> Vec<Row> {
    let rows = (0u32..).zip(done);
    rows.map(|(binding, (reads, writes))| (binding, K::StorageBuffer, reads, writes))
        .collect()
}

const NOT: (bool, bool) = (false, false);
const READ: (bool, bool) = (true, false);
const WRITE: (bool, bool) = (false, true);
const BOTH: (bool, bool) = (true, true);

#[test]
fn selected_and_merged_pointers_may_be_either() {
    let found = by_hand(|assembler, types, [a, b, c, d, _]| {
        let condition = assembler.value(Op::Undef, types.uint, &[]);
        let selected = assembler.value(Op::Select, types.pointer, &[condition, a, b]);
        assembler.push(Op::Store, &[selected, types.zero]);
        let label = assembler.declare(Op::Label, &[]);
        let merged = assembler.value(Op::Phi, types.pointer, &[c, label, d, label]);
        assembler.value(Op::Load, types.uint, &[merged]);
    });
    assert_eq!(found, buffers([WRITE, WRITE, READ, READ, NOT]));
}

#[test]
fn a_loop_of_pointers_ends() {
    let found = by_hand(|assembler, types, [a, b, ..]| {
        let label = assembler.declare(Op::Label, &[]);
        let (merged, next) = (assembler.id(), assembler.id());
        assembler.push(Op::Phi, &[types.pointer, merged, a, label, next, label]);
        assembler.push(Op::PtrAccessChain, &[types.pointer, next, merged, types.zero]);
        assembler.push(Op::Store, &[next, types.zero]);
        assembler.value(Op::Load, types.uint, &[b]);
    });
    assert_eq!(found, buffers([WRITE, READ, NOT, NOT, NOT]));
}

#[test]
fn stored_pointers_come_from_what_was_stored_there() {
    let found = by_hand(|assembler, types, [a, b, c, d, e]| {
        let function = StorageClass::Function as u32;
        let one = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
        let two = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
        assembler.push(Op::Store, &[one, a]);
        assembler.push(Op::Store, &[one, b]);
        assembler.push(Op::Store, &[two, c]);
        let loaded = assembler.value(Op::Load, types.pointer, &[one]);
        assembler.push(Op::Store, &[loaded, types.zero]);
        let loaded = assembler.value(Op::Load, types.pointer, &[two]);
        assembler.value(
            Op::AtomicIIncrement,
            types.uint,
            &[loaded, types.zero, types.zero],
        );
        let three = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
        let four = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
        assembler.push(Op::Store, &[three, d]);
        assembler.push(Op::CopyMemory, &[four, three]);
        let loaded = assembler.value(Op::Load, types.pointer, &[four]);
        assembler.push(Op::CopyMemory, &[e, loaded]);
    });
    assert_eq!(found, buffers([WRITE, WRITE, BOTH, READ, WRITE]));
}

#[test]
fn an_unknown_use_of_a_pointer_may_be_anything() {
    let found = by_hand(|assembler, types, [a, b, ..]| {
        // No shader has this; what it does with memory is not known here.
        assembler.value(Op::GenericPtrMemSemantics, types.uint, &[a]);
        assembler.push(Op::LifetimeStart, &[b, 0]);
    });
    assert_eq!(found, buffers([BOTH, NOT, NOT, NOT, NOT]));
}

#[test]
fn returned_pointers_come_from_the_callee() {
    let mut assembler = Assembler::new();
    let types = Types::new(&mut assembler);
    let [a, b] = [0, 1].map(|binding| assembler.storage_buffer(types.pointer_to_block, binding));
    let returns_pointer = assembler.declare(Op::TypeFunction, &[types.pointer]);
    let callee = assembler.id();
    assembler.push(Op::Function, &[types.void, Assembler::MAIN, 0, types.function]);
    assembler.declare(Op::Label, &[]);
    let pointer = assembler.value(Op::FunctionCall, types.pointer, &[callee]);
    assembler.push(Op::Store, &[pointer, types.zero]);
    assembler.push(Op::Return, &[]);
    assembler.push(Op::FunctionEnd, &[]);
    assembler.push(Op::Function, &[types.pointer, callee, 0, returns_pointer]);
    assembler.declare(Op::Label, &[]);
    for buffer in [a, b] {
        let pointer = assembler.value(Op::AccessChain, types.pointer, &[buffer, types.zero]);
        assembler.push(Op::ReturnValue, &[pointer]);
    }
    assembler.push(Op::FunctionEnd, &[]);
    let module = ShaderModule::parse(&assembler.finish()).unwrap();
    let entry = module.entry_point("main", vk::ShaderStageFlags::COMPUTE).unwrap();
    assert_eq!(
        rows(&entry),
        [
            (0, K::StorageBuffer, false, true),
            (1, K::StorageBuffer, false, true)
        ]
    );
}
