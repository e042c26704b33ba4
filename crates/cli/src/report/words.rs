//! Bytes, names and escaped text.

use tileheap::units::Bytes;

/// Bytes with a unit, rounded.
pub(crate) fn amount(bytes: u64) -> String {
    format!("{:#}", Bytes(bytes))
}

/// A name cut to `room` characters; a path keeps its last part, and more if it fits.
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

/// Escapes text for XML and HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

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
