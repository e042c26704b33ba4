//! IREE's slices, as printed by `iree-compile --compile-to=stream --mlir-print-ir-before=iree-stream-layout-slices
//! --mlir-print-ir-after=iree-stream-layout-slices`.
//!
//! ```text
//! before   %4:3 = stream.resource.pack slices({ [0, 1] = %c4096, [1, 3] = %c2048 })    lifetimes, both ends included
//!          wo %arg9[%4#1 for %c4096]                                                   a use of slice 1
//! after    wo %arg9[%c0_1 for %c4096]                                                  its offset
//! ```
//! Both dumps of a function are identical except for offsets: the n-th range of one is the n-th range of the other.
//!
//! Source: iree-org/iree 3.13, `Stream/Transforms/LayoutSlices.cpp` and `Stream/IR/StreamOps.td` (`stream.resource.pack`).

use std::collections::{BTreeMap, HashMap};

use tileheap_json::clip;

use super::types::{Allocations, Arena, Buffer};
use crate::error::{Error, Result};
use crate::units::{Alignment, Bytes, Span};

pub(super) const FORMAT: &str = "IREE dump";

/// The text before the name of a dump.
const DUMP: &str = "// -----// IR Dump ";

/// Returns true if the text contains IREE's dumps.
pub(super) fn is_dump(text: &str) -> bool {
    text.contains("stream.resource.pack") || text.contains(DUMP)
}

/// Reads the slices of every function.
///
/// # Errors
/// [`Error::Parse`] if a dump is missing, the two differ, or a size or an offset is not a constant.
pub fn read_iree(text: &str) -> Result<Allocations> {
    let mut before: BTreeMap<String, Function<'_>> = BTreeMap::new();
    let mut after: BTreeMap<String, Function<'_>> = BTreeMap::new();
    let mut open: Option<Open> = None;
    let (mut phase, mut has_phase) = (None, false);
    for line in text.lines() {
        if let Some(header) = line.strip_prefix(DUMP) {
            closed(open.take())?;
            phase = header
                .contains("layout-slices")
                .then(|| header.starts_with("After"));
            has_phase |= phase.is_some();
        }
        let Some(is_after) = phase else { continue };
        if let Some(name) = function_name(line) {
            closed(open.take())?;
            let (name, depth) = (name.to_owned(), 0);
            open = Some(Open {
                is_after,
                name,
                depth,
            });
        }
        let Some(of) = &mut open else { continue };
        of.depth += depth_change(line);
        let functions = if of.is_after { &mut after } else { &mut before };
        functions.entry(of.name.clone()).or_default().line(line)?;
        open.take_if(|of| of.depth <= 0);
    }
    closed(open)?;
    if !has_phase {
        let flag = "iree-stream-layout-slices";
        let problem = format!(
            "the dump of {flag} is missing: compile with --mlir-print-ir-before={flag} --mlir-print-ir-after={flag}"
        );
        return Err(Error::parse(FORMAT, problem));
    }
    let mut allocations = Allocations {
        format: FORMAT,
        numbered: "slice",
        ..Allocations::default()
    };
    for (name, before) in before.iter().filter(|(_, function)| !function.packs.is_empty()) {
        let wrong = |problem: String| Error::parse(FORMAT, format!("function `@{}`: {problem}", clip(name)));
        let missing = "the dump after iree-stream-layout-slices is missing: compile with --mlir-print-ir-after=iree-stream-layout-slices";
        let after = after.get(name).ok_or_else(|| wrong(missing.to_owned()))?;
        before.judge(after, name, &mut allocations).map_err(wrong)?;
    }
    Ok(allocations)
}

/// A function whose end has not been read yet.
struct Open {
    is_after: bool,
    name: String,
    /// The number of open braces.
    depth: i64,
}

/// Checks that no function is open at the end of the dump.
///
/// # Errors
/// If a function is still open: its text was cut.
fn closed(open: Option<Open>) -> Result<()> {
    open.map_or(Ok(()), |of| {
        let problem = format!(
            "function `@{}` has no end: the dump is incomplete",
            clip(&of.name)
        );
        Err(Error::parse(FORMAT, problem))
    })
}

/// The number of opened minus closed braces of a line, outside of strings.
fn depth_change(line: &str) -> i64 {
    let (mut depth, mut is_string, mut is_escaped) = (0, false, false);
    for byte in line.bytes() {
        match byte {
            b'"' if !is_escaped => is_string = !is_string,
            b'{' if !is_string => depth += 1,
            b'}' if !is_string => depth -= 1,
            _ => {}
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    depth
}

/// The name in `util.func public @name(…`.
fn function_name(line: &str) -> Option<&str> {
    let start = line.trim_start();
    let is_function = ["util.func ", "func.func "]
        .iter()
        .any(|word| start.starts_with(word));
    let name = line.split_once('@').filter(|_| is_function)?.1;
    Some(name.split(['(', ' ']).next().unwrap_or(name))
}

/// A slice: its first and last step, both included, and the SSA value of its size.
type Slice<'a> = (u64, u64, &'a str);

/// A function of a dump.
#[derive(Default)]
struct Function<'a> {
    constants: HashMap<&'a str, u64>,
    packs: Vec<(&'a str, Vec<Slice<'a>>)>,
    is_in_pack: bool,
    /// The first SSA value of every range, in order.
    ranges: Vec<&'a str>,
    /// The size of every transient allocation, in order.
    sizes: Vec<&'a str>,
}

impl<'a> Function<'a> {
    fn line(&mut self, line: &'a str) -> Result<()> {
        let line = line.trim();
        if let Some((name, value)) = line.split_once(" = arith.constant ") {
            let value = value.split(' ').next().and_then(|value| value.parse().ok());
            self.constants.extend(value.map(|value| (name, value)));
            return Ok(());
        }
        if let Some((names, _)) = line.split_once(" = stream.resource.pack") {
            let name = names.split(':').next().unwrap_or(names);
            self.packs.push((name, Vec::new()));
            self.is_in_pack = true;
            let inline = line.split_once("slices({").map_or("", |(_, rest)| rest);
            return self.slices(inline);
        }
        if self.is_in_pack {
            return self.slices(line);
        }
        if line.contains("stream.resource.alloca") && line.contains("<transient>") {
            self.sizes
                .extend(line.split_once("<transient>{").map(|(_, rest)| value(rest)));
        }
        let starts = line.match_indices("[%").map(|(at, _)| at);
        let ranges = starts.filter(|&at| line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
        self.ranges.extend(ranges.map(|at| value(&line[at + 1..])));
        Ok(())
    }

    /// Parses `[0, 1] = %c4096, …`, possibly followed by the end of the list.
    fn slices(&mut self, text: &'a str) -> Result<()> {
        let wrong = || Error::parse(FORMAT, format!("`{}` is not a list of slices", clip(text)));
        let (list, is_last) = text
            .split_once("})")
            .map_or((text, false), |(list, _)| (list, true));
        for part in list.split('[').skip(1) {
            let (span, size) = part.split_once(']').ok_or_else(wrong)?;
            let (first, last) = span.split_once(',').ok_or_else(wrong)?;
            let [first, last] = [first, last].map(|step| step.trim().parse::<u64>());
            let size = size.trim_start_matches([' ', '=']);
            if let (Some((_, slices)), Ok(first), Ok(last)) = (self.packs.last_mut(), first, last) {
                slices.push((first, last, value(size)));
            } else {
                return Err(wrong());
            }
        }
        self.is_in_pack &= !is_last;
        Ok(())
    }

    fn constant(&self, name: &str) -> Result<u64, String> {
        let known = self.constants.get(name).copied();
        known.ok_or_else(|| format!("`{}` is not a constant: only static plans are judged", clip(name)))
    }

    fn judge(&self, after: &Function<'_>, name: &str, allocations: &mut Allocations) -> Result<(), String> {
        let lengths = [
            ("ranges", self.ranges.len(), after.ranges.len()),
            ("allocations", self.sizes.len(), after.sizes.len()),
        ];
        if let Some((what, one, two)) = lengths.into_iter().find(|(_, one, two)| one != two) {
            return Err(format!(
                "the number of {what} is {one} before iree-stream-layout-slices, but {two} after it"
            ));
        }
        let mut offsets: HashMap<(&str, usize), u64> = HashMap::new();
        let pairs = self
            .ranges
            .iter()
            .zip(&after.ranges)
            .chain(self.sizes.iter().zip(&after.sizes));
        for (from, to) in pairs {
            let Some((pack, number)) = from.split_once('#') else {
                continue;
            };
            let Ok(number) = number.parse::<usize>() else {
                continue;
            };
            let offset = after.constant(to)?;
            let known = *offsets.entry((pack, number)).or_insert(offset);
            if known != offset {
                return Err(format!("`{}` has two offsets: {known} and {offset}", clip(from)));
            }
        }
        for (pack, slices) in &self.packs {
            let arena = allocations.arenas.len() as u32;
            allocations.arenas.push(Arena {
                name: match self.packs.len() {
                    1 => format!("@{}", clip(name)),
                    _ => format!("@{} {}", clip(name), clip(pack)),
                },
                size: offsets.get(&(*pack, 0)).map(|&size| Bytes(size)),
            });
            for (index, &(first, last, size)) in slices.iter().enumerate() {
                let size = self.constant(size)?;
                let Some(&offset) = offsets.get(&(*pack, index + 1)) else {
                    allocations
                        .notes
                        .push(format!("slice {index} of @{} is not used", clip(name)));
                    continue;
                };
                let step =
                    |step: u64| u32::try_from(step).map_err(|_| format!("step {step} is above 2^32 - 1"));
                let span = Span::new(step(first)?, step(last.saturating_add(1))?);
                allocations.buffers.push(Buffer {
                    name: format!("{}#{}", clip(pack), index + 1),
                    index: index as u64,
                    arena,
                    offset: Bytes(offset),
                    size: Bytes(size),
                    alignment: Alignment::ONE,
                    lifetimes: vec![span],
                    view: None,
                });
            }
        }
        Ok(())
    }
}

/// The SSA value name at the start of the text: `%4#1`, `%c0_1`.
fn value(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '%' | '#' | '_' | '.' | '$' | '-')));
    &text[..end.unwrap_or(text.len())]
}
