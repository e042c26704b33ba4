//! Records of lifetimes and sizes as a table, and networks as lines of JSON.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::graph::{BlockId, Node, NodeKind};
use crate::graph::{ElementType, Graph, GraphBuilder, InPlace, Operator, Shape, TensorId};
use crate::plan::placement::SpaceItem;
use crate::units::{Bytes, Span};
use tileheap_json::{clip, parse};

/// Reads a table `id,lower,upper,size`: a tensor is live in steps `[lower, upper)`. Columns come in any order, others are ignored.
///
/// # Errors
/// [`Error::Parse`] with the number of the first invalid line.
pub fn read_records(text: &str) -> Result<Vec<SpaceItem>> {
    let wrong = |line: usize, problem: String| Error::Parse {
        format: "records",
        problem: format!("line {line}: {problem}"),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let Some((at, header)) = lines.next() else {
        return Err(wrong(1, "the header id,lower,upper,size is missing".to_owned()));
    };
    let header: Vec<String> = header
        .split(',')
        .map(|field| field.trim().to_ascii_lowercase())
        .collect();
    let column = |name: &str| {
        let found = header.iter().position(|field| field == name);
        found.ok_or_else(|| wrong(at + 1, format!("the header has no column `{name}`")))
    };
    let (id, lower, upper, size) = (column("id")?, column("lower")?, column("upper")?, column("size")?);
    let mut items = Vec::new();
    for (index, line) in lines {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != header.len() {
            return Err(wrong(
                index + 1,
                format!("{} fields, but the header has {}", fields.len(), header.len()),
            ));
        }
        let number = |column: usize| {
            let value = fields[column].parse::<u64>();
            value.map_err(|_| {
                wrong(
                    index + 1,
                    format!("{} `{}` is not a number", header[column], clip(fields[column])),
                )
            })
        };
        let step = |column: usize| {
            let value = number(column)?;
            u32::try_from(value).map_err(|_| wrong(index + 1, format!("step {value} is above 2^32 - 1")))
        };
        let (first, end) = (step(lower)?, step(upper)?);
        if first > end {
            return Err(wrong(index + 1, format!("lower {first} is above upper {end}")));
        }
        items.push(SpaceItem::record(
            fields[id],
            Span::new(first, end),
            Bytes(number(size)?),
        ));
    }
    Ok(items)
}

#[derive(Deserialize)]
struct Header {
    model: String,
    ops: u32,
    op_types: Vec<String>,
}

#[derive(Deserialize)]
struct Line {
    name: String,
    kind: String,
    op_index: i64,
    shape: Vec<u64>,
    dtype: String,
    #[serde(default)]
    consumers: Vec<u32>,
    #[serde(default)]
    inplace_of: Vec<usize>,
}

/// Reads a network as lines of JSON: first `model`, `ops` and `op_types`, then one tensor per line with its name, kind, operator, shape,
/// type, and the operators that read it.
///
/// # Errors
/// [`Error::Parse`] with the number of the first invalid line; an invalid graph.
pub fn read_lines(text: &str) -> Result<Graph> {
    let wrong = |line: usize, problem: String| Error::Parse {
        format: "network",
        problem: format!("line {line}: {problem}"),
    };
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let (at, header) = lines
        .next()
        .ok_or_else(|| wrong(1, "the text is empty".to_owned()))?;
    let header: Header = parse(header).map_err(|fault| wrong(at + 1, fault.problem))?;
    if header.op_types.len() != header.ops as usize {
        return Err(wrong(
            at + 1,
            format!("{} op_types for {} ops", header.op_types.len(), header.ops),
        ));
    }
    let mut graph = GraphBuilder::new(header.model);
    let mut nodes: Vec<Node> = header
        .op_types
        .iter()
        .enumerate()
        .map(|(index, name)| Node {
            name: format!("{name} {index}"),
            kind: NodeKind::Operator(Operator::named(name.clone())),
            block: BlockId::ROOT,
            inputs: Vec::new(),
            outputs: Vec::new(),
            in_place: Vec::new(),
        })
        .collect();
    let (mut outputs, mut in_place) = (Vec::new(), Vec::new());
    for (index, line) in lines {
        let line: Line = parse(line).map_err(|fault| wrong(index + 1, fault.problem))?;
        let element: ElementType = line.dtype.parse().map_err(|problem| wrong(index + 1, problem))?;
        let (name, shape) = (line.name, Shape::new(line.shape));
        let id = match usize::try_from(line.op_index).ok() {
            None if line.kind == "constant" => graph.constant(name, element, shape),
            None => graph.input(name, element, shape),
            Some(op) => {
                let id = graph.declare(name, element, shape);
                let node = nodes
                    .get_mut(op)
                    .ok_or_else(|| wrong(index + 1, format!("there is no op {op}")))?;
                node.outputs.push(id);
                in_place.extend(line.inplace_of.iter().map(|&of| (op, id, TensorId(of as u32))));
                id
            }
        };
        for &reader in &line.consumers {
            let node = nodes.get_mut(reader as usize);
            node.ok_or_else(|| wrong(index + 1, format!("there is no op {reader}")))?
                .inputs
                .push(id);
        }
        if line.kind == "output" {
            outputs.push(id);
        }
    }
    for (op, output, input) in in_place {
        let place =
            |of: &[TensorId], id: TensorId| of.iter().position(|&other| other == id).map(|at| at as u32);
        let node = &mut nodes[op];
        if let (Some(output), Some(input)) = (place(&node.outputs, output), place(&node.inputs, input)) {
            node.in_place.push(InPlace { output, input });
        }
    }
    for node in nodes {
        graph.node_making(node);
    }
    for output in outputs {
        graph.output(output);
    }
    graph.build()
}
