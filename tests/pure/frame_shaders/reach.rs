//! Each way to reach memory.

use super::*;

#[test]
fn every_kind_of_descriptor() {
    let source = include_str!("shaders/every_kind_of_descriptor.glsl");
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
    let source = include_str!("shaders/a_fragment_shader_has_inputs_and_outputs.glsl");
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
    let source = include_str!("shaders/only_what_the_entry_point_can_reach_counts.glsl");
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
    let source = include_str!("shaders/images_are_followed_through_parameters.glsl");
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
    let source = include_str!("shaders/structures_arrays_and_atomics_are_followed.glsl");
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
    let source = include_str!("shaders/device_addresses_are_followed_to_where_they_are.glsl");
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
    let source = include_str!("shaders/an_address_through_a_parameter_or_an_index_keeps_its_source.glsl");
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
