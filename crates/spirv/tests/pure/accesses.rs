//! Tests each way to access memory.

use super::*;
use tileheap_spirv::Binding;

/// Formats a binding without its certain accesses: copies of structures differ between versions.
fn described_binding(binding: &Binding) -> String {
    let description = format!("{binding:?}");
    let possible = description.split_once(", always_reads");
    format!("{} }}", possible.expect("certain accesses come last").0)
}

/// Compares every binding, address and output of each shader with the expected ones.
#[test]
fn shaders_are_read_as_what_they_do() {
    tileheap_testkit::assert_cases("shaders", |_, case| {
        let name = case["name"].as_str().expect("a name");
        let source = std::fs::read_to_string(format!("{SHADERS}/{name}.glsl")).expect("a shader");
        let described = |minor| {
            let EntryPoint {
                bindings,
                addresses,
                outputs,
                writes_depth,
                ..
            } = entry_of(stage_of(case), &source, minor);
            json!({
                "bindings": bindings.iter().map(described_binding).collect::<Vec<_>>(),
                "addresses": addresses.iter().map(|address| format!("{address:?}")).collect::<Vec<_>>(),
                "outputs": outputs.iter().map(|output| format!("{output:?}")).collect::<Vec<_>>(),
                "writes_depth": writes_depth,
            })
        };
        for minor in 0..6 {
            assert_eq!(described(minor), described(6), "{name} in SPIR-V 1.{minor}");
        }
        described(6)
    });
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
        "SPIR-V length of 0 words is not between 5 and 16777216"
    );
    assert_eq!(
        message(&[0; 5]),
        "SPIR-V magic number is 0x00000000 instead of 0x07230203"
    );
    let with = |index: usize, word: u32| {
        let mut words = words.clone();
        words[index] = word;
        words
    };
    assert_eq!(
        message(&with(1, 0x0001_0700)),
        "SPIR-V version word 0x00010700 is not supported; supported versions are 1.0 to 1.6"
    );
    assert_eq!(message(&with(3, 1)).split(':').next(), Some("SPIR-V word 7"));
    assert_eq!(
        message(&with(5, 0)),
        "SPIR-V word 5: OpNop has 0 words, but must have 1 to 90 (the rest of the module)"
            .replace("90", &(words.len() - 5).to_string())
    );
    assert_eq!(
        message(&with(5, 0x0001_FFFF)),
        "SPIR-V word 5: unknown opcode 65535"
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
    // The id bound may be anything: nothing is allocated for it.
    assert!(ShaderModule::parse(&with(3, u32::MAX)).is_ok());
}
