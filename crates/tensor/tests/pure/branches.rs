//! Branches: arms are alternatives. Plans are compared with an enumeration of all paths through small random graphs, which is
//! independent of timelines and spans.

use std::collections::{BTreeMap, BTreeSet};

use tileheap_pack::Strategy;
use tileheap_tensor::graph::{BlockId, InPlace, NodeKind, Operator};
use tileheap_tensor::import::read_graph;
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::units::{Bytes, SplitMix64};
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Shape, TensorId, TensorPlanOptions};

fn planned(graph: &Graph, options: &TensorPlanOptions<'_>) -> tileheap_tensor::TensorPlan {
    crate::planned(graph, &crate::buffers(graph), options, 1).unwrap()
}

fn op(graph: &mut GraphBuilder, name: &str, inputs: &[TensorId], size: u64) -> TensorId {
    let made = vec![(name.to_owned(), ElementType::UInt8, Shape::new([size]))];
    let over = InPlace { output: 0, input: 0 };
    graph.node(name, Operator::named("f"), inputs, made, vec![over])[0]
}

/// A graph of branches in sequence, with arms that are chains of three nodes over common inputs.
fn chains(arms: u32, branches: usize) -> Graph {
    let mut graph = GraphBuilder::new("chains");
    let mut last = graph.input("x0", ElementType::UInt8, [4]);
    let which = graph.constant("which", ElementType::UInt8, [1]);
    for number in 0..branches {
        let x = op(&mut graph, &format!("x{number}'"), &[last], 8);
        let made = graph.branch(&format!("if{number}"), &[which, x], arms, |arm, index, inputs| {
            let name = |step: u32| format!("a{number}.{index}.{step}");
            let mut value = inputs[1];
            for step in 0..2 {
                value = op(arm, &name(step), &[value], 8);
            }
            Ok(vec![op(arm, &name(2), &[value], 4)])
        });
        last = made.unwrap()[0];
    }
    let end = op(&mut graph, "end", &[last], 4);
    graph.output(end);
    graph.build().unwrap()
}

#[test]
fn what_every_arm_reads_dies_in_each_at_its_last_read() {
    let apart = TensorPlanOptions {
        in_place: false,
        ..TensorPlanOptions::default()
    };
    for (arms, branches) in [(2, 1), (3, 1), (2, 3), (5, 2)] {
        let plan = planned(&chains(arms, branches), &apart);
        assert_eq!(
            (plan.size(), plan.lower_bound()),
            (Bytes(16), Bytes(16)),
            "{arms} arms"
        );
        assert!(plan.copies.is_empty());
    }
}

#[test]
fn the_cases_of_the_review_reach_their_bounds() {
    let apart = TensorPlanOptions::default();
    for (name, bytes) in [("arms2_chain3", 16_384), ("case", 20_480)] {
        let text =
            std::fs::read_to_string(tileheap_testkit::data(&format!("tensor/branches/{name}.json"))).unwrap();
        let graph = read_graph(&text).unwrap();
        let plan = crate::planned(&graph, &crate::buffers(&graph), &apart, 64).unwrap();
        assert_eq!((plan.size().0, plan.lower_bound().0), (bytes, bytes), "{name}");
    }
}

/// An aliasing names the values of every arm that may have been the previous owner.
#[test]
fn bytes_are_taken_over_from_what_any_arm_left() {
    let graph = chains(2, 1);
    let apart = TensorPlanOptions {
        in_place: false,
        ..TensorPlanOptions::default()
    };
    let plan = planned(&graph, &apart);
    let at = |name: &str| {
        plan.tensor(graph.find(name).unwrap())
            .placement
            .clone()
            .unwrap()
            .regions()[0]
    };
    let id = |name: &str| graph.find(name).unwrap();
    let names = ["x0'", "a0.0.0", "a0.0.1", "a0.1.0", "a0.1.1"];
    for output in ["a0.0.1", "a0.1.1", "a0.1.0"] {
        // In arm 1 nothing of arm 0 has run; the value from before the branch is named although arm 0 overwrites it too.
        let before: Vec<&str> = names
            .into_iter()
            .filter(|name| at(name).overlaps(&at(output)))
            .collect();
        let named = plan.aliasing.iter().find(|of| of.output == id(output));
        let taken_over = before.contains(&"x0'") && output != "x0'" && output.ends_with(".1");
        let names_x = named.is_some_and(|of| of.previous.contains(&id("x0'")));
        assert!(!taken_over || names_x, "{output} after {before:?}: {named:?}");
    }
}

/// A small random block: operators, branches and loops over the available tensors.
fn block(
    graph: &mut GraphBuilder,
    there: &mut Vec<TensorId>,
    random: &mut SplitMix64,
    depth: u32,
    name: &str,
    loops: bool,
) {
    for index in 0..1 + random.below(3) {
        let name = format!("{name}.{index}");
        let pick =
            |random: &mut SplitMix64, there: &[TensorId]| there[random.below(there.len() as u64) as usize];
        let inputs: Vec<TensorId> = (0..1 + random.below(2)).map(|_| pick(random, there)).collect();
        let made = match random.below(4) {
            0 | 1 if depth > 0 => {
                let arms = 2 + random.below(2) as u32;
                let built = graph.branch(&name, &inputs, arms, |arm, index, parameters| {
                    let mut inner = parameters.to_vec();
                    block(
                        arm,
                        &mut inner,
                        random,
                        depth - 1,
                        &format!("{name}.{index}"),
                        loops,
                    );
                    // Results have the same size in all arms.
                    let read = pick(random, &inner);
                    Ok(vec![op(arm, &format!("{name}.{index}.out"), &[read], 4)])
                });
                built.unwrap()
            }
            2 if depth > 0 && loops => {
                let first = op(graph, &format!("{name}.first"), &inputs[..1], 4);
                let inputs = [vec![first], inputs].concat();
                let built = graph.repeat(&name, &inputs, |body, parameters| {
                    let mut inner = parameters.to_vec();
                    body.exit_unless(pick(random, &inner), &[parameters[0]]);
                    block(body, &mut inner, random, depth - 1, &name, loops);
                    let read = pick(random, &inner);
                    let next = op(body, &format!("{name}.next"), &[read], 4);
                    body.carry(next, parameters[0]);
                    if random.below(2) == 0 {
                        body.rounds(random.below(10));
                    }
                    Ok(())
                });
                built.unwrap()
            }
            _ => vec![op(graph, &name, &inputs, 1 + random.below(6))],
        };
        there.extend(made);
    }
}

fn random_graph(seed: u64, depth: u32, loops: bool) -> Graph {
    let mut random = SplitMix64::new(seed);
    let mut graph = GraphBuilder::new(format!("random {seed}"));
    let mut there: Vec<TensorId> = [("a", 3u64), ("b", 5)]
        .map(|(name, size)| graph.input(name, ElementType::UInt8, [size]))
        .to_vec();
    block(&mut graph, &mut there, &mut random, depth, "n", loops);
    let last = there[there.len() - 1];
    graph.output(last);
    graph.build().unwrap()
}

/// One path through a graph without loops: for each step the values that it reads and produces; parameters and results are replaced by
/// the values they stand for.
#[derive(Clone, Default)]
struct GraphPath {
    steps: Vec<(Vec<usize>, Vec<usize>)>,
    stands_for: BTreeMap<usize, usize>,
    /// Values and the outputs of branches that they become: these share a placement, whichever arm runs.
    becomes: Vec<(usize, usize)>,
}

impl GraphPath {
    fn value(&self, tensor: TensorId) -> usize {
        let mut at = tensor.index();
        while let Some(&next) = self.stands_for.get(&at) {
            at = next;
        }
        at
    }

    /// Continues with a block, along every possible path.
    fn through(self, graph: &Graph, block: BlockId) -> Vec<GraphPath> {
        let mut ways = vec![self];
        for &id in &graph.block(block).nodes {
            let node = graph.node(id);
            let mut next = Vec::new();
            for mut way in ways {
                let reads: Vec<usize> = node.inputs.iter().map(|&input| way.value(input)).collect();
                match &node.kind {
                    NodeKind::Operator(_) => {
                        let makes = node.outputs.iter().map(|output| output.index()).collect();
                        way.steps.push((reads, makes));
                        next.push(way);
                    }
                    NodeKind::Branch(of) => {
                        way.steps.push((reads, Vec::new()));
                        for &arm in &of.arms {
                            let mut within = way.clone();
                            let body = graph.block(arm);
                            for (&parameter, &input) in body.inputs.iter().zip(&node.inputs) {
                                let value = within.value(input);
                                within.stands_for.insert(parameter.index(), value);
                            }
                            for mut after in within.through(graph, arm) {
                                for (&output, &result) in node.outputs.iter().zip(&body.outputs) {
                                    let value = after.value(result);
                                    after.stands_for.insert(output.index(), value);
                                    after.becomes.push((value, output.index()));
                                }
                                next.push(after);
                            }
                        }
                    }
                    NodeKind::Loop(_) => unreachable!("without loops"),
                }
            }
            ways = next;
        }
        ways
    }

    /// The live values at each step: produced before or now, read now or later.
    fn live(&self, graph: &Graph) -> Vec<BTreeSet<usize>> {
        let inputs: Vec<usize> = graph.inputs().iter().map(|input| input.index()).collect();
        let outputs: Vec<usize> = graph.outputs().iter().map(|&output| self.value(output)).collect();
        let made = |value: usize| match inputs.contains(&value) {
            true => 0,
            false => self
                .steps
                .iter()
                .position(|(_, makes)| makes.contains(&value))
                .unwrap(),
        };
        let last = |value: usize| match outputs.contains(&value) {
            true => self.steps.len() - 1,
            // A value that nothing reads is live while it is produced.
            false => self
                .steps
                .iter()
                .rposition(|(reads, _)| reads.contains(&value))
                .unwrap_or(made(value)),
        };
        let all: BTreeSet<usize> = inputs
            .iter()
            .copied()
            .chain(self.steps.iter().flat_map(|(_, makes)| makes.clone()))
            .collect();
        let steps = 0..self.steps.len();
        steps
            .map(|step| {
                all.iter()
                    .copied()
                    .filter(|&value| made(value) <= step && step <= last(value))
                    .collect()
            })
            .collect()
    }
}

fn size(graph: &Graph, value: usize) -> u64 {
    graph.tensors()[value].shape.fixed().unwrap().iter().product()
}

/// For each tensor, one representative of those that share its placement.
fn one_of_each(count: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut one: Vec<usize> = (0..count).collect();
    for (a, b) in pairs {
        let (a, b) = (one[a], one[b]);
        // A result has the size of the output, whose number is not that of a value.
        one.iter_mut()
            .filter(|other| **other == b)
            .for_each(|other| *other = a);
    }
    one
}

/// The fewest bytes of any offsets in which values that are live together on some path do not overlap: by trying all orders.
fn fewest_bytes(graph: &Graph, together: &BTreeSet<(usize, usize)>, values: &[usize]) -> u64 {
    fn go(
        graph: &Graph,
        together: &BTreeSet<(usize, usize)>,
        rest: &mut Vec<usize>,
        placed: &mut Vec<(usize, u64)>,
        height: u64,
        best: &mut u64,
    ) {
        if height >= *best {
            return;
        }
        if rest.is_empty() {
            *best = height;
            return;
        }
        for index in 0..rest.len() {
            let value = rest.swap_remove(index);
            let conflicts = |other: usize| together.contains(&(value.min(other), value.max(other)));
            let mut taken: Vec<(u64, u64)> = placed
                .iter()
                .filter(|of| conflicts(of.0))
                .map(|&(other, at)| (at, at + size(graph, other)))
                .collect();
            taken.sort_unstable();
            let mut at = 0;
            for (first, end) in taken {
                if first < at + size(graph, value) && at < end {
                    at = end;
                }
            }
            placed.push((value, at));
            go(
                graph,
                together,
                rest,
                placed,
                height.max(at + size(graph, value)),
                best,
            );
            placed.pop();
            rest.push(value);
            let end = rest.len() - 1;
            rest.swap(index, end);
        }
    }
    let mut best = u64::MAX;
    go(
        graph,
        together,
        &mut values.to_vec(),
        &mut Vec::new(),
        0,
        &mut best,
    );
    best
}

#[test]
fn bounds_and_sizes_are_those_of_all_ways_through_small_graphs() {
    let strategy = Offsets(Strategy::Exact);
    let (mut compared, mut packed, mut nested) = (0, 0, 0);
    for seed in 0..3_000 {
        let graph = random_graph(seed, 2, false);
        if graph.blocks().len() < 3 || graph.nodes().len() > 40 {
            continue;
        }
        let options = TensorPlanOptions {
            strategy: &strategy,
            in_place: false,
            ..TensorPlanOptions::default()
        };
        let plan = planned(&graph, &options);
        let ways = GraphPath::default().through(&graph, BlockId::ROOT);
        let (mut bound, mut together, mut values) = (0, BTreeSet::new(), BTreeSet::new());
        for live in ways.iter().flat_map(|way| way.live(&graph)) {
            bound = bound.max(live.iter().map(|&value| size(&graph, value)).sum());
            let pairs = live.iter().flat_map(|&a| live.iter().map(move |&b| (a, b)));
            together.extend(pairs.filter(|(a, b)| a < b));
            values.extend(live);
        }
        assert!(
            plan.lower_bound().0 <= bound,
            "{seed}: {} is not a bound, {bound} suffices",
            plan.lower_bound()
        );
        nested += usize::from(graph.blocks().len() > 4);
        if plan.copies.is_empty() {
            // Nothing had to be kept apart.
            assert_eq!(plan.lower_bound().0, bound, "{seed}: the ways need {bound} B");
            compared += 1;
            // One of the values that share a placement represents all.
            let all = ways.iter().flat_map(|way| way.becomes.iter().copied());
            let place = one_of_each(graph.tensors().len(), all);
            let values: BTreeSet<usize> = values.iter().map(|&value| place[value]).collect();
            if values.len() <= 9 {
                let apart = together.iter();
                let apart = apart.map(|&(a, b)| (place[a].min(place[b]), place[a].max(place[b])));
                let fewest = fewest_bytes(&graph, &apart.collect(), &Vec::from_iter(values));
                assert_eq!(plan.size().0, fewest, "{seed}: the bytes of all orders");
                packed += 1;
            }
        }
    }
    assert!(
        compared > 500 && packed > 50 && nested > 500,
        "{compared} bounds, {packed} sizes, {nested} nested"
    );
}

/// With loops, the judge runs each graph 20 times, with different rounds and arms; bounds hold for every plan.
#[test]
fn branches_in_loops_and_loops_in_branches_are_right() {
    let mut both = 0;
    for seed in 0..1_500 {
        let graph = random_graph(seed, 3, true);
        if graph.nodes().len() > 60 {
            continue;
        }
        for in_place in [false, true] {
            let options = TensorPlanOptions {
                in_place,
                unroll_limit: 3,
                ..TensorPlanOptions::default()
            };
            let plan = planned(&graph, &options);
            assert!(plan.lower_bound() <= plan.size());
        }
        let has = |is: fn(&NodeKind) -> bool| graph.nodes().iter().any(|node| is(&node.kind));
        both += usize::from(
            has(|kind| matches!(kind, NodeKind::Loop(_))) && has(|kind| matches!(kind, NodeKind::Branch(_))),
        );
    }
    assert!(both > 200, "{both} with both");
}
