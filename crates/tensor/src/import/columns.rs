//! Columns of tables of lifetimes, with the names that different planners give them.
//!
//! Source for `buffer`, `start`, `begin`, `end` and gaps: google/minimalloc, `src/converter.cc` at 2026acbf.

use std::collections::BTreeMap;

use tileheap_json::clip;

/// Selects whether the upper ends of lifetimes in a table are inclusive or exclusive.
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

/// The columns of a table of lifetimes, from its header.
///
/// ```
/// use tileheap_tensor::import::{SpanEnds, TableColumns};
///
/// let columns = TableColumns::read(["size", "start", "end"], &["size"], SpanEnds::ByColumn)?;
/// assert_eq!((columns.find("lower"), columns.find("offset")), (Some(1), None));
/// assert_eq!(columns.span(3, 5)?, (3, 6)); // `end` is inclusive
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableColumns {
    names: Vec<String>,
    at: BTreeMap<&'static str, usize>,
    is_inclusive: bool,
}

/// Accepted names of columns, each with its canonical name.
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
    ("weight", "weight"),
    ("arena", "arena"),
    ("gap", "gaps"),
    ("gaps", "gaps"),
    ("in_place", "in_place"),
];

const ACCEPTED: &str = "id (or buffer, buffer_id), lower (start, begin), upper (or end, which is inclusive), size, offset, alignment";

/// Parses a number in the column `name` of a table.
///
/// # Errors
/// The text is not a whole number, or the number exceeds 64 bits.
pub fn parse_number(name: &str, text: &str) -> Result<u64, String> {
    let is_whole = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_whole => Ok(number),
        Err(_) if is_whole => Err(format!(
            "{name} {} is too large: the limit is 2^64 - 1",
            clip(text)
        )),
        _ => Err(format!("{name} `{}` is not a whole number", clip(text))),
    }
}

impl TableColumns {
    /// Reads a header, in which names may be in any order and case; unknown names are ignored. `lower`, `upper` and the columns in `needed` are
    /// required; without `id`, lines are numbered.
    ///
    /// # Errors
    /// The name that is missing or ambiguous, with the columns that the header has and those that are accepted.
    pub fn read<'a>(
        header: impl IntoIterator<Item = &'a str>,
        needed: &[&str],
        ends: SpanEnds,
    ) -> Result<TableColumns, String> {
        let names: Vec<String> = header.into_iter().map(str::to_ascii_lowercase).collect();
        let has_id = names.iter().any(|name| name == "id");
        let mut at = BTreeMap::new();
        let mut is_inclusive = ends == SpanEnds::Inclusive;
        for (index, field) in names.iter().enumerate() {
            let known = NAMES.iter().find(|known| known.0 == field);
            let Some((name, meaning)) = known.filter(|known| known.1 != "id" || known.0 == "id" || !has_id)
            else {
                continue;
            };
            if at.insert(*meaning, index).is_some() {
                return Err(format!("the header has two columns for `{meaning}`"));
            }
            is_inclusive |= *name == "end" && ends == SpanEnds::ByColumn;
        }
        let mut all = ["lower", "upper"].iter().chain(needed);
        if let Some(name) = all.find(|&&name| !at.contains_key(name)) {
            let fields: Vec<String> = names
                .iter()
                .take(12)
                .map(|name| format!("`{}`", clip(name)))
                .collect();
            let more = if names.len() > 12 { " and others" } else { "" };
            let fields = fields.join(", ");
            return Err(format!(
                "the header has no column `{name}`, only {fields}{more}; the columns, separated by commas, can be {ACCEPTED}"
            ));
        }
        Ok(TableColumns {
            names,
            at,
            is_inclusive,
        })
    }

    /// The number of columns.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The index of a column; `None` if the table does not have it.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.at.get(name).copied()
    }

    /// The name of a column in the file, in lower case.
    pub fn name(&self, index: usize) -> &str {
        &self.names[index]
    }

    /// Converts a lifetime in the table to half-open form.
    ///
    /// # Errors
    /// The lifetime ends before it begins, or its end exceeds 64 bits.
    pub fn span(&self, lower: u64, upper: u64) -> Result<(u64, u64), String> {
        let end = upper.checked_add(u64::from(self.is_inclusive));
        let end = end.ok_or_else(|| format!("the last step {upper} is above 2^64 - 2"))?;
        match lower > end {
            true => Err(format!("lower {lower} is above upper {upper}")),
            false => Ok((lower, end)),
        }
    }
}
