//! Placements of tensors: regions of their values in successive rounds.

use super::expansion::{Binding, Expansion, NextValue, Rules, ValueKind};
use super::types::{Backing, PlacedTensor, Placement, Region, RoundPlacements};
use crate::graph::{BlockId, NodeId, NodeKind, TensorId, TensorSource};
use crate::units::{Bytes, Span};

/// The placement of every tensor.
pub(super) fn place_tensors(
    rules: &Rules<'_>,
    expansion: &Expansion,
    regions: &[Option<Region>],
) -> Vec<PlacedTensor> {
    let loops = loops_around(rules);
    let graph = rules.graph;
    let placed = graph.tensor_ids().map(|id| {
        let block = match graph.tensor(id).source {
            TensorSource::Input(block) => block,
            TensorSource::Node(node) => graph.node(node).block,
            TensorSource::Constant => BlockId::ROOT,
        };
        let builder = Builder {
            rules,
            expansion,
            regions,
            loops: &loops[block.index()],
            tensor: id,
        };
        let instances = &expansion.instances[id.index()];
        let place = (!instances.is_empty())
            .then(|| builder.build(&mut Vec::new(), &mut Vec::new()))
            .flatten();
        let outside = matches!(place, Some(Placement::Within { tensor, .. }) if tensor == id);
        let backing = match (graph.tensor(id).source, &place) {
            (TensorSource::Constant, _) => Backing::Constant,
            (_, Some(_)) if !outside => Backing::Planned,
            (_, None) if instances.is_empty() => Backing::Planned,
            _ => Backing::External,
        };
        let lifetimes = instances
            .iter()
            .flat_map(|(_, bind)| lifetimes_of(expansion, *bind));
        let planned = backing == Backing::Planned;
        let lifetimes: Vec<Span> = lifetimes.filter(|lifetime| !lifetime.is_empty()).collect();
        PlacedTensor {
            backing,
            layout: rules.layouts[id.index()].clone(),
            size: if planned {
                rules.requirements[id.index()].size
            } else {
                Bytes::ZERO
            },
            placement: place.filter(|_| planned),
            lifetimes: merged(lifetimes),
        }
    });
    placed.collect()
}

/// The spans in which a binding is live. The output of a loop is one of several values: it is live where one of them is live after the loop or,
/// if none is, at the step after which the loop is left with it.
fn lifetimes_of(expansion: &Expansion, bind: Binding) -> Vec<Span> {
    let left = match bind {
        Binding::Value(value, _) => return expansion.values[value].spans.clone(),
        Binding::LoopOutput(left, _) => left,
    };
    let after = expansion.loop_outputs[left].end;
    let of_value = |value: usize| {
        let spans = &expansion.values[value].spans;
        let later = spans.iter().filter(|span| span.end.0 > after);
        let later: Vec<Span> = later
            .map(|span| Span::new(span.first.0.max(after), span.end.0))
            .collect();
        let last = spans.iter().rfind(|span| !span.is_empty() && later.is_empty());
        let last = last.map(|span| Span::new(span.end.0 - 1, span.end.0));
        later.into_iter().chain(last)
    };
    expansion.values_of(bind).into_iter().flat_map(of_value).collect()
}

/// For each block, the loops around it, outermost first.
fn loops_around(rules: &Rules<'_>) -> Vec<Vec<NodeId>> {
    let graph = rules.graph;
    let mut around = vec![Vec::new(); graph.blocks().len()];
    let mut open = vec![BlockId::ROOT];
    while let Some(block) = open.pop() {
        for &id in &graph.block(block).nodes {
            let inner: Vec<NodeId> = around[block.index()].clone();
            match &graph.node(id).kind {
                NodeKind::Operator(_) => {}
                NodeKind::Loop(of) => {
                    around[of.body.index()] = inner.into_iter().chain([id]).collect();
                    open.push(of.body);
                }
                NodeKind::Branch(of) => {
                    for &arm in &of.arms {
                        around[arm.index()].clone_from(&inner);
                        open.push(arm);
                    }
                }
            }
        }
    }
    around
}

struct Builder<'a> {
    rules: &'a Rules<'a>,
    expansion: &'a Expansion,
    regions: &'a [Option<Region>],
    /// The loops that enclose the tensor.
    loops: &'a [NodeId],
    tensor: TensorId,
}

impl Builder<'_> {
    /// The placement in the unrolled copies `path` of the outer loops; `initial` is true for each of these loops that is in its first rounds.
    fn build(&self, path: &mut Vec<u32>, initial: &mut Vec<bool>) -> Option<Placement> {
        let Some(&node) = self.loops.get(path.len()) else {
            let instances = &self.expansion.instances[self.tensor.index()];
            // Constants, and tensors bound once outside a body.
            let found = instances.iter().rfind(|(at, _)| at == path).or(instances.first());
            return found.map(|(_, bind)| self.place(*bind, initial));
        };
        let copies = self.rules.unroll.get(&node).copied().unwrap_or(1);
        let place = per_round(|is_first| {
            initial.push(is_first);
            let mut places = Vec::new();
            for copy in 0..copies {
                path.push(copy);
                places.extend(self.build(path, initial));
                path.pop();
            }
            initial.pop();
            places
        });
        Some(place).filter(|_| !self.expansion.instances[self.tensor.index()].is_empty())
    }

    fn place(&self, bind: Binding, initial: &[bool]) -> Placement {
        match bind {
            Binding::Value(value, offset) => {
                let of = &self.expansion.values[value];
                if let ValueKind::Parameter { before, depth, next } = of.kind {
                    let is_first = initial.get(depth) == Some(&true);
                    match next {
                        NextValue::Elsewhere(bind) if !is_first => {
                            return self.place(bind.part(offset), initial);
                        }
                        _ if (is_first || next == NextValue::Unchanged)
                            && before != Binding::Value(value, 0) =>
                        {
                            return self.place(before.part(offset), initial);
                        }
                        _ => {}
                    }
                }
                match self.regions[value] {
                    Some(region) => Placement::At(Region {
                        offset: Bytes(region.offset.0 + offset),
                        size: self.rules.requirements[self.tensor.index()].size,
                        ..region
                    }),
                    None => Placement::Within {
                        tensor: of.tensor,
                        offset: Bytes(offset),
                    },
                }
            }
            Binding::LoopOutput(left, offset) => {
                let of = &self.expansion.loop_outputs[left];
                let exit = |binds: &Vec<Binding>| {
                    if let Some(is_first) = of.is_left_first {
                        let mut around = initial[..of.depth.min(initial.len())].to_vec();
                        around.push(is_first);
                        return self.place(binds[0], &around);
                    }
                    per_round(|is_first| {
                        let mut around = initial[..of.depth.min(initial.len())].to_vec();
                        around.push(is_first);
                        binds.iter().map(|&bind| self.place(bind, &around)).collect()
                    })
                };
                let (tensor, offset) = (of.tensor, Bytes(offset));
                let exits: Vec<Placement> = of.exits.iter().map(exit).collect();
                match exits.first() {
                    Some(&Placement::At(region)) if exits.iter().all(|other| *other == exits[0]) => {
                        let offset = region.offset + offset;
                        Placement::At(Region { offset, ..region })
                    }
                    _ if tensor != self.tensor => Placement::Within { tensor, offset },
                    _ => Placement::AtExit(exits),
                }
            }
        }
    }
}

/// The placement with the views `views_in(true)` in the first rounds and `views_in(false)` in all others. First rounds that equal the others
/// are omitted; a placement that is the same in every round is returned as it is.
fn per_round(mut views_in: impl FnMut(bool) -> Vec<Placement>) -> Placement {
    let mut views = RoundPlacements {
        first: views_in(true),
        repeat: views_in(false),
    };
    while let Some(last) = views.first.last() {
        let index = (views.first.len() - 1) % views.repeat.len();
        if *last != views.repeat[index] {
            break;
        }
        views.first.pop();
    }
    let one = &views.repeat[0];
    let constant = !matches!(one, Placement::PerRound(_));
    if constant && views.first.is_empty() && views.repeat.iter().all(|other| other == one) {
        return one.clone();
    }
    Placement::PerRound(views)
}

/// Sorted spans, with touching ones merged.
pub(super) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.first <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}
