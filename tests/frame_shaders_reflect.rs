//! A second opinion on descriptors: `spirv-reflect` beside our own reader, on what our own compiler makes.
//!
//! `spirv-reflect` 0.2.3 trusts its input, so it gets modules of glslang alone, after our reader has taken them apart, and
//! none past SPIR-V 1.3, where it aborts. It knows neither reads from writes nor the storage class `StorageBuffer`
//! (SPIR-V 1.3; before that, buffers are `Uniform`), and what it says of single entry points leaves out descriptors that
//! are plainly used. So the names, kinds and places of what a module declares are compared, as far as it knows them.

use tileheap_testkit::glsl;

use ash::vk;
use spirv_reflect::types::ReflectDescriptorType as Reflected;
use tileheap::frame::AccessKind;
use tileheap::frame::shaders::ShaderModule;
use tileheap_testkit::glsl::Stage;

/// The last minor version of SPIR-V that `spirv-reflect` is asked about.
const LAST: usize = 3;

/// Set, binding, kind and name of a descriptor.
type Row = (u32, u32, AccessKind, String);

fn kind_of(reflected: Reflected) -> Option<AccessKind> {
    Some(match reflected {
        Reflected::CombinedImageSampler | Reflected::SampledImage => AccessKind::SampledImage,
        Reflected::StorageImage => AccessKind::StorageImage,
        Reflected::UniformTexelBuffer => AccessKind::UniformTexelBuffer,
        Reflected::StorageTexelBuffer => AccessKind::StorageTexelBuffer,
        Reflected::UniformBuffer | Reflected::UniformBufferDynamic => AccessKind::UniformBuffer,
        Reflected::StorageBuffer | Reflected::StorageBufferDynamic => AccessKind::StorageBuffer,
        Reflected::InputAttachment => AccessKind::InputAttachment,
        Reflected::Undefined | Reflected::Sampler | Reflected::AccelerationStructureNV => return None,
    })
}

/// What `spirv-reflect` finds declared.
fn theirs(words: &[u32]) -> Vec<Row> {
    let module = spirv_reflect::ShaderModule::load_u32_data(words).unwrap();
    let found = module.enumerate_descriptor_bindings(None).unwrap();
    let rows = found.into_iter().filter_map(|it| {
        let kind = kind_of(it.descriptor_type)?;
        // Of a block without an instance name, our reader gives the block's name.
        let block = it.type_description.map(|it| it.type_name).unwrap_or_default();
        let name = if it.name.is_empty() { block } else { it.name };
        Some((it.set, it.binding, kind, name))
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort();
    rows
}

/// What our own reader finds used, of the kinds that `spirv-reflect` knows.
fn ours(words: &[u32], stage: Stage, minor: usize) -> Vec<Row> {
    let module = ShaderModule::parse(words).unwrap();
    assert_eq!(module.version(), (1, minor as u32));
    let stage = match stage {
        Stage::Vertex => vk::ShaderStageFlags::VERTEX,
        Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
        _ => vk::ShaderStageFlags::COMPUTE,
    };
    let entry = module.entry_point("main", stage).unwrap();
    let seen = entry.bindings.into_iter();
    let seen = seen.filter(|it| minor < 3 || it.kind != AccessKind::StorageBuffer);
    let mut rows: Vec<Row> = seen.map(|it| (it.set, it.binding, it.kind, it.name)).collect();
    rows.sort();
    rows
}

#[test]
fn both_readers_find_the_same_descriptors() {
    let sources = [
        (
            Stage::Fragment,
            "layout(binding = 0) uniform sampler2D albedo;
            layout(binding = 1) uniform texture2D separate;
            layout(binding = 2) uniform sampler wrap;
            layout(binding = 3) buffer Lights { vec4 lights[]; };
            layout(input_attachment_index = 0, binding = 4) uniform subpassInput before;
            layout(location = 0) out vec4 color;
            void main() {
                color = texture(albedo, vec2(0)) + texture(sampler2D(separate, wrap), vec2(0)) + lights[0] + subpassLoad(before);
            }",
            4,
        ),
        (
            Stage::Compute,
            "layout(binding = 0, r32f) uniform image2D image;
            layout(binding = 1) uniform textureBuffer texels;
            layout(binding = 2, r32f) uniform imageBuffer more;
            layout(set = 2, binding = 3) uniform Block { vec4 a; } block;
            layout(set = 2, binding = 4) readonly buffer Data { vec4 b[]; } data[2];
            layout(local_size_x = 1) in;
            void main() { imageStore(image, ivec2(0), texelFetch(texels, 0) + imageLoad(more, 0) + block.a + data[1].b[0]); }",
            5,
        ),
    ];
    for (stage, source, used) in sources {
        for minor in 0..=LAST {
            let words = glsl::compile(stage, source, minor);
            // Everything that is declared there is used.
            let ours = ours(&words, stage, minor);
            assert_eq!(
                ours.len(),
                if minor < 3 { used } else { used - 1 },
                "SPIR-V 1.{minor}"
            );
            assert_eq!(ours, theirs(&words), "SPIR-V 1.{minor}");
        }
    }
}

#[test]
fn both_readers_find_the_same_descriptors_in_the_shaders_of_the_examples() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut compared = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some((words, stage)) = glsl::compile_file(&name, LAST) else {
            continue;
        };
        let theirs = theirs(&words);
        for row in ours(&words, stage, LAST) {
            assert!(theirs.contains(&row), "{name}: {row:?} is not among {theirs:?}");
            compared += 1;
        }
    }
    assert!(compared > 0);
}
