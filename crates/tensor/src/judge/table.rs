//! Tables of lifetimes, sizes and offsets, as written by `tileheap pack -o` and by MiniMalloc.
//!
//! Source for column names and the form of gaps: google/minimalloc, `src/converter.cc` at 2026acbf.

use std::collections::HashMap;

use tileheap_json::clip;

use super::types::{Allocations, Arena, Buffer, InPlace, SharedData};
use crate::error::{Error, Result};
use crate::units::{Alignment, Bytes, Span, Step};

pub(super) const FORMAT: &str = "table";

/// The meaning of the last step of a lifetime in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpanEnds {
    /// As in MiniMalloc: a column `upper` is exclusive, a column `end` is inclusive.
    #[default]
    ByColumn,
    /// Half-open: `[lower, upper)`.
    Exclusive,
    /// Closed: `[lower, upper]`.
    Inclusive,
}

/// Reads a table with the columns `id,lower,upper,size,offset` and optionally `alignment`, `arena`, `gaps` and `in_place`, in any order;
/// others are ignored.
///
/// `buffer` and `buffer_id` stand for `id`, `start` and `begin` for `lower`, `end` for `upper`. Gaps are `first-end` or `first-end@low:high`,
/// separated by spaces: in a gap a buffer is not needed, or only its bytes `[low, high)`. Without a column `arena` there is one arena.
/// `in_place` names buffers, separated by spaces, whose bytes a buffer may take in its first step if nothing reads them afterwards.
///
/// # Errors
/// [`Error::Parse`] with the number of the first invalid line.
pub fn read_table(text: &str, ends: SpanEnds) -> Result<Allocations> {
    let wrong = |line: u64, problem: String| Error::parse(FORMAT, format!("line {line}: {problem}"));
    let mut lines = csv::ReaderBuilder::new();
    lines.has_headers(false).flexible(true).trim(csv::Trim::All);
    // The CSV reader counts other line ends one line later.
    let text = text
        .trim_start_matches('\u{feff}')
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let mut header: Option<Columns> = None;
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
            header = Some(Columns::read(&fields, ends).map_err(|problem| wrong(line, problem))?);
            continue;
        };
        let row = columns.row(&fields).map_err(|problem| wrong(line, problem))?;
        let data = allocations.buffers.len() as u32;
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
            let problem = format!("in_place names no id: `{}`", clip(&name));
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
        None => Err(wrong(1, format!("the header is missing: {HEADER}"))),
    }
}

const HEADER: &str = "it must name id,lower,upper,size,offset, and may name alignment,arena,gaps,in_place";

/// The column indices of the fields.
struct Columns {
    count: usize,
    at: HashMap<&'static str, usize>,
    is_inclusive: bool,
}

/// A parsed line.
struct Row {
    id: String,
    arena: String,
    offset: u64,
    size: u64,
    alignment: Alignment,
    lifetimes: Vec<Span>,
    /// Ids of the inputs.
    in_place: Vec<String>,
    /// Gaps in which some bytes are still needed: `[low, high)` of the buffer.
    windows: Vec<(Span, u64, u64)>,
}

/// Column names, with the name that each stands for.
const NAMES: &[(&str, &str)] = &[
    ("id", "id"),
    ("buffer", "id"),
    ("buffer_id", "id"),
    ("lower", "lower"),
    ("start", "lower"),
    ("begin", "lower"),
    ("upper", "upper"),
    ("end", "upper"),
    ("size", "size"),
    ("offset", "offset"),
    ("alignment", "alignment"),
    ("arena", "arena"),
    ("gaps", "gaps"),
    ("in_place", "in_place"),
];

impl Columns {
    fn read(fields: &csv::StringRecord, ends: SpanEnds) -> Result<Columns, String> {
        let mut at = HashMap::new();
        let mut is_inclusive = ends == SpanEnds::Inclusive;
        for (index, field) in fields.iter().enumerate() {
            let field = field.to_ascii_lowercase();
            let Some((name, meaning)) = NAMES.iter().find(|known| known.0 == field) else {
                continue;
            };
            if at.insert(*meaning, index).is_some() {
                return Err(format!("the header names `{meaning}` twice"));
            }
            is_inclusive |= *name == "end" && ends == SpanEnds::ByColumn;
        }
        let needed = ["id", "lower", "upper", "size", "offset"];
        match needed.into_iter().find(|name| !at.contains_key(name)) {
            Some(name) => Err(format!("the header has no column `{name}`: {HEADER}")),
            None => Ok(Columns {
                count: fields.len(),
                at,
                is_inclusive,
            }),
        }
    }

    fn row(&self, fields: &csv::StringRecord) -> Result<Row, String> {
        if fields.len() != self.count {
            let (found, count) = (fields.len(), self.count);
            return Err(format!("{found} fields, but the header has {count}"));
        }
        let field = |name: &str| self.at.get(name).map_or("", |&column| &fields[column]);
        let number = |name: &str| {
            let text = field(name);
            let parsed = text.parse::<u64>();
            parsed.map_err(|_| format!("{name} `{}` is not an unsigned 64-bit integer", clip(text)))
        };
        let alignment = match field("alignment") {
            "" => Alignment::ONE,
            _ => Alignment::new(number("alignment")?).ok_or("the alignment is 0")?,
        };
        let size = number("size")?;
        let span = self.span(number("lower")?, number("upper")?)?;
        let (mut lifetimes, mut windows, mut at) = (Vec::new(), Vec::new(), span.first);
        for text in field("gaps").split_whitespace() {
            let wrong = || format!("gap `{}` is not first-end or first-end@low:high", clip(text));
            let (steps, window) = text.split_once('@').map_or((text, None), |(a, b)| (a, Some(b)));
            let pair = |text: &str, between| {
                let (a, b) = text.split_once(between)?;
                Some((a.parse::<u64>().ok()?, b.parse::<u64>().ok()?))
            };
            let (first, end) = pair(steps, '-').ok_or_else(wrong)?;
            if first > end {
                return Err(format!("gap `{}` ends before it begins", clip(text)));
            }
            let gap = self.span(first, end)?;
            if gap.first < at || gap.end > span.end {
                return Err(format!(
                    "gap `{}` is not after the one before, within {span}",
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
                if low > high || high > size {
                    return Err(format!("gap `{}` is not within the size {size}", clip(text)));
                }
                windows.push((gap, low, high));
            }
        }
        lifetimes.push(Span {
            first: at,
            end: span.end,
        });
        lifetimes.retain(|span| !span.is_empty());
        let arena = match field("arena") {
            "" => "0",
            name => name,
        };
        Ok(Row {
            id: field("id").to_owned(),
            arena: arena.to_owned(),
            in_place: field("in_place").split_whitespace().map(str::to_owned).collect(),
            offset: number("offset")?,
            size,
            alignment,
            lifetimes,
            windows,
        })
    }

    /// Converts a lifetime as written in the table.
    fn span(&self, lower: u64, upper: u64) -> Result<Span, String> {
        let end = upper.saturating_add(u64::from(self.is_inclusive));
        if lower > end {
            return Err(format!("lower {lower} is above upper {upper}"));
        }
        let step = |value: u64| u32::try_from(value).map_err(|_| format!("step {value} is above 2^32 - 1"));
        Ok(Span::new(step(lower)?, step(end)?))
    }
}
