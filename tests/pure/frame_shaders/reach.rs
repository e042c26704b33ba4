//! Each way to reach memory.

use super::*;

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
        ShaderError::Malformed {
            word: cut.len(),
            problem: "the last function does not end".to_owned()
        }
    );
    assert_eq!(
        ShaderModule::from_bytes(&[1, 2, 3]).unwrap_err().to_string(),
        "SPIR-V length 3 is not a multiple of 4"
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
