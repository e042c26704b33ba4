//! Items as a CSV table: `id,lower,upper,size[,alignment][,offset][,weight]`, by header, in any order and under the names that other planners
//! give them; other columns are kept.

use std::collections::HashMap;

use csv::{ReaderBuilder, StringRecord, Trim, WriterBuilder};
use tileheap::units::{Alignment, Bytes, Span};
use tileheap_json::without_mark;
use tileheap_pack::Item;
use tileheap_tensor::import::{SpanEnds, TableColumns, parse_number};

use crate::values::{counted, parse_bytes};

/// A table of items.
#[derive(Debug)]
pub(crate) struct Table {
    header: StringRecord,
    rows: Vec<StringRecord>,
    /// The line of the file that each item is on.
    lines: Vec<usize>,
    offset_column: Option<usize>,
    pub(crate) ids: Vec<String>,
    pub(crate) items: Vec<Item>,
    /// The weight of each item; 1 for tables without a column of weights.
    pub(crate) weights: Vec<u64>,
    pub(crate) has_weights: bool,
    /// True if lifetimes have gaps, during which items count as live.
    pub(crate) has_gaps: bool,
}

/// An invalid line, counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl Table {
    /// Reads a table; spans are half-open, `lower` included and `upper` excluded, but a column `end` contains the last step of a lifetime. Without ids,
    /// items are numbered from 0.
    pub(crate) fn read(text: &str) -> Result<Table, BadLine> {
        let text = without_mark(text);
        let bad = |line: usize, what: String| BadLine { line, what };
        let mut reader = ReaderBuilder::new();
        reader.trim(Trim::All).flexible(true).has_headers(false);
        let mut records = Vec::new();
        for record in reader.from_reader(text.as_bytes()).into_records() {
            let record = record.map_err(|error| bad(1, error.to_string()))?;
            // The position is before the empty lines that the reader skips.
            let line = record.position().map_or(1, |at| {
                let rest = text.as_bytes()[at.byte() as usize..].iter().copied();
                let skipped = rest.take_while(|byte| [b'\r', b'\n'].contains(byte));
                at.line() as usize + skipped.filter(|byte| *byte == b'\n').count()
            });
            // A line of spaces is one empty field.
            if record.len() > 1 || !record[0].is_empty() {
                records.push((line, record));
            }
        }
        let mut records = records.into_iter();
        let (top, header) = records
            .next()
            .ok_or_else(|| bad(1, format!("the file is empty: {HEADER}")))?;
        let columns = TableColumns::read(&header, &["size"], SpanEnds::ByColumn);
        let columns = columns.map_err(|problem| bad(top, problem))?;
        let needed = |name: &str| columns.find(name).expect("the header has all required columns");
        let (lower, upper, size) = (needed("lower"), needed("upper"), needed("size"));
        let [id, alignment, offset, weight] =
            ["id", "alignment", "offset", "weight"].map(|name| columns.find(name));
        let mut table = Table {
            rows: Vec::new(),
            lines: Vec::new(),
            offset_column: offset,
            ids: Vec::new(),
            items: Vec::new(),
            weights: Vec::new(),
            has_weights: weight.is_some(),
            has_gaps: false,
            header: header.clone(),
        };
        let mut spans: Vec<(u64, u64)> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut total = 0u64;
        for (line, row) in records {
            if row.len() != header.len() {
                let what = if text.matches('"').count() % 2 == 1 {
                    "a quoted field has no closing quote".to_owned()
                } else {
                    format!(
                        "{}, but the header has {}",
                        counted(row.len() as u64, "field"),
                        header.len()
                    )
                };
                return Err(bad(line, what));
            }
            let number = |column: usize| {
                let field = &row[column];
                parse_number(&header[column], field).map_err(|problem| {
                    let unit = parse_bytes(field).ok().filter(|_| field.ends_with(['b', 'B']));
                    let unit = unit.map_or_else(String::new, |bytes| {
                        format!(": tables have no units, write {}", bytes.0)
                    });
                    bad(line, problem + &unit)
                })
            };
            let maybe = |column: Option<usize>| {
                let filled = column.filter(|&column| !row[column].is_empty());
                filled.map(number).transpose()
            };
            let span = columns.span(number(lower)?, number(upper)?);
            let span = span.map_err(|problem| bad(line, problem))?;
            let aligned = maybe(alignment)?.unwrap_or(1);
            let aligned = Alignment::new(aligned)
                .ok_or_else(|| bad(line, "the alignment is 0: it must be at least 1".to_owned()))?;
            let value = maybe(weight)?.unwrap_or(if weight.is_some() { 0 } else { 1 });
            total = total
                .checked_add(value)
                .filter(|&total| total <= 1 << 63)
                .ok_or_else(|| bad(line, "the sum of the weights exceeds 2^63".to_owned()))?;
            let mut item = Item::new(Span::default(), Bytes(number(size)?), aligned);
            item.fixed = maybe(offset)?.map(Bytes);
            spans.push(span);
            table.has_gaps |= columns.find("gaps").is_some_and(|column| !row[column].is_empty());
            let name = id.map_or_else(|| table.ids.len().to_string(), |id| row[id].to_owned());
            if let Some(other) = seen.insert(name.clone(), line) {
                return Err(bad(line, format!("id `{name}` is also on line {other}")));
            }
            table.ids.push(name);
            table.items.push(item);
            table.weights.push(value);
            table.rows.push(row);
            table.lines.push(line);
        }
        set_spans(&mut table.items, &spans);
        Ok(table)
    }

    /// Returns the table as CSV with these offsets, in the column `offset`, which is added if there was none.
    pub(crate) fn with_offsets(&self, offsets: &[Option<Bytes>]) -> String {
        let mut writer = WriterBuilder::new().from_writer(Vec::new());
        let offsets = offsets
            .iter()
            .map(|offset| offset.map(|offset| offset.0.to_string()));
        let lines = [Some("offset".to_owned())].into_iter().chain(offsets);
        for (row, offset) in [&self.header].into_iter().chain(&self.rows).zip(lines) {
            let offset = offset.unwrap_or_default();
            let mut fields: Vec<&str> = row.iter().collect();
            match self.offset_column {
                Some(column) => fields[column] = &offset,
                None => fields.push(&offset),
            }
            writer.write_record(fields).expect("writes to memory succeed");
        }
        let written = writer.into_inner().expect("flushing to memory cannot fail");
        String::from_utf8(written).expect("the fields come from UTF-8 text")
    }

    /// The line that an item is on.
    pub(crate) fn line_of(&self, item: usize) -> usize {
        self.lines[item]
    }
}

const HEADER: &str = "the header must name lower,upper,size and may name id,alignment,offset,weight";

/// Sets the spans of the items. If a step exceeds 32 bits, all steps are renumbered, because only their order matters.
fn set_spans(items: &mut [Item], spans: &[(u64, u64)]) {
    let mut steps: Vec<u64> = spans.iter().flat_map(|&(lower, upper)| [lower, upper]).collect();
    steps.sort_unstable();
    steps.dedup();
    let large = steps.last().is_some_and(|&last| last > u64::from(u32::MAX));
    let step = |value: u64| {
        if large {
            steps.partition_point(|&other| other < value) as u32
        } else {
            value as u32
        }
    };
    for (item, &(lower, upper)) in items.iter_mut().zip(spans) {
        item.span = Span::new(step(lower), step(upper));
    }
}

#[cfg(test)]
mod tests {
    use tileheap::units::SplitMix64;
    use tileheap_pack::{Problem, Strategy, check, pack};

    use super::*;

    #[test]
    fn columns_come_in_any_order_and_stay() {
        let table = Table::read("size,note,id,upper,lower,offset\n4,x,a,3,0,\n5,y,b,9,3,16\n").unwrap();
        assert_eq!(table.items[0].span, Span::new(0, 3));
        assert_eq!(table.items[1].fixed, Some(Bytes(16)));
        assert_eq!(
            table.with_offsets(&[Some(Bytes(8)), None]),
            "size,note,id,upper,lower,offset\n4,x,a,3,0,8\n5,y,b,9,3,\n"
        );
        let table = Table::read("id,lower,upper,size\n\na,5000000000,6000000000,4\n").unwrap();
        assert_eq!(table.items[0].span, Span::new(0, 1));
        assert_eq!(
            table.with_offsets(&[Some(Bytes(0))]),
            "id,lower,upper,size,offset\na,5000000000,6000000000,4,0\n"
        );
    }

    /// Columns as MiniMalloc and others name them: `end` is the last step of a lifetime. Unknown columns are kept.
    #[test]
    fn names_of_other_planners_are_accepted() {
        for header in [
            "id,start,end,size",
            "buffer,begin,end,size",
            "BUFFER_ID,Start,End,Size",
            "\u{feff}id,begin,end,size",
        ] {
            let table = Table::read(&format!("{header}\na,0,3,4\n")).unwrap();
            assert_eq!(
                (table.ids[0].as_str(), table.items[0].span),
                ("a", Span::new(0, 4)),
                "{header}"
            );
        }
        let table = Table::read("start,upper,size,note,gaps,alignment\n0,3,4,x,,\n3,5,4,y,3-4,8\n").unwrap();
        assert_eq!(
            (table.ids.join(" ").as_str(), table.items[1].span),
            ("0 1", Span::new(3, 5))
        );
        assert_eq!((table.items[1].alignment.get(), table.has_gaps), (8, true));
        let last = u64::MAX;
        let table = Table::read(&format!("lower,upper,size\n0,{last},4\n")).unwrap();
        assert_eq!(table.items[0].span, Span::new(0, 1));
        let error = Table::read(&format!("start,end,size\n0,{last},4\n")).unwrap_err();
        assert_eq!((error.line, error.what.contains("above 2^64 - 2")), (2, true));
        for (header, words) in [
            (
                "id;lower;upper;size",
                ["only `id;lower;upper;size`", "separated by commas"],
            ),
            ("a,0,3,4", ["only `a`, `0`, `3`, `4`", "lower (start, begin)"]),
            ("start,begin,end,size", ["two columns for `lower`", ""]),
        ] {
            let error = Table::read(header).unwrap_err();
            assert!(
                words.iter().all(|words| error.what.contains(words)),
                "{}",
                error.what
            );
        }
    }

    #[test]
    fn empty_lines_count() {
        let table = Table::read("\n\nid,lower,upper,size\r\n\r\na,0,1,4\r\n\nb,0,1,4").unwrap();
        assert_eq!((table.line_of(0), table.line_of(1)), (5, 7));
        assert_eq!(Table::read("\n\nid,lower,upper\n").unwrap_err().line, 3);
    }

    #[test]
    fn bad_lines_are_named() {
        for (text, line, what) in [
            ("", 1, "empty"),
            ("id,lower,upper\n", 1, "`size`"),
            ("id,lower,upper,size,size\n", 1, "two columns for `size`"),
            (
                "id,lower,upper,size\na,0,1,4\nb,0,1\n",
                3,
                "3 fields, but the header has 4",
            ),
            (
                "id,lower,upper,size\na,0,-1,4\n",
                2,
                "upper `-1` is not a whole number",
            ),
            (
                "id,lower,upper,size\na,0,1,99999999999999999999\n",
                2,
                "size 99999999999999999999 is too large: the limit is 2^64 - 1",
            ),
            (
                "id,lower,upper,size\na,0,1,1KiB\n",
                2,
                "tables have no units, write 1024",
            ),
            ("id,lower,upper,size\na,2,1,4\n", 2, "upper"),
            ("id,lower,upper,size,alignment\na,0,1,4,0\n", 2, "alignment"),
        ] {
            let error = Table::read(text).unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {}", error.what);
            assert!(error.what.contains(what), "{text:?}: {}", error.what);
        }
    }

    #[test]
    fn fields_may_be_quoted() {
        let text = "\"id\",lower,upper,\"size\"\n\"conv, 3x3 \"\"a\"\"\",0,3,\"4\"\nb,0,1,2\n";
        let table = Table::read(text).unwrap();
        assert_eq!(table.ids, ["conv, 3x3 \"a\"", "b"]);
        assert_eq!(table.items[0].size, Bytes(4));
        let written = table.with_offsets(&[Some(Bytes(0)), Some(Bytes(4))]);
        assert!(written.starts_with("id,lower,upper,size,offset\n\"conv, 3x3 \"\"a\"\"\",0,3,4,0\n"));
        let error = Table::read("id,lower,upper,size\n\"a,0,1,4\n").unwrap_err();
        assert_eq!((error.line, error.what.contains("quoted")), (2, true));
    }

    #[test]
    fn ids_are_unique() {
        let error = Table::read("id,lower,upper,size\na,0,1,4\nb,0,1,4\n\"a\",1,2,4\n").unwrap_err();
        assert_eq!((error.line, error.what.as_str()), (4, "id `a` is also on line 2"));
    }

    /// A damaged table is either rejected or read as another table, which writing and reading back does not change.
    #[test]
    fn damaged_tables_are_refused_or_are_other_tables() {
        const DAMAGE: [&str; 10] = ["", "0", "9", "99999999999", "-", "\"", ",", "\n", "\r", " "];
        let mut chances = SplitMix64::new(7);
        let mut others = 0;
        for _ in 0..20_000 {
            let header = "id,lower,upper,size,alignment,offset,weight";
            let mut text = format!("{header}\na,0,3,4,2,8,1\n\"b, c\",3,9,5,,,7\nd,2,5,0,1,,0\n");
            for _ in 0..1 + chances.below(4) {
                let at = chances.below(text.len() as u64) as usize;
                let end = (at + chances.below(3) as usize).min(text.len());
                text.replace_range(at..end, chances.pick(&DAMAGE));
            }
            let Ok(table) = Table::read(&text) else { continue };
            let offsets: Vec<_> = table.items.iter().map(|item| item.fixed).collect();
            let again = Table::read(&table.with_offsets(&offsets)).expect(&text);
            assert_eq!((&again.ids, &again.items), (&table.ids, &table.items), "{text}");
            assert_eq!(again.weights, table.weights, "{text}");
            if let Ok(problem) = Problem::new(table.items) {
                check(&problem, &pack(&problem, Strategy::Auto)).expect(&text);
                others += 1;
            }
        }
        assert!(others > 1000, "{others}");
    }
}
