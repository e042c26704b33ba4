//! Nested loops that begin where they were left: the judge verifies every pointer of random ones, and refuses plans that forget it.

use tileheap_tensor::graph::{InPlace, Operator};
use tileheap_tensor::plan::CarryRule;
use tileheap_tensor::units::SplitMix64;
use tileheap_tensor::{
    ElementType, Graph, GraphBuilder, Shape, TensorId, TensorPlan, TensorPlanOptions, check,
};
use tileheap_testkit::tensor::assert_says;

fn op(graph: &mut GraphBuilder, name: &str, inputs: &[TensorId], in_place: bool) -> TensorId {
    let made = vec![(name.to_owned(), ElementType::UInt8, Shape::new([4u64]))];
    let over = in_place.then_some(InPlace { output: 0, input: 0 });
    let over = over.into_iter().collect();
    graph.node(name, Operator::named("f"), inputs, made, over)[0]
}

fn planned(graph: &Graph, options: &TensorPlanOptions<'_>) -> TensorPlan {
    crate::planned(graph, &crate::buffers(graph), options, 1).unwrap()
}

fn pick(random: &mut SplitMix64, there: &[TensorId]) -> TensorId {
    there[random.below(there.len() as u64) as usize]
}

/// A loop of several carried parameters, which are also its results, around another one or some operators.
fn nest(
    graph: &mut GraphBuilder,
    random: &mut SplitMix64,
    depth: u32,
    inputs: &[TensorId],
    name: &str,
) -> Vec<TensorId> {
    let made = graph.repeat(name, inputs, |body, parameters| {
        let mut there = parameters.to_vec();
        let add =
            |body: &mut GraphBuilder, random: &mut SplitMix64, there: &mut Vec<TensorId>, index: u32| {
                let operands: Vec<TensorId> = (0..1 + random.below(2)).map(|_| pick(random, there)).collect();
                let in_place = random.below(3) == 0;
                there.push(op(body, &format!("{name}.f{index}"), &operands, in_place));
            };
        let is_left_first = random.below(2) == 0;
        if is_left_first {
            body.exit_unless(pick(random, &there), parameters);
        }
        let mut next: Vec<TensorId> = if depth == 0 {
            for index in 0..1 + random.below(3) as u32 {
                add(body, random, &mut there, index);
            }
            let rotated = random.below(2) as usize;
            let count = parameters.len();
            let mut next: Vec<TensorId> = (0..count).map(|at| parameters[(at + rotated) % count]).collect();
            next[count - 1] = there[there.len() - 1];
            next
        } else {
            if random.below(3) == 0 {
                add(body, random, &mut there, 0);
            }
            let mut inputs = parameters.to_vec();
            if random.below(6) == 0 {
                inputs[0] = pick(random, &there);
            }
            let made = nest(body, random, depth - 1, &inputs, &format!("{name}.in"));
            there.extend(&made);
            if random.below(3) == 0 {
                add(body, random, &mut there, 1);
            }
            made
        };
        if random.below(8) == 0 {
            let at = random.below(next.len() as u64) as usize;
            next[at] = pick(random, &there);
        }
        if !is_left_first || random.below(3) == 0 {
            body.exit_unless(pick(random, &there), &next);
        }
        for (&value, &into) in next.iter().zip(parameters) {
            body.carry(value, into);
        }
        Ok(())
    });
    made.unwrap()
}

fn random_nest(seed: u64) -> Graph {
    let mut random = SplitMix64::new(seed);
    let mut graph = GraphBuilder::new(format!("nest {seed}"));
    let count = 1 + random.below(3) as usize;
    let inputs: Vec<TensorId> = ["a", "b", "c"][..count]
        .iter()
        .map(|name| graph.input(*name, ElementType::UInt8, [4]))
        .collect();
    let depth = 1 + random.below(2) as u32;
    let made = nest(&mut graph, &mut random, depth, &inputs, "n");
    let end = op(&mut graph, "end", &made, random.below(2) == 0);
    graph.output(end);
    if random.below(2) == 0 {
        graph.output(made[0]);
    }
    graph.build().unwrap()
}

#[test]
fn nested_loops_begin_where_they_were_left() {
    let (mut graphs, mut continued, mut free) = (0, 0, 0);
    for seed in 0..250 {
        let graph = random_nest(seed);
        let options = TensorPlanOptions {
            plan_inputs: seed % 3 > 0,
            in_place: seed % 2 > 0,
            unroll_limit: 3,
            ..TensorPlanOptions::default()
        };
        let plan = planned(&graph, &options);
        graphs += 1;
        continued += usize::from(!plan.continued.is_empty());
        free += usize::from(plan.copies.is_empty());
    }
    assert!(
        continued >= 15,
        "{graphs} graphs, {continued} with loops that continue, {free} without a copy"
    );
}

/// `while (c) { while (c) { y = f(x); x = y } }`.
fn turning() -> Graph {
    let mut graph = GraphBuilder::new("turning");
    let inputs = ["x", "c"].map(|name| graph.input(name, ElementType::UInt8, [4]));
    let made = graph.repeat("outer", &inputs, |body, p| {
        body.exit_unless(p[1], &[p[0]]);
        let made = body.repeat("inner", p, |body, p| {
            body.exit_unless(p[1], &[p[0]]);
            let y = op(body, "y", &p[..1], false);
            body.carry(y, p[0]);
            Ok(())
        })?;
        body.carry(made[0], p[0]);
        Ok(())
    });
    let end = op(&mut graph, "end", &made.unwrap(), false);
    graph.output(end);
    graph.build().unwrap()
}

#[test]
fn a_plan_that_forgets_where_a_loop_was_left_is_refused() {
    let graph = turning();
    let good = planned(&graph, &TensorPlanOptions::default());
    let [continued] = &good.continued[..] else {
        panic!("{:?}", good.continued)
    };
    assert!(good.copies.is_empty());
    assert_eq!(graph.node(continued.within).name, "outer");
    assert_eq!(continued.more, [0]);
    let needs = crate::needs(&crate::buffers(&graph), 1);
    let refused = |change: &dyn Fn(&mut TensorPlan)| {
        let mut plan = good.clone();
        change(&mut plan);
        assert_says(check(&graph, &needs, &plan, 40).unwrap_err(), &["hold"]);
    };
    refused(&|plan| plan.continued.clear());
    refused(&|plan| plan.continued[0].more = vec![1]);
    // Without the rule there is one copy in every round.
    let copied = planned(
        &graph,
        &TensorPlanOptions {
            carry: CarryRule::Copy,
            ..TensorPlanOptions::default()
        },
    );
    assert!(copied.continued.is_empty() && copied.copies.len() == 2);
}
