//! ExecuTorch programs (`.pte`): the memory and offset of every tensor, and the instructions that use it.
//!
//! ```text
//! plan ─► values: tensors with memory_id, memory_offset ─► chains ─► instructions ─► KernelCall: operands …, results
//! ```
//! A tensor is live from the first instruction that writes it to the last one that reads it; inputs from the start, outputs to the end,
//! tensors with initial contents or that are read before they are written (state) always. Nothing is computed in place, except by operators
//! whose result is an operand itself; results of `et_view` share their operand's bytes, and so do views whose operators were removed: tensors
//! that nothing writes, placed where a tensor of the same size was. The memories of each plan are judged separately.
//!
//! Source: pytorch/executorch, `schema/program.fbs` at 64582435, `exir/emit/_emitter.py` and `exir/passes/replace_view_copy_with_view_pass.py`.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::flatbuffer::{Field, File, Table};
use super::types::{Allocations, Arena, Buffer, BufferFault, Fault, SharedData};
use crate::error::Result;
use crate::units::{Alignment, Bytes, Span, Step};

pub(super) const FORMAT: &str = "ExecuTorch program";

/// Maximum total number of operands in the instructions of an execution plan.
const MAX_ACCESSES: usize = 1 << 24;

/// Reads the memory plans of a program.
///
/// # Errors
/// [`Error::Parse`](crate::Error::Parse) with the field that is missing or wrong.
pub fn read_executorch(bytes: &[u8]) -> Result<Allocations> {
    let file = File::new(bytes, FORMAT);
    check_length(&file)?;
    let plans = file.root()?.tables((1, "`execution_plan`"))?;
    let mut allocations = Allocations {
        format: FORMAT,
        numbered: "value",
        ..Allocations::default()
    };
    if plans.is_empty() {
        return Err(file.invalid("`execution_plan` is empty"));
    }
    for (index, &of) in plans.iter().enumerate() {
        let name = match of.text((0, "`execution_plan.name`"))? {
            name if name.is_empty() => index.to_string(),
            name => name,
        };
        let mut values = Vec::new();
        for value in of.tables(VALUES)? {
            values.push(Value::read(&file, value)?);
        }
        let mut plan = Plan {
            file: &file,
            lifetimes: vec![Lifetime::default(); values.len()],
            data: (0..values.len() as u32).map(|value| (value, None)).collect(),
            operators: of
                .tables((6, "`operators`"))?
                .iter()
                .map(operator_name)
                .collect::<Result<_>>()?,
            values,
            steps: vec![format!("{name}: inputs")],
            loops: Vec::new(),
            accesses: Cell::new(0),
            first: allocations.steps.len() as u32,
        };
        plan.run(of)?;
        plan.finish(
            &name,
            plans.len() > 1,
            &of.longs((8, "`non_const_buffer_sizes`"))?,
            &mut allocations,
        )?;
    }
    Ok(allocations)
}

/// Checks that the file is as long as its extended header says. The header follows the identifier: `eh00`, the header's length, the program's
/// length, the offset of the segments, and in newer files their length.
fn check_length(file: &File<'_>) -> Result<()> {
    let bytes = file.bytes();
    let word = |at: usize| {
        bytes.get(at..at + 8).map_or(0, |word| {
            word.iter()
                .rev()
                .fold(0, |value, &byte| value << 8 | u64::from(byte))
        })
    };
    if bytes.get(8..12) != Some(b"eh00") {
        return Ok(());
    }
    let header = word(12) & 0xffff_ffff;
    let (program, segments) = (word(16), word(24));
    let segment_bytes = if header >= 32 { word(32) } else { 0 };
    let needed = program.max(segments.saturating_add(segment_bytes));
    if needed > bytes.len() as u64 {
        let problem = format!(
            "the file is incomplete: it has {} bytes, but its header says {needed}",
            bytes.len()
        );
        return Err(file.invalid(problem));
    }
    Ok(())
}

const VALUES: Field = (2, "`values`");

fn operator_name(of: &Table<'_>) -> Result<String> {
    of.text((0, "`operator.name`"))
}

/// A value of an execution plan.
enum Value {
    Tensor(Tensor),
    /// A list of tensors, as indices of values.
    List(Vec<i32>),
    Other,
}

struct Tensor {
    name: String,
    /// The size; `None` if it has no upper bound.
    size: Option<u64>,
    element: u64,
    has_data: bool,
    /// The memory and the offset, if the plan places the tensor.
    place: Option<(u32, u64)>,
}

/// Tags of the union of values: a tensor, a list of tensors, and a list of optional tensors.
const TENSOR: u8 = 5;
const TENSOR_LIST: u8 = 10;
const OPTIONAL_TENSOR_LIST: u8 = 11;

/// The size in bytes of an element of a `ScalarType`; `None` if it is not known.
fn element_size(of: u8) -> Option<u64> {
    const SIZES: [u64; 30] = [
        1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1, 1, 0, 0, 0, 0, 2, 1, 1, 1, 1, 2, 4, 8,
    ];
    SIZES.get(usize::from(of)).copied().filter(|&size| size > 0)
}

impl Value {
    fn read(file: &File<'_>, value: Table<'_>) -> Result<Value> {
        let kind = value.u8((0, "`value.val_type`"))?;
        let Some(of) = value.table((1, "`value.val`"))? else {
            return Ok(Value::Other);
        };
        match kind {
            TENSOR => Tensor::read(file, of).map(Value::Tensor),
            TENSOR_LIST | OPTIONAL_TENSOR_LIST => Ok(Value::List(of.ints((0, "`list.items`"))?)),
            _ => Ok(Value::Other),
        }
    }
}

impl Tensor {
    fn read(file: &File<'_>, of: Table<'_>) -> Result<Tensor> {
        let element = element_size(of.u8((0, "`tensor.scalar_type`"))?);
        let is_bounded = of.u8((8, "`tensor.shape_dynamism`"))? < 2;
        let mut size = element.filter(|_| is_bounded);
        for dim in of.ints((2, "`tensor.sizes`"))? {
            let dim = u64::try_from(dim).map_err(|_| {
                file.invalid(format!(
                    "`tensor.sizes` contains {dim}, but sizes must not be negative"
                ))
            })?;
            size = size.and_then(|size| size.checked_mul(dim));
        }
        let place = match of.table((6, "`tensor.allocation_info`"))? {
            None => None,
            Some(details) => {
                let [low, high] =
                    [(1, "`memory_offset_low`"), (2, "`memory_offset_high`")].map(|of| details.u32(of));
                let offset = u64::from(high?) << 32 | u64::from(low?);
                Some((details.u32((0, "`memory_id`"))?, offset))
            }
        };
        let extra = of.table((9, "`tensor.extra_tensor_info`"))?;
        let name = extra
            .map(|extra| extra.text((1, "`fully_qualified_name`")))
            .transpose()?;
        Ok(Tensor {
            name: name.unwrap_or_default(),
            size,
            element: element.unwrap_or(1),
            has_data: of.u32((5, "`tensor.data_buffer_idx`"))? > 0,
            place,
        })
    }
}

/// The steps at which a value is written and read.
#[derive(Clone, Copy, Debug, Default)]
struct Lifetime {
    written: Option<u32>,
    /// The step of the first read, if it comes before any write.
    unwritten_read: Option<u32>,
    last: Option<u32>,
}

struct Plan<'a> {
    file: &'a File<'a>,
    values: Vec<Value>,
    operators: Vec<String>,
    lifetimes: Vec<Lifetime>,
    /// For each value, the value whose data it refers to and, if it is a view, the value that it is a view of.
    data: Vec<(u32, Option<usize>)>,
    steps: Vec<String>,
    /// Backward jumps: the steps that jump, with their targets.
    loops: Vec<(u32, u32)>,
    accesses: Cell<usize>,
    /// The program's step at which the plan starts.
    first: u32,
}

impl Plan<'_> {
    /// The tensors among values, including elements of lists.
    fn tensors(&self, values: &[i32]) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        for &value in values.iter().filter(|&&value| value >= 0) {
            let before = found.len();
            match self.value(value)? {
                Value::Tensor(_) => found.push(value as usize),
                Value::List(items) => {
                    for &item in items.iter().filter(|&&item| item >= 0) {
                        if let Value::Tensor(_) = self.value(item)? {
                            found.push(item as usize);
                        }
                    }
                }
                Value::Other => {}
            }
            self.accesses.set(self.accesses.get() + found.len() - before);
            if self.accesses.get() > MAX_ACCESSES {
                return Err(self.file.invalid(format!(
                    "the instructions of an execution plan have more than {MAX_ACCESSES} operands"
                )));
            }
        }
        Ok(found)
    }

    fn value(&self, index: i32) -> Result<&Value> {
        let value = usize::try_from(index)
            .ok()
            .and_then(|index| self.values.get(index));
        value.ok_or_else(|| {
            self.file.invalid(format!(
                "value index {index} is out of range: the program has {} values",
                self.values.len()
            ))
        })
    }

    fn write(&mut self, value: usize, step: u32) {
        let lifetime = &mut self.lifetimes[value];
        lifetime.written.get_or_insert(step);
        lifetime.last = Some(step);
    }

    fn read(&mut self, value: usize, step: u32) {
        let lifetime = &mut self.lifetimes[value];
        if lifetime.written.is_none() {
            lifetime.unwritten_read.get_or_insert(step);
        }
        lifetime.last = Some(step);
    }

    fn run(&mut self, plan: Table<'_>) -> Result<()> {
        let delegates = plan.tables((7, "`delegates`"))?;
        for value in self.tensors(&plan.ints((3, "`inputs`"))?)? {
            self.write(value, 0);
        }
        for chain in plan.tables((5, "`chains`"))? {
            let base = self.steps.len() as u32;
            for instruction in chain.tables((2, "`instructions`"))? {
                let step = self.steps.len() as u32;
                let kind = instruction.u8((0, "`instr_args_type`"))?;
                let arguments = instruction.table((1, "`instr_args`"))?;
                let arguments = arguments.ok_or_else(|| self.file.invalid("`instr_args` is missing"))?;
                let name = match kind {
                    1 => self.kernel(arguments, step)?,
                    2 => {
                        let index = arguments.i32((0, "`delegate_index`"))?;
                        self.delegate(arguments, step)?;
                        let delegate = usize::try_from(index).ok().and_then(|index| delegates.get(index));
                        let name = delegate
                            .map(|delegate| delegate.text((0, "`delegate.id`")))
                            .transpose()?;
                        name.unwrap_or_else(|| "delegate".to_owned())
                    }
                    3 => {
                        let (from, to) = (
                            arguments.i32((0, "`move_from`"))?,
                            arguments.i32((1, "`move_to`"))?,
                        );
                        self.move_value(from, to, step)?;
                        "move".to_owned()
                    }
                    4 => {
                        let condition = arguments.i32((0, "`cond_value_index`"))?;
                        let target = arguments.i32((1, "`destination_instruction`"))?;
                        self.tensors(&[condition])?
                            .into_iter()
                            .for_each(|value| self.read(value, step));
                        let target = u32::try_from(target)
                            .ok()
                            .map(|target| base.saturating_add(target));
                        self.loops.extend(
                            target
                                .filter(|&target| target <= step)
                                .map(|target| (step, target)),
                        );
                        "jump".to_owned()
                    }
                    _ => "free".to_owned(),
                };
                self.steps.push(name);
            }
        }
        let end = self.steps.len() as u32;
        self.steps.push("outputs".to_owned());
        for value in self.tensors(&plan.ints((4, "`outputs`"))?)? {
            self.read(value, end);
        }
        Ok(())
    }

    /// Records the reads and writes of an operator: it writes its last argument, a tensor or a list of tensors, and reads the others. An
    /// argument that it also writes is read only if it was written before.
    fn kernel(&mut self, call: Table<'_>, step: u32) -> Result<String> {
        let index = call.i32((0, "`op_index`"))?;
        let name = usize::try_from(index)
            .ok()
            .and_then(|index| self.operators.get(index))
            .cloned();
        let name = name.ok_or_else(|| {
            let count = self.operators.len();
            self.file.invalid(format!(
                "`op_index` {index} is out of range: the program has {count} operators"
            ))
        })?;
        let arguments = call.ints((1, "`kernel_call.args`"))?;
        let Some((result, operands)) = arguments.split_last() else {
            return Ok(name);
        };
        let (operands, results) = (self.tensors(operands)?, self.tensors(&[*result])?);
        let is_view = name.ends_with("et_view");
        // `out` arguments are operands as well as results.
        let written: HashSet<usize> = results.iter().copied().collect();
        let is_in_place =
            |value: &usize| !written.contains(value) || self.lifetimes[*value].written.is_some();
        let read: Vec<usize> = operands.iter().copied().filter(is_in_place).collect();
        read.iter().for_each(|&value| self.read(value, step));
        results.iter().for_each(|&value| self.write(value, step));
        if let (true, Some(&base), &[view]) = (is_view, operands.first(), &results[..]) {
            self.data[view] = (self.data[base].0, Some(base));
        }
        Ok(name)
    }

    /// Records the accesses of a delegate: it reads arguments that were written before or have data in the file, and writes the rest.
    fn delegate(&mut self, call: Table<'_>, step: u32) -> Result<()> {
        for value in self.tensors(&call.ints((1, "`delegate_call.args`"))?)? {
            let has_data = matches!(&self.values[value], Value::Tensor(tensor) if tensor.has_data);
            match self.lifetimes[value].written.is_some() || has_data {
                true => self.read(value, step),
                false => self.write(value, step),
            }
        }
        Ok(())
    }

    /// Records a read of `from` and a write of `to`, and makes `to` refer to the data of `from`.
    fn move_value(&mut self, from: i32, to: i32, step: u32) -> Result<()> {
        let (from, to) = (self.tensors(&[from])?, self.tensors(&[to])?);
        for (from, to) in from.into_iter().zip(to) {
            self.read(from, step);
            self.write(to, step);
            self.data[to].0 = self.data[from].0;
        }
        Ok(())
    }

    /// Binds views whose operators the compiler removed and which have no writer: each refers to the data of the value of the same size that
    /// was last written at its location before the view is read.
    fn bind_elided_views(&mut self) {
        let mut written: HashMap<(u32, u64, u64), Vec<(u32, usize)>> = HashMap::new();
        let place = |value: &Value| match value {
            Value::Tensor(Tensor {
                size: Some(size),
                place: Some((memory, offset)),
                has_data,
                ..
            }) => Some(((*memory, *offset, *size), *has_data)),
            _ => None,
        };
        for (index, (value, lifetime)) in self.values.iter().zip(&self.lifetimes).enumerate() {
            if let (Some((key, has_data)), true) = (place(value), lifetime.last.is_some()) {
                let step = lifetime.written.or(has_data.then_some(0));
                written
                    .entry(key)
                    .or_default()
                    .extend(step.map(|step| (step, index)));
            }
        }
        written.values_mut().for_each(|all| all.sort_unstable());
        for index in 0..self.values.len() {
            let lifetime = self.lifetimes[index];
            let (Some((key, false)), None, Some(read)) = (
                place(&self.values[index]),
                lifetime.written,
                lifetime.unwritten_read,
            ) else {
                continue;
            };
            let all = written.get(&key).map_or(&[][..], Vec::as_slice);
            let earlier = all.partition_point(|&(step, _)| step < read);
            if let Some(&(step, base)) = all[..earlier].last() {
                self.data[index].0 = self.data[base].0;
                self.lifetimes[index].written = Some(step);
                self.lifetimes[index].unwritten_read = None;
            }
        }
    }

    fn finish(
        mut self,
        name: &str,
        has_others: bool,
        sizes: &[i64],
        allocations: &mut Allocations,
    ) -> Result<()> {
        let count = self.steps.len() as u32;
        if self.loops.len().saturating_mul(self.values.len()) > MAX_ACCESSES {
            return Err(self
                .file
                .invalid(format!("too many backward jumps: {}", self.loops.len())));
        }
        for &(end, start) in &self.loops {
            for lifetime in &mut self.lifetimes {
                // A value that is live when a loop starts and used in the loop is needed in every round.
                let is_from_before = lifetime.written.is_none_or(|written| written < start);
                if let Some(last) = lifetime
                    .last
                    .as_mut()
                    .filter(|last| is_from_before && **last >= start)
                {
                    *last = end.max(*last);
                }
            }
        }
        self.bind_elided_views();
        let (first_arena, first_buffer) = (allocations.arenas.len() as u32, allocations.buffers.len());
        for (memory, &size) in sizes.iter().enumerate().skip(1) {
            let size = u64::try_from(size).map_err(|_| {
                self.file.invalid(format!(
                    "`non_const_buffer_sizes`: memory {memory} has the negative size {size}"
                ))
            })?;
            allocations.arenas.push(Arena {
                name: match has_others {
                    true => format!("{name}.{memory}"),
                    false => memory.to_string(),
                },
                size: Some(Bytes(size)),
            });
        }
        let mut buffer_of = vec![None; self.values.len()];
        let mut unbounded = 0;
        let mut unplaced_views = 0;
        for (index, value) in self.values.iter().enumerate() {
            let Value::Tensor(tensor) = value else { continue };
            let Some((memory, offset)) = tensor.place else {
                unplaced_views += usize::from(self.data[index].1.is_some());
                continue;
            };
            let lifetime = self.lifetimes[index];
            let Some(last) = lifetime.last else { continue };
            let Some(size) = tensor.size else {
                unbounded += 1;
                continue;
            };
            if memory == 0 || memory as usize >= sizes.len() {
                let known = sizes.len().saturating_sub(1);
                let problem = format!(
                    "value {index} is in memory {memory}, but `non_const_buffer_sizes` has sizes for {known} memories, numbered from 1"
                );
                return Err(self.file.invalid(problem));
            }
            let number = allocations.buffers.len() as u32;
            let is_state =
                tensor.has_data || (lifetime.unwritten_read.is_some() && lifetime.written.is_some());
            if let Some(step) = lifetime.unwritten_read.filter(|_| !is_state) {
                let fault = BufferFault::NeverWritten {
                    step: Step(self.first + step),
                };
                allocations.faults.push(Fault {
                    buffer: number,
                    fault,
                });
            }
            let span = match (is_state, lifetime.written) {
                (true, _) => Span::new(0, count),
                (false, Some(written)) => Span::new(written, last + 1),
                (false, None) => Span::default(),
            };
            let lifetimes = vec![Span::new(self.first + span.first.0, self.first + span.end.0)];
            buffer_of[index] = Some(number);
            allocations.buffers.push(Buffer {
                name: match tensor.name.is_empty() {
                    true => format!("value {index}"),
                    false => tensor.name.clone(),
                },
                index: index as u64,
                arena: first_arena + memory - 1,
                offset: Bytes(offset),
                size: Bytes(size),
                alignment: Alignment::new(tensor.element).unwrap_or(Alignment::ONE),
                lifetimes,
                view: Some(SharedData {
                    data: first_buffer as u32 + self.data[index].0,
                    offset: 0,
                }),
            });
        }
        for (view, base) in self
            .data
            .iter()
            .enumerate()
            .filter_map(|(view, data)| Some((view, data.1?)))
        {
            let (Some(view), Some(base)) = (buffer_of[view], buffer_of[base]) else {
                continue;
            };
            let of = |index: u32| &allocations.buffers[index as usize];
            let expected = of(base).offset;
            if (of(view).arena, of(view).offset) != (of(base).arena, expected) {
                let fault = BufferFault::DetachedView { base, expected };
                allocations.faults.push(Fault { buffer: view, fault });
            }
        }
        if unbounded > 0 {
            let s = if unbounded == 1 { "" } else { "s" };
            let note =
                format!("{name}: {unbounded} tensor{s} without an upper bound on the size, not judged");
            allocations.notes.push(note);
        }
        if unplaced_views > 0 {
            // The runtime gives them the bytes of their operand.
            let s = if unplaced_views == 1 { "" } else { "s" };
            let note = format!("{name}: {unplaced_views} view{s} without a placement, not judged");
            allocations.notes.push(note);
        }
        allocations.steps.append(&mut self.steps);
        Ok(())
    }
}
