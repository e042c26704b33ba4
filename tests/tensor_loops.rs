//! Loops and branches: no carried value is copied where it need not be, and every pointer of every round is right, which an
//! interpreter proves on random ones.

use std::collections::BTreeMap;

use tileheap::tensor::{
    BlockId, CarryRule, CopyTime, ElementType, Graph, GraphBuilder, Home, InPlace, Layout, LayoutRule,
    NodeKind, Operator, Place, Region, Shape, Source, TensorFault, TensorId, TensorPlan, TensorPlanOptions,
    TensorRequirements, plan,
};
use tileheap::units::{Alignment, Bytes};

fn planned(graph: &Graph, options: &TensorPlanOptions<'_>) -> Result<TensorPlan, TensorFault> {
    let layouts: Vec<Layout> = graph
        .tensors()
        .iter()
        .map(|tensor| {
            LayoutRule::buffer()
                .apply(&tensor.name, &tensor.shape.fixed().unwrap(), tensor.element)
                .unwrap()
        })
        .collect();
    let needs: Vec<TensorRequirements> = layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, Alignment::ONE))
        .collect();
    plan(graph, &layouts, &needs, options)
}

/// Runs a planned graph on values that are numbers: each tensor's bytes hold the number of what was written there last.
struct Machine<'a> {
    graph: &'a Graph,
    plan: &'a TensorPlan,
    /// By memory and offset of each byte: the value.
    memory: BTreeMap<(u32, u64), u64>,
    /// Values of what the caller and the constants hold.
    outside: BTreeMap<TensorId, u64>,
    /// For outputs of loops: the exit and the round that they were left at.
    left: BTreeMap<TensorId, (usize, u64)>,
    /// How many rounds loops run, and which arms are taken.
    random: u64,
}

impl Machine<'_> {
    fn next(&mut self, below: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }

    /// Where a tensor is now: bytes, or another tensor outside.
    fn find(&self, tensor: TensorId, rounds: &[u64]) -> Result<Region, TensorId> {
        let placed = self.plan.tensor(tensor);
        if placed.home != Home::Planned {
            return Err(tensor);
        }
        let mut place = placed
            .place
            .as_ref()
            .expect("what is planned has a place")
            .at(rounds);
        loop {
            place = match place {
                Place::At(region) => return Ok(*region),
                Place::Within { tensor: of, offset } if *of == tensor => panic!("{offset} within itself"),
                Place::Within { tensor: of, .. } => return self.find(*of, rounds),
                Place::Left(exits) => {
                    let (exit, round) = self.left[&tensor];
                    let depth = rounds.len().min(self.depth(tensor));
                    let mut around = rounds[..depth].to_vec();
                    around.push(round);
                    match exits[exit].at(&around[depth..]) {
                        Place::At(region) => return Ok(*region),
                        // Of an inner loop's output, in the round in which the outer one was left.
                        Place::Within { tensor: of, .. } => return self.find(*of, &around),
                        other => other,
                    }
                }
                Place::Rounds(_) => panic!(
                    "{} has a place in round {rounds:?}",
                    self.graph.tensor(tensor).name
                ),
            };
        }
    }

    /// How many loops are around a tensor.
    fn depth(&self, tensor: TensorId) -> usize {
        let mut block = match self.graph.tensor(tensor).source {
            Source::Node(node) => self.graph.node(node).block,
            Source::Input(block) => block,
            Source::Constant => BlockId::ROOT,
        };
        let mut depth = 0;
        while block != BlockId::ROOT {
            let node = self.graph.nodes().iter().find(|node| match &node.kind {
                NodeKind::Loop(of) => of.body == block,
                NodeKind::Branch(of) => of.arms.contains(&block),
                NodeKind::Operator(_) => false,
            });
            let node = node.unwrap();
            depth += usize::from(matches!(node.kind, NodeKind::Loop(_)));
            block = node.block;
        }
        depth
    }

    fn read(&self, tensor: TensorId, rounds: &[u64]) -> u64 {
        match self.find(tensor, rounds) {
            Err(outside) => self.outside[&outside],
            Ok(region) => {
                let at = |offset| self.memory.get(&(region.memory.0, offset)).copied();
                let first = at(region.offset.0);
                let all =
                    (region.offset.0..region.offset.0 + region.size.0).all(|offset| at(offset) == first);
                assert!(
                    all,
                    "{} is whole in round {rounds:?}",
                    self.graph.tensor(tensor).name
                );
                first.unwrap_or_else(|| {
                    panic!("{} is there in round {rounds:?}", self.graph.tensor(tensor).name)
                })
            }
        }
    }

    fn write(&mut self, tensor: TensorId, rounds: &[u64], value: u64) {
        match self.find(tensor, rounds) {
            Err(outside) => {
                self.outside.insert(outside, value);
            }
            Ok(region) => {
                for offset in region.offset.0..region.offset.0 + region.size.0 {
                    self.memory.insert((region.memory.0, offset), value);
                }
            }
        }
    }

    /// Runs a block; `truth` holds the values as a machine with a cell for each tensor has them.
    fn block(&mut self, block: BlockId, rounds: &[u64], truth: &mut BTreeMap<TensorId, u64>) {
        for &node in &self.graph.block(block).nodes {
            self.node(node.index(), rounds, truth);
        }
    }

    fn check(&self, tensor: TensorId, rounds: &[u64], truth: &BTreeMap<TensorId, u64>) {
        let name = &self.graph.tensor(tensor).name;
        assert_eq!(
            self.read(tensor, rounds),
            truth[&tensor],
            "{name} in round {rounds:?}"
        );
    }

    fn copied(&self, node: usize, to: TensorId, time: CopyTime) -> bool {
        let copies = &self.plan.copies;
        copies
            .iter()
            .any(|copy| copy.node.index() == node && copy.to == to && copy.time == time)
    }

    fn node(&mut self, index: usize, rounds: &[u64], truth: &mut BTreeMap<TensorId, u64>) {
        let node = &self.graph.nodes()[index];
        for &input in &node.inputs {
            self.check(input, rounds, truth);
        }
        match &node.kind {
            NodeKind::Operator(_) => {
                let made = node
                    .inputs
                    .iter()
                    .fold(index as u64 + 1, |sum, input| sum.wrapping_mul(31) ^ truth[input]);
                for &output in &node.outputs {
                    truth.insert(output, made);
                    self.write(output, rounds, made);
                }
            }
            NodeKind::Branch(of) => {
                let arm = of.arms[self.next(of.arms.len() as u64) as usize];
                let body = self.graph.block(arm);
                for (&input, &parameter) in node.inputs.iter().zip(&body.inputs) {
                    truth.insert(parameter, truth[&input]);
                    self.check(parameter, rounds, truth);
                }
                self.block(arm, rounds, truth);
                for (&result, &output) in body.outputs.iter().zip(&node.outputs) {
                    self.check(result, rounds, truth);
                    truth.insert(output, truth[&result]);
                    let copied = self
                        .plan
                        .copies
                        .iter()
                        .any(|copy| copy.from == result && copy.to == output);
                    if copied {
                        self.write(output, rounds, truth[&result]);
                    }
                    self.check(output, rounds, truth);
                }
            }
            NodeKind::Loop(of) => self.repeat(index, of, rounds, truth),
        }
    }

    fn repeat(
        &mut self,
        index: usize,
        of: &tileheap::tensor::Loop,
        rounds: &[u64],
        truth: &mut BTreeMap<TensorId, u64>,
    ) {
        let node = &self.graph.nodes()[index];
        let body = self.graph.block(of.body);
        for (&input, &parameter) in node.inputs.iter().zip(&body.inputs) {
            truth.insert(parameter, truth[&input]);
        }
        for &parameter in &body.inputs {
            if self.copied(index, parameter, CopyTime::Enter) {
                let mut first = rounds.to_vec();
                first.push(0);
                self.write(parameter, &first, truth[&parameter]);
            }
        }
        let most = self.next(12);
        let way_out = self.next(of.exits.len() as u64) as usize;
        let mut round = 0;
        loop {
            let mut here = rounds.to_vec();
            here.push(round);
            for &parameter in &body.inputs {
                self.check(parameter, &here, truth);
            }
            for after in 0..=body.nodes.len() {
                for (number, exit) in of
                    .exits
                    .iter()
                    .enumerate()
                    .filter(|(_, exit)| exit.after as usize == after)
                {
                    self.check(exit.condition, &here, truth);
                    if round >= most && number == way_out {
                        for (&result, &output) in exit.results.iter().zip(&node.outputs) {
                            self.check(result, &here, truth);
                            truth.insert(output, truth[&result]);
                            self.left.insert(output, (number, round));
                        }
                        for &output in &node.outputs {
                            self.check(output, rounds, truth);
                        }
                        return;
                    }
                }
                if let Some(&node) = body.nodes.get(after) {
                    self.node(node.index(), &here, truth);
                }
            }
            let next: Vec<(TensorId, u64)> = of
                .carried
                .iter()
                .map(|carry| (carry.into, truth[&carry.value]))
                .collect();
            for carry in &of.carried {
                self.check(carry.value, &here, truth);
            }
            round += 1;
            here.pop();
            here.push(round);
            for (into, value) in next {
                if self.copied(index, into, CopyTime::Round) {
                    self.write(into, &here, value);
                }
                truth.insert(into, value);
            }
        }
    }
}

/// Runs a graph several times over, each time with other trip counts, arms and exits.
fn prove(graph: &Graph, plan: &TensorPlan, runs: u64) {
    for run in 0..runs {
        let mut machine = Machine {
            graph,
            plan,
            memory: BTreeMap::new(),
            outside: BTreeMap::new(),
            left: BTreeMap::new(),
            random: run * 77 + 5,
        };
        let mut truth = BTreeMap::new();
        for id in graph.tensor_ids() {
            if matches!(
                graph.tensor(id).source,
                Source::Constant | Source::Input(BlockId::ROOT)
            ) {
                let value = 1_000_000 + u64::from(id.0);
                truth.insert(id, value);
                machine.write(id, &[], value);
            }
        }
        machine.block(BlockId::ROOT, &[], &mut truth);
        for &output in graph.outputs() {
            machine.check(output, &[], &truth);
        }
    }
}

fn op(graph: &mut GraphBuilder, name: &str, inputs: &[TensorId], in_place: bool) -> TensorId {
    let made = vec![(name.to_owned(), ElementType::UInt8, Shape::new([4u64]))];
    let in_place = if in_place {
        vec![InPlace { output: 0, input: 0 }]
    } else {
        Vec::new()
    };
    graph.node(
        name,
        Operator {
            name: "f".to_owned(),
            ..Operator::default()
        },
        inputs,
        made,
        in_place,
    )[0]
}

/// `(while (c < 5) { y = conv(x, w) })(x <= y)`.
fn convolution() -> Graph {
    let mut graph = GraphBuilder::new("convolution");
    let x = graph.input("x", ElementType::UInt8, [4]);
    let w = graph.constant("w", ElementType::UInt8, [4]);
    let c = graph.input("c", ElementType::UInt8, [4]);
    let start = op(&mut graph, "start", &[x], false);
    let out = graph
        .repeat("loop", &[start, w, c], |body, inputs| {
            body.leave_unless(inputs[2], &[inputs[0]]);
            let y = op(body, "y", &inputs[..2], false);
            body.carry(y, inputs[0]);
            Ok(())
        })
        .unwrap()[0];
    let end = op(&mut graph, "end", &[out], false);
    graph.output(end);
    graph.build().unwrap()
}

#[test]
fn the_papers_loop_is_unrolled_twice_and_nothing_is_copied() {
    let graph = convolution();
    let plan = planned(&graph, &TensorPlanOptions::default()).unwrap();
    assert_eq!(
        plan.unrolled
            .iter()
            .map(|&(_, copies)| copies)
            .collect::<Vec<_>>(),
        [2]
    );
    assert!(plan.copies.is_empty());
    let y = graph.find("y").unwrap();
    let Some(Place::Rounds(views)) = &plan.tensor(y).place else {
        panic!(
            "y is somewhere else from round to round: {:?}",
            plan.tensor(y).place
        )
    };
    assert_eq!((views.first.len(), views.repeat.len()), (0, 2));
    assert_ne!(views.repeat[0], views.repeat[1]);
    prove(&graph, &plan, 40);
}

#[test]
fn the_baseline_copies_every_round() {
    let graph = convolution();
    let options = TensorPlanOptions {
        carry: CarryRule::Copy,
        ..TensorPlanOptions::default()
    };
    let plan = planned(&graph, &options).unwrap();
    assert_eq!(plan.copies.len(), 1);
    assert_eq!(
        (plan.copies[0].time, plan.copies[0].size),
        (CopyTime::Round, Bytes(4))
    );
    prove(&graph, &plan, 40);
}

/// `x[c] = f(x[c - k])`.
fn of_several_rounds_ago(k: usize) -> Graph {
    let mut graph = GraphBuilder::new("several rounds ago");
    let inputs: Vec<TensorId> = (0..k)
        .map(|lag| graph.input(format!("x{lag}"), ElementType::UInt8, [4]))
        .collect();
    let out = graph
        .repeat("loop", &inputs, |body, x| {
            body.leave_unless(x[0], &[x[0], x[k - 1]]);
            let y = op(body, "y", &x[..1], false);
            for lag in 1..k {
                body.carry(x[lag], x[lag - 1]);
            }
            body.carry(y, x[k - 1]);
            Ok(())
        })
        .unwrap();
    let end = op(&mut graph, "end", &out, false);
    graph.output(end);
    graph.build().unwrap()
}

#[test]
fn values_of_several_rounds_ago_are_not_copied() {
    for k in 2..=4 {
        let graph = of_several_rounds_ago(k);
        let plan = planned(&graph, &TensorPlanOptions::default()).unwrap();
        assert!(plan.copies.is_empty(), "{k}: {:?}", plan.copies);
        prove(&graph, &plan, 40);
    }
}

#[test]
fn past_the_limit_it_is_copied_or_an_error() {
    let graph = of_several_rounds_ago(4);
    let options = |carry| TensorPlanOptions {
        carry,
        unroll_limit: 2,
        ..TensorPlanOptions::default()
    };
    let plan = planned(&graph, &options(CarryRule::Avoid)).unwrap();
    assert!(!plan.copies.is_empty());
    prove(&graph, &plan, 40);
    let fault = planned(&graph, &options(CarryRule::Forbid))
        .unwrap_err()
        .to_string();
    assert!(
        fault.contains("`loop`") && fault.contains("`loop/") && fault.contains("2 times"),
        "{fault}"
    );
}

/// A random body: nodes over what is there, loops and branches among them, several exits.
fn random_body(
    graph: &mut GraphBuilder,
    there: &mut Vec<TensorId>,
    random: &mut Machine<'_>,
    depth: u32,
    count: &mut u32,
) {
    for _ in 0..1 + random.next(4) {
        *count += 1;
        let name = format!("n{count}");
        let pick =
            |random: &mut Machine<'_>, there: &[TensorId]| there[random.next(there.len() as u64) as usize];
        let kind = random.next(10);
        if kind < 2 && depth < 2 {
            let inputs: Vec<TensorId> = (0..1 + random.next(3)).map(|_| pick(random, there)).collect();
            let outputs = graph
                .repeat(&name, &inputs, |body, parameters| {
                    let mut inner = parameters.to_vec();
                    if random.next(4) > 0 {
                        body.leave_unless(inner[0], &[pick(random, &inner)]);
                    }
                    random_body(body, &mut inner, random, depth + 1, count);
                    for &parameter in parameters {
                        if random.next(3) > 0 {
                            body.carry(pick(random, &inner), parameter);
                        }
                    }
                    body.leave_unless(pick(random, &inner), &[pick(random, &inner)]);
                    Ok(())
                })
                .unwrap();
            there.extend(outputs);
        } else if kind < 3 && depth < 2 {
            let inputs: Vec<TensorId> = (0..1 + random.next(2)).map(|_| pick(random, there)).collect();
            let outputs = graph
                .branch(&name, &inputs, 2, |arm, _, parameters| {
                    let mut inner = parameters.to_vec();
                    random_body(arm, &mut inner, random, depth + 1, count);
                    Ok(vec![pick(random, &inner)])
                })
                .unwrap();
            there.extend(outputs);
        } else {
            let inputs: Vec<TensorId> = (0..1 + random.next(2)).map(|_| pick(random, there)).collect();
            let in_place = random.next(2) == 0;
            let made = op(graph, &name, &inputs, in_place);
            there.push(made);
        }
    }
}

#[test]
fn random_loops_are_right_in_every_round() {
    let empty = GraphBuilder::new("empty").build().unwrap();
    let nothing = planned(&empty, &TensorPlanOptions::default()).unwrap();
    let (mut copies, mut loops) = ([0, 0], 0);
    for seed in 0..400u64 {
        let mut random = Machine {
            graph: &empty,
            plan: &nothing,
            memory: BTreeMap::new(),
            outside: BTreeMap::new(),
            left: BTreeMap::new(),
            random: seed * 1_000_003 + 17,
        };
        let mut graph = GraphBuilder::new(format!("random {seed}"));
        let mut there = vec![
            graph.input("a", ElementType::UInt8, [4]),
            graph.input("b", ElementType::UInt8, [4]),
        ];
        let mut count = 0;
        random_body(&mut graph, &mut there, &mut random, 0, &mut count);
        let last = *there.last().unwrap();
        graph.output(last);
        graph.output(there[there.len() / 2]);
        let graph = graph.build().unwrap();
        for carry in [CarryRule::Avoid, CarryRule::Copy] {
            let options = TensorPlanOptions {
                carry,
                plan_inputs: seed % 3 > 0,
                in_place: seed % 2 > 0,
                ..TensorPlanOptions::default()
            };
            let plan = planned(&graph, &options).unwrap();
            let moved = plan
                .copies
                .iter()
                .filter(|copy| copy.time == CopyTime::Round)
                .count();
            copies[usize::from(carry == CarryRule::Copy)] += moved;
            loops += plan.unrolled.len();
            prove(&graph, &plan, 10);
        }
    }
    println!(
        "{loops} loops; values copied a round: {} where that is avoided, {} where not",
        copies[0], copies[1]
    );
    assert!(loops > 100 && copies[0] * 2 < copies[1]);
}

#[test]
fn arms_share_memory_and_their_results_are_not_copied() {
    let mut graph = GraphBuilder::new("branch");
    let x = graph.input("x", ElementType::UInt8, [4]);
    let y = graph
        .branch("if", &[x], 2, |arm, index, inputs| {
            let a = op(arm, &format!("a{index}"), inputs, false);
            let b = op(arm, &format!("b{index}"), &[a], false);
            Ok(vec![b])
        })
        .unwrap()[0];
    graph.output(y);
    let graph = graph.build().unwrap();
    let plan = planned(&graph, &TensorPlanOptions::default()).unwrap();
    assert!(plan.copies.is_empty());
    assert_eq!(plan.size(), Bytes(12), "x, and one arm's two");
    let place = |name: &str| plan.tensor(graph.find(name).unwrap()).place.clone();
    assert_eq!(place("b0"), place("b1"));
    assert_eq!(place("b0"), place("if"));
    prove(&graph, &plan, 10);
}
