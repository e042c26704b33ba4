//! Subgraphs of nodes: `If` as a branch, `Loop` and `Scan` as loops.
//!
//! ```text
//! Loop(M, cond, v; body)      parameters i, cond, v, the stacked outputs, M, and what the body reads from outside
//!                             left before the body unless i < M and cond; each round adds to the stacked outputs in place
//! ```

use std::collections::BTreeSet;

use super::known::Known;
use super::proto::{GraphProto, NodeProto, ValueInfo};
use super::{Reader, wrapped};
use crate::error::{Error, Result};
use crate::graph::{
    BlockId, Dim, ElementType, GraphBuilder, InPlace, Operator, Shape, TensorId, TensorSource,
};

/// The common form of `Loop` and `Scan`.
struct LoopForm<'a> {
    node: &'a NodeProto,
    body: &'a GraphProto,
    /// The maximum number of rounds, and the condition for running the first one; `None` for an omitted operand.
    limits: [Option<TensorId>; 2],
    /// Carried values, by their names in the body.
    carried: Vec<(&'a str, TensorId)>,
    /// Tensors of which each round reads one slice: the slice's name in the body, the tensor, and the axis.
    sliced: Vec<(&'a str, TensorId, usize)>,
    /// The body's outputs that become carried values.
    next: &'a [ValueInfo],
    /// The body's outputs that are stacked, each with the axis along which it is stacked, which may be negative.
    stacked: Vec<(&'a ValueInfo, i64)>,
    /// The maximum number of rounds, if known, which is also the length of each stacked result.
    rounds: Option<Dim>,
}

impl Reader<'_> {
    fn subgraph<'n>(&self, node: &'n NodeProto, name: &str) -> Result<&'n GraphProto> {
        let graph = node.attribute(name).and_then(|attribute| attribute.g.as_ref());
        graph.ok_or_else(|| self.fault(node, format!("its graph attribute `{name}` is missing")))
    }

    /// Returns the tensors from outside that `graphs` read, by name, except constants, which every block can read.
    fn captured(&self, graphs: &[&GraphProto]) -> Vec<(String, TensorId)> {
        let mut names = Vec::new();
        for graph in graphs {
            free_names(graph, &mut BTreeSet::from([""]), &mut names);
        }
        let names: BTreeSet<&str> = names.into_iter().collect();
        let known = names
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), *self.ids.get(name)?)));
        let is_made = |(_, id): &(String, TensorId)| self.graph.tensor(*id).source != TensorSource::Constant;
        known.filter(is_made).collect()
    }

    /// Runs `read` for a body of a node: names that the body defines are prefixed, and go out of scope at its end.
    pub(super) fn within<T>(
        &mut self,
        node: &NodeProto,
        prefix: &str,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.enter(node)?;
        let marks = (
            (self.ids.begin(), self.known.begin()),
            (self.described.begin(), self.unnamed.begin()),
        );
        let first = self.graph.tensor_count();
        let read = read(self);
        self.graph.prefix_names(first, prefix);
        self.depth -= 1;
        self.ids.end(marks.0.0);
        self.known.end(marks.0.1);
        self.described.end(marks.1.0);
        self.unnamed.end(marks.1.1);
        read
    }

    pub(super) fn branch(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        // The second arm runs if the condition is not 0.
        let arms = [
            self.subgraph(node, "else_branch")?,
            self.subgraph(node, "then_branch")?,
        ];
        let &[condition] = inputs else {
            let problem = format!(
                "it must have exactly one input, the condition, but has {}",
                inputs.len()
            );
            return Err(self.fault(node, problem));
        };
        let known = self.input_known(node, 0).and_then(Known::fixed);
        if let Some(&[value]) = known.as_deref() {
            return self.arm(node, arms[usize::from(value != 0)]);
        }
        let captured = self.captured(&arms);
        let mut inputs = vec![condition];
        inputs.extend(captured.iter().map(|(_, id)| *id));
        let name = self.name(node);
        let mut blocks = Vec::new();
        for (index, graph) in arms.into_iter().enumerate() {
            let parameters = self.graph.open(&format!("{name}.{index}"), &inputs);
            let outputs = self.within(node, &format!("{name}.{index}/"), |reader| {
                let names = captured.iter().map(|(name, _)| name.clone());
                reader.ids.extend(names.zip(parameters[1..].iter().copied()));
                reader.constants(graph)?;
                reader.nodes(graph)
            })?;
            blocks.push(self.graph.close_arm(outputs));
        }
        self.unify_results(node, &name, &blocks)?;
        let made = self.graph.close_branch(&name, blocks, &inputs);
        self.name_outputs(node, &made)
    }

    /// Gives the results of all arms a shape that bounds each of them.
    fn unify_results(&mut self, node: &NodeProto, name: &str, arms: &[BlockId]) -> Result<()> {
        let count = arms.iter().map(|&arm| self.graph.arm_outputs(arm).len()).min();
        for output in 0..count.unwrap_or(0) {
            let results: Vec<TensorId> = arms
                .iter()
                .map(|&arm| self.graph.arm_outputs(arm)[output])
                .collect();
            let shapes: Vec<Vec<Dim>> = results.iter().map(|&result| self.dims(result)).collect();
            if shapes.windows(2).all(|pair| pair[0] == pair[1]) {
                continue;
            }
            let shape = self.shape_of_arms(node, output, &shapes);
            let shape = shape.map_err(|problem| Error::operator(name, &node.op_type, problem))?;
            let mut differ = false;
            for (&arm, &result) in arms.iter().zip(&results) {
                if self.graph.tensor(result).shape != shape {
                    let made = self.graph.reshape_result(arm, output, shape.clone());
                    differ |= !self.view_if_within(made, result);
                }
            }
            if differ {
                self.graph.note(format!(
                    "the arms of `{}` have results of different shapes: the larger of each dimension is planned",
                    tileheap_json::clip(name)
                ));
            }
        }
        Ok(())
    }

    /// The shape of a branch's output: a dimension that differs between the arms becomes a symbol whose range covers all of them. If the ranks
    /// differ, the shape is taken from the file.
    fn shape_of_arms(
        &mut self,
        node: &NodeProto,
        output: usize,
        shapes: &[Vec<Dim>],
    ) -> Result<Shape, String> {
        let name = node.output.get(output).cloned().unwrap_or_default();
        let first = &shapes[0];
        if shapes.iter().any(|dims| dims.len() != first.len()) {
            return self.described_of_arms(&name, shapes);
        }
        let mut dims = first.clone();
        for (axis, dim) in dims.iter_mut().enumerate() {
            let sides = || shapes.iter().map(|dims| &dims[axis]);
            if sides().all(|side| side == dim) {
                continue;
            }
            let ranges: Option<Vec<(i64, i64)>> = sides().map(|side| self.range(side)).collect();
            let range = ranges.as_deref().and_then(|ranges| {
                let least = ranges.iter().map(|&(least, _)| least.max(0)).min()?;
                let most = ranges.iter().map(|&(_, most)| most.max(0)).max()?;
                Some((least as u64, most as u64))
            });
            let Some(range) = range else {
                return Err(format!(
                    "axis {axis} of its output {output} has no upper bound below 2^63"
                ));
            };
            *dim = self.symbol_within(&name, axis, range);
        }
        Ok(Shape(dims))
    }

    /// For arms whose results have different ranks: returns the shape that the file gives for the branch's output, which must be large enough for
    /// each of them.
    fn described_of_arms(&self, name: &str, shapes: &[Vec<Dim>]) -> Result<Shape, String> {
        let most = |dims: &[Dim]| {
            dims.iter()
                .try_fold(1i64, |all, dim| all.checked_mul(self.range(dim)?.1))
        };
        let bounds = shapes.iter().map(|dims| most(dims).unwrap_or(i64::MAX)).max();
        let described = self.described.get(name).map(|(_, shape)| shape);
        let described = described.filter(|shape| most(&shape.0) >= bounds);
        described.cloned().ok_or_else(|| {
            let ranks: Vec<String> = shapes.iter().map(|dims| dims.len().to_string()).collect();
            format!(
                "its branches return results of {} dimensions for `{}`: give ranges that decide the condition, or run shape inference before saving the model",
                ranks.join(" and "),
                tileheap_json::clip(name)
            )
        })
    }

    pub(super) fn repeat(&mut self, node: &NodeProto) -> Result<()> {
        let body = self.subgraph(node, "body")?;
        let name = self.name(node);
        let optional = |place: usize| node.input.get(place).filter(|input| !input.is_empty());
        let mut limits = [None; 2];
        for (place, limit) in limits.iter_mut().enumerate() {
            *limit = optional(place).map(|input| self.id(input, &name)).transpose()?;
        }
        let given = node.input.get(2..).unwrap_or(&[]);
        let (Some(parameters), Some(outputs)) = (body.input.get(2..), body.output.get(1..)) else {
            return Err(self.fault(
                node,
                "its body must take an iteration number and a condition, and return a condition",
            ));
        };
        if given.len() != parameters.len() || outputs.len() < given.len() {
            let (values, parameters, results) = (given.len(), parameters.len(), outputs.len());
            let problem = format!(
                "the node passes {values} initial values, but its body takes {parameters} and returns {results}: it must take exactly {values}, and return at least {values}"
            );
            return Err(self.fault(node, problem));
        }
        let carried = parameters
            .iter()
            .zip(given)
            .map(|(parameter, input)| Ok((&*parameter.name, self.id(input, &name)?)));
        let rounds = optional(0).and_then(|input| self.known.get(input)?.integers()?.pop());
        let rounds = rounds.and_then(|rounds| self.counted(rounds));
        self.rounds(LoopForm {
            node,
            body,
            limits,
            carried: carried.collect::<Result<_>>()?,
            sliced: Vec::new(),
            next: &outputs[..given.len()],
            stacked: outputs[given.len()..].iter().map(|value| (value, 0)).collect(),
            rounds,
        })
    }

    /// The number of rounds as a dimension; `None` for the huge count that exporters write if only the condition ends a loop.
    fn counted(&self, rounds: Dim) -> Option<Dim> {
        let (least, most) = self.range(&rounds)?;
        let is_count = rounds.fixed().is_none_or(|_| most < i64::from(i32::MAX));
        is_count.then(|| if least < 0 { rounds.max(0) } else { rounds })
    }

    pub(super) fn scan(&mut self, node: &NodeProto) -> Result<()> {
        let body = self.subgraph(node, "body")?;
        let name = self.name(node);
        let slices = usize::try_from(node.int("num_scan_inputs", 0)).unwrap_or(usize::MAX);
        let (inputs, parameters) = (node.input.len(), body.input.len());
        let states = inputs
            .checked_sub(slices)
            .filter(|&states| states <= body.output.len());
        let Some(states) = states.filter(|_| slices > 0 && parameters == inputs) else {
            let problem = format!(
                "the node has {inputs} inputs, {slices} of them scanned, and its body has {parameters} parameters and {} outputs: the node must scan at least one input, and the body must have one parameter for each input, and return every input that is not scanned",
                body.output.len()
            );
            return Err(self.fault(node, problem));
        };
        let axis = |attribute: &str, place: usize| {
            let axis = node.ints(attribute).and_then(|axes| axes.get(place).copied());
            axis.unwrap_or(0)
        };
        let (mut carried, mut sliced, mut rounds) = (Vec::new(), Vec::new(), None);
        for (place, (input, parameter)) in node.input.iter().zip(&body.input).enumerate() {
            let id = self.id(input, &name)?;
            if place < states {
                carried.push((&*parameter.name, id));
                continue;
            }
            let dims = self.dims(id);
            let axis = axis("scan_input_axes", place - states);
            let axis = wrapped(axis, dims.len()).ok_or_else(|| {
                let problem = format!(
                    "it cannot scan axis {axis} of `{input}`, which has rank {}",
                    dims.len()
                );
                self.fault(node, problem)
            })?;
            rounds = Some(dims[axis].clone());
            sliced.push((&*parameter.name, id, axis));
        }
        let (next, outputs) = body.output.split_at(states);
        let axes = (0..).map(|place| axis("scan_output_axes", place));
        self.rounds(LoopForm {
            stacked: outputs.iter().zip(axes).collect(),
            limits: [None; 2],
            node,
            body,
            carried,
            sliced,
            next,
            rounds,
        })
    }

    fn rounds(&mut self, of: LoopForm<'_>) -> Result<()> {
        let name = self.name(of.node);
        let scalar = |graph: &mut GraphBuilder, what: &str, element| {
            graph.constant(format!("{name}/{what}"), element, Shape::default())
        };
        // In order: the round, the condition, carried values, stacked outputs, then loop-invariant values.
        let mut inputs = vec![scalar(&mut self.graph, "first", ElementType::Int64)];
        inputs.push(match of.limits[1] {
            Some(condition) => condition,
            None => scalar(&mut self.graph, "true", ElementType::Bool),
        });
        inputs.extend(of.carried.iter().map(|(_, id)| *id));
        let stacks = inputs.len();
        for (place, (value, axis)) in of.stacked.iter().enumerate() {
            // Another body may have results of this name.
            let body = self.unnamed.begin();
            let form = self.value(value);
            self.unnamed.end(body);
            let output = of
                .node
                .output
                .get(of.next.len() + place)
                .map_or("", String::as_str);
            let Some((element, mut shape)) = form? else {
                let problem = format!(
                    "the file has no shape for `{}`: run shape inference before saving the model",
                    value.name
                );
                return Err(self.fault(of.node, problem));
            };
            let rank = shape.0.len() + 1;
            let Some(axis) = wrapped(*axis, rank) else {
                let problem = format!(
                    "`{}` cannot be stacked along axis {axis}: the stacked tensor has rank {rank}",
                    value.name
                );
                return Err(self.fault(of.node, problem));
            };
            // The length that the file declares for the output, such as `T`.
            let declared = self.described.get(output).map(|(_, shape)| &shape.0);
            let declared = declared
                .filter(|dims| dims.len() == rank)
                .map(|dims| dims[axis].clone());
            let rounds = of.rounds.clone().or(declared);
            let rounds = rounds.unwrap_or_else(|| self.unnamed(output, axis).into());
            shape.0.insert(axis, rounds);
            let (name, operator) = (format!("{name}/stack.{place}"), Operator::named("uninitialized"));
            let outputs = vec![(name.clone(), element, shape)];
            inputs.extend(self.graph.node(name, operator, &[], outputs, Vec::new()));
        }
        let rest = inputs.len();
        let captured = self.captured(&[of.body]);
        inputs.extend(of.limits[0]);
        inputs.extend(of.sliced.iter().map(|(_, id, _)| *id));
        inputs.extend(captured.iter().map(|(_, id)| *id));
        let p = self.graph.open(&name, &inputs);
        self.within(of.node, &format!("{name}/"), |reader| {
            reader.round(&of, &p, [stacks, rest], &captured)
        })?;
        let made = self.graph.close_loop(&name, &inputs);
        self.name_outputs(of.node, &made)
    }

    /// Adds an auxiliary node of the loop, which may overwrite its first operand if `over` is true.
    fn add_auxiliary_node(
        &mut self,
        what: &str,
        inputs: &[TensorId],
        form: (ElementType, Shape),
        over: bool,
    ) -> TensorId {
        let operator = what.trim_end_matches(|last: char| last == '.' || last.is_ascii_digit());
        let in_place = over.then_some(InPlace { output: 0, input: 0 });
        let outputs = vec![(what.to_owned(), form.0, form.1)];
        let in_place = in_place.into_iter().collect();
        self.graph
            .node(what, Operator::named(operator), inputs, outputs, in_place)[0]
    }

    /// Maps names to other tensors within a body.
    fn rename(&mut self, names: impl IntoIterator<Item = (String, TensorId)>) {
        for (name, id) in names {
            self.known.remove(&name);
            self.ids.insert(name, id);
        }
    }

    /// The number of rounds, if only the count ends the loop: the condition is true in every round.
    fn exact_rounds(&self, of: &LoopForm<'_>, condition: TensorId, next: Option<TensorId>) -> Option<u64> {
        let is_true = |name: &String| {
            self.known
                .get(name)
                .and_then(Known::fixed)
                .is_some_and(|known| known == [1])
        };
        let (given, made) = (
            of.node.input.get(1),
            of.body.output.first().map(|value| &value.name),
        );
        let begins = of.limits[1].is_none() || given.is_some_and(is_true);
        let goes_on = next.is_none_or(|next| next == condition) || made.is_some_and(is_true);
        let rounds = of.rounds.as_ref()?.fixed().filter(|_| begins && goes_on)?;
        Some(u64::try_from(rounds).unwrap_or(0))
    }

    /// Builds one round from its parameters `p`: iteration number, condition, carried values, then stacked outputs and loop-invariant values,
    /// whose first indices are `places`.
    fn round(
        &mut self,
        of: &LoopForm<'_>,
        p: &[TensorId],
        places: [usize; 2],
        captured: &[(String, TensorId)],
    ) -> Result<()> {
        let [stacks, rest] = places;
        let mut stays = p[rest..].iter().copied();
        let mut tested = vec![p[0], p[1]];
        tested.extend(of.limits[0].and_then(|_| stays.next()));
        let going = self.add_auxiliary_node("goes_on", &tested, (ElementType::Bool, Shape::default()), false);
        self.graph.exit_unless(going, &p[2..rest]);
        let numbered = if of.sliced.is_empty() { 2 } else { 0 };
        let numbered = of
            .body
            .input
            .iter()
            .take(numbered)
            .map(|value| value.name.clone());
        self.rename(numbered.zip(p.iter().copied()));
        let carried = of.carried.iter().map(|(name, _)| (*name).to_owned());
        self.rename(carried.zip(p[2..].iter().copied()));
        for (place, (name, _, axis)) in of.sliced.iter().enumerate() {
            let whole = stays.next().expect("every sliced tensor is a parameter");
            let (element, mut dims) = (self.graph.tensor(whole).element, self.dims(whole));
            dims.remove(*axis);
            let form = (element, Shape(dims));
            let slice = self.add_auxiliary_node(&format!("slice_at.{place}"), &[whole, p[0]], form, false);
            self.rename([((*name).to_owned(), slice)]);
        }
        let captured = captured.iter().map(|(name, _)| name.clone());
        self.ids.extend(captured.zip(stays));
        self.constants(of.body)?;
        let outputs = self.nodes(of.body)?;
        let first = outputs.len() - of.next.len() - of.stacked.len();
        if let Some(&condition) = outputs[..first].first() {
            self.graph.carry(condition, p[1]);
        }
        if let Some(rounds) = self.exact_rounds(of, p[1], outputs[..first].first().copied()) {
            self.graph.rounds(rounds);
        }
        let next = self.add_auxiliary_node("next", &p[..1], (ElementType::Int64, Shape::default()), true);
        self.graph.carry(next, p[0]);
        let (carried, stacked) = outputs[first..].split_at(of.next.len());
        for (&value, &into) in carried.iter().zip(&p[2..]) {
            self.graph.carry(value, into);
        }
        for (place, (&value, &stack)) in stacked.iter().zip(&p[stacks..]).enumerate() {
            let form = (
                self.graph.tensor(stack).element,
                self.graph.tensor(stack).shape.clone(),
            );
            let stored =
                self.add_auxiliary_node(&format!("store.{place}"), &[stack, value, p[0]], form, true);
            self.graph.carry(stored, stack);
        }
        Ok(())
    }
}

/// Adds to `free` the names that a graph reads but does not define, each once; `bound` holds those already defined or added.
fn free_names<'g>(graph: &'g GraphProto, bound: &mut BTreeSet<&'g str>, free: &mut Vec<&'g str>) {
    let constants = graph.initializer.iter().map(|tensor| &*tensor.name);
    let parameters = graph.input.iter().map(|value| &*value.name);
    let mut own: Vec<&str> = constants
        .chain(parameters)
        .filter(|&name| bound.insert(name))
        .collect();
    for node in &graph.node {
        free.extend(
            node.input
                .iter()
                .map(String::as_str)
                .filter(|&name| bound.insert(name)),
        );
        for inner in node.attribute.iter().filter_map(|attribute| attribute.g.as_ref()) {
            free_names(inner, bound, free);
        }
        own.extend(
            node.output
                .iter()
                .map(String::as_str)
                .filter(|&name| bound.insert(name)),
        );
    }
    let outputs = graph.output.iter().map(|value| &*value.name);
    free.extend(outputs.filter(|&name| bound.insert(name)));
    for name in own {
        bound.remove(name);
    }
}
