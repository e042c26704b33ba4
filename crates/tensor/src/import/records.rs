//! Records of lifetimes and sizes as a table, and networks as lines of JSON.

use std::collections::HashMap;

use serde::Deserialize;

use super::columns::{SpanEnds, TableColumns, parse_number};
use crate::error::{Error, Result};
use crate::graph::{ElementType, Graph, GraphBuilder, InPlace, Node, Operator, Shape, TensorId};
use crate::plan::placement::SpaceItem;
use crate::units::{Alignment, Bytes, Span};
use tileheap_json::{clip, parse, without_mark};

/// Reads a table `id,lower,upper,size`, optionally with an `alignment`: a tensor is live in steps `[lower, upper)`. Columns may be in any
/// order and have the names that [`TableColumns`] accepts; other columns are ignored. Fields may be quoted. Without ids, tensors are numbered
/// from 0.
///
/// # Errors
/// [`Error::Parse`] with the number of the first invalid line, such as one with the id of another.
pub fn read_records(text: &str) -> Result<Vec<SpaceItem>> {
    let wrong = |line: u64, problem: String| Error::parse("records", format!("line {line}: {problem}"));
    let mut lines = csv::ReaderBuilder::new();
    lines.has_headers(false).flexible(true).trim(csv::Trim::All);
    let mut header: Option<TableColumns> = None;
    let mut items = Vec::new();
    let mut lines_of: HashMap<String, u64> = HashMap::new();
    for fields in lines.from_reader(without_mark(text).as_bytes()).into_records() {
        let fields = fields.map_err(|fault| Error::parse("records", fault))?;
        let at = fields.position().map_or(1, csv::Position::line);
        if fields.iter().all(str::is_empty) {
            continue;
        }
        let Some(header) = &header else {
            let columns = TableColumns::read(&fields, &["size"], SpanEnds::ByColumn);
            header = Some(columns.map_err(|problem| wrong(at, problem))?);
            continue;
        };
        if fields.len() != header.count() {
            let problem = format!("{} fields, but the header has {}", fields.len(), header.count());
            return Err(wrong(at, problem));
        }
        let field = |name: &str| header.find(name).map_or("", |column| &fields[column]);
        let number = |name: &str| parse_number(name, field(name)).map_err(|problem| wrong(at, problem));
        let span = header.span(number("lower")?, number("upper")?);
        let (first, end) = span.map_err(|problem| wrong(at, problem))?;
        let step = |value: u64| {
            u32::try_from(value).map_err(|_| wrong(at, format!("step {value} is above 2^32 - 1")))
        };
        let id = match header.find("id") {
            Some(column) => fields[column].to_owned(),
            None => items.len().to_string(),
        };
        if let Some(other) = lines_of.insert(id.clone(), at) {
            return Err(wrong(at, format!("id `{}` is also on line {other}", clip(&id))));
        }
        let span = Span::new(step(first)?, step(end)?);
        let mut item = SpaceItem::record(&id, span, Bytes(number("size")?));
        if !field("alignment").is_empty() {
            let alignment = Alignment::new(number("alignment")?);
            item.alignment = alignment.ok_or_else(|| wrong(at, "the alignment is 0".to_owned()))?;
        }
        items.push(item);
    }
    let missing = || wrong(1, "the header id,lower,upper,size is missing".to_owned());
    header.map(|_| items).ok_or_else(missing)
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
    let wrong = |line: usize, problem: String| Error::parse("network", format!("line {line}: {problem}"));
    let lines = (1..).zip(text.lines());
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next();
    let (at, header) = header.ok_or_else(|| wrong(1, "the text is empty".to_owned()))?;
    let header: Header = parse(header).map_err(|fault| wrong(at, fault.problem))?;
    if header.op_types.len() != header.ops as usize {
        let problem = format!(
            "`op_types` has {} entries, but `ops` is {}",
            header.op_types.len(),
            header.ops
        );
        return Err(wrong(at, problem));
    }
    let mut graph = GraphBuilder::new(header.model);
    let names = header.op_types.iter().enumerate();
    let mut nodes: Vec<Node> = names
        .map(|(index, name)| Node::operator(&format!("{name} {index}"), Operator::named(name)))
        .collect();
    let (mut outputs, mut in_place) = (Vec::new(), Vec::new());
    for (at, line) in lines {
        let line: Line = parse(line).map_err(|fault| wrong(at, fault.problem))?;
        let element: ElementType = line.dtype.parse().map_err(|problem| wrong(at, problem))?;
        let (name, shape) = (line.name, Shape::new(line.shape));
        let id = match usize::try_from(line.op_index).ok() {
            None if line.kind == "constant" => graph.constant(name, element, shape),
            None => graph.input(name, element, shape),
            Some(op) => {
                let id = graph.declare(name, element, shape);
                let node = nodes
                    .get_mut(op)
                    .ok_or_else(|| wrong(at, format!("the network has no op {op}")))?;
                node.outputs.push(id);
                in_place.extend(line.inplace_of.iter().map(|&of| (op, id, TensorId(of as u32))));
                id
            }
        };
        for &reader in &line.consumers {
            let node = nodes
                .get_mut(reader as usize)
                .ok_or_else(|| wrong(at, format!("the network has no op {reader}")))?;
            node.inputs.push(id);
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
        graph.node_with_outputs(node);
    }
    for output in outputs {
        graph.output(output);
    }
    graph.build()
}
