//! Builds graphs in Rust.

use std::collections::BTreeSet;

use super::element::ElementType;
use super::ids::{BlockId, NodeId, TensorId};
use super::model::Graph;
use super::node::{Attribute, Block, Branch, InPlace, Loop, LoopCarry, LoopExit, Node, NodeKind, Operator};
use super::operators::infer;
use super::shape::{Shape, Symbol, SymbolId};
use super::tensor::{Tensor, TensorSource, TensorView};
use crate::error::{Error, Result};
use crate::units::Bytes;

/// Builds a [`Graph`] node by node.
///
/// ```
/// use tileheap_tensor::{ElementType, GraphBuilder};
///
/// let mut graph = GraphBuilder::new("two layers");
/// let x = graph.input("x", ElementType::Float16, [1, 3, 224, 224]);
/// let w = graph.constant("w", ElementType::Float16, [32, 3, 3, 3]);
/// let y = graph.operator("conv", "conv2d", [("strides", vec![2, 2].into()), ("padding", vec![1, 1].into())], &[x, w])?[0];
/// let z = graph.operator("act", "relu", [], &[y])?[0];
/// graph.output(z);
/// let graph = graph.build()?;
/// assert_eq!(graph.tensor(z).shape.fixed().unwrap(), [1, 32, 112, 112]);
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    graph: Graph,
    /// Blocks under construction, the innermost last.
    open: Vec<Open>,
    /// The names that symbols already have.
    symbol_names: BTreeSet<String>,
}

/// Maximum length of the name of a tensor in a body, in bytes.
#[cfg(feature = "onnx")]
const MAX_NAME: usize = 1024;

/// Maximum number of dimensions of a node's output.
const MAX_RANK: usize = 64;

/// Maximum number of terms of a dimension of a node's output; a longer expression is replaced by a symbol.
const MAX_TERMS: usize = 32;
/// Maximum number of terms of all dimensions of a node's output; above it, every dimension of several terms is replaced by a symbol.
const MAX_SHAPE_TERMS: usize = 128;

#[derive(Clone, Debug, Default)]
struct Open {
    block: BlockId,
    carried: Vec<LoopCarry>,
    exits: Vec<LoopExit>,
    rounds: Option<u64>,
}

impl GraphBuilder {
    /// Starts an empty graph with this name.
    pub fn new(name: impl Into<String>) -> GraphBuilder {
        GraphBuilder {
            graph: Graph {
                name: name.into(),
                symbols: Vec::new(),
                tensors: Vec::new(),
                nodes: Vec::new(),
                blocks: vec![Block::default()],
                notes: Vec::new(),
            },
            open: vec![Open::default()],
            symbol_names: BTreeSet::new(),
        }
    }

    /// Adds a symbol with a range of values, both ends included.
    pub fn symbol(&mut self, name: impl Into<String>, least: u64, most: u64) -> SymbolId {
        self.add_symbol(Symbol {
            name: name.into(),
            range: Some((least, most)),
            example: None,
        })
    }

    /// Adds a symbol.
    pub fn add_symbol(&mut self, symbol: Symbol) -> SymbolId {
        self.symbol_names.insert(symbol.name.clone());
        self.graph.symbols.push(symbol);
        SymbolId(self.graph.symbols.len() as u32 - 1)
    }

    /// Adds a symbol; appends a number to the name if another symbol has it.
    pub(crate) fn new_symbol(
        &mut self,
        name: &str,
        range: Option<(u64, u64)>,
        example: Option<u64>,
    ) -> SymbolId {
        let mut own = name.to_owned();
        while self.symbol_names.contains(&own) {
            own = format!("{name}.{}", self.graph.symbols.len());
        }
        self.add_symbol(Symbol {
            name: own,
            range,
            example,
        })
    }

    /// The range of a symbol, if it has one.
    #[cfg(feature = "onnx")]
    pub(crate) fn symbol_range(&self, symbol: SymbolId) -> Option<(u64, u64)> {
        self.graph.symbols.get(symbol.0 as usize)?.range
    }

    /// Gives a range to a symbol that has none.
    #[cfg(feature = "onnx")]
    pub(crate) fn limit_symbol(&mut self, symbol: SymbolId, range: (u64, u64)) {
        self.graph.symbols[symbol.0 as usize].range.get_or_insert(range);
    }

    /// Replaces dimensions that are expressions of many terms by symbols of the same range, because the number of terms may double with every node. Fails if
    /// there are more than [`MAX_RANK`] dimensions, or if such an expression has neither bounds nor an example.
    pub(crate) fn limit_shape(&mut self, name: &str, shape: &mut Shape) -> Result<(), String> {
        let rank = shape.rank();
        if rank > MAX_RANK {
            return Err(format!(
                "its result has {rank} dimensions; at most {MAX_RANK} are supported"
            ));
        }
        let all: usize = shape.0.iter().map(|dim| dim.terms(MAX_TERMS + 1)).sum();
        let most = if all > MAX_SHAPE_TERMS { 1 } else { MAX_TERMS };
        for (axis, dim) in shape.0.iter_mut().enumerate() {
            if dim.terms(most + 1) <= most {
                continue;
            }
            let symbol = |symbol: SymbolId| self.graph.symbols.get(symbol.0 as usize);
            let number = |value: u64| i64::try_from(value).ok();
            let range = |id: SymbolId| {
                let (least, most) = symbol(id)?.range?;
                Some((number(least)?, number(most)?))
            };
            let range = dim.bounds(&range).filter(|&(_, most)| most >= 0);
            let range = range.map(|(least, most)| (least.max(0) as u64, most as u64));
            let example = dim.at(&|id| number(symbol(id)?.example?));
            let example = example.and_then(|example| u64::try_from(example).ok());
            if range.is_none() && example.is_none() {
                let terms = if most == 1 { "term" } else { "terms" };
                return Err(format!(
                    "axis {axis} of its result is an expression of more than {most} {terms} and has no bound below 2^63: give ranges to its symbols"
                ));
            }
            *dim = self.new_symbol(&format!("{name}.{axis}"), range, example).into();
        }
        Ok(())
    }

    /// Adds an input of the graph.
    pub fn input(
        &mut self,
        name: impl Into<String>,
        element: ElementType,
        shape: impl Into<Shape>,
    ) -> TensorId {
        let id = self.add(
            name.into(),
            element,
            shape.into(),
            TensorSource::Input(BlockId::ROOT),
        );
        self.graph.blocks[0].inputs.push(id);
        id
    }

    /// Adds a constant, such as weights, which any block may read.
    pub fn constant(
        &mut self,
        name: impl Into<String>,
        element: ElementType,
        shape: impl Into<Shape>,
    ) -> TensorId {
        self.add(name.into(), element, shape.into(), TensorSource::Constant)
    }

    /// Marks a tensor as an output of the graph.
    pub fn output(&mut self, tensor: TensorId) {
        self.graph.blocks[0].outputs.push(tensor);
    }

    /// Adds a node and infers its output shapes; outputs are named after the node.
    ///
    /// Known operators, over `[n, c, h, w]` and `[o, i, h, w]`: `conv2d` (`strides`, `padding`, `dilations`, `groups`), `conv2d_transpose`,
    /// `max_pool2d` and `avg_pool2d` (`kernel`, `strides`, `padding`, `ceil_mode`), `global_avg_pool2d`, `resize2d` (`scale`); over any shapes:
    /// `dense` (`[.., k]` by `[o, k]`), `matmul`, `reshape` (`shape`), `flatten` (`axis`), `transpose` (`axes`), `concat` (`axis`), `slice` (`axis`,
    /// `begin`, `end`), `split` (`axis`, `parts`), `pad`, `softmax`, `layer_norm`, `batch_norm`, `reduce` (`axes`, `keep`), `cast` (`to`),
    /// elementwise operators of one operand (`relu`, `relu6`, `hard_swish`, `sigmoid`, `tanh`, `exp`, ...) and of two (`add`, `sub`, `mul`, `div`,
    /// `less`, ...). Elementwise outputs may overwrite an operand of the same shape; a reshape is a view.
    ///
    /// A dimension that is an expression of more than 32 terms becomes a symbol of the same range, named after the output and axis.
    ///
    /// # Errors
    /// The operator is not known (see [`GraphBuilder::node`]) or does not take these shapes; an output has more than 64 dimensions, or a long
    /// expression has no bound.
    pub fn operator<'a>(
        &mut self,
        name: &str,
        operator: &str,
        attributes: impl IntoIterator<Item = (&'a str, Attribute)>,
        inputs: &[TensorId],
    ) -> Result<Vec<TensorId>> {
        let attributes = attributes
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let operator = Operator {
            name: operator.to_owned(),
            attributes: attributes.collect(),
        };
        let operands: Vec<&Tensor> = inputs.iter().map(|&input| self.tensor(input)).collect();
        let fault = |problem| Error::operator(name, &operator.name, problem);
        let mut inferred = infer(&operator, &operands, &self.graph.symbols).map_err(fault)?;
        for (_, shape) in &mut inferred.outputs {
            self.limit_shape(name, shape).map_err(fault)?;
        }
        let outputs = named(name, inferred.outputs);
        let outputs = self.node(name, operator, inputs, outputs, inferred.in_place);
        if let Some(base) = inferred.view_of {
            self.view(outputs[0], inputs[base as usize], Bytes::ZERO);
        }
        Ok(outputs)
    }

    /// The shapes that an operator's outputs have with these operands; `None` if they cannot be inferred.
    pub(crate) fn inferred(&self, operator: &Operator, inputs: &[TensorId]) -> Option<Vec<Shape>> {
        let operands: Vec<&Tensor> = inputs.iter().map(|&input| self.tensor(input)).collect();
        let inferred = infer(operator, &operands, &self.graph.symbols).ok()?;
        Some(inferred.outputs.into_iter().map(|(_, shape)| shape).collect())
    }

    /// Adds a node with any operator, given its outputs and the inputs that they may overwrite.
    pub fn node(
        &mut self,
        name: impl Into<String>,
        operator: Operator,
        inputs: &[TensorId],
        outputs: Vec<(String, ElementType, Shape)>,
        in_place: Vec<InPlace>,
    ) -> Vec<TensorId> {
        self.making(
            name.into(),
            NodeKind::Operator(operator),
            inputs,
            outputs,
            in_place,
        )
    }

    /// Adds a node whose output tensors are already declared, for file readers; [`GraphBuilder::build`] rejects a tensor with two producers.
    pub(crate) fn node_with_outputs(&mut self, node: Node) {
        self.push(node.name, node.kind, &node.inputs, &node.outputs, node.in_place);
    }

    /// Declares a tensor that a later [`GraphBuilder::node_with_outputs`] produces.
    pub(crate) fn declare(&mut self, name: String, element: ElementType, shape: Shape) -> TensorId {
        self.add(name, element, shape, TensorSource::Node(NodeId(u32::MAX)))
    }

    /// Adds a loop. `body` builds one round from the parameters, one per input, and calls
    /// [`GraphBuilder::exit_unless`] and [`GraphBuilder::carry`]. The outputs have the shapes of the first exit's results.
    ///
    /// # Errors
    /// The errors of `body`.
    pub fn repeat(
        &mut self,
        name: &str,
        inputs: &[TensorId],
        body: impl FnOnce(&mut GraphBuilder, &[TensorId]) -> Result<()>,
    ) -> Result<Vec<TensorId>> {
        let parameters = self.open(name, inputs);
        body(self, &parameters)?;
        Ok(self.close_loop(name, inputs))
    }

    /// Adds an exit to a loop's body, after the nodes so far: the loop is left with these results if `condition` is 0.
    pub fn exit_unless(&mut self, condition: TensorId, results: &[TensorId]) {
        let open = self.open.last_mut().expect("a block is open");
        open.exits.push(LoopExit {
            after: self.graph.blocks[open.block.index()].nodes.len() as u32,
            condition,
            results: results.to_vec(),
        });
    }

    /// Makes `value` the next value of the parameter `into`, at the end of each round of a loop's body.
    pub fn carry(&mut self, value: TensorId, into: TensorId) {
        let open = self.open.last_mut().expect("a block is open");
        open.carried.push(LoopCarry { value, into });
    }

    /// Declares, in a loop's body, that exactly `count` complete rounds run, and that the only exit is taken in the next one. The planner then knows which
    /// round produces the results.
    pub fn rounds(&mut self, count: u64) {
        self.open.last_mut().expect("a block is open").rounds = Some(count);
    }

    /// Adds a branch; `inputs[0]` selects the arm that runs. `arm` builds each arm from its parameters and returns its outputs.
    ///
    /// # Errors
    /// The errors of `arm`.
    pub fn branch(
        &mut self,
        name: &str,
        inputs: &[TensorId],
        arms: u32,
        mut arm: impl FnMut(&mut GraphBuilder, u32, &[TensorId]) -> Result<Vec<TensorId>>,
    ) -> Result<Vec<TensorId>> {
        let mut blocks = Vec::new();
        for index in 0..arms {
            let parameters = self.open(&format!("{name}.{index}"), inputs);
            let outputs = arm(self, index, &parameters)?;
            blocks.push(self.close_arm(outputs));
        }
        Ok(self.close_branch(name, blocks, inputs))
    }

    /// Makes `tensor` a view of the bytes of `base` from `offset` on.
    pub fn view(&mut self, tensor: TensorId, base: TensorId, offset: Bytes) {
        self.graph.tensors[tensor.index()].view = Some(TensorView { base, offset });
    }

    /// Pins a tensor to the memory of this name.
    pub fn pin(&mut self, tensor: TensorId, memory: impl Into<String>) {
        self.graph.tensors[tensor.index()].memory = Some(memory.into());
    }

    /// Makes an input keep its bytes from run to run, for weights, caches and anything else that the caller writes only once.
    pub fn keep(&mut self, input: TensorId) {
        self.graph.tensors[input.index()].kept = true;
    }

    /// Sets the pool entry and storage scope that another tool assigned to a tensor.
    pub fn storage(&mut self, tensor: TensorId, storage_id: Option<u32>, scope: Option<String>) {
        let tensor = &mut self.graph.tensors[tensor.index()];
        tensor.storage_id = storage_id;
        tensor.scope = scope;
    }

    /// Prefixes the names of all tensors from `first` on, since bodies in files have their own namespaces. Names that become too long
    /// end with the tensor's number instead.
    #[cfg(feature = "onnx")]
    pub(crate) fn prefix_names(&mut self, first: usize, prefix: &str) {
        for (index, tensor) in self.graph.tensors.iter_mut().enumerate().skip(first) {
            tensor.name.insert_str(0, prefix);
            if tensor.name.len() > MAX_NAME {
                tensor.name = format!("{}~{index}", tileheap_json::clip(&tensor.name));
            }
        }
    }

    /// The results of a closed arm.
    #[cfg(feature = "onnx")]
    pub(crate) fn arm_outputs(&self, arm: BlockId) -> &[TensorId] {
        &self.graph.blocks[arm.index()].outputs
    }

    /// Appends to a closed arm a node that copies one of the arm's results to a tensor of another shape, which replaces the result; returns this tensor.
    #[cfg(feature = "onnx")]
    pub(crate) fn reshape_result(&mut self, arm: BlockId, output: usize, shape: Shape) -> TensorId {
        let result = self.graph.blocks[arm.index()].outputs[output];
        let of = self.tensor(result);
        let (name, element) = (format!("{}/{}/{output}", of.name, arm.index()), of.element);
        self.open.push(Open {
            block: arm,
            ..Open::default()
        });
        let outputs = vec![(name.clone(), element, shape)];
        let made = self.node(name, Operator::named("reshape"), &[result], outputs, Vec::new())[0];
        self.open.pop();
        self.graph.blocks[arm.index()].outputs[output] = made;
        made
    }

    #[cfg(feature = "onnx")]
    pub(crate) fn rename(&mut self, tensor: TensorId, name: &str) {
        self.graph.tensors[tensor.index()].name = name.to_owned();
    }

    #[cfg(feature = "onnx")]
    pub(crate) fn tensor_count(&self) -> usize {
        self.graph.tensors.len()
    }

    #[cfg(feature = "onnx")]
    pub(crate) fn tensors(&self) -> &[Tensor] {
        &self.graph.tensors
    }

    /// Adds a note to [`Graph::notes`].
    pub fn note(&mut self, note: impl Into<String>) {
        self.graph.notes.push(note.into());
    }

    /// The current description of a tensor.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.graph.tensors[id.index()]
    }

    /// Validates the graph.
    ///
    /// # Errors
    /// A node reads a tensor that is not produced before it, a tensor has two producers, a name occurs twice, a dimension is negative
    /// or has no bound, or the parts of a loop, branch or view do not match.
    pub fn build(self) -> Result<Graph> {
        let mut graph = self.graph;
        graph.validate()?;
        Ok(graph)
    }

    /// Begins a body of a loop or branch, to which subsequent nodes are added; returns its parameters.
    pub(crate) fn open(&mut self, name: &str, inputs: &[TensorId]) -> Vec<TensorId> {
        let block = BlockId(self.graph.blocks.len() as u32);
        self.graph.blocks.push(Block::default());
        let mut parameters = Vec::with_capacity(inputs.len());
        for (index, (element, shape)) in self.forms(inputs).into_iter().enumerate() {
            parameters.push(self.add(
                format!("{name}/{index}"),
                element,
                shape,
                TensorSource::Input(block),
            ));
        }
        self.graph.blocks[block.index()].inputs.clone_from(&parameters);
        self.open.push(Open {
            block,
            ..Open::default()
        });
        parameters
    }

    /// Ends the innermost open body as a loop with these inputs.
    pub(crate) fn close_loop(&mut self, name: &str, inputs: &[TensorId]) -> Vec<TensorId> {
        let Open {
            block,
            carried,
            exits,
            rounds,
        } = self.open.pop().expect("the body is open");
        let results = exits.first().map_or(&[][..], |exit| &exit.results);
        let outputs = named(name, self.forms(results));
        let body = block;
        let kind = NodeKind::Loop(Loop {
            body,
            carried,
            exits,
            rounds,
        });
        self.making(name.to_owned(), kind, inputs, outputs, Vec::new())
    }

    /// Ends the innermost open body as an arm with these outputs.
    pub(crate) fn close_arm(&mut self, outputs: Vec<TensorId>) -> BlockId {
        let block = self.open.pop().expect("the arm is open").block;
        self.graph.blocks[block.index()].outputs = outputs;
        block
    }

    /// Adds a branch between existing arms.
    pub(crate) fn close_branch(
        &mut self,
        name: &str,
        arms: Vec<BlockId>,
        inputs: &[TensorId],
    ) -> Vec<TensorId> {
        let results = arms.first().map(|arm| &self.graph.blocks[arm.index()].outputs);
        let outputs = named(name, self.forms(results.map_or(&[], Vec::as_slice)));
        let kind = NodeKind::Branch(Branch { arms });
        self.making(name.to_owned(), kind, inputs, outputs, Vec::new())
    }

    fn forms(&self, tensors: &[TensorId]) -> Vec<(ElementType, Shape)> {
        let form = |&id: &TensorId| (self.tensor(id).element, self.tensor(id).shape.clone());
        tensors.iter().map(form).collect()
    }

    /// Adds a node and the tensors that it produces.
    fn making(
        &mut self,
        name: String,
        kind: NodeKind,
        inputs: &[TensorId],
        outputs: Vec<(String, ElementType, Shape)>,
        in_place: Vec<InPlace>,
    ) -> Vec<TensorId> {
        let source = TensorSource::Node(self.next_node());
        let outputs = outputs.into_iter();
        let ids: Vec<TensorId> = outputs
            .map(|(name, element, shape)| self.add(name, element, shape, source))
            .collect();
        self.push(name, kind, inputs, &ids, in_place);
        ids
    }

    fn next_node(&self) -> NodeId {
        NodeId(self.graph.nodes.len() as u32)
    }

    fn push(
        &mut self,
        name: String,
        kind: NodeKind,
        inputs: &[TensorId],
        outputs: &[TensorId],
        in_place: Vec<InPlace>,
    ) {
        let id = self.next_node();
        let block = self.open.last().expect("a block is open").block;
        self.graph.blocks[block.index()].nodes.push(id);
        self.graph.nodes.push(Node {
            name,
            kind,
            block,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            in_place,
        });
    }

    fn add(&mut self, name: String, element: ElementType, shape: Shape, source: TensorSource) -> TensorId {
        self.graph.tensors.push(Tensor {
            name,
            element,
            shape,
            source,
            view: None,
            storage_id: None,
            scope: None,
            memory: None,
            kept: false,
        });
        TensorId(self.graph.tensors.len() as u32 - 1)
    }
}

/// Names the outputs after the node, numbered if there are several.
fn named(node: &str, forms: Vec<(ElementType, Shape)>) -> Vec<(String, ElementType, Shape)> {
    let several = forms.len() > 1;
    let named = |(index, (element, shape)): (usize, _)| match several {
        true => (format!("{node}.{index}"), element, shape),
        false => (node.to_owned(), element, shape),
    };
    forms.into_iter().enumerate().map(named).collect()
}
