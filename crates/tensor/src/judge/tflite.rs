//! TensorFlow Lite models with an offline memory plan: the metadata `OfflineMemoryAllocation`, which Vela writes and TensorFlow Lite Micro
//! follows.
//!
//! ```text
//! version, subgraph, count, an offset for each tensor of all subgraphs, in order; -1: planned at run time
//! ```
//! A tensor is live from the operator that writes it to the last one that reads it; inputs from the start of their subgraph, outputs to
//! its end, variables always. Tensors with data are not planned.
//!
//! Source: tensorflow/lite/schema/schema.fbs; tflite-micro, `micro_allocation_info.cc` at 01010b3e and `docs/memory_management.md`.

use super::flatbuffer::{Field, File, Table};
use super::tflite_operators::{CUSTOM, Sharing, operator};
use super::types::{Allocations, Arena, Buffer, BufferFault, Fault, InPlace, SharedData};
use crate::error::Result;
use crate::units::{Alignment, Bytes, Span, Step};

pub(super) const FORMAT: &str = "TensorFlow Lite model";

/// Maximum number of steps of a model; a subgraph that runs several times counts each time.
const MAX_STEPS: usize = 1 << 20;

/// Maximum of the sum of `(inputs + 1) * (outputs + 1)` over all steps.
const MAX_ACCESSES: usize = 1 << 24;

/// Reads the offline plan of a model.
///
/// # Errors
/// [`Error::Parse`](crate::Error::Parse) with the field that is missing or wrong; the model has no offline plan.
pub fn read_tflite(bytes: &[u8]) -> Result<Allocations> {
    let file = File::new(bytes, FORMAT);
    let model = Model::read(&file)?;
    let offsets = model.offsets()?;
    let mut run = Run {
        file: &file,
        model: &model,
        steps: vec!["inputs".to_owned()],
        accesses: 0,
        subgraphs: Vec::new(),
        lifetimes: model.tensors.iter().map(|_| Vec::new()).collect(),
        read_first: vec![None; model.tensors.len()],
        in_place: Vec::new(),
        data: (0..model.tensors.len() as u32).collect(),
    };
    run.subgraph(0)?;
    Ok(run.finish(&offsets))
}

struct Tensor {
    name: String,
    /// The size; `None` if it does not follow from the shape and the type.
    size: Option<u64>,
    element: u64,
    has_data: bool,
    is_variable: bool,
}

struct Operator {
    name: String,
    sharing: Sharing,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    subgraphs: Vec<usize>,
    is_custom: bool,
}

#[derive(Default)]
struct Subgraph {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    operators: Vec<Operator>,
    count: usize,
}

/// A model; tensors are numbered over all subgraphs.
struct Model<'a> {
    file: &'a File<'a>,
    tensors: Vec<Tensor>,
    subgraphs: Vec<Subgraph>,
    plan: Option<&'a [u8]>,
}

const OPERATOR_CODES: Field = (1, "`operator_codes`");
const SUBGRAPHS: Field = (2, "`subgraphs`");
const BUFFERS: Field = (4, "`buffers`");
const METADATA: Field = (6, "`metadata`");

impl<'a> Model<'a> {
    fn read(file: &'a File<'a>) -> Result<Model<'a>> {
        let root = file.root()?;
        let buffers = root.tables(BUFFERS)?;
        let mut codes = Vec::new();
        for code in root.tables(OPERATOR_CODES)? {
            let old = i32::from(code.u8((0, "`deprecated_builtin_code`"))?);
            let builtin = code.i32((3, "`builtin_code`"))?;
            codes.push((old.max(builtin), code.text((1, "`custom_code`"))?));
        }
        let mut plan = None;
        for metadata in root.tables(METADATA)? {
            if metadata.text((0, "`metadata.name`"))? == "OfflineMemoryAllocation" {
                let index = metadata.u32((1, "`metadata.buffer`"))? as usize;
                let missing = || {
                    file.invalid(format!(
                        "`metadata.buffer` {index} is out of range: the model has {} buffers",
                        buffers.len()
                    ))
                };
                plan = Some(
                    buffers
                        .get(index)
                        .ok_or_else(missing)?
                        .bytes((0, "`buffer.data`"))?,
                );
            }
        }
        let mut model = Model {
            file,
            tensors: Vec::new(),
            subgraphs: Vec::new(),
            plan,
        };
        let subgraphs = root.tables(SUBGRAPHS)?;
        for subgraph in &subgraphs {
            let first = model.tensors.len();
            for tensor in subgraph.tables((0, "`tensors`"))? {
                model.tensors.push(read_tensor(file, tensor, &buffers)?);
            }
            let count = model.tensors.len() - first;
            let numbers = |list: Vec<i32>, name: &str| -> Result<Vec<usize>> {
                // Omitted operands are -1.
                let given = list
                    .into_iter()
                    .filter(|&index| index >= 0)
                    .map(|index| index as usize);
                let number = |index: usize| match index < count {
                    true => Ok(first + index),
                    false => Err(file.invalid(format!(
                        "{name}: tensor index {index} is out of range: the subgraph has {count} tensors"
                    ))),
                };
                given.map(number).collect()
            };
            let mut operators = Vec::new();
            for of in subgraph.tables((3, "`operators`"))? {
                let index = of.u32((0, "`opcode_index`"))? as usize;
                let missing = || {
                    file.invalid(format!(
                        "`opcode_index` {index} is out of range: the model has {} operator codes",
                        codes.len()
                    ))
                };
                let (code, custom) = codes.get(index).ok_or_else(missing)?;
                let (name, sharing) = operator(*code);
                let name = match *code {
                    CUSTOM => custom.clone(),
                    code if name == "operator" => format!("operator {code}"),
                    _ => name.to_owned(),
                };
                operators.push(Operator {
                    name,
                    sharing,
                    is_custom: *code == CUSTOM,
                    inputs: numbers(of.ints((1, "`operator.inputs`"))?, "`operator.inputs`")?,
                    outputs: numbers(of.ints((2, "`operator.outputs`"))?, "`operator.outputs`")?,
                    subgraphs: called(file, of, sharing, subgraphs.len())?,
                });
            }
            model.subgraphs.push(Subgraph {
                inputs: numbers(subgraph.ints((1, "`inputs`"))?, "`inputs`")?,
                outputs: numbers(subgraph.ints((2, "`outputs`"))?, "`outputs`")?,
                operators,
                count,
            });
        }
        match model.subgraphs.is_empty() {
            true => Err(file.invalid("`subgraphs` is missing or empty")),
            false => Ok(model),
        }
    }

    /// The offset of every tensor in the offline plan; `None` for a tensor that the plan does not place.
    fn offsets(&self) -> Result<Vec<Option<u64>>> {
        let wrong = |problem: String| self.file.invalid(format!("`OfflineMemoryAllocation`: {problem}"));
        let Some(plan) = self.plan else {
            let problem =
                "metadata `OfflineMemoryAllocation` is missing: the model has no offline memory plan";
            return Err(self.file.invalid(problem));
        };
        let words: Vec<i32> = plan
            .chunks_exact(4)
            .map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let &[version, subgraph, count, ref offsets @ ..] = &words[..] else {
            return Err(wrong(format!(
                "its size is {} bytes, but its header needs 12",
                plan.len()
            )));
        };
        if version != 0 && version != 1 {
            return Err(wrong(format!(
                "version {version} is not supported: versions 0 and 1 are"
            )));
        }
        let count = usize::try_from(count)
            .ok()
            .filter(|&count| count <= offsets.len());
        let Some(count) = count else {
            let problem = format!("its count is {}, but it has {} offsets", words[2], offsets.len());
            return Err(wrong(problem));
        };
        let mut all = vec![-1; self.tensors.len()];
        let own = usize::try_from(subgraph)
            .ok()
            .and_then(|index| self.subgraphs.get(index));
        let first = match own {
            _ if count == all.len() => 0,
            Some(own) if count == own.count => {
                let before = self.subgraphs.iter().take(subgraph as usize);
                before.map(|subgraph| subgraph.count).sum()
            }
            _ => {
                let problem = format!("it has {count} offsets, but the model has {} tensors", all.len());
                return Err(wrong(problem));
            }
        };
        all[first..first + count].copy_from_slice(&offsets[..count]);
        let offset = |(index, offset): (usize, i32)| match offset {
            -1 => Ok(None),
            _ => u64::try_from(offset).map(Some).map_err(|_| {
                let name = &self.tensors[index].name;
                wrong(format!(
                    "tensor {index}, `{name}`, has the invalid offset {offset}"
                ))
            }),
        };
        all.into_iter().enumerate().map(offset).collect()
    }
}

/// The number of bits of an element of a `TensorType`; `None` if it is not known.
fn element_bits(element: u8) -> Option<u64> {
    const BITS: [u64; 20] = [
        32, 16, 32, 8, 64, 0, 8, 16, 64, 8, 64, 128, 64, 0, 0, 32, 16, 4, 16, 2,
    ];
    BITS.get(usize::from(element)).copied().filter(|&bits| bits > 0)
}

fn read_tensor(file: &File<'_>, tensor: Table<'_>, buffers: &[Table<'_>]) -> Result<Tensor> {
    let name = tensor.text((3, "`tensor.name`"))?;
    let bits = element_bits(tensor.u8((1, "`tensor.type`"))?);
    let index = tensor.u32((2, "`tensor.buffer`"))? as usize;
    let has_data = match buffers.get(index) {
        None => {
            let problem = format!(
                "tensor `{name}`: `buffer` {index} is out of range: the model has {} buffers",
                buffers.len()
            );
            return Err(file.invalid(problem));
        }
        Some(buffer) => {
            !buffer.bytes((0, "`buffer.data`"))?.is_empty() || buffer.u64((2, "`buffer.size`"))? > 0
        }
    };
    let mut size = bits;
    for dim in tensor.ints((0, "`tensor.shape`"))? {
        let dim = u64::try_from(dim).ok();
        size = size.and_then(|size| size.checked_mul(dim?));
    }
    Ok(Tensor {
        name,
        size: size.map(|bits| bits.div_ceil(8)),
        element: bits.unwrap_or(8).div_ceil(8),
        has_data,
        is_variable: tensor.u8((5, "`tensor.is_variable`"))? != 0,
    })
}

/// Subgraphs that an operator runs.
fn called(file: &File<'_>, of: Table<'_>, sharing: Sharing, count: usize) -> Result<Vec<usize>> {
    let fields: &[Field] = match sharing {
        Sharing::If => &[(0, "`then_subgraph_index`"), (1, "`else_subgraph_index`")],
        Sharing::While => &[(0, "`cond_subgraph_index`"), (1, "`body_subgraph_index`")],
        Sharing::CallOnce => &[(0, "`init_subgraph_index`")],
        _ => return Ok(Vec::new()),
    };
    let Some(options) = of.table((4, "`builtin_options`"))? else {
        return Err(file.invalid("`builtin_options` of a control flow operator is missing"));
    };
    let index = |&field: &Field| {
        let index = options.i32(field)?;
        let known = usize::try_from(index).ok().filter(|&index| index < count);
        known.ok_or_else(|| {
            file.invalid(format!(
                "{} {index} is out of range: the model has {count} subgraphs",
                field.1
            ))
        })
    };
    fields.iter().map(index).collect()
}

/// The custom operator of Arm's Ethos-U NPUs, which plans the memory of its internal steps in a tensor that spans the arena.
const ETHOS_U: &str = "ethos-u";

/// Steps through the subgraphs in order, without computing anything, and records the lifetimes of tensors.
struct Run<'a> {
    file: &'a File<'a>,
    model: &'a Model<'a>,
    steps: Vec<String>,
    accesses: usize,
    /// The subgraphs that are running.
    subgraphs: Vec<usize>,
    lifetimes: Vec<Vec<Span>>,
    /// The first step that reads a tensor before any write, and whether a custom operator reads it.
    read_first: Vec<Option<(Step, bool)>>,
    in_place: Vec<InPlace>,
    /// For each tensor, the tensor whose data it refers to.
    data: Vec<u32>,
}

impl Run<'_> {
    fn step(&mut self, name: &str) -> Result<u32> {
        if self.steps.len() >= MAX_STEPS {
            return Err(self
                .file
                .invalid(format!("the model runs more than {MAX_STEPS} steps")));
        }
        self.steps.push(name.to_owned());
        Ok(self.steps.len() as u32 - 1)
    }

    /// Records that a tensor is written in a step.
    fn write(&mut self, tensor: usize, step: u32) {
        match self.lifetimes[tensor].last_mut() {
            Some(span) if span.end.0 > step => span.end = Step(step + 1),
            _ => self.lifetimes[tensor].push(Span::new(step, step + 1)),
        }
    }

    /// Records that the current value of a tensor is read in a step.
    fn read(&mut self, tensor: usize, step: u32, is_custom: bool) {
        match self.lifetimes[tensor].last_mut() {
            Some(span) => span.end = Step(step + 1),
            None => {
                self.read_first[tensor].get_or_insert((Step(step), is_custom));
            }
        }
    }

    fn subgraph(&mut self, index: usize) -> Result<()> {
        if self.subgraphs.contains(&index) {
            return Err(self.file.invalid(format!("subgraph {index} calls itself")));
        }
        self.subgraphs.push(index);
        let model = self.model;
        let subgraph = &model.subgraphs[index];
        let start = self.steps.len() as u32 - 1;
        for &input in &subgraph.inputs {
            self.write(input, start);
        }
        for operator in &subgraph.operators {
            let step = self.step(&operator.name)?;
            self.accesses += (1 + operator.inputs.len()) * (1 + operator.outputs.len());
            if self.accesses > MAX_ACCESSES {
                return Err(self.file.invalid(format!(
                    "the sum of (inputs + 1) * (outputs + 1) over the operators that the model runs exceeds {MAX_ACCESSES}"
                )));
            }
            for &input in &operator.inputs {
                self.read(input, step, operator.is_custom);
            }
            let mut written = step;
            if !operator.subgraphs.is_empty() {
                if operator.sharing == Sharing::While {
                    operator
                        .outputs
                        .iter()
                        .for_each(|&output| self.write(output, step));
                }
                for &called in &operator.subgraphs {
                    self.step(&format!("{}, inputs of subgraph {called}", operator.name))?;
                    self.subgraph(called)?;
                }
                written = self.step(&format!("{}, results", operator.name))?;
            }
            for &output in &operator.outputs {
                match operator.sharing {
                    Sharing::While => self.read(output, written, false),
                    _ => self.write(output, written),
                }
            }
            self.share(operator, step);
        }
        let end = self.step("outputs")?;
        for &output in &subgraph.outputs {
            self.read(output, end, false);
        }
        self.subgraphs.pop();
        Ok(())
    }

    /// Records the sharing of bytes between an operator's outputs and inputs: data that both refer to, or outputs that may be written over inputs.
    fn share(&mut self, operator: &Operator, step: u32) {
        let tensors = &self.model.tensors;
        let (inputs, outputs) = (&operator.inputs, &operator.outputs);
        match operator.sharing {
            Sharing::SameData => {
                if let (Some(&input), Some(&output)) = (inputs.first(), outputs.first()) {
                    self.data[output] = self.data[input];
                }
            }
            Sharing::Elementwise => {
                for &output in outputs {
                    let (size, element) = (tensors[output].size, tensors[output].element);
                    let fits =
                        |&&input: &&usize| (tensors[input].size, tensors[input].element) == (size, element);
                    for &input in inputs.iter().filter(fits) {
                        self.in_place.push(pair(step, output, input, true));
                    }
                }
            }
            Sharing::Disjoint if operator.name == ETHOS_U => {
                for &output in outputs {
                    let pairs = inputs.iter().map(|&input| pair(step, output, input, false));
                    self.in_place.extend(pairs);
                }
            }
            _ => {}
        }
    }

    fn finish(self, offsets: &[Option<u64>]) -> Allocations {
        let mut allocations = Allocations {
            format: FORMAT,
            numbered: "tensor",
            arenas: vec![Arena {
                name: "0".to_owned(),
                size: None,
            }],
            ..Allocations::default()
        };
        let mut buffer_of = vec![None; offsets.len()];
        let (mut online, mut scratch, mut sizeless) = (0, 0, 0);
        let always = Span::new(0, self.steps.len() as u32);
        for (index, tensor) in self.model.tensors.iter().enumerate() {
            let mut lifetimes = self.lifetimes[index].clone();
            let is_used = !lifetimes.is_empty() || self.read_first[index].is_some();
            if !tensor.is_variable && (tensor.has_data || !is_used) {
                continue;
            }
            let Some(size) = tensor.size else {
                sizeless += 1;
                continue;
            };
            let Some(offset) = offsets[index] else {
                online += usize::from(!tensor.is_variable);
                continue;
            };
            if tensor.is_variable {
                lifetimes = vec![always];
            }
            let unwritten = self.read_first[index].filter(|_| lifetimes.is_empty());
            if unwritten.is_some_and(|(_, is_custom)| is_custom) {
                scratch += 1;
                continue;
            }
            let number = allocations.buffers.len() as u32;
            buffer_of[index] = Some(number);
            if let Some((step, _)) = unwritten {
                let fault = BufferFault::NeverWritten { step };
                allocations.faults.push(Fault {
                    buffer: number,
                    fault,
                });
            }
            allocations.buffers.push(Buffer {
                name: tensor.name.clone(),
                index: index as u64,
                arena: 0,
                offset: Bytes(offset),
                size: Bytes(size),
                alignment: Alignment::new(tensor.element).unwrap_or(Alignment::ONE),
                lifetimes,
                view: Some(SharedData {
                    data: self.data[index],
                    offset: 0,
                }),
            });
        }
        let pairs = self.in_place.iter().filter_map(|pair| {
            let [output, input] = [pair.output, pair.input].map(|tensor| buffer_of[tensor as usize]);
            Some(InPlace {
                output: output?,
                input: input?,
                ..*pair
            })
        });
        allocations.in_place = pairs.collect();
        for (count, problem) in [
            (online, "planned at run time"),
            (scratch, "scratch memory of custom operators"),
            (sizeless, "without a fixed size"),
        ] {
            if count > 0 {
                let s = if count == 1 { "" } else { "s" };
                allocations
                    .notes
                    .push(format!("{problem}: {count} tensor{s}, not judged"));
            }
        }
        allocations.steps = self.steps;
        allocations
    }
}

fn pair(step: u32, output: usize, input: usize, same_offset: bool) -> InPlace {
    InPlace {
        step: Step(step),
        output: output as u32,
        input: input as u32,
        same_offset,
    }
}
