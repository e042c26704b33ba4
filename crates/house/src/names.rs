//! Names and phrases of the first version that are retired: `CONTRIBUTING.md` has what is said instead.

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

/// Identifiers, as whole names.
const IDENTIFIERS: &[&str] = &[
    "Turn",
    "Errand",
    "Thing",
    "Quest",
    "Reach",
    "news_of",
    "Said",
    "Before",
    "Overwrite",
    "worth",
    "harm",
    "NotWorth",
    "life",
    "lives",
    "life_of",
    "HandOver",
    "whereabouts",
    "lending",
    "books",
    "culprits",
    "Bound",
    "Slot",
    "Choice",
    "Resident",
    "Reason",
];

/// Phrases in comments and texts, in any case.
const PHRASES: &[&str] = &[
    "who lives where",
    "who was not used in this frame",
    "a hand that spares who was used",
    "whatever is asked of them",
    "what is asked of them",
    "takes up work on a device of the caller",
    "must live in tile memory and cannot",
    "made of 4-byte words, and this has",
    "fail where less than so much traffic stays on chip",
    "those that move textures want no transfer queue",
    "reserved for nothing",
    "a newcomer's evening",
];

/// The retired names in a file, each with its line.
///
/// # Errors
/// A text that is no Rust.
pub fn retired(path: &Path, text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        for phrase in PHRASES.iter().filter(|phrase| lower.contains(**phrase)) {
            found.push(format!("{}:{}: \"{phrase}\"", path.display(), index + 1));
        }
    }
    if path.extension().is_some_and(|extension| extension == "rs") {
        let tokens: TokenStream = text
            .parse()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        scan(path, tokens, &mut found);
    }
    Ok(found)
}

fn scan(path: &Path, tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                let text = name.to_string();
                if IDENTIFIERS.contains(&text.as_str()) {
                    found.push(format!(
                        "{}:{}: `{text}`",
                        path.display(),
                        name.span().start().line
                    ));
                }
            }
            TokenTree::Group(group) => scan(path, group.stream(), found),
            _ => {}
        }
    }
}
