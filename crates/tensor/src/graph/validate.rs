//! Validation: single assignment, topological order, bounded dimensions, and matching parts of loops, branches and views.

use std::collections::{BTreeMap, BTreeSet};

use super::control_flow::Loop;
use super::{BlockId, Graph, Node, NodeId, NodeKind, ShapeBound, SymbolId, TensorId, TensorSource};
use crate::error::{Error, Result};

impl Graph {
    /// Checks the graph, and sets each tensor's producer.
    pub(crate) fn validate(&mut self) -> Result<()> {
        self.check_names()?;
        self.assign_producers()?;
        self.check_dims()?;
        self.check_block(BlockId::ROOT, &mut vec![None; self.tensors.len()])?;
        self.check_views()
    }

    fn check_names(&self) -> Result<()> {
        let mut seen = BTreeSet::new();
        if let Some(tensor) = self.tensors.iter().find(|tensor| !seen.insert(&tensor.name)) {
            return Err(Error::tensor(&tensor.name, "two tensors have this name"));
        }
        for symbol in &self.symbols {
            if let Some((least, most)) = symbol.range.filter(|(least, most)| least > most) {
                let problem = format!("has the empty range {least} to {most}");
                let symbol = symbol.name.clone();
                return Err(Error::Symbol { symbol, problem });
            }
        }
        Ok(())
    }

    fn assign_producers(&mut self) -> Result<()> {
        let mut producers: Vec<Option<NodeId>> = vec![None; self.tensors.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for output in &node.outputs {
                let tensor = &self.tensors[output.index()];
                let first = match (producers[output.index()], tensor.source) {
                    (Some(first), _) => format!("an output of node `{}`", self.nodes[first.index()].name),
                    (None, TensorSource::Input(_)) => "an input".to_owned(),
                    (None, TensorSource::Constant) => "a constant".to_owned(),
                    (None, TensorSource::Node(_)) => {
                        producers[output.index()] = Some(NodeId(index as u32));
                        continue;
                    }
                };
                let problem = format!(
                    "it is {first} and also an output of node `{}`; a tensor must be assigned exactly once",
                    node.name
                );
                return Err(Error::tensor(&tensor.name, problem));
            }
        }
        for (tensor, producer) in self.tensors.iter_mut().zip(producers) {
            if let (TensorSource::Node(source), Some(producer)) = (&mut tensor.source, producer) {
                *source = producer;
            }
        }
        Ok(())
    }

    fn check_dims(&self) -> Result<()> {
        let ends = |symbol: SymbolId, end: fn((u64, u64)) -> u64| {
            let symbol = self.symbols.get(symbol.0 as usize)?;
            let value = symbol.range.map(end).or(symbol.example)?;
            i64::try_from(value).ok()
        };
        for id in self.tensor_ids() {
            let mut elements = 1i64;
            for dim in &self.tensor(id).shape.0 {
                // The values with all symbols at one end of their ranges are exact; interval arithmetic bounds the rest, not
                // always tightly.
                for end in [|range: (u64, u64)| range.0, |range: (u64, u64)| range.1] {
                    let value = dim
                        .at(&|symbol| ends(symbol, end))
                        .ok_or_else(|| self.unbounded(id, dim))?;
                    if value < 0 {
                        return Err(self.negative(id, dim, value));
                    }
                }
                let range = |symbol| Some((ends(symbol, |range| range.0)?, ends(symbol, |range| range.1)?));
                let most = dim.bounds(&range).map(|(_, most)| most.max(1));
                elements = most
                    .and_then(|most| elements.checked_mul(most))
                    .filter(|elements| elements.checked_mul(16).is_some())
                    .ok_or_else(|| self.unbounded(id, dim))?;
            }
        }
        Ok(())
    }

    fn dangling(&self, reader: &str, tensor: TensorId) -> Error {
        Error::dangling(reader, &self.tensor(tensor).name)
    }

    /// Checks a block's nodes in their order; `defined` holds the defining block of each tensor that is defined so far.
    fn check_block(&self, id: BlockId, defined: &mut [Option<BlockId>]) -> Result<()> {
        let block = self.block(id);
        let is_defined = |tensor: TensorId, defined: &[Option<BlockId>]| {
            defined[tensor.index()] == Some(id) || self.tensor(tensor).source == TensorSource::Constant
        };
        for &input in &block.inputs {
            defined[input.index()] = Some(id);
        }
        for &node in &block.nodes {
            let node = self.node(node);
            if let Some(&missing) = node.inputs.iter().find(|&&input| !is_defined(input, defined)) {
                return Err(self.dangling(&node.name, missing));
            }
            check_in_place(node)?;
            match &node.kind {
                NodeKind::Operator(_) => {}
                NodeKind::Loop(of) => self.check_loop(node, of, defined)?,
                NodeKind::Branch(of) => {
                    for &arm in &of.arms {
                        self.check_parameters(node, arm)?;
                        self.check_block(arm, defined)?;
                        self.check_results(node, &self.block(arm).outputs)?;
                    }
                    if of.arms.is_empty() || node.inputs.is_empty() {
                        let problem =
                            "a branch must have at least one arm, and an input that selects the arm";
                        return Err(Error::control(&node.name, problem));
                    }
                }
            }
            for &output in &node.outputs {
                defined[output.index()] = Some(id);
            }
        }
        match block.outputs.iter().find(|&&output| !is_defined(output, defined)) {
            Some(&missing) => Err(self.dangling("the outputs", missing)),
            None => Ok(()),
        }
    }

    fn check_parameters(&self, node: &Node, body: BlockId) -> Result<()> {
        self.check_same(node, &node.inputs, &self.block(body).inputs, "parameters")
    }

    fn check_results(&self, node: &Node, results: &[TensorId]) -> Result<()> {
        self.check_same(node, results, &node.outputs, "outputs")
    }

    /// Checks that two lists of tensors agree in number, element types and shapes, so that the first can be passed on as the second.
    fn check_same(&self, node: &Node, from: &[TensorId], to: &[TensorId], what: &str) -> Result<()> {
        if from.len() != to.len() {
            let problem = format!(
                "the number of tensors passed is {}, but the number of {what} is {}",
                from.len(),
                to.len()
            );
            return Err(Error::control(&node.name, problem));
        }
        let mut pairs = from
            .iter()
            .zip(to)
            .map(|(&a, &b)| (self.tensor(a), self.tensor(b)));
        match pairs.find(|(a, b)| a.element != b.element || a.shape != b.shape) {
            Some((a, b)) => {
                let [a, b] = [a, b].map(|of| format!("`{}` {} {}", of.name, of.element, of.shape));
                Err(Error::control(&node.name, format!("{a} cannot be passed as {b}")))
            }
            None => Ok(()),
        }
    }

    fn check_loop(&self, node: &Node, of: &Loop, defined: &mut [Option<BlockId>]) -> Result<()> {
        self.check_parameters(node, of.body)?;
        self.check_block(of.body, defined)?;
        let body = self.block(of.body);
        // The number of the body's nodes after which a tensor is defined; `None` if the body does not define it.
        let parameters: BTreeSet<TensorId> = body.inputs.iter().copied().collect();
        let mut places: BTreeMap<TensorId, u32> = parameters.iter().map(|&id| (id, 0)).collect();
        for (after, &node) in (1..).zip(&body.nodes) {
            places.extend(self.node(node).outputs.iter().map(|&id| (id, after)));
        }
        let defined_after = |tensor: TensorId| match self.tensor(tensor).source {
            TensorSource::Constant => Some(0),
            _ => places.get(&tensor).copied(),
        };
        if of.exits.is_empty() {
            return Err(Error::control(&node.name, "the loop has no exit"));
        }
        if let Some(rounds) = of.rounds.filter(|_| of.exits.len() > 1) {
            let exits = of.exits.len();
            let problem = format!(
                "a loop with a fixed count ({rounds}) must have exactly one exit, but this one has {exits}"
            );
            return Err(Error::control(&node.name, problem));
        }
        let mut carried = BTreeSet::new();
        for carry in &of.carried {
            let into = &self.tensor(carry.into).name;
            if !carried.insert(carry.into) {
                return Err(Error::control(&node.name, format!("`{into}` is carried twice")));
            }
            if !parameters.contains(&carry.into) {
                let problem = format!("`{into}` is not a parameter of the body");
                return Err(Error::control(&node.name, problem));
            }
            if defined_after(carry.value).is_none() {
                return Err(self.dangling(&node.name, carry.value));
            }
        }
        let (values, into): (Vec<_>, Vec<_>) =
            of.carried.iter().map(|carry| (carry.value, carry.into)).unzip();
        self.check_same(node, &values, &into, "parameters")?;
        let mut last = 0;
        for exit in &of.exits {
            let count = body.nodes.len();
            if exit.after < last || exit.after as usize > count {
                let problem = format!(
                    "its exits must be in order and within the body's {count} nodes, but one is after node {}",
                    exit.after
                );
                return Err(Error::control(&node.name, problem));
            }
            last = exit.after;
            let undefined = |tensor: TensorId| defined_after(tensor).is_none_or(|after| after > last);
            let mut needed = exit.results.iter().chain([&exit.condition]);
            if let Some(&missing) = needed.find(|&&tensor| undefined(tensor)) {
                return Err(self.dangling(&node.name, missing));
            }
            self.check_results(node, &exit.results)?;
        }
        Ok(())
    }

    fn check_views(&self) -> Result<()> {
        let mut is_finite = vec![false; self.tensors.len()];
        for id in self.tensor_ids() {
            let Some(view) = self.tensor(id).view else {
                continue;
            };
            let wrong = |problem: &str| {
                let base = &self.tensor(view.base).name;
                Error::tensor(
                    &self.tensor(id).name,
                    format!("it is a view of `{base}`: {problem}"),
                )
            };
            let next = |base: &TensorId| self.tensor(*base).view.map(|view| view.base);
            let bases = || std::iter::successors(Some(id), next).take_while(|base| !is_finite[base.index()]);
            let count = bases().take(self.tensors.len() + 1).count();
            if count > self.tensors.len() {
                return Err(wrong("views must not form a cycle"));
            }
            let bases: Vec<TensorId> = bases().collect();
            bases.into_iter().for_each(|base| is_finite[base.index()] = true);
            // The largest values of symbolic shapes are compared.
            let bytes = |id: TensorId| {
                let bound = self.shape_bound(id, ShapeBound::Ranges);
                let shape = bound
                    .or_else(|_| self.shape_bound(id, ShapeBound::Examples))
                    .ok()?;
                self.tensor(id).element.bytes_of(shape.iter().product())
            };
            let (Some(part), Some(whole)) = (bytes(id), bytes(view.base)) else {
                continue;
            };
            if view.offset.0.checked_add(part).is_none_or(|end| end > whole) {
                return Err(wrong("it ends past the end of the base"));
            }
        }
        Ok(())
    }
}

fn check_in_place(node: &Node) -> Result<()> {
    let [outputs, inputs] = [node.outputs.len() as u32, node.inputs.len() as u32];
    let mut pairs = node.in_place.iter();
    match pairs.find(|pair| pair.output >= outputs || pair.input >= inputs) {
        Some(pair) => {
            let (output, input) = (pair.output, pair.input);
            let problem = format!(
                "output {output} cannot reuse input {input}: the node has {outputs} outputs and {inputs} inputs"
            );
            Err(Error::control(&node.name, problem))
        }
        None => Ok(()),
    }
}
