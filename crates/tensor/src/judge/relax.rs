//! TVM's Relax functions as TVMScript, after `StaticPlanBlockMemory` or later: storages, and tensors in them.
//!
//! ```text
//! storage = R.memory.alloc_storage(R.shape([8192]), 0, R.str("global"), R.dtype("float32"))
//! alloc = R.memory.alloc_tensor(storage, 0, R.shape([1, 8, 16, 16]), R.dtype("float32"), 0)
//! conv2d(x, w, alloc)                     writes `alloc`
//! lv = alloc                              another name for it
//! ```
//! A tensor is live from the first call that has it as an argument to the last one, under any name; a returned tensor is live to the
//! end. Each line is a step.
//!
//! Source: apache/tvm 0.27, `src/relax/transform/static_plan_block_memory.cc`, `python/tvm/relax/op/memory`, and the output of `Module.script()`.

use std::collections::HashMap;

use tileheap_json::clip;

use super::storages::{NOTE, StorageRange, add_storage};
use super::types::{Allocations, Buffer, BufferFault, Fault};
use crate::error::{Error, Result};
use crate::graph::ElementType;
use crate::units::{Alignment, Bytes, Span, Step};

pub(super) const FORMAT: &str = "TVM Relax script";

/// Returns true if the text allocates storages as Relax functions do in TVMScript.
pub(super) fn is_script(text: &str) -> bool {
    text.contains("R.memory.alloc_storage(")
}

/// Reads the storages of every Relax function of a script.
///
/// # Errors
/// [`Error::Parse`] with the number of the first invalid line.
pub fn read_relax(text: &str) -> Result<Allocations> {
    let mut reader = Reader {
        allocations: Allocations {
            format: FORMAT,
            numbered: "line",
            notes: vec![NOTE.to_owned()],
            ..Allocations::default()
        },
        values: HashMap::new(),
        storages: HashMap::new(),
        uses: Vec::new(),
    };
    let mut is_relax = false;
    // The first line of an unfinished function.
    let mut open: Option<u64> = None;
    let cut_off = |line: u64| {
        let problem = "the function that begins here has no `return`: the text is cut off";
        Error::parse(FORMAT, format!("line {line}: {problem}"))
    };
    for (line, text) in (1..).zip(text.lines()) {
        let statement = text.trim();
        if statement.starts_with('@') {
            is_relax = statement == "@R.function" || statement.starts_with("@R.function(");
        } else if statement.starts_with("def ") {
            if let Some(first) = open {
                return Err(cut_off(first));
            }
            open = is_relax.then_some(line);
            reader.values.clear();
            reader.storages.clear();
        } else if is_relax && !statement.is_empty() && !statement.starts_with('#') {
            if statement.split_whitespace().next() == Some("return") {
                open = None;
            }
            let wrong = |problem: String| Error::parse(FORMAT, format!("line {line}: {problem}"));
            reader.statement(line, statement).map_err(wrong)?;
        }
    }
    match open {
        Some(first) => Err(cut_off(first)),
        None => Ok(reader.finish()),
    }
}

/// Operators whose result is a view of their operand in another shape.
const VIEWS: [&str; 4] = [
    "R.reshape(",
    "R.memory.view(",
    "R.memory.ensure_zero_offset(",
    "R.match_cast(",
];

/// The first and the last step that use a tensor.
type Uses = Option<(u32, u32)>;

struct Reader {
    allocations: Allocations,
    /// The buffers that each name of the function refers to.
    values: HashMap<String, Vec<u32>>,
    storages: HashMap<String, (StorageRange, u64)>,
    /// The first and the last step that use each buffer.
    uses: Vec<Uses>,
}

impl Reader {
    fn statement(&mut self, line: u64, statement: &str) -> Result<(), String> {
        let (name, value) = match split_assignment(statement) {
            Some((target, value)) => {
                let name = target.split(':').next().unwrap_or(target);
                (name.trim(), value.trim())
            }
            None => ("", statement),
        };
        if let Some(arguments) = value.strip_prefix("R.memory.alloc_storage(") {
            return self.storage(line, name, arguments);
        }
        if let Some(arguments) = value.strip_prefix("R.memory.alloc_tensor(") {
            return self.tensor(line, name, arguments);
        }
        let is_kill = ["R.memory.kill", "R.vm.kill"]
            .iter()
            .any(|start| value.starts_with(start));
        if is_kill {
            return Ok(());
        }
        let used = self.buffers_in(value);
        let is_view =
            value.contains("\"vm.builtin.reshape\"") || VIEWS.iter().any(|start| value.starts_with(start));
        if !name.is_empty() && (is_view || is_rename(value)) {
            self.values.insert(name.to_owned(), used);
            return Ok(());
        }
        self.values.remove(name);
        let callee = value.split('(').next().unwrap_or(value);
        let step = self.allocations.steps.len() as u32;
        self.allocations.steps.push(clip(callee));
        for buffer in used {
            let uses = self.uses[buffer as usize].get_or_insert((step, step));
            uses.1 = step;
        }
        Ok(())
    }

    fn storage(&mut self, line: u64, name: &str, arguments: &str) -> Result<(), String> {
        let bytes = shape(arguments)?.into_iter().try_fold(1u64, u64::checked_mul);
        let bytes = bytes.ok_or_else(|| format!("storage `{}` exceeds 2^64 - 1 bytes", clip(name)))?;
        let range = add_storage(&mut self.allocations, &text_in(arguments, "R.str("), bytes);
        self.storages.insert(name.to_owned(), (range, line));
        Ok(())
    }

    fn tensor(&mut self, line: u64, name: &str, arguments: &str) -> Result<(), String> {
        let mut parts = arguments.splitn(3, ',').map(str::trim);
        let (storage, offset) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let known = self.storages.get(storage).copied();
        let (range, of_line) =
            known.ok_or_else(|| format!("storage `{}` is not allocated", clip(storage)))?;
        let digits = offset.trim_start_matches("R.prim_value(").trim_end_matches(')');
        let offset: u64 = digits
            .parse()
            .map_err(|_| format!("offset `{}` is not a number", clip(offset)))?;
        let element: ElementType = text_in(arguments, "R.dtype(").parse()?;
        let bits = shape(arguments)?
            .into_iter()
            .try_fold(element.bits(), u64::checked_mul);
        let size = bits
            .ok_or_else(|| format!("tensor `{}` exceeds 2^64 - 1 bits", clip(name)))?
            .div_ceil(8);
        let (end, limit) = (offset.saturating_add(size), range.size);
        let buffer = self.allocations.buffers.len() as u32;
        if end > limit {
            let fault = BufferFault::OutsideStorage {
                storage: format!("{storage} of line {of_line}"),
                end: Bytes(end),
                size: Bytes(limit),
            };
            self.allocations.faults.push(Fault { buffer, fault });
        }
        let within = offset.min(limit);
        self.allocations.buffers.push(Buffer {
            name: clip(name),
            index: line,
            arena: range.arena,
            offset: Bytes(range.first.saturating_add(within)),
            size: Bytes(size.min(limit - within)),
            alignment: Alignment::ONE,
            lifetimes: Vec::new(),
            view: None,
        });
        self.uses.push(None);
        self.values.insert(name.to_owned(), vec![buffer]);
        Ok(())
    }

    /// The buffers named in an expression, each once.
    fn buffers_in(&self, expression: &str) -> Vec<u32> {
        let mut found = Vec::new();
        for part in expression.split('"').step_by(2) {
            let names = part.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
            found.extend(names.filter_map(|name| self.values.get(name)).flatten());
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn finish(mut self) -> Allocations {
        for (buffer, uses) in self.allocations.buffers.iter_mut().zip(&self.uses) {
            let span = uses.map(|(first, last)| Span {
                first: Step(first),
                end: Step(last + 1),
            });
            buffer.lifetimes.extend(span);
        }
        self.allocations
    }
}

/// Returns true if an expression only renames known values: a name, a tuple of names, an element of a tuple.
fn is_rename(expression: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut calls = expression
        .match_indices('(')
        .map(|(at, _)| expression[..at].ends_with(is_word));
    !calls.any(|is_call| is_call) && expression.chars().all(|c| is_word(c) || " ,()[]".contains(c))
}

/// Splits an assignment at its first ` = ` outside brackets, into target and value.
fn split_assignment(statement: &str) -> Option<(&str, &str)> {
    let mut depth = 0i64;
    for (at, c) in statement.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '=' if depth == 0 && statement[..at].ends_with(' ') && statement[at + 1..].starts_with(' ') => {
                return Some((&statement[..at], &statement[at + 1..]));
            }
            _ => {}
        }
    }
    None
}

/// The numbers of the first `R.shape([…])`.
fn shape(text: &str) -> Result<Vec<u64>, String> {
    let inside = text
        .split_once("R.shape([")
        .and_then(|(_, rest)| rest.split_once(']'));
    let (inside, _) = inside.ok_or_else(|| format!("no R.shape([…]) in `{}`", clip(text)))?;
    let dims = inside.split(',').map(str::trim).filter(|dim| !dim.is_empty());
    dims.map(|dim| {
        let wrong = || {
            format!(
                "dimension `{}` is not a number: only static plans are judged",
                clip(dim)
            )
        };
        dim.parse().map_err(|_| wrong())
    })
    .collect()
}

/// The quoted text after `start`; empty if there is none.
fn text_in(text: &str, start: &str) -> String {
    let rest = text.split_once(start).map_or("", |(_, rest)| rest);
    rest.split('"').nth(1).unwrap_or("").to_owned()
}
