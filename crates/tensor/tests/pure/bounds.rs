//! Lower bounds: no plan of any graph is smaller. Plans of small random graphs are compared with all executions: every number of rounds,
//! every exit, every arm.

use std::collections::BTreeMap;

use tileheap_tensor::graph::{BlockId, InPlace, Node, NodeKind, Operator};
use tileheap_tensor::units::SplitMix64;
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Shape, TensorId, TensorPlan, TensorPlanOptions};

/// The most rounds of a loop without a known number.
const MAX_ROUNDS: usize = 4;

fn op(graph: &mut GraphBuilder, name: &str, inputs: &[TensorId], size: u64, in_place: bool) -> TensorId {
    let made = vec![(name.to_owned(), ElementType::UInt8, Shape::new([size]))];
    let over = in_place.then_some(InPlace { output: 0, input: 0 });
    graph.node(
        name,
        Operator::named("f"),
        inputs,
        made,
        over.into_iter().collect(),
    )[0]
}

fn planned(graph: &Graph, options: &TensorPlanOptions<'_>) -> TensorPlan {
    crate::planned(graph, &crate::buffers(graph), options, 1).unwrap()
}

/// A value of an execution: its size, and the times of its write and its last read. Step `n` is the time `2 * n`; what follows it
/// before the next step is one later.
#[derive(Clone, Copy)]
struct Value {
    size: u64,
    first: usize,
    last: usize,
}

/// One execution of a graph, whose choices follow a script.
struct Execution<'a> {
    graph: &'a Graph,
    in_place: bool,
    /// The choices so far, each with the number of alternatives.
    script: Vec<(usize, usize)>,
    at: usize,
    step: usize,
    values: Vec<Value>,
    value_of: BTreeMap<TensorId, usize>,
    /// Outputs that may be written over inputs, with the step.
    over: Vec<(usize, usize, usize)>,
}

impl Execution<'_> {
    fn decide(&mut self, count: usize) -> usize {
        if self.at == self.script.len() {
            self.script.push((0, count));
        }
        self.at += 1;
        self.script[self.at - 1].0
    }

    fn write(&mut self, tensor: TensorId) {
        let size = self.graph.tensor(tensor).shape.fixed().unwrap().iter().product();
        // An input is live for the first step, even if nothing reads it.
        let now = 2 * self.step.max(1);
        self.value_of.insert(tensor, self.values.len());
        self.values.push(Value {
            size,
            first: now,
            last: now,
        });
    }

    fn read(&mut self, tensor: TensorId, later: usize) {
        let value = &mut self.values[self.value_of[&tensor]];
        value.last = value.last.max(2 * self.step + later);
    }

    fn pass(&mut self, from: &[TensorId], to: &[TensorId]) {
        let values: Vec<usize> = from.iter().map(|tensor| self.value_of[tensor]).collect();
        self.value_of.extend(to.iter().copied().zip(values));
    }

    fn block(&mut self, block: BlockId) {
        for &node in &self.graph.block(block).nodes {
            self.node(self.graph.node(node));
        }
    }

    fn node(&mut self, node: &Node) {
        self.step += 1;
        node.inputs.iter().for_each(|&input| self.read(input, 0));
        match &node.kind {
            NodeKind::Operator(_) => {
                node.outputs.iter().for_each(|&output| self.write(output));
                for pair in node.in_place.iter().filter(|_| self.in_place) {
                    let (output, input) = (
                        node.outputs[pair.output as usize],
                        node.inputs[pair.input as usize],
                    );
                    let [output, input] = [output, input].map(|tensor| self.value_of[&tensor]);
                    let mut others = node.inputs.iter().enumerate();
                    let is_other = |(index, other): (usize, &TensorId)| {
                        index != pair.input as usize && self.value_of[other] == input
                    };
                    if !others.any(is_other) {
                        self.over.push((output, input, self.step));
                    }
                }
            }
            NodeKind::Branch(of) => {
                let arm = of.arms[self.decide(of.arms.len())];
                let block = self.graph.block(arm);
                self.pass(&node.inputs, &block.inputs);
                self.block(arm);
                block.outputs.iter().for_each(|&result| self.read(result, 1));
                self.pass(&block.outputs, &node.outputs);
            }
            NodeKind::Loop(of) => {
                let block = self.graph.block(of.body);
                self.pass(&node.inputs, &block.inputs);
                let rounds = match of.rounds {
                    Some(rounds) => rounds as usize,
                    None => self.decide(MAX_ROUNDS + 1),
                };
                let way_out = self.decide(of.exits.len());
                for round in 0.. {
                    for after in 0..=block.nodes.len() {
                        for (number, exit) in of.exits.iter().enumerate() {
                            if exit.after as usize != after {
                                continue;
                            }
                            self.read(exit.condition, 1);
                            if (round, number) == (rounds, way_out) {
                                exit.results.iter().for_each(|&result| self.read(result, 1));
                                return self.pass(&exit.results, &node.outputs);
                            }
                        }
                        if let Some(&node) = block.nodes.get(after) {
                            self.node(self.graph.node(node));
                        }
                    }
                    let (values, into): (Vec<TensorId>, Vec<TensorId>) =
                        of.carried.iter().map(|carry| (carry.value, carry.into)).unzip();
                    self.pass(&values, &into);
                }
            }
        }
    }

    /// The most bytes that are live at one step.
    fn most_bytes(&self) -> u64 {
        let needed = |step: usize| {
            let live = |value: &&Value| value.first <= 2 * step && 2 * step <= value.last;
            let sum: u64 = self.values.iter().filter(live).map(|value| value.size).sum();
            let dies = |&(output, input, at): &(usize, usize, usize)| {
                let [output, input] = [output, input].map(|value| self.values[value]);
                at == step && input.last == 2 * step && output.size == input.size
            };
            let over = self.over.iter().find(|over| dies(over));
            sum - over.map_or(0, |over| self.values[over.0].size)
        };
        (0..=self.step).map(needed).max().unwrap()
    }
}

/// The bytes that every plan needs: the most that are live in any execution. `None` if there are too many executions.
fn needed_bytes(graph: &Graph, in_place: bool) -> Option<u64> {
    let (mut script, mut most) = (Vec::new(), 0);
    for _ in 0..2_000 {
        let mut run = Execution {
            graph,
            in_place,
            script,
            at: 0,
            step: 0,
            values: Vec::new(),
            value_of: BTreeMap::new(),
            over: Vec::new(),
        };
        graph.inputs().iter().for_each(|&input| run.write(input));
        run.block(BlockId::ROOT);
        graph.outputs().iter().for_each(|&output| run.read(output, 1));
        most = most.max(run.most_bytes());
        script = run.script;
        while script.last().is_some_and(|&(choice, count)| choice + 1 == count) {
            script.pop();
        }
        match script.last_mut() {
            Some((choice, _)) => *choice += 1,
            None => return Some(most),
        }
    }
    None
}

/// A block of operators, loops and branches over the available tensors. Bodies and arms may pass on what comes from outside.
fn block(
    graph: &mut GraphBuilder,
    there: &mut Vec<TensorId>,
    random: &mut SplitMix64,
    depth: u32,
    name: &str,
) {
    let pick = |random: &mut SplitMix64, there: &[TensorId]| there[random.below(there.len() as u64) as usize];
    for index in 0..1 + random.below(3) {
        let name = format!("{name}.{index}");
        let inputs: Vec<TensorId> = (0..1 + random.below(3)).map(|_| pick(random, there)).collect();
        let kind = random.below(8);
        let made = match kind {
            0..=2 if depth > 0 => {
                let made = graph.repeat(&name, &inputs, |body, parameters| {
                    let mut inner = parameters.to_vec();
                    let results: Vec<TensorId> = (0..1 + random.below(2))
                        .map(|_| pick(random, parameters))
                        .collect();
                    let (at_start, at_end) =
                        [(true, false), (false, true), (true, true)][random.below(3) as usize];
                    if at_start {
                        body.exit_unless(pick(random, parameters), &results);
                    }
                    block(body, &mut inner, random, depth - 1, &name);
                    if at_end {
                        let results: Vec<TensorId> = results
                            .iter()
                            .map(|&result| alike(body, &inner, result, random))
                            .collect();
                        body.exit_unless(pick(random, &inner), &results);
                    }
                    // A part of the body that runs only if the loop goes on.
                    if random.below(2) == 0 {
                        block(body, &mut inner, random, 0, &format!("{name}.more"));
                    }
                    for &into in parameters {
                        if random.below(4) > 0 {
                            body.carry(alike(body, &inner, into, random), into);
                        }
                    }
                    if at_start != at_end && random.below(2) == 0 {
                        body.rounds(random.below(6));
                    }
                    Ok(())
                });
                made.unwrap()
            }
            3 if depth > 0 => {
                let mut first: Vec<TensorId> = Vec::new();
                let made = graph.branch(&name, &inputs, 2, |arm, index, parameters| {
                    let mut inner = parameters.to_vec();
                    if random.below(3) > 0 {
                        block(arm, &mut inner, random, depth - 1, &format!("{name}.{index}"));
                    }
                    if index == 0 {
                        first = (0..1 + random.below(2)).map(|_| pick(random, &inner)).collect();
                        return Ok(first.clone());
                    }
                    let results = first.iter().map(|&result| {
                        let size = arm.tensor(result).shape.fixed();
                        match inner
                            .iter()
                            .find(|&&other| arm.tensor(other).shape.fixed() == size)
                        {
                            Some(&any) => Ok(alike(arm, &inner, any, random)),
                            None => Ok(op(
                                arm,
                                &format!("{name}.{index}.{}", result.0),
                                &inner[..1],
                                8,
                                false,
                            )),
                        }
                    });
                    results.collect()
                });
                match made {
                    Ok(made) => made,
                    Err(error) => panic!("{error}"),
                }
            }
            _ => vec![op(graph, &name, &inputs, 4 + 4 * random.below(2), kind % 2 == 0)],
        };
        there.extend(made);
    }
}

/// A tensor of the same size.
fn alike(graph: &GraphBuilder, there: &[TensorId], of: TensorId, random: &mut SplitMix64) -> TensorId {
    let size = |tensor: TensorId| graph.tensor(tensor).shape.fixed();
    let same: Vec<TensorId> = there
        .iter()
        .copied()
        .filter(|&other| size(other) == size(of))
        .collect();
    same[random.below(same.len() as u64) as usize]
}

fn random_graph(seed: u64) -> Option<Graph> {
    let mut random = SplitMix64::new(seed);
    let mut graph = GraphBuilder::new(format!("random {seed}"));
    let mut there: Vec<TensorId> = [("a", 4u64), ("b", 8)]
        .map(|(name, size)| graph.input(name, ElementType::UInt8, [size]))
        .to_vec();
    block(&mut graph, &mut there, &mut random, 2, "n");
    let end = op(&mut graph, "end", &there.clone()[there.len() - 1..], 4, false);
    graph.output(end);
    // Arms whose results have no tensor of the same size are not graphs.
    let graph = graph.build().ok()?;
    (graph.blocks().len() > 1 && graph.nodes().len() < 25).then_some(graph)
}

#[test]
fn no_execution_needs_less_than_the_bound() {
    let (mut compared, mut exact, mut reached) = (0, 0, 0);
    for seed in 0..8_000 {
        let Some(graph) = random_graph(seed) else { continue };
        let in_place = seed % 2 == 0;
        let Some(needed) = needed_bytes(&graph, in_place) else {
            continue;
        };
        let options = TensorPlanOptions {
            in_place,
            ..TensorPlanOptions::default()
        };
        let plan = planned(&graph, &options);
        let (size, bound) = (plan.size().0, plan.lower_bound().0);
        assert!(
            bound <= needed,
            "{seed}: the bound is {bound} B, but executions need {needed} B"
        );
        assert!(
            needed <= size,
            "{seed}: executions need {needed} B, the plan has {size} B"
        );
        compared += 1;
        exact += usize::from(bound == needed);
        reached += usize::from(size == needed);
    }
    println!("{compared} graphs, {exact} exact bounds, {reached} plans reach them");
    assert!(
        compared > 1_000 && exact * 100 > compared * 95,
        "{compared} {exact} {reached}"
    );
}

/// Loops in sequence, each of as many operators as `ops`: the result of one begins the next.
fn in_sequence(loops: usize, ops: usize, in_place: bool) -> Graph {
    let mut graph = GraphBuilder::new("sequence");
    let mut last = graph.input("x", ElementType::UInt8, [64]);
    for number in 0..loops {
        let made = graph.repeat(&format!("loop{number}"), &[last], |body, p| {
            body.exit_unless(p[0], &[p[0]]);
            let mut value = p[0];
            for step in 0..ops {
                value = op(body, &format!("y{number}.{step}"), &[value], 64, in_place);
            }
            body.carry(value, p[0]);
            Ok(())
        });
        last = made.unwrap()[0];
    }
    graph.output(last);
    graph.build().unwrap()
}

#[test]
fn loops_in_sequence_use_the_same_bytes() {
    for loops in [1, 2, 20] {
        for (ops, in_place, values) in [
            (2, false, 2),
            (1, true, 1),
            (2, true, 1),
            (3, true, 1),
            (4, false, 2),
        ] {
            let plan = planned(&in_sequence(loops, ops, in_place), &TensorPlanOptions::default());
            let bytes = (plan.size().0, plan.lower_bound().0, plan.copies.len());
            assert_eq!(
                bytes,
                (64 * values, 64 * values, 0),
                "{loops} loops of {ops} operators"
            );
        }
    }
    // A loop that turns leaves its result in one of two places: copied before the next loop, it takes no place more with every loop.
    let plan = planned(&in_sequence(20, 1, false), &TensorPlanOptions::default());
    assert_eq!((plan.size().0, plan.copies.len()), (3 * 64, 19));
}

#[test]
fn an_output_over_an_operand_never_costs_bytes() {
    let mut less = 0;
    for seed in 0..1_000 {
        let mut random = SplitMix64::new(seed);
        let mut graph = GraphBuilder::new(format!("random {seed}"));
        let mut there = vec![graph.input("x", ElementType::UInt8, [4])];
        for index in 0..10 {
            let mut pick = || there[there.len() - 1 - random.below(there.len().min(4) as u64) as usize];
            let inputs = [pick(), pick()];
            let size = 4 * (1 + random.below(3));
            there.push(op(
                &mut graph,
                &format!("y{index}"),
                &inputs,
                size,
                random.below(3) > 0,
            ));
        }
        graph.output(there[there.len() - 1]);
        let graph = graph.build().unwrap();
        let [over, apart] = [true, false].map(|in_place| {
            let options = TensorPlanOptions {
                in_place,
                ..TensorPlanOptions::default()
            };
            planned(&graph, &options).size()
        });
        assert!(
            over <= apart,
            "{seed}: {over} with outputs over operands, {apart} without"
        );
        less += usize::from(over < apart);
    }
    assert!(less > 100, "{less}");
}
