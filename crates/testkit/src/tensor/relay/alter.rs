//! Layouts as relay alters them: convolutions whose channels come in fours on packed operands, and what follows them.

use std::collections::BTreeMap;

use super::module::{Expr, ExprKind, Module, Pattern};
use tileheap_tensor::graph::{Attribute, Bounding, Node, NodeKind, Operator, Source};
use tileheap_tensor::{Graph, Result, TensorId};

/// Whether four of an axis lie side by side in an axis of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Plain,
    /// Which axis: channels of data, outputs of weights.
    Packed(usize),
}

const DATA: Form = Form::Packed(1);
const WEIGHTS: Form = Form::Packed(0);

/// The graph with packed layouts, and a transform wherever a value is wanted in another form than it is made in.
pub(super) fn alter(graph: &Graph) -> Result<Module> {
    let mut shapes = Vec::with_capacity(graph.tensors().len());
    for id in graph.tensor_ids() {
        shapes.push(graph.shape_bound(id, Bounding::Ranges)?);
    }
    let mut altered = Altered {
        graph,
        shapes,
        made: vec![Form::Plain; graph.tensors().len()],
        exprs: Vec::new(),
        known: BTreeMap::new(),
    };
    let inputs = altered.take_plain(graph.inputs());
    for &id in &graph.block(tileheap_tensor::graph::BlockId::ROOT).nodes {
        altered.node(graph.node(id));
    }
    let outputs = altered.take_plain(graph.outputs());
    Ok(Module {
        exprs: altered.exprs,
        inputs,
        outputs,
    })
}

struct Altered<'a> {
    graph: &'a Graph,
    shapes: Vec<Vec<u64>>,
    /// The form in which each tensor is made.
    made: Vec<Form>,
    exprs: Vec<Expr>,
    known: BTreeMap<(TensorId, Form), usize>,
}

impl Altered<'_> {
    fn shape(&self, id: TensorId) -> &[u64] {
        &self.shapes[id.index()]
    }

    fn shape_in(&self, id: TensorId, form: Form) -> Vec<u64> {
        let mut shape = self.shape(id).to_vec();
        if let Form::Packed(axis) = form {
            shape[axis] /= 4;
            shape.push(4);
        }
        shape
    }

    /// Whether a tensor can be in this form: of four axes, whole fours along the packed one.
    fn fits(&self, id: TensorId, form: Form) -> bool {
        match form {
            Form::Plain => true,
            Form::Packed(axis) => self.shape(id).len() == 4 && self.shape(id)[axis] % 4 == 0,
        }
    }

    fn is_constant(&self, id: TensorId) -> bool {
        self.graph.tensor(id).source == Source::Constant
    }

    /// The expression of a tensor in a form: transformed where it is made in another; constants are transformed beforehand.
    fn take(&mut self, id: TensorId, form: Form) -> usize {
        if let Some(&known) = self.known.get(&(id, form)) {
            return known;
        }
        let tensor = self.graph.tensor(id);
        let kind = match tensor.source {
            Source::Constant => ExprKind::Constant,
            Source::Input(_) if form == Form::Plain => ExprKind::Var,
            _ => ExprKind::Call {
                operator: "layout_transform".to_owned(),
                pattern: Pattern::Injective,
                args: vec![self.take(id, self.made[id.index()])],
            },
        };
        let name = match &kind {
            ExprKind::Call { operator, .. } => format!("{operator} of {}", tensor.name),
            _ => tensor.name.clone(),
        };
        let shape = self.shape_in(id, form);
        self.add(id, form, name, shape, kind)
    }

    fn take_plain(&mut self, ids: &[TensorId]) -> Vec<usize> {
        ids.iter().map(|&id| self.take(id, Form::Plain)).collect()
    }

    fn add(&mut self, id: TensorId, form: Form, name: String, shape: Vec<u64>, kind: ExprKind) -> usize {
        self.exprs.push(Expr {
            name,
            shape,
            element: self.graph.tensor(id).element.bytes(),
            kind,
        });
        self.known.insert((id, form), self.exprs.len() - 1);
        self.exprs.len() - 1
    }

    fn node(&mut self, node: &Node) {
        let (operator, forms) = match &node.kind {
            NodeKind::Operator(operator) => (operator.name.as_str(), self.forms(node, operator)),
            _ => ("control", None),
        };
        let output = if forms.is_some() { DATA } else { Form::Plain };
        let inputs = forms.unwrap_or(vec![Form::Plain; node.inputs.len()]);
        self.call(node, operator, &inputs, output);
    }

    fn call(&mut self, node: &Node, operator: &str, inputs: &[Form], output: Form) {
        let inputs = node.inputs.iter().zip(inputs);
        let args: Vec<usize> = inputs.map(|(&input, &form)| self.take(input, form)).collect();
        for &id in &node.outputs {
            self.made[id.index()] = output;
            let shape = self.shape_in(id, output);
            let kind = ExprKind::Call {
                operator: operator.to_owned(),
                pattern: Pattern::of(operator),
                args: args.clone(),
            };
            self.add(id, output, node.name.clone(), shape, kind);
        }
    }

    /// The forms of a node's operands where its output is packed.
    fn forms(&self, node: &Node, operator: &Operator) -> Option<Vec<Form>> {
        let packs = node.outputs.iter().all(|&output| self.fits(output, DATA));
        let [first, rest @ ..] = &node.inputs[..] else {
            return None;
        };
        let is_packed = |id: TensorId| self.made[id.index()] == DATA;
        match Pattern::of(&operator.name) {
            _ if !packs => None,
            Pattern::OutElementwise if matches!(operator.name.as_str(), "conv2d" | "conv2d_transpose") => {
                let groups = match operator.attributes.get("groups") {
                    Some(&Attribute::Int(groups)) => groups as u64,
                    _ => 1,
                };
                let whole = groups == 1 || groups == self.shape(*first)[1];
                let weights = rest.first().is_some_and(|&weights| self.fits(weights, WEIGHTS));
                let forms = [DATA, WEIGHTS].into_iter().chain(std::iter::repeat(DATA));
                (whole && weights && self.fits(*first, DATA)).then(|| forms.take(node.inputs.len()).collect())
            }
            Pattern::OutElementwise if operator.name.ends_with("pool2d") => {
                is_packed(*first).then(|| vec![DATA; node.inputs.len()])
            }
            Pattern::Elementwise => is_packed(*first).then(|| vec![DATA; node.inputs.len()]),
            // As the first operand that is computed; scalars are as they are.
            Pattern::Broadcast => {
                let form = |id: TensorId| match self.shape(id).len() {
                    0 => Some(Form::Plain),
                    _ => self.fits(id, DATA).then_some(DATA),
                };
                let mut inputs = node.inputs.iter().copied();
                let forms: Option<Vec<Form>> = inputs.clone().map(form).collect();
                let computed = inputs.find(|&input| !self.is_constant(input));
                forms.filter(|_| computed.is_some_and(is_packed))
            }
            Pattern::Injective if operator.name == "concat" => {
                let along = operator.attributes.get("axis") == Some(&Attribute::Int(1));
                let all = node.inputs.iter().all(|&input| is_packed(input));
                (along && all).then(|| vec![DATA; node.inputs.len()])
            }
            _ => None,
        }
    }
}
