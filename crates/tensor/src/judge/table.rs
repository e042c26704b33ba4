//! Tables of lifetimes, sizes and offsets, as written by `tileheap pack -o` and by MiniMalloc.

use std::collections::HashMap;

use tileheap_json::{clip, without_mark};

use super::types::{Allocations, Arena, Buffer, InPlace, SharedData};
use crate::error::{Error, Result};
use crate::import::{SpanEnds, TableColumns, parse_number};
use crate::units::{Alignment, Bytes, Span, Step};

pub(super) const FORMAT: &str = "table";

/// Reads a table with the columns `lower,upper,size,offset` and optionally `id`, `alignment`, `arena`, `gaps` and `in_place`, in any order;
/// others are ignored.
///
/// `buffer` and `buffer_id` stand for `id`, `start` and `begin` for `lower`, `end` for `upper`, `gap` for `gaps`. Without ids, buffers are
/// numbered from 0. Gaps are `first-end` or `first-end@low:high`,
/// separated by spaces: in a gap a buffer is not needed, or only its bytes `[low, high)`. Without a column `arena` there is one arena.
/// `in_place` names buffers, separated by spaces, whose bytes a buffer may take in its first step if nothing reads them afterwards.
///
/// # Errors
/// [`Error::Parse`] with the number of the first invalid line.
pub fn read_table(text: &str, ends: SpanEnds) -> Result<Allocations> {
    let wrong = |line: u64, problem: String| Error::parse(FORMAT, format!("line {line}: {problem}"));
    let mut lines = csv::ReaderBuilder::new();
    lines.has_headers(false).flexible(true).trim(csv::Trim::All);
    // The CSV reader counts other line ends only at the next line.
    let text = without_mark(text).replace("\r\n", "\n").replace('\r', "\n");
    let mut header: Option<TableColumns> = None;
    let mut allocations = Allocations {
        format: FORMAT,
        numbered: "line",
        ..Allocations::default()
    };
    let mut arenas: HashMap<String, u32> = HashMap::new();
    let mut seen: HashMap<String, (u64, u32)> = HashMap::new();
    let mut in_place: Vec<(u32, String)> = Vec::new();
    for fields in lines.from_reader(text.as_bytes()).into_records() {
        let fields = fields.map_err(|fault| Error::parse(FORMAT, fault))?;
        let line = fields.position().map_or(1, csv::Position::line);
        if fields.iter().all(str::is_empty) {
            continue;
        }
        let Some(columns) = &header else {
            let columns = TableColumns::read(&fields, &["size", "offset"], ends);
            header = Some(columns.map_err(|problem| wrong(line, problem))?);
            continue;
        };
        let mut row = read_row(columns, &fields).map_err(|problem| wrong(line, problem))?;
        let data = allocations.buffers.len() as u32;
        if columns.find("id").is_none() {
            row.id = seen.len().to_string();
        }
        if let Some((other, _)) = seen.insert(row.id.clone(), (line, data)) {
            let problem = format!("id `{}` is also on line {other}", clip(&row.id));
            return Err(wrong(line, problem));
        }
        let count = arenas.len() as u32;
        let arena = *arenas.entry(row.arena.clone()).or_insert(count);
        if arena == count {
            let name = row.arena.clone();
            allocations.arenas.push(Arena { name, size: None });
        }
        in_place.extend(row.in_place.iter().map(|input| (data, input.clone())));
        let view = |offset| (!row.windows.is_empty()).then_some(SharedData { data, offset });
        let part = |offset: u64, size: u64, lifetimes| Buffer {
            name: row.id.clone(),
            index: line,
            arena,
            offset: Bytes(row.offset.saturating_add(offset)),
            size: Bytes(size),
            alignment: if offset == 0 {
                row.alignment
            } else {
                Alignment::ONE
            },
            lifetimes,
            view: view(offset),
        };
        allocations.buffers.push(part(0, row.size, row.lifetimes.clone()));
        for &(gap, low, high) in &row.windows {
            allocations.buffers.push(part(low, high - low, vec![gap]));
        }
    }
    for (output, name) in in_place {
        let of = &allocations.buffers[output as usize];
        let Some(&(_, input)) = seen.get(&name) else {
            let problem = format!("`in_place` refers to the unknown id `{}`", clip(&name));
            return Err(wrong(of.index, problem));
        };
        let step = of.lifetimes.first().map_or(Step(0), |span| span.first);
        allocations.in_place.push(InPlace {
            step,
            output,
            input,
            same_offset: false,
        });
    }
    match header {
        Some(_) => Ok(allocations),
        None => {
            let problem = "the header is missing: it must name lower,upper,size,offset, and may name id,alignment,arena,gaps,in_place";
            Err(wrong(1, problem.to_owned()))
        }
    }
}

/// A parsed line.
struct Row {
    id: String,
    arena: String,
    offset: u64,
    size: u64,
    alignment: Alignment,
    lifetimes: Vec<Span>,
    /// Ids of the buffers over which this buffer may be written.
    in_place: Vec<String>,
    /// Gaps in which some bytes are still needed: `[low, high)` of the buffer.
    windows: Vec<(Span, u64, u64)>,
}

/// Reads a line.
fn read_row(columns: &TableColumns, fields: &csv::StringRecord) -> Result<Row, String> {
    if fields.len() != columns.count() {
        let (found, count) = (fields.len(), columns.count());
        return Err(format!("{found} fields, but the header has {count}"));
    }
    let field = |name: &str| columns.find(name).map_or("", |column| &fields[column]);
    let number = |name: &str| parse_number(name, field(name));
    let alignment = match field("alignment") {
        "" => Alignment::ONE,
        _ => Alignment::new(number("alignment")?).ok_or("the alignment is 0")?,
    };
    let size = number("size")?;
    let span = span_of(columns, number("lower")?, number("upper")?)?;
    let (mut lifetimes, mut windows, mut at) = (Vec::new(), Vec::new(), span.first);
    for text in field("gaps").split_whitespace() {
        let wrong = || {
            format!(
                "gap `{}` is not of the form first-end or first-end@low:high",
                clip(text)
            )
        };
        let (steps, window) = text.split_once('@').map_or((text, None), |(a, b)| (a, Some(b)));
        let pair = |text: &str, between| {
            let (a, b) = text.split_once(between)?;
            Some((a.parse::<u64>().ok()?, b.parse::<u64>().ok()?))
        };
        let (first, end) = pair(steps, '-').ok_or_else(wrong)?;
        if first > end {
            return Err(format!("gap `{}` ends before it begins", clip(text)));
        }
        let gap = span_of(columns, first, end)?;
        if gap.first < at || gap.end > span.end {
            return Err(format!(
                "gap `{}` must be after the previous gap and within the lifetime {span}",
                clip(text)
            ));
        }
        lifetimes.push(Span {
            first: at,
            end: gap.first,
        });
        at = gap.end;
        if let Some(window) = window {
            let (low, high) = pair(window, ':').ok_or_else(wrong)?;
            if low > high {
                return Err(format!(
                    "gap `{}`: its byte range ends before it begins",
                    clip(text)
                ));
            }
            if high > size {
                return Err(format!(
                    "gap `{}`: its byte range exceeds the buffer's size of {size}",
                    clip(text)
                ));
            }
            windows.push((gap, low, high));
        }
    }
    lifetimes.push(Span {
        first: at,
        end: span.end,
    });
    lifetimes.retain(|span| !span.is_empty());
    let offset = number("offset")?;
    if offset.checked_add(size).is_none() {
        return Err(format!("offset {offset} + size {size} overflows 64 bits"));
    }
    let arena = match field("arena") {
        "" => "0",
        name => name,
    };
    Ok(Row {
        id: field("id").to_owned(),
        arena: arena.to_owned(),
        in_place: field("in_place").split_whitespace().map(str::to_owned).collect(),
        offset,
        size,
        alignment,
        lifetimes,
        windows,
    })
}

/// Converts the ends of a lifetime in the table to a half-open span of steps.
fn span_of(columns: &TableColumns, lower: u64, upper: u64) -> Result<Span, String> {
    let (first, end) = columns.span(lower, upper)?;
    let step = |value: u64| u32::try_from(value).map_err(|_| format!("step {value} is above 2^32 - 1"));
    Ok(Span::new(step(first)?, step(end)?))
}
