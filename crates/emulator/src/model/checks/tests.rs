//! The accesses of dispatches, by descriptor.

use std::sync::OnceLock;

use ash::vk::Handle;
use tileheap_layer::descriptors::Source;
use tileheap_layer::set_layouts::SetLayout;
use tileheap_sync::program::{ResourcePart, Tag, Tiling};
use tileheap_testkit::glsl::{Stage, compile};
use vk::DescriptorBindingFlags as Flags;
use vk::DescriptorType as Type;

use super::*;
use crate::model::descriptors::Set;
use crate::model::operations::{Fetch, Operation};
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
    /// Creates a scene whose descriptor refers to bytes 16 to 48.
    fn new(kind: Type, flags: Flags) -> Scene {
        Scene::with(SHADER, kind, flags)
    }

    /// Like [`Scene::new`], with another shader.
    fn with(shader: &str, kind: Type, flags: Flags) -> Scene {
        let resources = Resources::default();
        let buffer = Resource {
            object: Object(vk::ObjectType::BUFFER, BUFFER),
            number: 1,
            needs: None,
            driver_size: 256,
            fits_driver_memory: false,
            size: 256,
            tiling: Tiling::Linear,
            format: vk::Format::UNDEFINED,
            extent: vk::Extent3D::default(),
            contents: 0,
            unseen_writes: UnseenWrites::NONE,
            unseen_through_others: Default::default(),
            is_fetched: false,
            is_input: false,
            sharing: Default::default(),
            is_followed: true.into(),
            place: OnceLock::from(MemoryBinding {
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
        let code = Code::new(&compile(Stage::Compute, shader, 3));
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

    /// Dispatches; returns `true` if the dispatch was checked before.
    fn dispatch(&mut self) -> (bool, CheckResult) {
        self.dispatch_groups(Operation::from(Fetch::groups(1, 1, 1)))
    }

    fn dispatch_groups(&mut self, operation: Operation<'_>) -> (bool, CheckResult) {
        let reachable = ReachableDescriptors::Dispatch;
        let known = self.recording.checked(reachable, true, &operation);
        let command = ("vkCmdDispatch", true);
        let checked = check_descriptors(
            &mut self.recording,
            &self.descriptors,
            reachable,
            (operation.groups(), Vec::new()),
            command,
        );
        assert!(checked.findings.is_empty());
        (known.is_some(), checked)
    }

    /// Certainty of each logged access, and whether it covers the whole part.
    fn certainties(&mut self) -> Vec<(bool, bool)> {
        let log = self.recording.order.freeze();
        let events = (0..log.len() as u64).filter_map(|index| log.event(Tag(index)));
        let accesses = events.flat_map(|(_, event)| log.accesses(event));
        let certainty = |one: &LoggedAccess| (one.is_certain, one.access.kind == AccessKind::Whole);
        accesses.map(certainty).collect()
    }

    /// Part and certainty of each logged access.
    fn accesses(&mut self) -> Vec<(ResourcePart, bool)> {
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
    let part = |first, end| (ResourcePart::Bytes(first, end), true);
    let expected = [part(80, 112), part(16, 48), part(216, 248)];
    assert_eq!(scene.accesses(), expected.map(|one| [one; 2]).concat());
}

#[test]
fn without_offsets_dynamic_descriptors_may_be_anywhere() {
    let mut scene = Scene::new(Type::STORAGE_BUFFER_DYNAMIC, Flags::empty());
    scene.bind(&[]);
    assert!(!scene.dispatch().0);
    assert!(scene.dispatch().0);
    assert_eq!(scene.accesses(), [(ResourcePart::Bytes(0, 256), false); 2]);
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
            [(ResourcePart::Bytes(16, 48), is_certain); 2],
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

/// Certain writes of all 8 elements that the descriptor refers to.
const WHOLE: (bool, bool) = (true, true);
/// Certain writes of some elements.
const PART: (bool, bool) = (true, false);
const POSSIBLE: (bool, bool) = (false, false);

/// Creates a scene with a shader that runs `body` in workgroups of 4 invocations.
fn guarded(body: &str) -> Scene {
    let shader = format!(
        "layout(local_size_x = 4) in;
        layout(set = 0, binding = 0, std430) writeonly buffer Data {{ uint data[]; }};
        layout(push_constant) uniform Constants {{ uint unused; uint count; }};
        void main() {{ uint i = gl_GlobalInvocationID.x; {body} }}"
    );
    let mut scene = Scene::with(&shader, Type::STORAGE_BUFFER, Flags::empty());
    scene.bind(&[]);
    scene
}

#[test]
fn guarded_writes_are_certain_if_an_invocation_passes() {
    let compared = "if (i >= count) return; data[i] = 1;";
    let length = "if (i < data.length()) data[i] = 1;";
    for (body, groups, count, expected) in [
        ("data[i] = 1;", 1, None, PART),
        ("data[i] = 1;", 2, None, WHOLE),
        (length, 1, None, PART),
        (length, 2, None, WHOLE),
        (length, 9, None, WHOLE),
        (compared, 2, Some(8), WHOLE),
        (compared, 3, Some(9), WHOLE),
        (compared, 2, Some(7), PART),
        (compared, 1, Some(8), PART),
        (compared, 2, Some(0), POSSIBLE),
        (compared, 2, None, POSSIBLE),
        ("if (i < 8) data[i] = 1;", 2, None, WHOLE),
        ("if (i >= 8) data[0] = 1;", 2, None, POSSIBLE),
        ("if (i >= 8) data[0] = 1;", 3, None, PART),
        ("if (count == 3) data[i] = 1;", 2, Some(3), WHOLE),
        ("if (count == 3) data[i] = 1;", 2, Some(4), POSSIBLE),
    ] {
        let mut scene = guarded(body);
        if let Some(count) = count {
            let bytes = u32::to_ne_bytes(count);
            let stages = vk::ShaderStageFlags::COMPUTE;
            scene.recording.push_constants.push(stages, 4, &bytes);
        }
        scene.dispatch_groups(Operation::from(Fetch::groups(groups, 1, 1)));
        assert_eq!(scene.certainties(), [expected], "{body} {groups} {count:?}");
    }
}

#[test]
fn dispatches_are_checked_again_where_their_parameters_matter() {
    let mut scene = guarded("if (i >= count) return; data[i] = 1;");
    let mut known = Vec::new();
    for (groups, count) in [(2, 8), (2, 8), (1, 8), (2, 3), (2, 8), (2, 0)] {
        let stages = vk::ShaderStageFlags::COMPUTE;
        scene
            .recording
            .push_constants
            .push(stages, 4, &u32::to_ne_bytes(count));
        // A push constant that the shader does not compare has no effect.
        scene
            .recording
            .push_constants
            .push(stages, 0, &u32::to_ne_bytes(known.len() as u32));
        known.push(
            scene
                .dispatch_groups(Operation::from(Fetch::groups(groups, 1, 1)))
                .0,
        );
    }
    assert_eq!(known, [false, true, false, false, true, false]);
    // Equal accesses are logged once.
    assert_eq!(scene.certainties(), [WHOLE, PART, POSSIBLE]);
}

#[test]
fn guards_of_unknown_dispatches_are_not_met() {
    let buffer = vk::Buffer::from_raw(99);
    let indirect = Fetch::indirect_groups::<vk::DispatchIndirectCommand>(buffer, 0, 1, 0);
    for (body, expected) in [
        ("if (i < 8) data[i] = 1;", POSSIBLE),
        ("data[i] = 1;", PART),
        ("if (i < data.length()) data[i] = 1;", POSSIBLE),
    ] {
        let mut scene = guarded(body);
        // As a dispatch for each tile of a render pass, whose number of workgroups is unknown.
        scene.dispatch_groups(Operation::None);
        scene.dispatch_groups(Operation::from(indirect));
        assert!(scene.certainties().iter().all(|one| *one == expected), "{body}");
    }
    // With a base workgroup, the first invocations may be missing.
    let mut scene = guarded("if (i < 8) data[0] = 1;");
    let pipeline = scene.descriptors.pipelines.get(PIPELINE).unwrap();
    let mut shaders = PipelineShaders::clone(&pipeline);
    shaders.dispatch_from_anywhere();
    scene.descriptors.pipelines.insert(PIPELINE, Arc::new(shaders));
    scene.dispatch_groups(Operation::from(Fetch::groups(2, 1, 1)));
    assert_eq!(scene.certainties(), [POSSIBLE]);
}
