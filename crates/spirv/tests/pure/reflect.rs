//! Compares the descriptors found by our own reader with SPIRV-Reflect, on the output of our own compiler.
//!
//! SPIRV-Reflect 0.2.3 trusts its input, so it only gets modules of the shader compiler, up to SPIR-V 1.3. It does not distinguish reads from writes.
//! So only the names, kinds and locations of declarations are compared.

use super::flags;
use ash::vk;
use tileheap_device::AccessKind;
use tileheap_shaders::{Binding, Compiler, Interface, Source, Stage};
use tileheap_spirv::ShaderModule;

/// The newest minor version of SPIR-V that SPIRV-Reflect reads.
const LAST: u32 = 3;

/// Set, binding, kind and name of a descriptor.
type Row = (u32, u32, AccessKind, String);

fn kind_of(binding: &Binding) -> Option<AccessKind> {
    Some(
        match vk::DescriptorType::from_raw(binding.descriptor_type as i32) {
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER | vk::DescriptorType::SAMPLED_IMAGE => {
                AccessKind::SampledImage
            }
            vk::DescriptorType::STORAGE_IMAGE => AccessKind::StorageImage,
            vk::DescriptorType::UNIFORM_TEXEL_BUFFER => AccessKind::UniformTexelBuffer,
            vk::DescriptorType::STORAGE_TEXEL_BUFFER => AccessKind::StorageTexelBuffer,
            vk::DescriptorType::UNIFORM_BUFFER => AccessKind::UniformBuffer,
            vk::DescriptorType::STORAGE_BUFFER => AccessKind::StorageBuffer,
            vk::DescriptorType::INPUT_ATTACHMENT => AccessKind::InputAttachment,
            _ => return None,
        },
    )
}

fn compile(source: Source<'_>, stage: Stage, minor: u32) -> (Vec<u32>, Interface) {
    let compiler = Compiler::find().unwrap();
    let compiled = compiler.compile_with_interface(source, stage, &[], minor);
    compiled.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the declarations that SPIRV-Reflect finds.
fn theirs(interface: &Interface) -> Vec<Row> {
    let rows = interface.bindings.iter().filter_map(|it| {
        let kind = kind_of(it)?;
        Some((it.set, it.binding, kind, it.name.clone()))
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort();
    rows
}

/// Returns the declarations that our own reader finds used.
fn ours(words: &[u32], stage: Stage, minor: u32) -> Vec<Row> {
    let module = ShaderModule::parse(words).unwrap();
    assert_eq!(module.version(), (1, minor));
    let entry = module.entry_point("main", flags(stage)).unwrap();
    let rows = entry.bindings.into_iter();
    let mut rows: Vec<Row> = rows.map(|it| (it.set, it.binding, it.kind, it.name)).collect();
    rows.sort();
    rows
}

#[test]
fn both_readers_find_the_same_descriptors() {
    let sources = [
        (
            Stage::Fragment,
            include_str!("shaders/reflected_fragment.glsl"),
            4,
        ),
        (Stage::Compute, include_str!("shaders/reflected_compute.glsl"), 5),
    ];
    for (stage, source, used) in sources {
        for minor in 0..=LAST {
            let (words, interface) = compile(Source::Text(&format!("#version 460\n{source}")), stage, minor);
            // Everything that is declared there is used.
            let ours = ours(&words, stage, minor);
            assert_eq!(ours.len(), used, "SPIR-V 1.{minor}");
            assert_eq!(ours, theirs(&interface), "SPIR-V 1.{minor}");
        }
    }
}

#[test]
fn both_readers_find_the_same_descriptors_in_the_shaders_of_the_examples() {
    let root = tileheap_testkit::workspace().join("shaders");
    let mut compared = 0;
    for folder in [root.clone(), root.join("store")] {
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            // Other files are only included.
            let Some(stage) = Stage::of_file(&path) else {
                continue;
            };
            let (words, interface) = compile(Source::File(&path), stage, LAST);
            let theirs = theirs(&interface);
            for row in ours(&words, stage, LAST) {
                assert!(
                    theirs.contains(&row),
                    "{}: {row:?} is not among {theirs:?}",
                    path.display()
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 0);
}
