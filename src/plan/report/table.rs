//! Plain text tables that fit a terminal's width.

use std::fmt;

/// Maximum number of columns in a line of a report.
pub(super) const WIDTH: usize = 110;
/// Spaces between columns.
const GAP: &str = "  ";
/// Spaces before a table's rows.
const INDENT: &str = "  ";
/// Spaces before a note on a separate line.
const NOTE_INDENT: &str = "      ";

/// Alignment of a column's text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A column: its title, its alignment, and the maximum length of its text, beyond which text is cut.
pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) side: Side,
    pub(super) max_length: usize,
}

impl Column {
    pub(super) const fn left(title: &'static str, max_length: usize) -> Column {
        Column {
            title,
            side: Side::Left,
            max_length,
        }
    }

    pub(super) const fn right(title: &'static str) -> Column {
        // Numbers are never cut: the largest, with its commas and unit, has 28 characters.
        Column {
            title,
            side: Side::Right,
            max_length: 28,
        }
    }
}

/// A table whose rows may have notes: the notes are in a last column if all of them are short, otherwise on separate lines.
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<(Vec<String>, String)>,
}

impl Table {
    pub(super) fn new(columns: Vec<Column>) -> Table {
        Table {
            columns,
            rows: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, cells: Vec<String>, note: String) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a row has one cell per column");
        self.rows.push((cells, note));
    }

    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles: Vec<&str> = self.columns.iter().map(|column| column.title).collect();
        writeln!(f, "{}", self.line(&titles, &self.widths(), "").trim_end())?;
        self.write_rows(f)
    }

    pub(super) fn write_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let longest = self.rows.iter().map(|(_, note)| length(note)).max().unwrap_or(0);
        let beside = taken(&widths) + longest <= WIDTH;
        for (cells, note) in &self.rows {
            let note_beside = if beside { note.as_str() } else { "" };
            writeln!(f, "{}", self.line(cells, &widths, note_beside).trim_end())?;
            if !beside && !note.is_empty() {
                write_wrapped(f, NOTE_INDENT, NOTE_INDENT, note)?;
            }
        }
        Ok(())
    }

    /// The widths of the contents; if they exceed the line, the widest left-aligned columns are narrowed.
    fn widths(&self) -> Vec<usize> {
        let width = |(index, column): (usize, &Column)| {
            let cells = self.rows.iter().map(|(cells, _)| length(&cells[index]));
            cells
                .chain([length(column.title)])
                .max()
                .unwrap_or(0)
                .min(column.max_length)
        };
        let mut widths: Vec<usize> = self.columns.iter().enumerate().map(width).collect();
        while taken(&widths) > WIDTH + GAP.len() {
            let names = (0..widths.len()).filter(|&index| self.columns[index].side == Side::Left);
            match names.max_by_key(|&index| widths[index]) {
                Some(widest) if widths[widest] > 1 => widths[widest] -= 1,
                _ => break,
            }
        }
        widths
    }

    fn line(&self, cells: &[impl AsRef<str>], widths: &[usize], note: &str) -> String {
        let mut line = INDENT.to_owned();
        for ((cell, &width), column) in cells.iter().zip(widths).zip(&self.columns) {
            let cell = cut(cell.as_ref(), width);
            let blanks = " ".repeat(width - length(&cell));
            match column.side {
                Side::Left => line += &(cell + &blanks),
                Side::Right => line += &(blanks + &cell),
            }
            line += GAP;
        }
        line + note
    }
}

/// Number of characters that columns with these widths take before a note in the last column.
fn taken(widths: &[usize]) -> usize {
    INDENT.len() + widths.iter().map(|width| width + GAP.len()).sum::<usize>()
}

/// Number of characters; assumes that each takes one terminal column, which is wrong for some scripts.
fn length(text: &str) -> usize {
    text.chars().count()
}

/// Cuts the text to at most `most` characters, with an ellipsis in place of the rest.
pub(super) fn cut(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Writes text over as many lines as it needs, with `first` before the first line and `rest` before the others.
pub(super) fn write_wrapped(f: &mut fmt::Formatter<'_>, first: &str, rest: &str, text: &str) -> fmt::Result {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let fits = length(&line) + usize::from(!empty) + length(word) <= WIDTH;
        if !fits && !empty {
            writeln!(f, "{line}")?;
            line = rest.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        // A word longer than a line is cut: it can only be a name.
        line += &cut(word, WIDTH - length(&line));
        empty = false;
    }
    if empty { Ok(()) } else { writeln!(f, "{line}") }
}

/// A count with its noun: `1 pass`, `2 passes`.
pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = match (count, what.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Shown<F>(F);

    impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Shown<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (self.0)(f)
        }
    }

    fn table(note: &str) -> String {
        let mut table = Table::new(vec![Column::left("name", 6), Column::right("size")]);
        table.row(
            vec!["a name too long".to_owned(), "1 B".to_owned()],
            note.to_owned(),
        );
        table.row(vec!["b".to_owned(), "22 B".to_owned()], String::new());
        Shown(|f: &mut fmt::Formatter<'_>| table.write(f)).to_string()
    }

    #[test]
    fn short_notes_stand_beside_and_long_ones_below() {
        assert_eq!(
            table("why"),
            "  name    size\n  a nam…   1 B  why\n  b       22 B\n"
        );
        let below = table(&"because ".repeat(20));
        let lines: Vec<&str> = below.lines().collect();
        assert_eq!(lines.len(), 5);
        assert!(lines[2].starts_with("      because"));
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn names_give_way_to_numbers() {
        let mut table = Table::new(vec![
            Column::left("", 90),
            Column::left("", 40),
            Column::right(""),
        ]);
        let cells = vec![
            "n".repeat(90),
            "m".repeat(40),
            "18,446,744,073,709,551,615 B".to_owned(),
        ];
        table.row(cells, String::new());
        let text = Shown(|f: &mut fmt::Formatter<'_>| table.write_rows(f)).to_string();
        assert_eq!(text.trim_end().chars().count(), WIDTH);
        assert!(text.ends_with("  18,446,744,073,709,551,615 B\n"), "{text}");
    }

    #[test]
    fn words_wrap_and_are_cut_if_they_must_be() {
        let text = format!("one {} two", "x".repeat(300));
        let wrapped = Shown(|f: &mut fmt::Formatter<'_>| write_wrapped(f, "- ", "  ", &text)).to_string();
        let lines: Vec<&str> = wrapped.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], "- one");
        assert!(
            lines.iter().all(|line| line.chars().count() <= WIDTH),
            "{wrapped}"
        );
        assert!(lines[1].ends_with('…'));
    }
}
