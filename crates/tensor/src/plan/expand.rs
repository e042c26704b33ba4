//! Expansion: bodies replace their nodes, loops are unrolled, and each tensor is bound to a value at each step.
//!
//! ```text
//! loop, unrolled twice         while (c < 5) { y = conv(x, w) } (x <= y)
//!   step   1      2     3      H  the value of x when a round begins
//!          enter  conv  conv
//!   H             ├──┤         read by the first copy
//!   y, copy 0     ├─────┤      read by the second
//!   y, copy 1           ├──┤   becomes H in the next round: in the same bytes, since their lifetimes are disjoint
//! ```

use std::collections::BTreeSet;

use super::alternatives::remove_unneeded_arms;
use super::expansion::{
    BackEdge, Binding, BranchSteps, Continued, Expansion, InPlaceCandidate, LoopExit, LoopOutput, Merge,
    NextValue, Rules, Value, ValueId, ValueKind, executions,
};
use super::types::{CopyTime, TimelineStep};
use crate::graph::control_flow::{Branch, Loop, LoopCarry};
use crate::graph::{BlockId, Node, NodeId, NodeKind, TensorId, TensorSource};
use crate::units::Span;

pub(super) struct Expander<'a> {
    rules: &'a Rules<'a>,
    out: Expansion,
    /// For each tensor, its current binding.
    bound: Vec<Option<Binding>>,
    /// The current unrolled copy of each enclosing loop.
    path: Vec<u32>,
    /// The number of times that the current step runs: see [`executions`].
    runs: u64,
    /// Ends of uses: steps up to which a value is needed.
    uses: Vec<(ValueId, u32)>,
}

impl<'a> Expander<'a> {
    fn new(rules: &'a Rules<'a>) -> Expander<'a> {
        let count = rules.graph.tensors().len();
        Expander {
            rules,
            out: Expansion {
                instances: vec![Vec::new(); count],
                ..Expansion::default()
            },
            bound: vec![None; count],
            path: Vec::new(),
            runs: 1,
            uses: Vec::new(),
        }
    }

    /// Expands the whole graph.
    pub(super) fn run(rules: &'a Rules<'a>) -> Expansion {
        let mut this = Expander::new(rules);
        let graph = rules.graph;
        for &input in graph.inputs() {
            let kind = match rules.plan_inputs && !rules.external.contains(&input) {
                true => ValueKind::Planned,
                false => ValueKind::External,
            };
            this.define(input, kind);
        }
        this.block(BlockId::ROOT);
        let end = this.now();
        for &output in graph.outputs() {
            let bind = this.resolve(output);
            this.extend_binding(bind, 0, end.max(1));
            this.hold(bind, end.max(1));
            if !rules.plan_outputs || rules.external.contains(&output) {
                this.make_external(output, bind);
            }
        }
        for input in graph.inputs() {
            // An input that is never read is live for one step.
            if let Some(Binding::Value(value, 0)) = this.bound[input.index()] {
                this.extend(value, 0, 1);
                if graph.tensor(*input).kept {
                    this.hold(Binding::Value(value, 0), end.max(1));
                }
            }
        }
        this.finish()
    }

    /// Expands a single loop, as if its inputs were defined before it and its outputs read after it.
    pub(super) fn run_loop(rules: &'a Rules<'a>, id: NodeId) -> Expansion {
        let mut this = Expander::new(rules);
        let node = rules.graph.node(id);
        for &input in &node.inputs {
            if this.bound[input.index()].is_none() {
                this.define(input, ValueKind::Planned);
            }
        }
        this.node(id);
        let end = this.now() + 1;
        for &output in &node.outputs {
            let bind = this.resolve(output);
            this.extend_binding(bind, end - 1, end);
        }
        this.finish()
    }

    /// Returns the expansion, with values live only in those arms of a branch that need them.
    fn finish(mut self) -> Expansion {
        self.out.branches.sort_unstable_by_key(|branch| branch.enter);
        remove_unneeded_arms(&mut self.out, self.uses);
        self.out
    }

    fn now(&self) -> u32 {
        self.out.timeline.len() as u32
    }

    /// Makes the value of an output external if it is a whole planned value; otherwise adds a copy to the caller's buffer.
    fn make_external(&mut self, output: TensorId, bind: Binding) {
        let own = match bind {
            Binding::Value(value, 0) => {
                let of = &self.out.values[value];
                let whole = self.size(of.tensor) == self.size(output);
                let mine = of.kind == ValueKind::Planned || of.tensor == output;
                (whole && mine && self.rules.graph.tensor(of.tensor).view.is_none()).then_some(value)
            }
            _ => None,
        };
        match own {
            Some(value) => {
                self.out.values[value].kind = ValueKind::External;
                self.out.values[value].tensor = output;
            }
            None => {
                let last = NodeId(self.out.timeline.last().map_or(0, |add_step| add_step.node.0));
                self.out.copies.push((last, output, output, CopyTime::Leave));
                self.out.count_reads(bind, self.runs);
            }
        }
    }

    fn size(&self, tensor: TensorId) -> u64 {
        self.rules.requirements[tensor.index()].size.0
    }

    fn add_step(&mut self, node: NodeId) -> u32 {
        self.out.timeline.push(TimelineStep {
            node,
            copies: self.path.clone(),
        });
        self.out.step_runs.push(self.runs);
        self.now() - 1
    }

    fn new_value(&mut self, tensor: TensorId, kind: ValueKind) -> ValueId {
        self.out.values.push(Value {
            tensor,
            kind,
            spans: Vec::new(),
            accesses: 0,
        });
        self.out.values.len() - 1
    }

    fn define(&mut self, tensor: TensorId, kind: ValueKind) -> Binding {
        let bind = Binding::Value(self.new_value(tensor, kind), 0);
        self.bind(tensor, bind);
        bind
    }

    fn bind(&mut self, tensor: TensorId, bind: Binding) {
        self.bound[tensor.index()] = Some(bind);
        self.out.instances[tensor.index()].push((self.path.clone(), bind));
    }

    /// The binding of a tensor; constants and bases of views are bound on first use.
    fn resolve(&mut self, tensor: TensorId) -> Binding {
        if let Some(bind) = self.bound[tensor.index()] {
            return bind;
        }
        let of = self.rules.graph.tensor(tensor);
        if let Some(view) = of.view.filter(|view| self.rules.shares_bytes(tensor, view.base)) {
            let bind = self.resolve(view.base).part(view.offset.0);
            self.bind(tensor, bind);
            return bind;
        }
        let kind = match of.source {
            TensorSource::Constant => ValueKind::External,
            _ => ValueKind::Planned,
        };
        self.define(tensor, kind)
    }

    /// Extends a value's last span to `[from, end)`, or begins its first span.
    fn extend(&mut self, value: ValueId, from: u32, end: u32) {
        self.uses.push((value, end));
        let spans = &mut self.out.values[value].spans;
        match spans.last_mut() {
            Some(last) => {
                self.out.loop_exits.remove(&(value, last.first.0));
                *last = Span::new(last.first.0.min(from), last.end.0.max(end));
            }
            None => spans.push(Span::new(from, end)),
        }
    }

    /// Extends the lifetime of a binding to `end`; that of a loop's results starts at the end of the loop.
    fn extend_binding(&mut self, bind: Binding, from: u32, end: u32) {
        match bind {
            Binding::Value(value, _) => {
                let spans = &self.out.values[value].spans;
                let from = spans.last().map_or(from, |span| span.first.0);
                self.extend(value, from, end);
            }
            Binding::LoopOutput(left, _) => {
                let after = self.out.loop_outputs[left].end;
                self.extend_results(left, &LoopExit::new(), after, end);
            }
        }
    }

    /// Extends the lifetimes of a loop's results from `after` to `end`; `around` are the exits by which the loops around it are left.
    fn extend_results(&mut self, left: usize, around: &LoopExit, after: u32, end: u32) {
        let LoopOutput { exits, run, .. } = self.out.loop_outputs[left].clone();
        let (first, _) = self.out.rounds[run];
        for (exit, copies) in exits.into_iter().enumerate() {
            for (copy, bind) in copies.into_iter().enumerate() {
                let mut way = around.clone();
                way.push((run, exit, copy));
                match bind {
                    Binding::Value(value, _) => self.extend_after_loop(value, after, end, way),
                    // Not needed in the rest of the body, since the loop is left.
                    Binding::LoopOutput(inner, _) if self.out.loop_outputs[inner].end > first => {
                        self.extend_results(inner, &way, after, end);
                    }
                    Binding::LoopOutput(..) => self.extend_binding(bind, after, end),
                }
            }
        }
    }

    /// Extends the lifetime of a binding to `end`, and forbids the step that ends there to overwrite it in place.
    fn hold(&mut self, bind: Binding, end: u32) {
        self.extend_binding(bind, end, end);
        // A value that leaves a loop at this step was already held at the exit: no step comes between.
        if matches!(bind, Binding::LoopOutput(left, _) if self.out.loop_outputs[left].end == end) {
            return;
        }
        let values = self.out.values_of(bind);
        self.out.held.extend(values.into_iter().map(|value| (value, end)));
    }

    /// Adds a span after a loop for the result of one of its exits.
    fn extend_after_loop(&mut self, value: ValueId, from: u32, end: u32, way: LoopExit) {
        self.uses.push((value, end));
        let spans = &mut self.out.values[value].spans;
        let covers = |span: &Span| span.first.0 < from && span.end.0 >= end;
        let covered = spans.last().is_some_and(covers);
        match spans.iter_mut().find(|span| span.first.0 == from) {
            Some(span) => {
                span.end.0 = span.end.0.max(end);
                // Without an entry, the value is live after every exit.
                if let Some(ways) = self.out.loop_exits.get_mut(&(value, from)) {
                    ways.insert(way);
                }
            }
            None if covered => {}
            None => {
                spans.push(Span::new(from, end));
                self.out.loop_exits.insert((value, from), BTreeSet::from([way]));
            }
        }
    }

    fn read(&mut self, tensor: TensorId, step: u32) {
        let bind = self.resolve(tensor);
        self.extend_binding(bind, step, step + 1);
        self.out.count_reads(bind, self.runs);
    }

    fn write(&mut self, tensor: TensorId, step: u32) {
        let bind = self.resolve(tensor);
        if let Binding::Value(value, _) = bind {
            self.extend(value, step, step + 1);
            self.out.count_accesses(value, self.runs);
            self.out.writes.push((step, value));
        }
    }

    fn block(&mut self, block: BlockId) {
        for &node in &self.rules.graph.block(block).nodes {
            self.node(node);
        }
    }

    fn node(&mut self, id: NodeId) {
        let node = self.rules.graph.node(id);
        match &node.kind {
            NodeKind::Operator(_) => self.operator(id, node),
            NodeKind::Loop(of) => self.repeat(id, node, of),
            NodeKind::Branch(of) => self.branch(id, node, of),
        }
    }

    fn operator(&mut self, id: NodeId, node: &Node) {
        let step = self.add_step(id);
        for &input in &node.inputs {
            self.read(input, step);
        }
        for &output in &node.outputs {
            let view = self.rules.graph.tensor(output).view;
            let of_operand = view.filter(|view| node.inputs.contains(&view.base));
            if of_operand.is_some_and(|view| self.rules.shares_bytes(output, view.base)) {
                self.resolve(output);
                self.read(output, step);
            } else {
                self.write(output, step);
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
            let (bind, own) = (self.resolve(input), self.resolve(output));
            // A loop's result is one of several values; each may be overwritten where it is in the output's bytes.
            let (Binding::Value(output, 0), Some(inputs)) = (own, self.out.whole_values(bind)) else {
                continue;
            };
            let allowed = node.may_overwrite(pair, |other| {
                let other = self.resolve(other);
                let others = self.out.values_of(other);
                others.iter().any(|value| inputs.contains(value))
            });
            if allowed {
                let inputs: BTreeSet<ValueId> = inputs.into_iter().collect();
                let candidates = inputs.into_iter();
                let candidates = candidates.map(|input| InPlaceCandidate { output, input, step });
                self.out.in_place_candidates.extend(candidates);
            }
        }
    }

    fn forget(&mut self, block: BlockId) {
        for &node in &self.rules.graph.block(block).nodes {
            for output in &self.rules.graph.node(node).outputs {
                self.bound[output.index()] = None;
            }
        }
    }

    fn branch(&mut self, id: NodeId, node: &Node, of: &Branch) {
        let step = self.add_step(id);
        for &input in &node.inputs {
            self.read(input, step);
        }
        let inputs: Vec<Binding> = node.inputs.iter().map(|&input| self.resolve(input)).collect();
        let outside = [self.out.values.len(), self.out.loop_outputs.len()];
        // For each output, its result in each arm with the last step of the arm.
        let mut results: Vec<Vec<(TensorId, Binding, u32)>> = vec![Vec::new(); node.outputs.len()];
        let mut arms = Vec::with_capacity(of.arms.len());
        for &arm in &of.arms {
            let first = self.now();
            let block = self.rules.graph.block(arm);
            for (&parameter, &bind) in block.inputs.iter().zip(&inputs) {
                self.bind(parameter, bind);
            }
            self.forget(arm);
            self.block(arm);
            let end = self.add_step(id);
            for (&result, of_output) in block.outputs.iter().zip(&mut results) {
                let bind = self.resolve(result);
                self.extend_binding(bind, end, end + 1);
                of_output.push((result, bind, end));
            }
            arms.push((first, end + 1));
        }
        let end = self.add_step(id);
        self.out.branches.push(BranchSteps {
            enter: step,
            arms,
            join: end,
        });
        for (&tensor, results) in node.outputs.iter().zip(results) {
            let first = results[0].1;
            if self.is_outside(first, outside) && results.iter().all(|&(_, bind, _)| bind == first) {
                // Every arm passes on the same value.
                self.extend_binding(first, end, end + 1);
                self.bind(tensor, first);
                continue;
            }
            let output = self.new_value(tensor, ValueKind::Planned);
            self.out.values[output].spans.push(Span::new(end, end + 1));
            self.bind(tensor, Binding::Value(output, 0));
            self.out
                .merges
                .extend(results.into_iter().map(|(from, result, step)| Merge {
                    node: id,
                    result,
                    from,
                    output,
                    step,
                }));
        }
    }

    /// Returns true if a binding is external, or is among the first `values` values or the first `loop_outputs` loop outputs.
    fn is_outside(&self, bind: Binding, [values, loop_outputs]: [usize; 2]) -> bool {
        match bind {
            Binding::Value(value, _) => value < values || self.out.values[value].kind == ValueKind::External,
            Binding::LoopOutput(left, _) => left < loop_outputs,
        }
    }

    fn repeat(&mut self, id: NodeId, node: &Node, of: &Loop) {
        let rules = self.rules;
        let body = rules.graph.block(of.body);
        let enter = self.add_step(id);
        for &input in &node.inputs {
            self.read(input, enter);
        }
        let depth = self.path.len();
        let from = self.now();
        let outside = [self.out.values.len(), self.out.loop_outputs.len()];
        // The binding of each parameter at the start of a round.
        let mut state: Vec<Binding> = Vec::with_capacity(node.inputs.len());
        let mut links = Vec::with_capacity(node.inputs.len());
        for (index, (&input, &parameter)) in node.inputs.iter().zip(&body.inputs).enumerate() {
            let mut before = self.resolve(input);
            let mut link = None;
            if let (Some(_), Binding::Value(value, 0)) = (rules.link(id, index), before) {
                // It begins where it was left, and at first where the outer loop's parameter begins.
                if let ValueKind::Parameter { before: first, .. } = self.out.values[value].kind {
                    (link, before) = (Some(value), first);
                }
            }
            links.push(link);
            let into = |carry: &LoopCarry| carry.into == parameter && carry.value != parameter;
            if !of.carried.iter().any(into) {
                state.push(before);
                continue;
            }
            let next = NextValue::OwnBytes;
            let head = self.new_value(parameter, ValueKind::Parameter { before, depth, next });
            self.out.values[head].spans.push(Span::new(from, from));
            state.push(Binding::Value(head, 0));
        }
        let heads = state.clone();
        let unroll = rules.unroll.get(&id).copied().unwrap_or(1);
        // The only copy in which the loop can be left.
        let last = of.rounds.map(|rounds| (rounds % u64::from(unroll)) as u32);
        let mut exits: Vec<Vec<Vec<Binding>>> = vec![vec![Vec::new(); of.exits.len()]; node.outputs.len()];
        let mut states: Vec<Vec<Binding>> = vec![Vec::new(); heads.len()];
        let mut copies = Vec::with_capacity(unroll as usize);
        let outer_runs = self.runs;
        for copy in 0..unroll {
            copies.push(self.now());
            states
                .iter_mut()
                .zip(&state)
                .for_each(|(states, &bind)| states.push(bind));
            self.path.push(copy);
            self.forget(of.body);
            for (&parameter, &bind) in body.inputs.iter().zip(&state) {
                self.bind(parameter, bind);
            }
            for after in 0..=body.nodes.len() {
                for (number, exit) in of.exits.iter().enumerate() {
                    if exit.after as usize == after {
                        let bind = self.resolve(exit.condition);
                        let now = self.now();
                        self.hold(bind, now);
                        if last.is_some_and(|last| last != copy) {
                            continue;
                        }
                        for (output, &result) in exits.iter_mut().zip(&exit.results) {
                            let bind = self.resolve(result);
                            self.hold(bind, now);
                            output[number].push(bind);
                        }
                    }
                }
                if let Some(&node) = body.nodes.get(after) {
                    self.runs = outer_runs.saturating_mul(executions(of, after, [copy, unroll]));
                    self.node(node);
                }
            }
            self.runs = outer_runs.saturating_mul(executions(of, body.nodes.len(), [copy, unroll]));
            let next = of.carried.iter().map(|carry| (*carry, self.resolve(carry.value)));
            let last = next.collect::<Vec<_>>();
            self.path.pop();
            self.end_round(id, of, (&heads, &mut state), &last, outside, [copy, unroll]);
        }
        self.runs = outer_runs;
        let end = self.now();
        let run = self.out.rounds.len();
        self.out.rounds.push((from, end));
        if rules.continues(id).is_some() {
            let is_carried = |(bind, _): &(&Binding, _)| self.is_head(**bind, depth);
            let heads = heads.iter().zip(links.into_iter().zip(states));
            let heads = heads.filter(is_carried).map(|(_, head)| head).collect();
            self.out.continued.push(Continued { copies, run, heads });
        }
        // Loop-invariant inputs are needed in every round.
        for &bind in &heads {
            if !self.is_head(bind, depth) {
                self.hold(bind, end);
            }
        }
        for (&output, exits) in node.outputs.iter().zip(exits) {
            self.out.loop_outputs.push(LoopOutput {
                tensor: output,
                exits,
                is_left_first: of.rounds.map(|rounds| rounds < u64::from(unroll)),
                depth,
                end,
                run,
            });
            self.bind(output, Binding::LoopOutput(self.out.loop_outputs.len() - 1, 0));
        }
    }

    /// Ends a round: adds its back edges, or copies in place of them; after the last unrolled copy, carried values are live to the end.
    fn end_round(
        &mut self,
        id: NodeId,
        of: &Loop,
        (heads, state): (&[Binding], &mut [Binding]),
        last: &[(LoopCarry, Binding)],
        outside: [usize; 2],
        [copy, unroll]: [u32; 2],
    ) {
        let rules = self.rules;
        let parameters = &rules.graph.block(of.body).inputs;
        let is_copied = |carry: &LoopCarry| rules.copied.contains_key(&carry.into);
        let is_last = copy + 1 == unroll;
        let step = match of.carried.iter().any(is_copied) {
            true => self.add_step(id),
            false => self.now(),
        };
        let end = self.now();
        let moved = || last.iter().filter(|(carry, _)| carry.value != carry.into);
        // All copies read before any of them writes.
        for (_, bind) in moved().filter(|(carry, _)| is_last || is_copied(carry)) {
            self.hold(*bind, end);
        }
        for &(carry, value) in moved() {
            let at = parameters.iter().position(|&parameter| parameter == carry.into);
            let at = at.expect("every carried value goes into a parameter of the body");
            state[at] = value;
            let Binding::Value(head, _) = heads[at] else {
                continue;
            };
            let into = carry.into;
            if is_copied(&carry) {
                if copy == 0 {
                    self.out.copies.push((id, carry.value, into, CopyTime::Round));
                }
                let to = match is_last {
                    true => head,
                    false => self.new_value(into, ValueKind::Planned),
                };
                state[at] = Binding::Value(to, 0);
                let spans = &mut self.out.values[to].spans;
                if spans.last().is_none_or(|last| last.end.0 < end) {
                    spans.push(Span::new(step, end));
                }
                self.out.writes.push((step, to));
                self.out.count_reads(value, self.runs);
                self.out.count_accesses(to, self.runs);
                continue;
            }
            let is_outside = self.is_outside(value, outside) || rules.begins_where_left(into);
            let head = match value {
                _ if is_last => Some(head),
                // The next unrolled copy must find it in one place, whichever exit the inner loop took.
                Binding::LoopOutput(..) if !is_outside => self.out.values_of(value).first().copied(),
                _ => None,
            };
            self.out.back_edges.extend(head.map(|head| BackEdge {
                node: id,
                into,
                value,
                head,
                is_last,
                is_outside,
            }));
        }
    }

    fn is_head(&self, bind: Binding, depth: usize) -> bool {
        match bind {
            Binding::Value(value, _) => {
                matches!(self.out.values[value].kind, ValueKind::Parameter { depth: of, .. } if of == depth)
            }
            Binding::LoopOutput(..) => false,
        }
    }
}
