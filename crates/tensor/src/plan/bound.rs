//! A lower bound for every plan of a graph, regardless of which values share bytes, are copied or unrolled.
//!
//! The bound of the placed items holds only for these items: it counts copies and values kept apart as if they were required. Here the
//! graph is executed a few times, each time with other round counts, exits and arms. In an execution everything is known: which values
//! are identical, and when each is read last. A plan serves every execution, so it has the bytes that are live at any step of any of them.
//!
//! ```text
//! loop of 2 rounds     H is not a value: in round 0 it is x, in round 1 it is y of round 0
//!   step    f  y  y  g
//!   x       ├──┤
//!   y of 0     ├──┤
//!   y of 1        ├──┤
//! ```

use std::collections::BTreeSet;

use super::expansion::Rules;
use crate::graph::control_flow::Loop;
use crate::graph::{BlockId, Node, NodeId, NodeKind, TensorId, TensorSource};
use crate::units::SplitMix64;

/// Maximum number of sampled executions.
const MAX_EXECUTIONS: u32 = 24;
/// Maximum number of steps of all executions; an execution that is cut off still gives a bound.
const MAX_STEPS: u64 = 1 << 17;

/// For each memory, a lower bound on its size: the most bytes needed at one step of the sampled executions by tensors that can be in no other
/// memory; `memories_of` has the possible memories of each tensor.
pub(super) fn graph_bounds(rules: &Rules<'_>, memories_of: &[BTreeSet<u32>], memories: usize) -> Vec<u64> {
    let mut bounds = vec![0; memories];
    let mut steps = 0;
    for number in 0..MAX_EXECUTIONS {
        let mut run = Execution::new(rules, number, MAX_STEPS - steps);
        run.all();
        for (memory, bound) in (0..).zip(&mut bounds) {
            let only = BTreeSet::from([memory]);
            let is_elsewhere = |tensor: TensorId| {
                let of = &memories_of[tensor.index()];
                !of.is_empty() && *of != only
            };
            *bound = run.most_bytes(is_elsewhere).max(*bound);
        }
        steps += u64::from(run.step);
        if !run.has_chosen || steps >= MAX_STEPS {
            break;
        }
    }
    bounds
}

/// A tensor value in an execution, and the time during which it is live.
struct LiveValue {
    /// The tensors that had this value, beginning with the one that was written.
    tensors: Vec<TensorId>,
    /// The time at which the value is written.
    first: u64,
    /// The time of the last read.
    last: u64,
    /// True if the plan does not place the value: the caller supplies its memory, or it is a constant.
    is_external: bool,
}

/// One execution of a graph. A step reads and writes at the even time `2 * step`; exits and ends of bodies read at the odd times between.
struct Execution<'a> {
    rules: &'a Rules<'a>,
    number: u32,
    random: SplitMix64,
    /// True if this execution chose a number of rounds, an exit or an arm, so that another execution may differ.
    has_chosen: bool,
    step: u32,
    max_steps: u64,
    values: Vec<LiveValue>,
    /// For each tensor, its current value.
    bound: Vec<Option<usize>>,
    /// Values that may be written over others: output, input, and the time of the write.
    in_place: Vec<(usize, usize, u64)>,
}

impl<'a> Execution<'a> {
    fn new(rules: &'a Rules<'a>, number: u32, max_steps: u64) -> Execution<'a> {
        Execution {
            rules,
            number,
            random: SplitMix64::new(u64::from(number)),
            has_chosen: false,
            step: 0,
            max_steps,
            values: Vec::new(),
            bound: vec![None; rules.graph.tensors().len()],
            in_place: Vec::new(),
        }
    }

    fn all(&mut self) {
        let (graph, rules) = (self.rules.graph, self.rules);
        for &input in graph.inputs() {
            let value = self.define(input);
            // Live for the first step, even if nothing reads it.
            (self.values[value].first, self.values[value].last) = (2, 2);
            self.values[value].is_external = !rules.plan_inputs || rules.external.contains(&input);
        }
        self.block(BlockId::ROOT);
        if self.is_over() {
            return; // The outputs are not known.
        }
        for &output in graph.outputs() {
            let value = self.read_later(output);
            self.values[value].is_external |= !rules.plan_outputs || rules.external.contains(&output);
        }
        for &input in graph.inputs().iter().filter(|&&input| graph.tensor(input).kept) {
            self.read_later(input);
        }
    }

    fn is_over(&self) -> bool {
        u64::from(self.step) >= self.max_steps
    }

    fn time(&self) -> u64 {
        2 * u64::from(self.step)
    }

    fn define(&mut self, tensor: TensorId) -> usize {
        let is_constant = self.rules.graph.tensor(tensor).source == TensorSource::Constant;
        self.values.push(LiveValue {
            tensors: vec![tensor],
            first: self.time(),
            last: self.time(),
            is_external: is_constant,
        });
        self.bound[tensor.index()] = Some(self.values.len() - 1);
        self.values.len() - 1
    }

    /// Binds a tensor to an existing value.
    fn bind(&mut self, tensor: TensorId, value: usize) {
        self.bound[tensor.index()] = Some(value);
        let tensors = &mut self.values[value].tensors;
        if !tensors.contains(&tensor) {
            tensors.push(tensor);
        }
    }

    /// The value of a tensor; a view has that of its base.
    fn resolve(&mut self, tensor: TensorId) -> usize {
        if let Some(value) = self.bound[tensor.index()] {
            return value;
        }
        let view = self.rules.graph.tensor(tensor).view;
        match view.filter(|view| self.rules.shares_bytes(tensor, view.base)) {
            Some(view) => {
                let value = self.resolve(view.base);
                self.bound[tensor.index()] = Some(value);
                value
            }
            None => self.define(tensor),
        }
    }

    fn read_at(&mut self, tensor: TensorId, time: u64) -> usize {
        let value = self.resolve(tensor);
        self.values[value].last = self.values[value].last.max(time);
        value
    }

    /// Reads a tensor after the current step, which therefore must not overwrite it.
    fn read_later(&mut self, tensor: TensorId) -> usize {
        self.read_at(tensor, self.time() + 1)
    }

    fn block(&mut self, block: BlockId) {
        for &id in &self.rules.graph.block(block).nodes {
            if self.is_over() {
                return;
            }
            self.node(id);
        }
    }

    fn node(&mut self, id: NodeId) {
        let node = self.rules.graph.node(id);
        self.step += 1;
        for &input in &node.inputs {
            self.read_at(input, self.time());
        }
        match &node.kind {
            NodeKind::Operator(_) => self.operator(node),
            NodeKind::Loop(of) => self.repeat(node, of),
            NodeKind::Branch(of) => {
                let arm = of.arms[self.choose(of.arms.len())];
                self.enter(node, arm);
                self.block(arm);
                if !self.is_over() {
                    self.leave(node, &self.rules.graph.block(arm).outputs);
                }
            }
        }
    }

    fn operator(&mut self, node: &Node) {
        for &output in &node.outputs {
            let view = self.rules.graph.tensor(output).view;
            let of_operand = view.filter(|view| node.inputs.contains(&view.base));
            if of_operand.is_some_and(|view| self.rules.shares_bytes(output, view.base)) {
                let value = self.read_at(output, self.time());
                self.bind(output, value);
            } else if view.is_some() || self.bound[output.index()].is_some() {
                self.read_at(output, self.time()); // Written, as a part of another tensor or after its parts.
            } else {
                self.define(output);
            }
        }
        if !self.rules.in_place {
            return;
        }
        for pair in &node.in_place {
            let (output, input) = (
                node.outputs[pair.output as usize],
                node.inputs[pair.input as usize],
            );
            let (output, value) = (self.resolve(output), self.resolve(input));
            if node.may_overwrite(pair, |other| self.resolve(other) == value) && output != value {
                self.in_place.push((output, value, self.time()));
            }
        }
    }

    /// Binds the parameters of a body to the values of the node's inputs.
    fn enter(&mut self, node: &Node, body: BlockId) {
        for (&input, &parameter) in node.inputs.iter().zip(&self.rules.graph.block(body).inputs) {
            let value = self.resolve(input);
            self.bind(parameter, value);
        }
        self.forget(body);
    }

    fn forget(&mut self, body: BlockId) {
        for &node in &self.rules.graph.block(body).nodes {
            for output in &self.rules.graph.node(node).outputs {
                self.bound[output.index()] = None;
            }
        }
    }

    /// Binds the outputs of a loop or branch to the values of its results.
    fn leave(&mut self, node: &Node, results: &[TensorId]) {
        let values: Vec<usize> = results.iter().map(|&result| self.read_later(result)).collect();
        for (&output, value) in node.outputs.iter().zip(values) {
            self.bind(output, value);
        }
    }

    fn repeat(&mut self, node: &Node, of: &Loop) {
        self.enter(node, of.body);
        let body = self.rules.graph.block(of.body);
        let (rounds, way_out) = (self.rounds(of), self.choose(of.exits.len()));
        for round in 0.. {
            for after in 0..=body.nodes.len() {
                for (number, exit) in of.exits.iter().enumerate() {
                    if exit.after as usize != after {
                        continue;
                    }
                    self.read_later(exit.condition);
                    if round >= rounds && number == way_out {
                        return self.leave(node, &exit.results);
                    }
                }
                if let Some(&node) = body.nodes.get(after) {
                    self.node(node);
                }
                if self.is_over() {
                    return;
                }
            }
            let next: Vec<usize> = of.carried.iter().map(|carry| self.resolve(carry.value)).collect();
            for (carry, value) in of.carried.iter().zip(next) {
                self.bind(carry.into, value);
            }
            self.forget(of.body);
        }
    }

    /// Chooses one of several arms or exits.
    fn choose(&mut self, count: usize) -> usize {
        if count == 1 {
            return 0;
        }
        self.has_chosen = true;
        match self.number as usize {
            number if number < count.min(8) => number,
            _ => self.random.below(count as u64) as usize,
        }
    }

    /// Chooses the number of rounds of a loop. If it is not known, different executions choose different numbers: at most one more than it takes
    /// until no value from before the loop is left.
    fn rounds(&mut self, of: &Loop) -> u64 {
        let (settled, period) = settling_rounds(of);
        match of.rounds {
            // The same values are in the same parameters after fewer rounds.
            Some(rounds) => match rounds.checked_sub(settled) {
                Some(more) => settled + more % period,
                None => rounds,
            },
            None => {
                self.has_chosen = true;
                match self.number {
                    0 => settled,
                    1 => settled + 1,
                    2 => 1,
                    3 => 0,
                    _ => self.random.below(settled + 2),
                }
            }
        }
    }

    /// The most bytes at one step, excluding external values and those that may be in another memory.
    fn most_bytes(&self, is_elsewhere: impl Fn(TensorId) -> bool) -> u64 {
        let size = |value: &LiveValue| i128::from(self.rules.requirements[value.tensors[0].index()].size.0);
        let counts = |value: &LiveValue| {
            !value.is_external && !value.tensors.iter().any(|&tensor| is_elsewhere(tensor))
        };
        let mut changes = vec![0i128; self.step as usize + 3];
        for value in self.values.iter().filter(|value| counts(value)) {
            changes[value.first as usize / 2] += size(value);
            changes[value.last as usize / 2 + 1] -= size(value);
        }
        let mut spared = vec![0i128; changes.len()];
        let mut written = BTreeSet::new();
        for &(output, input, time) in &self.in_place {
            let (to, from) = (&self.values[output], &self.values[input]);
            let dies = from.last == time && to.first == time && size(to) == size(from);
            if dies && counts(to) && counts(from) && written.insert(output) {
                spared[time as usize / 2] += size(to);
            }
        }
        let mut live = 0;
        let needed = changes.iter().zip(spared).map(|(change, spared)| {
            live += change;
            live - spared
        });
        u64::try_from(needed.max().unwrap_or(0)).unwrap_or(0)
    }
}

/// The number of rounds after which every parameter that receives new values holds one from inside the loop, and the number of rounds after
/// which parameters that only swap their values hold the original ones again (`u64::MAX` if that number is above `MAX_PERIOD`).
fn settling_rounds(of: &Loop) -> (u64, u64) {
    /// Maximum number of rounds after which swapped parameters may repeat; for longer periods, all rounds are executed, or as many as the step limit
    /// allows.
    const MAX_PERIOD: u64 = 1 << 10;
    let before = |parameter: TensorId| {
        let carry = of.carried.iter().find(|carry| carry.into == parameter);
        carry.map(|carry| carry.value)
    };
    let (mut longest, mut period) = (0, 1u64);
    for carry in &of.carried {
        let mut at = carry.value;
        let mut length = 1;
        // A value that is not a carried parameter is new, or the same in every round.
        while let Some(next) = before(at).filter(|_| at != carry.into && length <= of.carried.len()) {
            (at, length) = (next, length + 1);
        }
        if at == carry.into {
            period = Some(lcm(period, length as u64))
                .filter(|&period| period <= MAX_PERIOD)
                .unwrap_or(u64::MAX);
        } else if length <= of.carried.len() {
            longest = longest.max(length);
        }
    }
    (longest as u64 + 1, period)
}

/// The least common multiple, or `u64::MAX` past 64 bits.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}
