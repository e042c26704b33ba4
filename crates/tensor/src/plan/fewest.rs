//! Compares the planner's copies with the fewest that any order of coalescing and any unroll counts need: on random graphs the planner rarely
//! needs more, and then only one more.

use super::coalesce::{coalesce, fewest_in_any_order};
use super::expansion::Rules;
use super::options::{CarryRule, TensorPlanOptions};
use super::types::TensorRequirements;
use crate::graph::{ElementType, Graph, GraphBuilder, InPlace, NodeId, NodeKind, Operator, Shape, TensorId};
use crate::layout::{Layout, LayoutRule};
use crate::units::{Alignment, SplitMix64};

const LIMIT: u32 = 3;

/// A small random body: operators, with at most `depth` nested levels of loops and branches.
fn body(
    graph: &mut GraphBuilder,
    there: &mut Vec<TensorId>,
    random: &mut SplitMix64,
    depth: u32,
    name: &str,
) {
    for index in 0..1 + random.below(2) {
        let name = format!("{name}.{index}");
        let pick =
            |random: &mut SplitMix64, there: &[TensorId]| there[random.below(there.len() as u64) as usize];
        let inputs: Vec<TensorId> = (0..1 + random.below(2)).map(|_| pick(random, there)).collect();
        let made = match random.below(5) {
            0 | 1 if depth > 0 => {
                let built = graph.repeat(&name, &inputs, |body_of, parameters| {
                    let mut inner = parameters.to_vec();
                    if random.below(2) == 0 {
                        body_of.exit_unless(inner[0], &[pick(random, &inner)]);
                    }
                    body(body_of, &mut inner, random, depth - 1, &name);
                    for &into in parameters {
                        body_of.carry(pick(random, &inner), into);
                    }
                    body_of.exit_unless(pick(random, &inner), &[pick(random, &inner)]);
                    Ok(())
                });
                built.unwrap()
            }
            2 if depth > 0 => {
                let built = graph.branch(&name, &inputs, 2, |arm, index, parameters| {
                    let mut inner = parameters.to_vec();
                    body(arm, &mut inner, random, 0, &format!("{name}.{index}"));
                    Ok(vec![pick(random, &inner)])
                });
                built.unwrap()
            }
            kind => {
                let over = (kind == 3).then_some(InPlace { output: 0, input: 0 });
                let made = vec![(name.clone(), ElementType::UInt8, Shape::new([4u64]))];
                let over = over.into_iter().collect();
                graph.node(name, Operator::named("f"), &inputs, made, over)
            }
        };
        there.extend(made);
    }
}

#[test]
fn orders_and_unrolling_that_leave_fewer_copies_are_rare() {
    let (mut compared, mut copies, mut more) = (0, 0, Vec::new());
    for seed in 0..4000 {
        let mut random = SplitMix64::new(seed);
        let mut graph = GraphBuilder::new(format!("random {seed}"));
        let mut there: Vec<TensorId> = ["a", "b"]
            .map(|name| graph.input(name, ElementType::UInt8, [4]))
            .to_vec();
        body(&mut graph, &mut there, &mut random, 2, "n");
        graph.output(there[there.len() - 1]);
        let graph: Graph = graph.build().unwrap();
        let layout =
            |tensor: &crate::graph::Tensor| LayoutRule::buffer().apply("t", &[4], tensor.element).unwrap();
        let layouts: Vec<Layout> = graph.tensors().iter().map(layout).collect();
        let requirements = layouts.iter();
        let requirements: Vec<_> = requirements
            .map(|layout| TensorRequirements::of_layout(layout, Alignment::ONE))
            .collect();
        let options = TensorPlanOptions::default();
        let rules = || Rules::new(&graph, &layouts, &requirements, &options);
        let nodes = (0..).map(NodeId).zip(graph.nodes());
        let loops = nodes.filter(|(_, node)| matches!(node.kind, NodeKind::Loop(_)));
        let loops: Vec<NodeId> = loops.map(|(id, _)| id).collect();
        if loops.is_empty() || loops.len() > 3 {
            continue;
        }
        let ours = coalesce(&mut rules(), CarryRule::Avoid, LIMIT).unwrap().copies();
        let mut fewest = usize::MAX;
        for counts in 0..LIMIT.pow(loops.len() as u32) {
            let mut rules = rules();
            for (place, &node) in loops.iter().enumerate() {
                let count = counts / LIMIT.pow(place as u32) % LIMIT + 1;
                rules.unroll.insert(node, count);
            }
            fewest = fewest.min(fewest_in_any_order(&rules, 5).unwrap_or(usize::MAX));
        }
        if ours > fewest {
            more.push((seed, ours, fewest));
        }
        (compared, copies) = (compared + 1, copies + ours);
    }
    // Known result: one copy more in 15 of 1,949. An order's count assumes one copy for each value without a placement; writing that copy
    // takes bytes that another value needs at that time, which is then copied too. An exhaustive search of orders and counts in the planner
    // saves one of the 15.
    let rarely = more.len() * 100 < compared && more.iter().all(|&(_, ours, fewest)| ours == fewest + 1);
    let enough = compared > 1000 && copies > 100;
    assert!(
        rarely && enough,
        "{compared} graphs, {copies} copies; more than the fewest in {more:?}"
    );
}
