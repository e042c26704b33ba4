//! The checker: runs a planned graph on value numbers instead of values, and checks that every read finds the expected value.
//!
//! ```text
//! x ─► f ─► y ─► g ─► z      bytes [0, 8) after f: y's first value; g reads y's bytes and finds it
//! ```
//! It shares nothing with the planner: it looks only at placements, copies and aliasing, not at lifetimes.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::graph::control_flow::{Loop, LoopCarry};
use crate::graph::{BlockId, Graph, NodeId, NodeKind, TensorId, TensorSource};
use crate::plan::{Backing, CopyTime, Placement, Region, TensorPlan, TensorRequirements};

/// Checks a plan by simulating `runs` consecutive runs, each with different inputs, round counts, arms and exits; constants and kept inputs
/// are written only before the first run.
///
/// Every placement must be within its memory, aligned, and at least as large as `requirements` say. Every operand, condition, result and
/// output must be where the plan places it when it is read, in every round. A node that overwrites another node's value needs an aliasing
/// entry, which in a graph without loops and branches must name that value. Complexity: executed nodes times the pieces that their bytes
/// are divided into.
///
/// # Errors
/// [`Error::InvalidPlan`] with the tensor and the problem.
pub fn check(graph: &Graph, requirements: &[TensorRequirements], plan: &TensorPlan, runs: u32) -> Result<()> {
    check_places(graph, requirements, plan)?;
    let mut machine = Machine {
        graph,
        plan,
        memory: BTreeMap::new(),
        external: BTreeMap::new(),
        exits_taken: BTreeMap::new(),
        first_rounds: BTreeMap::new(),
        expected: BTreeMap::new(),
        written: 0,
        random: 5,
        has_control_flow: graph.blocks().len() > 1,
        period: period(plan),
    };
    (0..runs).try_for_each(|run| machine.run(run == 0))
}

fn refused(graph: &Graph, tensor: TensorId, problem: impl Into<String>) -> Error {
    let (tensor, problem) = (graph.tensor(tensor).name.clone(), problem.into());
    Error::InvalidPlan { tensor, problem }
}

fn check_places(graph: &Graph, requirements: &[TensorRequirements], plan: &TensorPlan) -> Result<()> {
    let count = graph.tensors().len();
    let (places, needs) = (plan.tensors.len(), requirements.len());
    if (places, needs) != (count, count) {
        let problem = format!(
            "must have exactly one placement and one set of requirements, but {places} placements and {needs} sets of requirements are given for {count} tensors"
        );
        let first_wrong = places.min(needs).min(count.saturating_sub(1));
        return Err(match graph.tensor_ids().nth(first_wrong) {
            Some(id) => refused(graph, id, problem),
            None => Error::InvalidPlan {
                tensor: graph.name().to_owned(),
                problem,
            },
        });
    }
    for id in graph.tensor_ids() {
        let (placed, needs) = (plan.tensor(id), &requirements[id.index()]);
        let is_part = graph.tensor(id).view.is_some();
        for region in placed.placement.iter().flat_map(Placement::regions) {
            let Region { size, offset, .. } = region;
            let Some(memory) = plan.memories.get(region.memory.0 as usize) else {
                let problem = format!(
                    "is in memory {}, which is out of range: the plan has {} memories",
                    region.memory.0,
                    plan.memories.len()
                );
                return Err(refused(graph, id, problem));
            };
            let limit = memory.capacity.unwrap_or(memory.size).min(memory.size);
            let ends_after = offset.0.checked_add(size.0).is_none_or(|end| end > limit.0);
            if !is_part && ends_after {
                let problem = format!(
                    "of {size} at offset {offset} ends beyond the {limit} of memory `{}`",
                    memory.name
                );
                return Err(refused(graph, id, problem));
            }
            let is_aligned = offset.is_aligned(needs.alignment) && offset.is_aligned(memory.alignment);
            if !is_part && (size < needs.size || !is_aligned) {
                let alignment = needs.alignment.lcm(memory.alignment).unwrap_or(needs.alignment);
                let least = needs.size;
                let problem =
                    format!("has {size} at offset {offset}, but needs {least} at a multiple of {alignment}");
                return Err(refused(graph, id, problem));
            }
        }
    }
    Ok(())
}

/// Bytes `[first, end)` of a memory or tensor, written as tensor `writer`. They hold a part of value number `value` that begins at the value's byte `at`.
#[derive(Clone, Copy, Debug)]
struct Piece {
    first: u64,
    end: u64,
    value: u64,
    writer: TensorId,
    at: u64,
}

impl Piece {
    /// Creates a piece that holds `value` from its first byte on.
    fn whole(first: u64, end: u64, value: u64, writer: TensorId) -> Piece {
        let at = 0;
        Piece {
            first,
            end,
            value,
            writer,
            at,
        }
    }

    /// Returns true if `next` continues the same value where this piece ends.
    fn leads_to(&self, next: &Piece) -> bool {
        let at = self.at + (self.end - self.first);
        (self.value, self.end, at) == (next.value, next.first, next.at)
    }
}

impl PartialEq for Piece {
    /// Compares bytes and value, not the writer.
    fn eq(&self, other: &Piece) -> bool {
        let all = |piece: &Piece| (piece.first, piece.end, piece.value, piece.at);
        all(self) == all(other)
    }
}

/// The pieces of a memory or tensor, disjoint and in ascending order.
type Pieces = Vec<Piece>;

struct Machine<'a> {
    graph: &'a Graph,
    plan: &'a TensorPlan,
    memory: BTreeMap<u32, Pieces>,
    /// Contents of external tensors and constants.
    external: BTreeMap<TensorId, Pieces>,
    /// For each loop output: the index of the exit taken, and the round in which it was taken.
    exits_taken: BTreeMap<TensorId, (usize, u64)>,
    /// For each loop whose round numbers continue from one execution to the next: the number of the next execution's first round.
    first_rounds: BTreeMap<NodeId, u64>,
    /// The expected value of each tensor, as if nothing shared memory.
    expected: BTreeMap<TensorId, Pieces>,
    written: u64,
    random: u64,
    /// True if the graph has loops or branches, whose nodes may not run in every execution.
    has_control_flow: bool,
    /// A number of rounds after which all placements repeat, and the period with which they do.
    period: (u64, u64),
}

/// Returns a number of rounds after which all placements of a plan repeat, and their common period.
fn period(plan: &TensorPlan) -> (u64, u64) {
    fn of(place: &Placement, (first, period): (u64, u64)) -> (u64, u64) {
        let (inner, found) = match place {
            Placement::At(_) | Placement::Within { .. } => return (first, period),
            Placement::AtExit(exits) => (exits.iter().collect::<Vec<_>>(), (first, period)),
            Placement::PerRound(views) => {
                let (mut a, mut b) = (period, views.repeat.len().max(1) as u64);
                while b > 0 {
                    (a, b) = (b, a % b);
                }
                let repeat = (period / a).saturating_mul(views.repeat.len().max(1) as u64);
                let found = (first.max(views.first.len() as u64), repeat);
                (views.first.iter().chain(&views.repeat).collect(), found)
            }
        };
        inner.into_iter().fold(found, |found, place| of(place, found))
    }
    let places = plan.tensors.iter().filter_map(|tensor| tensor.placement.as_ref());
    let (first, period) = places.fold((1, 1), |found, place| of(place, found));
    // Add one period: a round can see what earlier rounds left in memory.
    (first + period, period)
}

/// The current location of a tensor.
#[derive(PartialEq, Eq)]
enum TensorLocation {
    Bytes(Region),
    /// An offset, in bytes, into an external tensor or a constant.
    External(TensorId, u64),
}

impl Machine<'_> {
    fn run(&mut self, is_first: bool) -> Result<()> {
        for id in self.graph.tensor_ids() {
            let tensor = self.graph.tensor(id);
            let is_written = match tensor.source {
                TensorSource::Constant => is_first,
                TensorSource::Input(block) => block == BlockId::ROOT && (is_first || !tensor.kept),
                TensorSource::Node(_) => false,
            };
            if is_written {
                let value = self.new_value(id);
                self.write(id, &[], &value, None)?;
                self.expected.insert(id, value);
            }
        }
        self.block(BlockId::ROOT, &[])?;
        self.check_all(self.graph.outputs(), &[])
    }

    fn next(&mut self, below: usize) -> usize {
        let next = self.random.wrapping_mul(6_364_136_223_846_793_005);
        self.random = next.wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % below.max(1)
    }

    /// The number of bytes of a tensor that are compared; for an image, all bytes of its memory, since their arrangement is opaque.
    fn size(&self, tensor: TensorId) -> u64 {
        let placed = self.plan.tensor(tensor);
        match placed.layout.rule.storage.is_image() {
            true => placed.size.0.max(1),
            false => placed.layout.bytes().0,
        }
    }

    fn new_value(&mut self, writer: TensorId) -> Pieces {
        self.written += 1;
        vec![Piece::whole(0, self.size(writer), self.written, writer)]
    }

    fn find(&self, tensor: TensorId, rounds: &[u64]) -> Result<TensorLocation> {
        let placed = self.plan.tensor(tensor);
        let place = match &placed.placement {
            Some(place) if placed.backing == Backing::Planned => place.at(rounds),
            _ => return Ok(TensorLocation::External(tensor, 0)),
        };
        self.locate(tensor, place, rounds)
    }

    fn locate(&self, tensor: TensorId, place: &Placement, rounds: &[u64]) -> Result<TensorLocation> {
        match place {
            Placement::At(region) => Ok(TensorLocation::Bytes(*region)),
            Placement::Within { tensor: of, .. } if *of == tensor => {
                Err(refused(self.graph, tensor, "is a part of itself"))
            }
            Placement::Within { tensor: of, offset } => Ok(match self.find(*of, rounds)? {
                TensorLocation::Bytes(region) => TensorLocation::Bytes(Region {
                    offset: region.offset + *offset,
                    ..region
                }),
                TensorLocation::External(of, more) => TensorLocation::External(of, more + offset.0),
            }),
            Placement::AtExit(exits) => {
                let way = self
                    .exits_taken
                    .get(&tensor)
                    .and_then(|&(exit, round)| Some((exits.get(exit)?, round)));
                let Some((exit, round)) = way else {
                    return Err(refused(self.graph, tensor, "is read before its loop has exited"));
                };
                // The output of an inner loop, in the round in which the outer loop was left.
                let around = [self.around(tensor, rounds), &[round]].concat();
                self.locate(tensor, exit.at(&[round]), &around)
            }
            Placement::PerRound(_) => {
                let problem = format!("has no placement in round {rounds:?}");
                Err(refused(self.graph, tensor, problem))
            }
        }
    }

    /// The prefix of `rounds` that belongs to the loops that enclose a tensor.
    fn around<'r>(&self, tensor: TensorId, rounds: &'r [u64]) -> &'r [u64] {
        let mut block = match self.graph.tensor(tensor).source {
            TensorSource::Node(node) => self.graph.node(node).block,
            TensorSource::Input(block) => block,
            TensorSource::Constant => BlockId::ROOT,
        };
        let mut depth = 0;
        while block != BlockId::ROOT {
            let owner = self.graph.nodes().iter().find(|node| match &node.kind {
                NodeKind::Loop(of) => of.body == block,
                NodeKind::Branch(of) => of.arms.contains(&block),
                NodeKind::Operator(_) => false,
            });
            let owner = owner.expect("every block except the root belongs to a loop or branch");
            depth += usize::from(matches!(owner.kind, NodeKind::Loop(_)));
            block = owner.block;
        }
        &rounds[..depth.min(rounds.len())]
    }

    /// Writes a value at a tensor's location. If `node` writes it, the plan must have an aliasing entry for the values of other tensors that it overwrites.
    fn write(
        &mut self,
        tensor: TensorId,
        rounds: &[u64],
        value: &Pieces,
        node: Option<NodeId>,
    ) -> Result<()> {
        let (graph, plan) = (self.graph, self.plan);
        let location = self.find(tensor, rounds)?;
        let mut held = value.clone();
        held.iter_mut().for_each(|piece| piece.writer = tensor);
        let first = held.last().map_or(0, |piece| piece.end);
        let (pieces, start) = match location {
            TensorLocation::Bytes(region) => {
                // Padding up to the region's end belongs to the writer.
                if graph.tensor(tensor).view.is_none() && first < region.size.0 {
                    self.written += 1;
                    held.push(Piece::whole(first, region.size.0, self.written, tensor));
                }
                (self.memory.entry(region.memory.0).or_default(), region.offset.0)
            }
            TensorLocation::External(of, offset) => (self.external.entry(of).or_default(), offset),
        };
        let end = start + held.last().map_or(0, |piece| piece.end);
        if let Some(node) = node {
            let lost = pieces
                .iter()
                .filter(|piece| piece.first < end && start < piece.end);
            for piece in lost.filter(|piece| piece.writer != tensor) {
                let made_here = |id: TensorId| matches!(graph.tensor(id).source, TensorSource::Node(_));
                let said = plan.aliasing.iter().any(|aliasing| {
                    // After a node that did not run, the entry names another previous owner.
                    let named = self.has_control_flow || aliasing.previous.contains(&piece.writer);
                    aliasing.node == node && aliasing.output == tensor && named
                });
                let mut both = [piece.writer, tensor].into_iter();
                let planned = both.all(|id| plan.tensor(id).backing == Backing::Planned);
                if !said && made_here(piece.writer) && planned {
                    let (from, node) = (&graph.tensor(piece.writer).name, &graph.node(node).name);
                    let problem = format!("overwrites `{from}` at node `{node}` without an aliasing entry");
                    return Err(refused(graph, tensor, problem));
                }
            }
        }
        put(pieces, start, &held);
        Ok(())
    }

    fn check_all(&self, tensors: &[TensorId], rounds: &[u64]) -> Result<()> {
        tensors.iter().try_for_each(|&tensor| self.check(tensor, rounds))
    }

    /// Checks that a tensor's bytes hold its expected value.
    fn check(&self, tensor: TensorId, rounds: &[u64]) -> Result<()> {
        let nothing = Pieces::new();
        let (pieces, start) = match self.find(tensor, rounds)? {
            TensorLocation::Bytes(region) => (self.memory.get(&region.memory.0), region.offset.0),
            TensorLocation::External(of, offset) => (self.external.get(&of), offset),
        };
        let size = self.size(tensor);
        let found = part(pieces.unwrap_or(&nothing), start, size);
        let expected = self.expected.get(&tensor).map(|pieces| part(pieces, 0, size));
        if expected.as_ref() == Some(&found) {
            return Ok(());
        }
        let mut pairs = expected.iter().flatten().zip(&found);
        let odd = pairs
            .find(|(expected, found)| expected != found)
            .map(|(_, found)| found);
        let name = |piece: &Piece| format!("`{}`", self.graph.tensor(piece.writer).name);
        let holds = odd.or(found.first()).map_or("nothing".to_owned(), name);
        let problem = format!("is read in round {rounds:?}, but its bytes hold {holds}");
        Err(refused(self.graph, tensor, problem))
    }

    fn copied(&self, node: NodeId, to: TensorId, time: CopyTime) -> bool {
        let mut copies = self.plan.copies.iter();
        copies.any(|copy| copy.node == node && copy.to == to && copy.time == time)
    }

    /// Sets the expected value of `to` to that of `from`.
    fn pass_on(&mut self, from: TensorId, to: TensorId) {
        let value = self.expected.get(&from).cloned().unwrap_or_default();
        self.expected.insert(to, value);
    }

    fn block(&mut self, block: BlockId, rounds: &[u64]) -> Result<()> {
        let nodes = &self.graph.block(block).nodes;
        nodes.iter().try_for_each(|&node| self.node(node, rounds))
    }

    fn node(&mut self, id: NodeId, rounds: &[u64]) -> Result<()> {
        let graph = self.graph;
        let node = graph.node(id);
        self.check_all(&node.inputs, rounds)?;
        match &node.kind {
            NodeKind::Operator(_) => {
                let mut outputs = node.outputs.iter();
                outputs.try_for_each(|&output| self.make(id, output, rounds))
            }
            NodeKind::Branch(of) => {
                let arm = of.arms[self.next(of.arms.len())];
                let body = graph.block(arm);
                for (&input, &parameter) in node.inputs.iter().zip(&body.inputs) {
                    self.pass_on(input, parameter);
                    self.check(parameter, rounds)?;
                }
                self.block(arm, rounds)?;
                for (&result, &output) in body.outputs.iter().zip(&node.outputs) {
                    self.check(result, rounds)?;
                    self.pass_on(result, output);
                    let mut copies = self.plan.copies.iter();
                    let is_copied = copies.any(|copy| copy.from == result && copy.to == output);
                    // The result may be in the output's bytes in some rounds; a copy there writes nothing else.
                    if is_copied && self.find(result, rounds)? != self.find(output, rounds)? {
                        self.write(output, rounds, &self.expected[&output].clone(), None)?;
                    }
                    self.check(output, rounds)?;
                }
                Ok(())
            }
            NodeKind::Loop(of) => self.repeat(id, of, rounds),
        }
    }

    /// Produces an output: a new value or, for a view of an operand, the viewed part of the operand's value.
    fn make(&mut self, id: NodeId, output: TensorId, rounds: &[u64]) -> Result<()> {
        let node = self.graph.node(id);
        let view = self.graph.tensor(output).view;
        let of_operand = view.filter(|view| node.inputs.contains(&view.base));
        let shares = |id: TensorId| self.plan.tensor(id).layout.rule == super::LayoutRule::buffer();
        if let Some(view) = of_operand.filter(|view| shares(output) && shares(view.base)) {
            let size = self.size(output);
            let base = self.expected.get(&view.base).cloned().unwrap_or_default();
            self.expected.insert(output, part(&base, view.offset.0, size));
            return self.check(output, rounds);
        }
        let value = self.new_value(output);
        self.write(output, rounds, &value, Some(id))?;
        // The output is a part of a larger tensor that is assembled from such parts.
        if let Some(view) = view {
            put(self.expected.entry(view.base).or_default(), view.offset.0, &value);
        }
        self.expected.insert(output, value);
        Ok(())
    }

    /// Reduces a round count modulo the period of the placements: after the result, every placement is as after `rounds`.
    fn equivalent_rounds(&self, rounds: u64) -> u64 {
        let (first, period) = self.period;
        match rounds.checked_sub(first) {
            Some(more) => first + more % period,
            None => rounds,
        }
    }

    fn repeat(&mut self, id: NodeId, of: &Loop, rounds: &[u64]) -> Result<()> {
        let graph = self.graph;
        let (node, body) = (graph.node(id), graph.block(of.body));
        for (&input, &parameter) in node.inputs.iter().zip(&body.inputs) {
            self.pass_on(input, parameter);
        }
        let continued = &self.plan.continued;
        for inner in continued.iter().filter(|inner| inner.within == id) {
            self.first_rounds.remove(&inner.node);
        }
        let continued = continued.iter().find(|continued| continued.node == id);
        let begin = self.first_rounds.get(&id).copied().unwrap_or(0);
        let mut here = [rounds, &[begin]].concat();
        for &parameter in &body.inputs {
            if self.copied(id, parameter, CopyTime::Enter) {
                self.write(parameter, &here, &self.expected[&parameter].clone(), None)?;
            }
        }
        let (any, way_out) = (self.next(12) as u64, self.next(of.exits.len()));
        let most = of.rounds.map_or(any, |rounds| self.equivalent_rounds(rounds));
        loop {
            let round = here[rounds.len()];
            for after in 0..=body.nodes.len() {
                let exits = of.exits.iter().enumerate();
                for (number, exit) in exits.filter(|(_, exit)| exit.after as usize == after) {
                    self.check(exit.condition, &here)?;
                    if round - begin < most || number != way_out {
                        continue;
                    }
                    for (&result, &output) in exit.results.iter().zip(&node.outputs) {
                        self.check(result, &here)?;
                        self.pass_on(result, output);
                        self.exits_taken.insert(output, (number, round));
                    }
                    if let Some(continued) = continued {
                        let more = continued.more.get(number).copied().unwrap_or(0);
                        self.first_rounds.insert(id, round + more);
                    }
                    return self.check_all(&node.outputs, rounds);
                }
                if let Some(&node) = body.nodes.get(after) {
                    self.node(node, &here)?;
                }
            }
            let value = |carry: &LoopCarry| self.expected.get(&carry.value).cloned().unwrap_or_default();
            let next = of.carried.iter().map(|carry| (carry.into, value(carry)));
            let next: Vec<(TensorId, Pieces)> = next.collect();
            here[rounds.len()] += 1;
            for (into, value) in next {
                if self.copied(id, into, CopyTime::Round) {
                    self.write(into, &here, &value, None)?;
                }
                self.expected.insert(into, value);
            }
        }
    }
}

/// Writes a value's pieces at an address, over the previous contents.
fn put(pieces: &mut Pieces, start: u64, value: &Pieces) {
    let end = start + value.last().map_or(0, |piece| piece.end);
    let mut kept = Pieces::with_capacity(pieces.len() + 2);
    for &piece in pieces.iter() {
        if piece.first < start {
            let end = piece.end.min(start);
            kept.push(Piece { end, ..piece });
        }
        if piece.end > end {
            let first = piece.first.max(end);
            let at = piece.at + (first - piece.first);
            kept.push(Piece { first, at, ..piece });
        }
    }
    kept.extend(value.iter().map(|piece| Piece {
        first: piece.first + start,
        end: piece.end + start,
        ..*piece
    }));
    kept.retain(|piece| piece.first < piece.end);
    kept.sort_unstable_by_key(|piece| piece.first);
    *pieces = kept;
}

/// The pieces in `[start, start + size)`, relative to `start`; adjacent pieces of one value are merged.
fn part(pieces: &Pieces, start: u64, size: u64) -> Pieces {
    let end = start + size;
    let mut found = Pieces::new();
    let inside = pieces
        .iter()
        .filter(|piece| piece.first < end && start < piece.end);
    for piece in inside {
        let first = piece.first.max(start);
        let cut = Piece {
            first: first - start,
            end: piece.end.min(end) - start,
            at: piece.at + (first - piece.first),
            ..*piece
        };
        match found.last_mut() {
            Some(last) if last.leads_to(&cut) => last.end = cut.end,
            _ => found.push(cut),
        }
    }
    found
}
