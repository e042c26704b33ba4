//! Loops and branches of networks as passes of a frame: each declared round has its own passes.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{BufferDesc, ImageDesc, Persistence, ResourceId};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{Capabilities, Imports};
use tileheap_tensor::graph::NodeId;
use tileheap_tensor::plan::CarryRule;
use tileheap_tensor::units::Bytes;
use tileheap_tensor::vulkan::{
    ControlFlowDecision, HostBuffer, NetworkPasses, NetworkPassesDesc, PassTensor,
};
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Layout, TensorId};

use crate::gpu::Gpu;
use crate::loops::{named, network, recurrence, small_values};
use crate::rig::{self, Stored, assert_close};
use tileheap_testkit::tensor::assert_says;
use tileheap_testkit::tensor::reference::evaluate;

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 16,
    height: 16,
};

/// Runs two frames with only the network; returns its outputs, and the names of the frame's passes.
fn run_in_frame(
    gpu: &mut Gpu,
    graph: &Arc<Graph>,
    layouts: &[Layout],
    values: &BTreeMap<TensorId, Vec<f32>>,
    decisions: &[(NodeId, ControlFlowDecision)],
) -> (Vec<Vec<f32>>, Vec<String>) {
    let tile = gpu.runtime().clone();
    let (mut frame, all) = rig::frame("rounds", EXTENT, vk::QueueFlags::COMPUTE);
    let mut hosts: Vec<(TensorId, ResourceId, HostBuffer)> = Vec::new();
    for &id in graph.inputs().iter().chain(graph.outputs()) {
        let size = Bytes(rig::count(graph, id, &[]) * 4);
        let outside = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED));
        let name = format!("{} of the caller", graph.tensor(id).name);
        let resource = frame.resource(name, BufferDesc::new(size), outside);
        hosts.push((id, resource, rig::host(gpu, graph, id, &[], values)));
    }
    let bound = hosts
        .iter()
        .map(|(id, resource, _)| (*id, PassTensor::Plain(*resource)));
    let bound: Vec<_> = bound.collect();
    let desc = NetworkPassesDesc {
        decisions,
        ..rig::passes_of("loop", graph, layouts, values, &bound)
    };
    let mut passes =
        NetworkPasses::declare(&tile, &mut frame, all, desc).unwrap_or_else(|error| panic!("{error}"));
    let frame = frame.build().unwrap_or_else(|error| panic!("{error}"));
    let named = passes.passes().map(|pass| frame.pass(pass).name.clone());
    let named = named.collect();
    let plan = tile
        .plan(&frame, &PlanOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut bound = tile.bind(&plan).unwrap_or_else(|error| panic!("{error}"));
    let import = |&(_, resource, ref host): &(TensorId, ResourceId, HostBuffer)| {
        let buffer = host.buffer();
        ImportedBuffer { resource, buffer }
    };
    let buffers: Vec<_> = hosts.iter().map(import).collect();
    for _ in 0..2 {
        let command_buffer = gpu.primaries(1)[0];
        let imports = Imports {
            buffers: &buffers,
            ..Imports::default()
        };
        // SAFETY: the buffers live until the frame was waited for.
        let recorder = unsafe { bound.begin(&imports) }.expect("a frame");
        // SAFETY: new, and used once.
        let mut commands = unsafe { recorder.record(command_buffer, all) }.expect("recording");
        // SAFETY: of the frame that they were declared in.
        unsafe { passes.record(&mut commands) }.unwrap_or_else(|error| panic!("{error}"));
        commands.finish().expect("recorded");
        // SAFETY: the test has one thread.
        let number = unsafe { recorder.submit() }.expect("submitted");
        assert!(bound.wait(number, u64::MAX).expect("waited"));
    }
    // SAFETY: every frame was waited for.
    unsafe { passes.destroy() };
    let outputs = hosts[graph.inputs().len()..].iter().map(|(id, _, host)| {
        let count = rig::count(graph, *id, &[]) as usize;
        host.read_floats()[..count].to_vec()
    });
    let outputs = outputs.collect();
    for (_, _, host) in hosts {
        // SAFETY: idle.
        unsafe { host.destroy() };
    }
    (outputs, named)
}

#[test]
fn a_loop_runs_the_rounds_that_were_declared() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let graph = Arc::new(recurrence());
    let values = small_values(&graph);
    let node = named(&graph, "rounds");
    for stored in [Stored::Buffers, rig::ways()[1]] {
        let layouts = rig::layouts(&graph, |_| stored);
        for rounds in [0, 1, 4] {
            let expected = evaluate(&graph, &[], &values, &[(node, rounds)]);
            let decisions = [(node, ControlFlowDecision::Rounds { rounds, exit: 0 })];
            let (got, passes) = run_in_frame(&mut gpu, &graph, &layouts, &values, &decisions);
            let what = format!("{rounds} rounds in {stored:?}");
            assert_close(&what, &got[0], &expected[&graph.outputs()[0]], 1e-5);
            let sums = passes.iter().filter(|name| name.starts_with("loop/sum")).cloned();
            let wanted = (0..rounds).map(|round| format!("loop/sum [{round}]"));
            assert!(sums.eq(wanted), "{what}: {passes:?}");
        }
    }
}

/// A loop in a loop, which begins with a constant, reads another as a parameter, and whose result is directly an output.
fn nested() -> Graph {
    let mut graph = GraphBuilder::new("nested");
    let x = graph.input("x", ElementType::Float32, [1, 8]);
    let go_on = graph.input("go on", ElementType::Bool, [1]);
    let zero = graph.constant("zero", ElementType::Float32, [1, 8]);
    let step = graph.constant("step", ElementType::Float32, [1, 8]);
    let left = graph.repeat("outer", &[x, zero, step, go_on], |graph, outer| {
        graph.exit_unless(outer[3], &[outer[1]]);
        let inner = graph.repeat("inner", &outer[1..], |graph, inner| {
            graph.exit_unless(inner[2], &[inner[0]]);
            let more = graph.operator("more", "add", [], &[inner[0], inner[1]])?[0];
            graph.carry(more, inner[0]);
            Ok(())
        })?[0];
        let product = graph.operator("product", "mul", [], &[inner, outer[0]])?[0];
        graph.carry(product, outer[1]);
        Ok(())
    });
    graph.output(left.expect("a loop")[0]);
    graph.build().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn loops_in_loops_begin_with_what_they_are_given() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let graph = Arc::new(nested());
    let values = rig::values(&graph, &[]);
    let loops = ["outer", "inner"].map(|name| named(&graph, name));
    let layouts = rig::layouts(&graph, |_| Stored::Buffers);
    for [outer, inner] in [[0, 3], [1, 0], [3, 2]] {
        let rounds = [(loops[0], outer), (loops[1], inner)];
        let expected = evaluate(&graph, &[], &values, &rounds);
        let decisions = rounds.map(|(node, rounds)| (node, ControlFlowDecision::Rounds { rounds, exit: 0 }));
        let (got, named) = run_in_frame(&mut gpu, &graph, &layouts, &values, &decisions);
        let what = format!("{outer} times {inner} rounds");
        assert_close(&what, &got[0], &expected[&graph.outputs()[0]], 1e-5);
        let inside = named.iter().filter(|name| name.starts_with("loop/more")).count() as u64;
        assert_eq!(inside, outer * inner, "{what}: {named:?}");
        // The same network in separate memory.
        let mut apart = network(&gpu, &graph, Stored::Buffers, CarryRule::Avoid, &values);
        let (got, _) = rig::run(&mut gpu, &mut apart, &values, &[], &decisions);
        assert_close(
            &format!("{what}, apart"),
            &got[0],
            &expected[&graph.outputs()[0]],
            1e-5,
        );
        // SAFETY: the run was waited for.
        unsafe { apart.destroy() };
    }
}

#[test]
fn a_branch_takes_the_arm_that_was_declared() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let mut graph = GraphBuilder::new("branch");
    let which = graph.input("which", ElementType::Int32, [1]);
    let x = graph.input("x", ElementType::Float32, [2, 8]);
    let y = graph.branch("if", &[which, x], 2, |arm, index, inputs| {
        let what = if index == 0 { "relu" } else { "tanh" };
        arm.operator(&format!("arm {index}"), what, [], &inputs[1..])
    });
    let y = y.expect("a branch")[0];
    let z = graph.operator("z", "mul", [], &[y, y]).expect("inferred")[0];
    graph.output(z);
    let graph = Arc::new(graph.build().expect("a graph"));
    let values = BTreeMap::from([(x, tileheap_testkit::tensor::noise(3, 16))]);
    let node = named(&graph, "if");
    let layouts = rig::layouts(&graph, |_| Stored::Buffers);
    for (arm, of) in [(0, (|x| x.max(0.0)) as fn(f64) -> f64), (1, f64::tanh)] {
        let expected: Vec<f64> = values[&x].iter().map(|&x| of(x.into()).powi(2)).collect();
        let decisions = [(node, ControlFlowDecision::Arm(arm))];
        let (got, named) = run_in_frame(&mut gpu, &graph, &layouts, &values, &decisions);
        assert_close(&format!("arm {arm}"), &got[0], &expected, 1e-5);
        assert!(named.contains(&format!("loop/arm {arm}")), "{named:?}");
        assert!(!named.contains(&format!("loop/arm {}", 1 - arm)), "{named:?}");
    }
}

#[test]
fn what_was_not_decided_is_named() {
    let gpu = Gpu::new(Capabilities::empty());
    let graph = Arc::new(recurrence());
    let (values, layouts) = (
        rig::values(&graph, &[]),
        rig::layouts(&graph, |_| Stored::Buffers),
    );
    let (mut frame, commands) = rig::frame("refused", EXTENT, vk::QueueFlags::COMPUTE);
    let image = frame.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let ends = graph.inputs().iter().chain(graph.outputs());
    let bound: Vec<_> = ends.map(|&id| (id, PassTensor::InLayout(image))).collect();
    let node = named(&graph, "rounds");
    let desc = rig::passes_of("refused", &graph, &layouts, &values, &[]);
    let refused = NetworkPasses::declare(gpu.runtime(), &mut frame, commands, desc);
    assert_says(refused.expect_err("nothing is bound"), &["no buffer is bound"]);
    let missing_exit = [(node, ControlFlowDecision::Rounds { rounds: 2, exit: 1 })];
    for decisions in [&[][..], &missing_exit] {
        let desc = NetworkPassesDesc {
            decisions,
            ..rig::passes_of("refused", &graph, &layouts, &values, &bound)
        };
        let refused = NetworkPasses::declare(gpu.runtime(), &mut frame, commands, desc)
            .expect_err("it cannot be declared");
        assert_says(refused, &["`rounds`", "number of complete iterations"]);
    }
}
