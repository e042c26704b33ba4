//! The guide for rustdoc: each chapter of `docs/guide` with its pictures inside, and with links between chapters as rustdoc has them.
//!
//! The files read well as they are wherever Markdown is shown; rustdoc copies no pictures, so that here they become part of the text.

use std::fs;
use std::path::Path;

const FOLDER: &str = "docs/guide";

/// Writes `OUT_DIR/guide/*.md`. A picture that is not there stops the build.
pub(crate) fn write() {
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed=build/guide.rs");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let out = Path::new(&out).join("guide");
    fs::create_dir_all(&out).expect("OUT_DIR can be written");
    for entry in fs::read_dir(FOLDER).unwrap_or_else(|error| panic!("{FOLDER}: {error}")) {
        let path = entry.expect("an entry").path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if !name.ends_with(".md") {
            continue;
        }
        println!("cargo::rerun-if-changed={FOLDER}/{name}");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{FOLDER}/{name}: {error}"));
        fs::write(out.join(name), for_rustdoc(&text)).expect("OUT_DIR can be written");
    }
}

/// Pictures become data, and links to chapters links to modules, outside blocks of code; differences get colours.
fn for_rustdoc(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut block = Block::Text;
    for line in text.lines() {
        let fence = line.strip_prefix("```");
        block = match (block, fence) {
            (Block::Text, Some("diff")) => {
                written += "<div class=\"example-wrap\"><pre class=\"language-diff\"><code>";
                Block::Difference
            }
            (Block::Difference, Some(_)) => {
                written += "</code></pre></div>\n\n";
                Block::Text
            }
            (Block::Difference, None) => {
                written += &difference(line);
                Block::Difference
            }
            (Block::Text, None) => {
                written += &links(line);
                written.push('\n');
                Block::Text
            }
            (block, fence) => {
                written += line;
                written.push('\n');
                match (block, fence) {
                    (Block::Text, _) => Block::Code,
                    (_, Some(_)) => Block::Text,
                    (_, None) => Block::Code,
                }
            }
        };
    }
    written
}

/// What a line of a chapter is in.
#[derive(Clone, Copy)]
enum Block {
    Text,
    Code,
    Difference,
}

/// A line of a difference, on colours that go with light and dark.
fn difference(line: &str) -> String {
    let colour = match line.as_bytes() {
        [b'+', ..] => "rgba(46, 160, 67, 0.2)",
        [b'-', ..] => "rgba(248, 81, 73, 0.2)",
        [b'@', ..] => "rgba(127, 127, 127, 0.25)",
        _ => "transparent",
    };
    let text = line
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    // An empty line would have no height, and end the block in Markdown.
    let text = if text.is_empty() { " " } else { &text };
    format!("<span style=\"display: block; background: {colour}\">{text}</span>")
}

fn links(line: &str) -> String {
    let mut written = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at + 2);
        let Some(end) = after.find(')') else { break };
        let target = &after[..end];
        written += before;
        written += &if target.ends_with(".svg") || target.ends_with(".png") {
            picture(target)
        } else if target == "README.md" {
            "crate::guide".to_owned()
        } else if let Some(chapter) = target.strip_suffix(".md").filter(|name| !name.contains('/')) {
            format!("crate::guide::{chapter}")
        } else {
            target.to_owned()
        };
        rest = &after[end..];
    }
    written + rest
}

fn picture(path: &str) -> String {
    let kind = if path.ends_with(".svg") { "svg+xml" } else { "png" };
    let file = Path::new(FOLDER).join(path);
    println!("cargo::rerun-if-changed={}", file.display());
    let bytes = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    format!("data:image/{kind};base64,{}", base64(&bytes))
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=three.len()].copy_from_slice(three);
        let word = u32::from_be_bytes(word);
        for digit in 0..4 {
            let is_there = digit <= three.len();
            let index = word >> (18 - 6 * digit) & 63;
            text.push(if is_there {
                char::from(DIGITS[index as usize])
            } else {
                '='
            });
        }
    }
    text
}
