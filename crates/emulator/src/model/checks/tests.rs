//! The accesses of dispatches, by descriptor.

use std::sync::OnceLock;

use ash::vk::Handle;
use tileheap_layer::descriptors::Source;
use tileheap_layer::set_layouts::SetLayout;
use tileheap_sync::program::{Part, Tag, Tiling};
use tileheap_testkit::glsl::{Stage, compile};
use vk::DescriptorBindingFlags as Flags;
use vk::DescriptorType as Type;

use super::*;
use crate::model::descriptors::Set;
use crate::model::resources::Resources;
use crate::model::shaders::{Code, PipelineShaders, UNKNOWN_SHADER};

const POINT: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const PIPELINE: u64 = 1;
const SET: u64 = 2;
const BUFFER: u64 = 3;
const SHADER: &str = "layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Data { uint data[]; };
void main() { data[gl_GlobalInvocationID.x] += 1; }";

/// A pipeline that reads and writes the buffer of a set, which is bound to a command buffer.
struct Scene {
    descriptors: Descriptors,
    recording: Recording,
}

impl Scene {
    /// The descriptor is of bytes 16 to 48.
    fn new(kind: Type, flags: Flags) -> Scene {
        let resources = Resources::default();
        let buffer = Resource {
            object: Object(vk::ObjectType::BUFFER, BUFFER),
            number: 1,
            needs: None,
            driver_size: 256,
            fits_below: false,
            size: 256,
            tiling: Tiling::Linear,
            format: vk::Format::UNDEFINED,
            extent: vk::Extent3D::default(),
            contents: 0,
            unseen_writes: UnseenWrites::NONE,
            unseen_through_others: Default::default(),
            is_fetched: false,
            follows: true.into(),
            place: OnceLock::from(Place {
                memory: 0,
                is_tile: true,
                first: 0,
                end: 256,
                contents: 0,
            }),
        };
        resources.buffers.insert(BUFFER, Arc::new(buffer));
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(1)];
        let flags = [flags];
        let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .bindings(&bindings)
            .push_next(&mut flags);
        let layout = Arc::new(SetLayout::new(&info));
        let set = Set::new(vk::DescriptorPool::null(), Some(layout));
        let info = vk::DescriptorBufferInfo::default()
            .buffer(vk::Buffer::from_raw(BUFFER))
            .offset(16)
            .range(32);
        set.write(&resources, (0, 0, kind, Some(Source::Buffer(&info))));
        let is_dynamic = matches!(kind, Type::STORAGE_BUFFER_DYNAMIC);
        assert_eq!(resources.has_dynamic(), is_dynamic);
        let descriptors = Descriptors::default();
        descriptors.sets.insert(SET, Arc::new(set));
        let mut shaders = PipelineShaders::default();
        let code = Code::new(&compile(Stage::Compute, SHADER, 3));
        shaders.add(code.accesses(vk::ShaderStageFlags::COMPUTE, "main"));
        descriptors.pipelines.insert(PIPELINE, Arc::new(shaders));
        let mut recording = Recording::new(vk::CommandBuffer::null(), true);
        recording.at.bind(Some(UNKNOWN));
        recording
            .sets
            .bind_pipeline(POINT, vk::Pipeline::from_raw(PIPELINE));
        Scene {
            descriptors,
            recording,
        }
    }

    fn bind(&mut self, offsets: &[u32]) {
        let (sets, all) = (&mut self.recording.sets, [vk::DescriptorSet::from_raw(SET)]);
        sets.bind_sets(POINT, 0, all.into_iter());
        if !offsets.is_empty() {
            sets.bind_offsets(POINT, 0, &all, offsets, &self.descriptors);
        }
    }

    /// A dispatch; returns `true` if it was checked before.
    fn dispatch(&mut self) -> (bool, Checked) {
        let reachable = ReachableDescriptors::Dispatch;
        let known = self.recording.checked(reachable, true);
        let command = ("vkCmdDispatch", true);
        let checked = check_descriptors(
            &mut self.recording,
            &self.descriptors,
            reachable,
            Vec::new(),
            command,
        );
        assert!(checked.findings.is_empty());
        (known.is_some(), checked)
    }

    /// The part and the certainty of each access that was logged.
    fn accesses(&mut self) -> Vec<(Part, bool)> {
        let log = self.recording.order.freeze();
        let events = (0..log.len() as u64).filter_map(|index| log.event(Tag(index)));
        let accesses = events.flat_map(|(_, event)| log.accesses(event));
        accesses.map(|one| (one.access.part, one.is_certain)).collect()
    }
}

#[test]
fn dynamic_descriptors_are_moved_by_their_offset() {
    let mut scene = Scene::new(Type::STORAGE_BUFFER_DYNAMIC, Flags::empty());
    let known = [64, 0, 64, 0, 200].map(|offset| {
        scene.bind(&[offset]);
        scene.dispatch().0
    });
    assert_eq!(known, [false, false, true, true, false]);
    let part = |first, end| (Part::Bytes(first, end), true);
    let expected = [part(80, 112), part(16, 48), part(216, 248)];
    assert_eq!(scene.accesses(), expected.map(|one| [one; 2]).concat());
}

#[test]
fn without_offsets_dynamic_descriptors_may_be_anywhere() {
    let mut scene = Scene::new(Type::STORAGE_BUFFER_DYNAMIC, Flags::empty());
    scene.bind(&[]);
    assert!(!scene.dispatch().0);
    assert!(scene.dispatch().0);
    assert_eq!(scene.accesses(), [(Part::Bytes(0, 256), false); 2]);
}

#[test]
fn descriptors_that_may_change_or_be_missing_are_not_certainly_used() {
    for (flags, is_certain, writes_unseen) in [
        (Flags::empty(), true, false),
        (Flags::VARIABLE_DESCRIPTOR_COUNT, true, false),
        (Flags::PARTIALLY_BOUND, false, false),
        (Flags::UPDATE_UNUSED_WHILE_PENDING, false, false),
        (Flags::UPDATE_AFTER_BIND, false, true),
    ] {
        let mut scene = Scene::new(Type::STORAGE_BUFFER, flags);
        scene.bind(&[]);
        let (_, checked) = scene.dispatch();
        let expected = UnseenWrites::DESCRIPTORS.only_if(writes_unseen);
        assert_eq!(checked.unseen_writes, expected, "{flags:?}");
        assert_eq!(
            scene.accesses(),
            [(Part::Bytes(16, 48), is_certain); 2],
            "{flags:?}"
        );
    }
}

#[test]
fn pipelines_of_which_nothing_is_known_may_write_unseen() {
    let mut scene = Scene::new(Type::STORAGE_BUFFER, Flags::empty());
    scene.bind(&[]);
    assert!(scene.dispatch().1.unseen_writes.is_empty());
    scene
        .recording
        .sets
        .bind_pipeline(POINT, vk::Pipeline::from_raw(99));
    assert_eq!(scene.dispatch().1.unseen_writes, UNKNOWN_SHADER);
    assert_eq!(scene.accesses().len(), 2);
}
