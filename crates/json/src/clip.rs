//! Quotations of documents in messages.

/// Returns the text on one line, cut after 300 characters: a message may quote a whole document.
pub fn clip(text: &str) -> String {
    clip_to(text, 300)
}

/// Like [`clip`], with a different maximum length, in characters.
pub(crate) fn clip_to(text: &str, length: usize) -> String {
    let mut line = String::new();
    for c in text.chars().take(length) {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    if text.chars().nth(length).is_some() {
        line.push('…');
    }
    line
}
