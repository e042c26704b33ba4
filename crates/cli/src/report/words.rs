//! The texts of reports: amounts of bytes, shortened names, lines, and escaping.

pub(crate) use crate::values::amount;

/// Shortens a name to at most `room` characters; a path keeps its last part, and more if it fits.
pub(crate) fn cut(name: &str, room: usize) -> String {
    let count = name.chars().count();
    if count <= room {
        return name.to_owned();
    }
    let kept = room.saturating_sub(1);
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.len() < name.len() && last.chars().count() <= kept {
        return std::iter::once('…')
            .chain(name.chars().skip(count - kept))
            .collect();
    }
    last.chars().take(kept).chain(['…']).collect()
}

/// Breaks a sentence into lines of at most `room` characters, if its words allow it.
pub(crate) fn lines(sentence: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in sentence.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Escapes text for XML and HTML. Characters that XML 1.0 does not allow (section 2.2, production 2) become U+FFFD.
pub(crate) fn escaped(text: &str) -> String {
    let is_forbidden = |c: char| c < ' ' && !"\t\n\r".contains(c) || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.replace(is_forbidden, "\u{fffd}")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_broken_between_words() {
        assert_eq!(lines("a bc def", 4), ["a bc", "def"]);
        assert_eq!(lines("longer than", 3), ["longer", "than"]);
        assert!(lines("", 3).is_empty());
    }

    #[test]
    fn escaped_text_is_valid_in_xml() {
        assert_eq!(
            escaped("<\u{1b}[31m&\t\"\u{ffff}"),
            "&lt;\u{fffd}[31m&amp;\t&quot;\u{fffd}"
        );
    }

    #[test]
    fn names_are_cut_where_they_say_least() {
        assert_eq!(
            (cut("depth", 5), cut("depth", 4)),
            ("depth".into(), "dep…".into())
        );
        assert_eq!(
            (cut("/layer1/conv3", 7), cut("/layer1/conv3", 5)),
            ("…/conv3".into(), "conv…".into())
        );
    }
}
