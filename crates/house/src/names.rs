//! Names and phrases of the first version that are retired: `CONTRIBUTING.md` has what is said instead.

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

/// Identifiers, as whole names, one a line.
const IDENTIFIERS: &str = include_str!("retired_names.txt");

/// Phrases in comments and texts, in any case, one a line.
const PHRASES: &str = include_str!("retired_phrases.txt");

/// The retired names in a file, each with its line.
///
/// # Errors
/// A text that is no Rust.
pub fn retired(path: &Path, text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        for phrase in PHRASES.lines().filter(|phrase| lower.contains(*phrase)) {
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
                if IDENTIFIERS.lines().any(|retired| retired == text) {
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
