//! `include/tileheap.h` equals the header generated from the sources, and compiles as C and C++.
//!
//! `TILEHEAP_WRITE=1 cargo test --package tileheap-c --test header` writes it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use regex::{Captures, Regex};

/// The sources of the types and functions in the header, in the order of the functions.
const SOURCES: [&str; 36] = [
    "crates/c/src/status.rs",
    "crates/c/src/opaque.rs",
    "crates/c/src/strings.rs",
    "crates/c/src/text.rs",
    "crates/c/src/enums.rs",
    "crates/c/src/library.rs",
    "crates/c/src/profile.rs",
    "crates/c/src/frame_desc.rs",
    "crates/c/src/frame.rs",
    "crates/c/src/origins.rs",
    "crates/c/src/executed.rs",
    "crates/c/src/requirements.rs",
    "crates/c/src/plan.rs",
    "crates/c/src/arrangement.rs",
    "crates/c/src/lowerer.rs",
    "crates/c/src/stores.rs",
    "crates/c/src/aliasing.rs",
    "crates/c/src/additions.rs",
    "crates/c/src/blocks.rs",
    "crates/c/src/device.rs",
    "crates/c/src/dynamic_frame.rs",
    "crates/c/src/bound.rs",
    "crates/c/src/imports.rs",
    "crates/c/src/recording.rs",
    "crates/c/src/commands.rs",
    "crates/units/src/lib.rs",
    "src/frame/access.rs",
    "src/frame/subresources.rs",
    "src/plan/types.rs",
    "src/lower/ids.rs",
    "src/lower/lowering_desc.rs",
    "src/lower/state.rs",
    "src/lower/aliasing.rs",
    "src/lower/tables/clears.rs",
    "src/lower/tables/commands.rs",
    "src/lower/tables/instances.rs",
];
const MORE_SOURCES: [&str; 2] = ["src/lower/tables/objects.rs", "src/lower/tables/submission.rs"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The header from cbindgen, with comments for C programmers.
fn generated() -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(own.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES.iter().chain(&MORE_SOURCES) {
        builder = builder.with_src(root().join(source));
    }
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    for_c(&String::from_utf8(header).unwrap())
}

/// Replaces Rust's links and names in comments.
fn for_c(header: &str) -> String {
    let replace = |pattern: &str, text: &str, with: &str| {
        let pattern = Regex::new(pattern).unwrap();
        assert!(pattern.is_match(text), "the header no longer has `{pattern}`");
        pattern.replace_all(text, with).into_owned()
    };
    let version = env!("CARGO_PKG_VERSION").split('.');
    let mut text = header.to_owned();
    for (part, number) in ["@MAJOR@", "@MINOR@", "@PATCH@"].into_iter().zip(version) {
        text = text.replace(part, number);
    }
    // A row of the Rust API.
    text = replace(
        r" With the feature `runtime`, `StoreShader::spirv` returns their code\.",
        &text,
        " `thGetStoreShaders` returns their code.",
    );
    text = replace(r"(?s)\[(`[^`]+`)\]\([^)]*\)", &text, "$1");
    text = replace(r"\[(`[^`]+`)\]", &text, "$1");
    text = replace(r"`Plan::", &text, "`ThPlanArrays::");
    text = replace(r"`Aliasing::", &text, "`ThAliasingArrays::");
    text = replace(r"`Lowered::", &text, "`ThLowered::");
    // Enumerations have an explicit size in C and C++: a macro declares it.
    text = replace(
        r"enum (\w+)\n#if defined\(__cplusplus\)[^\n]*\n  : (\w+)\n#endif[^\n]*\n \{",
        &text,
        "TH_ENUM($1, $2) {",
    );
    text = replace(
        r"(?s)#ifndef __cplusplus\n#if __STDC_VERSION__.*?#endif // __cplusplus\n",
        &text,
        "",
    );
    // Constants of Rust's types.
    text = replace(
        r"/\*\*\n( \*[^\n]*\n)+? \*/\n#define Th\w+_[A-Z0-9]+ [^\n]*\n",
        &text,
        "",
    );
    text = replace(r"`u32::MAX`", &text, "`TH_NONE`");
    // Comments of one line.
    text = replace(r"(?m)^( *)/\*\*\n *\* ([^\n]*)\n *\*/$", &text, "$1/** $2 */");
    text = replace(r"\n\n\n+", &text, "\n\n");
    text = text.replace('…', "...");
    // Fields have their names in C.
    let field = Regex::new(r"`(Th\w+::)?([a-z]+(?:_[a-z0-9]+)+)`").unwrap();
    let camel = |name: &Captures<'_>| {
        let mut words = name[2].split('_');
        let first = words.next().unwrap_or_default().to_owned();
        let rest = words.map(|word| word[..1].to_uppercase() + &word[1..]);
        format!(
            "`{}{}`",
            name.get(1).map_or("", |at| at.as_str()),
            first + &rest.collect::<String>()
        )
    };
    field.replace_all(&text, camel).into_owned()
}

/// Names of Vulkan's fields.
const VULKAN: &str = "/usr/include/vulkan/vulkan_core.h";

#[test]
fn comments_name_what_c_programmers_can_find() {
    let header = generated();
    let code: Vec<&str> = header
        .lines()
        .filter(|line| !line.trim_start().starts_with(['*', '/']))
        .collect();
    let vulkan = std::fs::read_to_string(VULKAN).unwrap_or_default();
    let texts = [
        code.join("\n"),
        vulkan.clone(),
        include_str!("../include/tileheap_vulkan.h").to_owned(),
        include_str!("../include/tileheap_requirements.h").to_owned(),
    ];
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: HashSet<&str> = texts
        .iter()
        .flat_map(|text| text.split(|c| !is_word(c)))
        .collect();
    let word = Regex::new(r"`([A-Za-z_]\w*)(?:::(\w+))?`").unwrap();
    let is_known = |name: &str| {
        words.contains(name) || ["Vk", "VK_", "vk"].iter().any(|prefix| name.starts_with(prefix))
    };
    let mut unknown = Vec::new();
    for found in word.captures_iter(&header) {
        let names = [Some(&found[1]), found.get(2).map(|name| name.as_str())];
        for name in names.into_iter().flatten() {
            // The command, words of GLSL and C, a feature that is newer than these headers.
            let others = [
                "tileheap",
                "gl_FragCoord",
                "gl_FragDepth",
                "texelFetch",
                "longjmp",
                "maintenance9",
            ];
            if !others.contains(&name) && !vulkan.is_empty() && !is_known(name) {
                unknown.push(found[0].to_owned());
            }
        }
    }
    assert!(unknown.is_empty(), "the header does not have {unknown:?}");
    assert!(header.is_ascii());
}

#[test]
fn every_declaration_has_a_comment_and_every_function_its_thread_safety() {
    let header = generated();
    let functions = Regex::new(r"(?s)/\*\*((?:[^*]|\*[^/])*)\*/\nTH_API\n\w+ \*?(th\w+)\(").unwrap();
    let documented: Vec<&str> = functions
        .captures_iter(&header)
        .map(|found| {
            let (comment, name) = (found.get(1).unwrap().as_str(), found.get(2).unwrap().as_str());
            assert!(comment.contains("Thread safety: "), "{name}: {comment}");
            name
        })
        .collect();
    assert_eq!(documented.len(), header.matches("\nTH_API\n").count());
    // Fields and constants.
    let member = Regex::new(r"^    (?:[A-Za-z_][\w *]*(?:\[\d+\])?;|TH_[A-Z0-9_]+(?: = [^,]+)?,)$").unwrap();
    let lines: Vec<&str> = header.lines().collect();
    let bare = lines
        .windows(2)
        .filter(|pair| member.is_match(pair[1]) && !pair[0].ends_with("*/"));
    assert_eq!(bare.map(|pair| pair[1]).collect::<Vec<_>>(), [""; 0]);
    assert!(lines.iter().filter(|line| member.is_match(line)).count() > 400);
}

#[test]
fn the_header_is_what_the_sources_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tileheap.h");
    let generated = generated();
    if std::env::var_os("TILEHEAP_WRITE").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = committed
        .lines()
        .zip(generated.lines())
        .position(|(old, new)| old != new);
    assert!(
        committed == generated,
        "include/tileheap.h differs from the sources, first in line {}: \
         TILEHEAP_WRITE=1 cargo test --package tileheap-c --test header",
        differs.map_or(0, |line| line + 1)
    );
}

/// As in Vulkan: what has to be destroyed comes from `thCreate...`. Recordings are begun and ended instead.
#[test]
fn functions_that_create_objects_are_named_so() {
    let header = include_str!("../include/tileheap.h");
    let handles = Regex::new(r"typedef struct \w+T \*(\w+);").unwrap();
    let handles: HashSet<&str> = handles
        .captures_iter(header)
        .map(|found| found.extract::<1>().1[0])
        .collect();
    let functions = Regex::new(r"(?s)ThStatus (th\w+)\(([^)]*)\);").unwrap();
    let output = Regex::new(r"^(\w+) \*\w+$").unwrap();
    let mut created = 0;
    for found in functions.captures_iter(header) {
        let [name, parameters] = found.extract::<2>().1;
        let creates = parameters.split(',').any(|parameter| {
            let found = output.captures(parameter.trim());
            found.is_some_and(|found| handles.contains(found.extract::<1>().1[0]))
        });
        assert!(
            creates == name.starts_with("thCreate") || name == "thBeginCommands",
            "{name}"
        );
        created += usize::from(creates);
    }
    assert!(created > 25, "{created}");
}

/// Messages of the Rust interface that no call of a C program causes.
const NOT_IN_C: [&str; 7] = [
    "Context::destroy",
    "Device::destroy",
    "Device::lock_queues",
    "Device::targets",
    "FrameRecorder::per_tile_secondary",
    "PassBuilder::secondary",
    "WindowRule::Device",
];

/// C programmers do not know the names of the Rust interface.
#[test]
fn messages_name_what_is_in_the_header() {
    let known = include_str!("../src/status.rs");
    let known = known.split_once("const C_NAMES").unwrap().1;
    let known = known.split_once("];").unwrap().0;
    let literals = Regex::new(r#"(?s)//[^\n]*|'(?:[^'\\]|\\.[^']*)'|"((?:[^"\\]|\\.)*)""#).unwrap();
    let names = Regex::new(r"\b[A-Z]\w+::[A-Za-z_]+\b|\bto Imports\b").unwrap();
    let (mut folders, mut found, mut all) = (vec![root().join("src")], 0, String::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let is_test = path.to_string_lossy().contains("test");
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if is_test || path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let texts = literals
                .captures_iter(source)
                .filter_map(|literal| literal.get(1));
            for text in texts.filter(|text| text.as_str().contains(' ')) {
                all += text.as_str();
                for name in names.find_iter(text.as_str()).map(|name| name.as_str()) {
                    found += 1;
                    assert!(
                        known.contains(name) || NOT_IN_C.contains(&name),
                        "{}: a message with `{name}` has no name for C: {}",
                        path.display(),
                        text.as_str()
                    );
                }
            }
        }
    }
    assert!(found > 10, "{found}");
    // The replaced words are those of messages, on however many lines.
    let all = Regex::new(r"\\\n\s*").unwrap().replace_all(&all, "");
    let replaced = literals
        .captures_iter(known)
        .filter_map(|literal| Some(literal.get(1)?.as_str()));
    for words in replaced.step_by(2) {
        assert!(all.contains(words), "no message says {words}");
    }
}
