//! Nested loops that continue: a loop that rotates a value through several places leaves it in one of them. If the loop around it passes that value
//! to the next execution of the inner loop, that execution begins in the unrolled copy that expects the value there, without a copy.
//!
//! ```text
//! while (a) { while (b) { y = f(x); x = y } }      x in A or B; y in the other one
//!   rounds of the inner loop   0  1  2 │ 3  4 │ 5      executions of 3, 2 and 1 rounds: they count on
//!   x in                       A  B  A │ B  A │ B
//! ```
//! Entering in any copy is right if in each of them every carried parameter is where the last execution left it, or in one place for all.

use std::collections::BTreeMap;

use super::classes::Coalesced;
use super::expansion::{Binding, Chain, Expansion, NextValue, Rules, ValueId, ValueKind};
use super::types::ContinuedLoop;
use crate::graph::control_flow::{Loop, LoopCarry};
use crate::graph::{BlockId, Graph, Node, NodeId, NodeKind, TensorId, TensorSource};

/// Returns every nested loop that may continue, with its chain.
pub(super) fn chains(rules: &Rules<'_>) -> BTreeMap<NodeId, Chain> {
    let graph = rules.graph;
    let mut found = BTreeMap::new();
    for (outer, node) in (0..).map(NodeId).zip(graph.nodes()) {
        let NodeKind::Loop(around) = &node.kind else {
            continue;
        };
        for (at, &inner) in graph.block(around.body).nodes.iter().enumerate() {
            if let NodeKind::Loop(of) = &graph.node(inner).kind {
                let chain = chain(rules, (outer, around), at, graph.node(inner), of);
                found.extend(chain.map(|chain| (inner, chain)));
            }
        }
    }
    found
}

fn chain(
    rules: &Rules<'_>,
    (outer, around): (NodeId, &Loop),
    at: usize,
    node: &Node,
    of: &Loop,
) -> Option<Chain> {
    if of.rounds.is_some() {
        return None; // It is always left in the same place.
    }
    let graph = rules.graph;
    let parameters = &graph.block(of.body).inputs;
    let mut more: Vec<Option<u64>> = vec![None; of.exits.len()];
    let mut links = Vec::new();
    for (index, (&input, &parameter)) in node.inputs.iter().zip(parameters).enumerate() {
        let into = |carry: &&LoopCarry| carry.into == parameter && carry.value != parameter;
        let Some(carry) = of.carried.iter().find(into) else {
            continue;
        };
        let back = around.carried.iter().find(|carry| carry.into == input);
        let of_back = |back: &LoopCarry| node.outputs.iter().position(|&output| output == back.value);
        let Some(output) = back.and_then(of_back) else {
            continue;
        };
        let is_alike = |&other: &TensorId| {
            let alike = |id: TensorId| (&rules.layouts[id.index()].rule, rules.requirements[id.index()]);
            alike(other) == alike(parameter)
        };
        let all = [input, carry.value, node.outputs[output]];
        if !all.iter().all(is_alike) || !is_read_only_before(graph, around, input, at) {
            continue;
        }
        for (exit, more) in of.exits.iter().zip(&mut more) {
            let count = match exit.results[output] {
                result if result == parameter => 0,
                result if result == carry.value => 1,
                _ => return None,
            };
            if more.is_some_and(|more| more != count) {
                return None;
            }
            *more = Some(count);
        }
        links.push((index, input));
    }
    let more = more.into_iter().collect::<Option<Vec<u64>>>()?;
    (!links.is_empty()).then_some(Chain { outer, links, more })
}

/// Returns true if a parameter of a loop is read only by operators before the node with index `at`, once by that node, and by exits
/// before it.
fn is_read_only_before(graph: &Graph, of: &Loop, parameter: TensorId, at: usize) -> bool {
    let body: BlockId = of.body;
    let is_parameter = |&tensor: &TensorId| tensor == parameter;
    let mut nodes = graph.block(body).nodes.iter().enumerate();
    let is_allowed = |(index, &id): (usize, &NodeId)| {
        let node = graph.node(id);
        let reads = node.inputs.iter().filter(|input| is_parameter(input)).count();
        match index < at {
            true => reads == 0 || matches!(node.kind, NodeKind::Operator(_)),
            false => reads == usize::from(index == at),
        }
    };
    let mut exits = of.exits.iter().filter(|exit| exit.after as usize > at);
    let mut views = graph.tensors().iter().filter_map(|tensor| tensor.view);
    graph.tensor(parameter).source == TensorSource::Input(body)
        && nodes.all(is_allowed)
        && !exits.any(|exit| exit.condition == parameter || exit.results.iter().any(is_parameter))
        && !of.carried.iter().any(|carry| carry.value == parameter)
        && !views.any(|view| view.base == parameter)
}

impl Rules<'_> {
    /// The chain of a loop, if it continues: none of its values is copied in every round, and the loop around it is not unrolled.
    pub(super) fn continues(&self, id: NodeId) -> Option<&Chain> {
        let chain = self.chains.get(&id)?;
        let NodeKind::Loop(of) = &self.graph.node(id).kind else {
            return None;
        };
        let parameters = &self.graph.block(of.body).inputs;
        let is_copied = |&(index, input): &(usize, TensorId)| {
            self.copied.contains_key(&parameters[index]) || self.copied.contains_key(&input)
        };
        let is_unrolled = self.unroll.get(&chain.outer).is_some_and(|&count| count > 1);
        (!is_unrolled && !chain.links.iter().any(is_copied)).then_some(chain)
    }

    /// Returns true if a loop contains one that may continue, so that the loop's own rounds must be alike.
    pub(super) fn contains_continued(&self, id: NodeId) -> bool {
        self.chains.values().any(|chain| chain.outer == id)
    }

    /// For an input of a loop that continues: the parameter of the loop around it that supplies the initial value, if any.
    pub(super) fn link(&self, id: NodeId, input: usize) -> Option<TensorId> {
        let links = &self.continues(id)?.links;
        let link = links.iter().find(|(index, _)| *index == input);
        link.map(|&(_, parameter)| parameter)
    }

    /// Returns true if a parameter of a loop begins where a loop in its body left it.
    pub(super) fn begins_where_left(&self, parameter: TensorId) -> bool {
        self.chains.iter().any(|(&id, chain)| {
            chain.links.iter().any(|&(_, input)| input == parameter) && self.continues(id).is_some()
        })
    }

    /// The loops that continue, each with the loop around it at whose beginning it starts over; `None` if some of a loop's links lead further out than others.
    pub(super) fn continued_loops(&self) -> Option<Vec<ContinuedLoop>> {
        let mut found: Vec<ContinuedLoop> = Vec::new();
        for &node in self.chains.keys() {
            let Some(chain) = self.continues(node) else {
                continue;
            };
            found.push(ContinuedLoop {
                node,
                within: self.outermost(chain)?,
                more: chain.more.clone(),
            });
        }
        Some(found)
    }

    fn outermost(&self, chain: &Chain) -> Option<NodeId> {
        let Some(outer) = self.continues(chain.outer) else {
            return Some(chain.outer);
        };
        let NodeKind::Loop(of) = &self.graph.node(chain.outer).kind else {
            return None;
        };
        let parameters = &self.graph.block(of.body).inputs;
        let leads_out = |&(_, input): &(usize, TensorId)| {
            outer.links.iter().any(|&(index, _)| parameters[index] == input)
        };
        match chain.links.iter().filter(|link| leads_out(link)).count() {
            0 => Some(chain.outer),
            count if count == chain.links.len() => self.outermost(outer),
            _ => None,
        }
    }
}

impl Expansion {
    /// Parameters of loops that continue and begin at the locations of this parameter of the loop around them.
    pub(super) fn linked_heads(&self, parameter: ValueId) -> impl Iterator<Item = ValueId> {
        let heads = self.continued.iter().flat_map(|of| &of.heads);
        heads.filter_map(move |(link, states)| match states[0] {
            Binding::Value(head, 0) if *link == Some(parameter) => Some(head),
            _ => None,
        })
    }
}

impl Coalesced {
    /// Returns true if every loop that continues can be entered in any of its unrolled copies.
    pub(super) fn can_continue(&self, rules: &Rules<'_>) -> bool {
        let expansion = &self.expansion;
        rules.continued_loops().is_some()
            && expansion.values.iter().all(|value| match value.kind {
                ValueKind::Parameter { next, .. } if rules.begins_where_left(value.tensor) => {
                    matches!(next, NextValue::Elsewhere(_))
                }
                _ => true,
            })
            && expansion.continued.iter().all(|of| {
                let can = |(link, states): &(Option<ValueId>, Vec<Binding>)| {
                    self.parameter_can_continue(link.is_some(), states)
                };
                of.heads.iter().all(can)
            })
    }

    fn parameter_can_continue(&self, is_link: bool, states: &[Binding]) -> bool {
        let expansion = &self.expansion;
        let Binding::Value(head, 0) = states[0] else {
            return false;
        };
        let ValueKind::Parameter { before, next, .. } = expansion.values[head].kind else {
            return false;
        };
        if is_link {
            return before != states[0]; // Otherwise it is copied whenever its loop is entered.
        }
        match next {
            NextValue::Unchanged => states.iter().all(|state| *state == states[0]),
            NextValue::Elsewhere(_) => false,
            NextValue::OwnBytes => {
                let class = self.classes.of[head];
                let is_there = |bind: Binding| {
                    let values = expansion.whole_values(bind);
                    values.is_some_and(|values| {
                        values
                            .iter()
                            .all(|&value| self.is_always_in(expansion, value, class))
                    })
                };
                let mut later = states[1..].iter();
                is_there(before) && later.all(|&state| is_there(state))
            }
        }
    }

    /// Returns true if a value is in the bytes of a class in all rounds.
    fn is_always_in(&self, expansion: &Expansion, value: ValueId, class: usize) -> bool {
        let is_elsewhere = match expansion.values[value].kind {
            ValueKind::External => true,
            ValueKind::Planned => false,
            ValueKind::Parameter { before, next, .. } => {
                let is_own = before == Binding::Value(value, 0);
                let begins = |bind| {
                    let values = expansion.whole_values(bind);
                    values.is_some_and(|values| {
                        values
                            .iter()
                            .all(|&value| self.is_always_in(expansion, value, class))
                    })
                };
                next != NextValue::OwnBytes || !is_own && !begins(before)
            }
        };
        self.classes.of[value] == class && !is_elsewhere
    }
}
