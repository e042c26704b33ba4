//! Tests of recorded draws and dispatches.

use super::*;
use crate::document::PassFacts;
use crate::model::bound_sets::BoundSet;
use crate::model::flatten::flatten;
use crate::model::objects::{Buffer, Image, Set};
use crate::model::resource_table::ResourceTable;

fn buffer(number: u64) -> Arc<Buffer> {
    Arc::new(Buffer::new(number, &vk::BufferCreateInfo::default().size(4096)))
}

fn indices(first: u32, count: u32) -> DrawnElements {
    DrawnElements::Indices(Elements::new(first, count), Elements::new(0, 1))
}

fn last_dispatch(recording: &Recording) -> (&ShaderCommand, &DispatchInputs) {
    match recording.ops.iter().last().map(|one| &one.op) {
        Some(Op::Dispatch(shaded, inputs)) => (shaded, inputs),
        other => panic!("{other:?}"),
    }
}

/// Returns the fetches of each draw: the range of bytes, and `true` if all of them are read.
fn draws(recording: &Recording) -> Vec<Vec<([u64; 2], bool)>> {
    let draws = recording.ops.iter().filter_map(|one| match &one.op {
        Op::Draw(shaded, _) => Some(&shaded.fetches),
        _ => None,
    });
    let fetches = draws.map(|all| all.iter().map(|one| (one.bytes, one.is_conditional)).collect());
    fetches.collect()
}

#[test]
fn a_draw_stands_for_those_after_it_that_change_nothing() {
    let mut recording = Recording::default();
    recording.push(Op::EndPass);
    recording.bind_indices(Some(BufferRange::new(buffer(1), 100, vk::WHOLE_SIZE)), 2);
    recording.draw(indices(0, 30), Vec::new());
    recording.draw(indices(30, 30), Vec::new());
    recording.draw(indices(10, 5), Vec::new());
    recording.draw(indices(100, 10), Vec::new());
    let merged = vec![([100, 220], false), ([300, 320], false)];
    assert_eq!(draws(&recording), std::slice::from_ref(&merged));
    recording.bind(0, |_| {});
    recording.draw(indices(0, 30), Vec::new());
    assert_eq!(
        draws(&recording),
        [merged.clone(), vec![]],
        "the bytes are fetched already"
    );
    recording.push(Op::Synchronization(Synchronization::Barrier(Vec::new())));
    recording.draw(indices(0, 30), Vec::new());
    assert_eq!(
        draws(&recording)[2],
        [([100, 160], false)],
        "and again after a barrier"
    );
}

/// "Indirect Drawing": of draws whose count is in a buffer, only the count is certainly read.
#[test]
fn parameters_of_counted_draws_are_read_only_if_there_are_any() {
    let mut recording = Recording::default();
    let read = |number, end| {
        let range = BufferRange::new(buffer(number), 0, end);
        FollowedAccess::of_buffer(&range, AccessKind::IndirectBuffer).reading()
    };
    let parameters = FollowedAccess {
        is_conditional: true,
        ..read(1, 16)
    };
    let counted = DrawnElements::Unknown {
        indexed: false,
        draws: 1,
    };
    recording.draw(counted, vec![parameters, read(2, 4)]);
    assert_eq!(draws(&recording), [[([0, 16], true), ([0, 4], false)]]);
}

#[test]
fn a_draw_that_may_draw_nothing_is_conditional_and_a_certain_one_follows_it() {
    let mut recording = Recording::default();
    recording.push(Op::EndPass);
    recording.bind_indices(Some(BufferRange::new(buffer(1), 0, 64)), 4);
    let unknown = DrawnElements::Unknown {
        indexed: true,
        draws: 3,
    };
    recording.draw(unknown, Vec::new());
    recording.draw(indices(0, 4), Vec::new());
    recording.set_conditional(true);
    recording.draw(indices(4, 4), Vec::new());
    recording.set_conditional(false);
    recording.draw(DrawnElements::Groups([1, 0, 1]), Vec::new());
    recording.draw(DrawnElements::Groups([1, 1, 1]), Vec::new());
    let conditional: Vec<bool> = recording
        .ops
        .iter()
        .filter_map(|one| match &one.op {
            Op::Draw(shaded, _) => Some(shaded.is_conditional),
            _ => None,
        })
        .collect();
    assert_eq!(conditional, [true, false, true, true, false]);
    assert_eq!(draws(&recording)[0], [([0, 64], true)]);
}

#[test]
fn every_dispatch_is_recorded_with_its_number() {
    let mut recording = Recording::default();
    for groups in [[1, 1, 1], [0, 1, 1], [1, 1, 1]] {
        recording.next("vkCmdDispatch");
        recording.dispatch(Some(groups), None);
    }
    let dispatches = recording.ops.iter().filter_map(|one| match &one.op {
        Op::Dispatch(shaded, _) => Some((one.number, shaded.is_conditional)),
        _ => None,
    });
    assert_eq!(
        dispatches.collect::<Vec<_>>(),
        [(1, false), (2, true), (3, false)]
    );
}

#[test]
fn commands_that_repeat_a_recent_state_refer_to_the_same_one() {
    let pipelines = [(); 6].map(|()| Arc::new(Pipeline::default()));
    let sets = [(); 2].map(|()| Arc::<Set>::default());
    let mut recording = Recording::default();
    let mut used = |pipeline: usize, set: usize, offsets: &[u32]| {
        recording.bind(1, |bound| {
            bound.pipeline = Some(pipelines[pipeline].clone());
            let (set, offsets) = (sets[set].clone(), offsets.to_vec());
            bound.sets.insert(0, BoundSet { set, offsets });
        });
        recording.dispatch(Some([1; 3]), None);
        let (shaded, _) = last_dispatch(&recording);
        let bound = shaded.state.sets.get(0).expect("a set");
        assert!(Arc::ptr_eq(&bound.set, &sets[set]));
        assert_eq!(bound.offsets, offsets);
        Arc::as_ptr(&shaded.state)
    };
    let first = used(0, 0, &[]);
    let different = [used(1, 0, &[]), used(0, 1, &[]), used(0, 0, &[4])];
    assert!(!different.contains(&first));
    assert_eq!(used(0, 0, &[]), first);
    (1..6).for_each(|other| _ = used(other, 1, &[]));
    assert_ne!(used(0, 0, &[]), first, "it is no longer recent");
}

#[test]
fn a_dispatch_has_the_push_constants_of_its_time() {
    let mut recording = Recording::default();
    let mut pushed = Vec::new();
    for value in [None, Some(5u32), None, Some(7)] {
        if let Some(value) = value {
            recording.push_constants(vk::ShaderStageFlags::COMPUTE, 0, &value.to_ne_bytes());
        }
        recording.dispatch(Some([1; 3]), None);
        pushed.push(last_dispatch(&recording).1.push_constants.clone());
    }
    recording.execute(Vec::new());
    recording.dispatch(Some([1; 3]), None);
    pushed.push(last_dispatch(&recording).1.push_constants.clone());
    let words: Vec<_> = pushed.iter().map(|one| one.word(0)).collect();
    assert_eq!(words, [None, Some(5), Some(5), Some(7), None]);
}

#[test]
fn draws_that_one_represents_are_counted_with_it() {
    let mut recording = Recording::default();
    recording.push(Op::BeginPass(Box::new(RenderPassInstance {
        subpasses: vec![Rendering::default()],
        ..RenderPassInstance::default()
    })));
    recording.bind_indices(Some(BufferRange::new(buffer(1), 0, vk::WHOLE_SIZE)), 2);
    recording.draw(indices(0, 30), Vec::new());
    recording.draw(indices(0, 12), Vec::new());
    recording.add(Op::BeginQuery);
    let unknown = DrawnElements::Unknown {
        indexed: true,
        draws: 3,
    };
    recording.draw(unknown, Vec::new());
    recording.bind(0, |_| {});
    recording.draw(DrawnElements::Groups([1; 3]), Vec::new());
    recording.push(Op::EndPass);
    assert_eq!(draws(&recording).len(), 2);
    recording.end();
    let flat = flatten(&recording.finished, &mut ResourceTable::default());
    let expected = PassFacts {
        draws: 6,
        indirect_draws: 3,
        vertices: 42,
        indices: 42,
        vertex_bytes: 84,
        has_side_effects: true,
        ..PassFacts::default()
    };
    let [pass] = &flat.passes[..] else {
        panic!("{:?}", flat.passes);
    };
    assert_eq!(pass.facts, expected);
}

/// `VK_EXT_vertex_input_dynamic_state`: the command replaces the bindings of pipelines with this dynamic state, and of shader objects.
#[test]
fn vertex_bindings_that_commands_set_are_read() {
    let read = |pipeline: Option<Pipeline>| {
        let mut recording = Recording::default();
        recording.push(Op::EndPass);
        recording.bind(0, |bound| bound.pipeline = pipeline.map(Arc::new));
        recording.bind_vertices(3, Some(BufferRange::new(buffer(1), 64, vk::WHOLE_SIZE)), None);
        recording.set_vertex_input(vec![(3, 16, false)]);
        let drawn = DrawnElements::Vertices(Elements::new(1, 3), Elements::new(0, 1));
        recording.draw(drawn, Vec::new());
        draws(&recording).concat()
    };
    let pipeline = |has_dynamic_input, objects, libraries| {
        let mut pipeline = Pipeline::default();
        (
            pipeline.has_dynamic_input,
            pipeline.is_shader_objects,
            pipeline.libraries,
        ) = (has_dynamic_input, objects, libraries);
        pipeline
    };
    let dynamic = || pipeline(true, false, Vec::new());
    let linked = pipeline(false, false, vec![Arc::new(dynamic())]);
    let object = pipeline(false, true, Vec::new());
    for pipeline in [dynamic(), object, linked] {
        assert_eq!(read(Some(pipeline)), [([80, 128], false)]);
    }
    assert_eq!(read(Some(Pipeline::default())), []);
}

#[test]
fn a_command_with_several_barriers_has_one_timestamp() {
    let barrier = || Op::Synchronization(Synchronization::Barrier(Vec::new()));
    let mut recording = Recording::default();
    recording.time();
    recording.next("vkCmdWaitEvents2");
    recording.push(barrier());
    recording.push(barrier());
    assert_eq!(recording.mark(), Some(Mark::Before(0)));
    recording.next("vkCmdDispatch");
    recording.dispatch(Some([1; 3]), None);
    assert_eq!(recording.mark(), None);
    recording.next("");
    recording.end();
    assert_eq!(
        (recording.mark(), recording.timestamps),
        (Some(Mark::Before(1)), 2)
    );
    let flat = flatten(&recording.finished, &mut ResourceTable::default());
    let timed: Vec<_> = flat.passes.iter().map(|pass| pass.timestamps).collect();
    assert_eq!(timed, [Some([0, 1])]);
}

#[test]
fn nothing_is_timed_from_a_video_coding_scope_on() {
    let barrier = || Op::Synchronization(Synchronization::Barrier(Vec::new()));
    for barriers in [0, 1] {
        let mut recording = Recording::default();
        recording.time();
        for _ in 0..barriers {
            recording.next("vkCmdPipelineBarrier");
            recording.push(barrier());
        }
        recording.next("vkCmdBeginVideoCodingKHR");
        recording.stop_timing();
        recording.next("vkCmdPipelineBarrier");
        recording.push(barrier());
        assert_eq!(recording.mark(), None);
        recording.next("");
        recording.end();
        assert_eq!((recording.mark(), recording.timestamps), (None, barriers));
    }
}

#[test]
fn secondary_command_buffers_with_parts_of_a_rendering_are_not_timed() {
    let rendering = || RenderPassInstance {
        recorded: recording::RenderPassInstance {
            resumes: true,
            ..Default::default()
        },
        ..Default::default()
    };
    let part = || Recorded {
        call: "vkCmdBeginRendering",
        number: 1,
        op: Op::BeginPass(Box::new(rendering())),
    };
    let secondary = |op| vec![(String::new(), Arc::new([op].into_iter().collect()))];
    let nested = Recorded {
        call: "vkCmdExecuteCommands",
        number: 1,
        op: Op::Execute(false, secondary(part())),
    };
    for op in [part(), nested] {
        let mut recording = Recording::default();
        recording.time();
        recording.next("vkCmdExecuteCommands");
        recording.execute(secondary(op));
        assert_eq!(recording.mark(), None);
        recording.next("");
        recording.end();
        assert_eq!((recording.mark(), recording.timestamps), (None, 0));
    }
}

#[test]
fn a_pass_accesses_each_part_that_it_copies_once_in_any_order() {
    let (a, b, c) = ([0, 100], [1000, 1100], [1050, 1200]);
    for (parts, hull, bytes) in [
        (&[a, a][..], a, 100),
        (&[a, a, b], [0, 1100], 200),
        (&[a, b, a], [0, 1100], 200),
        (&[b, a, b, a, a], [0, 1100], 200),
        (&[a, b, a, c], [0, 1200], 350),
        (&[c, a, a, b, c], [0, 1200], 350),
    ] {
        let (source, mut recording) = (buffer(1), Recording::default());
        for [first, end] in parts {
            let range = BufferRange::new(source.clone(), *first, end - first);
            let read = FollowedAccess::of_buffer(&range, AccessKind::TransferSource).reading();
            recording.transfer(vk::PipelineStageFlags2::COPY, vec![Some(read)]);
        }
        recording.end();
        let flat = flatten(&recording.finished, &mut ResourceTable::default());
        let [pass] = &flat.passes[..] else {
            panic!("{:?}", flat.passes);
        };
        let [access] = &pass.accesses[..] else {
            panic!("{:?}", pass.accesses);
        };
        assert_eq!((access.bytes, access.touched_bytes()), (hull, bytes), "{parts:?}");
    }
}

#[test]
fn areas_of_an_image_count_once_in_any_order() {
    let info = vk::ImageCreateInfo::default()
        .format(vk::Format::R8_UNORM)
        .extent(vk::Extent3D {
            width: 64,
            height: 64,
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1);
    let image = Arc::new(Image::new(1, &info));
    let (a, b) = ([[0, 8], [0, 8]], [[8, 16], [0, 4]]);
    for areas in [[a, b, a], [a, a, b], [b, a, a]] {
        let mut recording = Recording::default();
        for area in areas {
            let range = image.range(vk::ImageSubresourceRange {
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            });
            let layout = vk::ImageLayout::GENERAL;
            let read = FollowedAccess::of_image(&image, AccessKind::TransferSource, range, layout).reading();
            let read = FollowedAccess {
                area: Some(area),
                ..read
            };
            recording.transfer(vk::PipelineStageFlags2::COPY, vec![Some(read)]);
        }
        recording.end();
        let flat = flatten(&recording.finished, &mut ResourceTable::default());
        assert_eq!(flat.passes[0].accesses[0].touched_bytes(), 8 * 8 + 8 * 4);
    }
}
