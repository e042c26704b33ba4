//! Accesses of dispatches with bounds checks.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::descriptors::Source;
use tileheap_layer::push_constants::PushConstants;
use tileheap_layer::set_layouts::SetLayout;
use tileheap_testkit::glsl::{Stage, compile};

use super::*;
use crate::model::bound_sets::{BoundSet, BoundSets};
use crate::model::objects::{Buffer, Image, Objects, Set, View};
use crate::model::pipelines::{self, Pipeline};

const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

/// A shader with workgroups of 16 by 16 invocations, a buffer range of the last 256 bytes, and an image of 40 x 24 texels.
fn using(body: &str) -> ShaderState {
    let source = format!(
        "layout(local_size_x = 16, local_size_y = 16) in;
        layout(binding = 0, std430) writeonly buffer Data {{ uint head[4]; uint data[]; }};
        layout(binding = 1, r32ui) writeonly uniform uimage2D image;
        layout(push_constant) uniform Constants {{ uint unused; uint count; }};
        void main() {{ uvec2 i = gl_GlobalInvocationID.xy; {body} }}"
    );
    let objects = Objects::default();
    let buffer = Buffer::new(1, &vk::BufferCreateInfo::default().size(1024));
    objects.buffers.insert(1, Arc::new(buffer));
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D {
            width: 40,
            height: 24,
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(1)
        .usage(vk::ImageUsageFlags::STORAGE);
    let image = Arc::new(Image::new(2, &info));
    let range = vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1);
    let info = vk::ImageViewCreateInfo::default()
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .subresource_range(range);
    objects.views.insert(2, Arc::new(View::new(image, &info)));
    let kinds = [
        vk::DescriptorType::STORAGE_BUFFER,
        vk::DescriptorType::STORAGE_IMAGE,
    ];
    let bindings = [0, 1].map(|binding| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(kinds[binding as usize])
            .descriptor_count(1)
    });
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let set = Set::new(vk::DescriptorPool::null(), Some(Arc::new(SetLayout::new(&info))));
    let bytes = vk::DescriptorBufferInfo::default()
        .buffer(vk::Buffer::from_raw(1))
        .offset(768)
        .range(vk::WHOLE_SIZE);
    set.write(&objects, (0, 0, kinds[0], Some(Source::Buffer(&bytes))));
    let texels = vk::DescriptorImageInfo::default().image_view(vk::ImageView::from_raw(2));
    set.write(&objects, (1, 0, kinds[1], Some(Source::Image(&texels))));
    let stage = pipelines::Stage {
        words: compile(Stage::Compute, &source, 3).into(),
        name: "main".to_owned(),
        stage: COMPUTE,
    };
    let mut pipeline = Pipeline::default();
    pipeline.stages.push(stage);
    let set = BoundSet {
        set: Arc::new(set),
        offsets: Vec::new(),
    };
    let mut sets = BoundSets::default();
    sets.insert(0, set);
    ShaderState {
        pipeline: Some(Arc::new(pipeline)),
        sets,
        uses_descriptor_buffers: false,
    }
}

/// A write of a dispatch: bytes, area, `true` if it is certain, and `true` if it covers all of these bytes or texels.
type Written = ([u64; 2], Option<[[u32; 2]; 2]>, bool, bool);

fn written(body: &str, groups: Option<[u32; 3]>, count: Option<u32>) -> Vec<Written> {
    let mut push_constants = PushConstants::default();
    if let Some(count) = count {
        push_constants.push(COMPUTE, 4, &count.to_ne_bytes());
    }
    let found = ShaderUse::of(&using(body), "vkCmdDispatch");
    assert!(found.unresolved.is_empty());
    let inputs = DispatchInputs {
        groups,
        push_constants: push_constants.words(),
    };
    let all = found.performed(&inputs).into_iter();
    all.map(|one| (one.bytes, one.area, !one.is_conditional, one.is_whole))
        .collect()
}

#[test]
fn guarded_writes_are_of_the_invocations_that_pass() {
    let rest = |is_certain| ([768, 1024], None, is_certain, false);
    let part = |end| ([784, end], None, true, true);
    let compared = "if (i.x >= count) return; data[i.x] = 1;";
    for (body, count, expected) in [
        (compared, Some(20), vec![part(784 + 80), rest(false)]),
        (compared, Some(0), vec![rest(false)]),
        (compared, None, vec![rest(false)]),
        // 60 elements, and 64 invocations.
        (
            "if (i.x < data.length()) data[i.x] = 1;",
            None,
            vec![part(1024), rest(false)],
        ),
        ("if (i.x < count) data[i.x + 1] = 1;", Some(5), vec![rest(true)]),
        (
            "if (head.length() == 4) data[i.x + 1] = 1;",
            None,
            vec![rest(true)],
        ),
    ] {
        assert_eq!(
            written(body, Some([4, 4, 1]), count),
            expected,
            "{body} {count:?}"
        );
    }
    // The number of invocations is not known.
    assert_eq!(written(compared, None, Some(20)), [rest(false)]);
}

#[test]
fn guards_compare_the_sizes_of_images() {
    let body = "if (any(greaterThanEqual(i, uvec2(imageSize(image))))) return; imageStore(image, ivec2(i), uvec4(1));";
    let all = written(body, Some([3, 2, 1]), None);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].2 && all[0].3, "{all:?}");
    let some = written(body, Some([2, 2, 1]), None);
    assert_eq!(some.len(), 2, "{some:?}");
    assert_eq!(some[0].1, Some([[0, 32], [0, 24]]));
    assert_eq!([some[0].2, some[1].2], [true, false]);
}
