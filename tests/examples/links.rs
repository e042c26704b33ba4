//! Pages lead where they say: links to files and headings, and the commands on the README's first screen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text outside of code fences and comments, and without code in lines.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if !fence && !fenced && !line.starts_with("<!--") {
            let outside = line.split('`').step_by(2);
            prose.extend(outside);
            prose.push('\n');
        }
    }
    prose
}

/// The anchors of a page's headings, as GitHub and mdBook make them: lower case, without punctuation, `-` for spaces.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let headings = text.lines().filter(|line| {
        fenced ^= line.trim_start().starts_with("```");
        !fenced && line.starts_with('#')
    });
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().chars();
        let kept = kept.filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![];
    for folder in ["", "docs", "docs/guide"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder");
        pages.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    let crates = std::fs::read_dir(root().join("crates")).expect("a folder");
    pages.extend(crates.map(|entry| entry.expect("an entry").path().join("README.md")));
    pages.retain(|path| path.extension().is_some_and(|end| end == "md") && path.is_file());
    pages
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut local = 0;
    let mut broken = vec![];
    for page in pages() {
        let folder = page.parent().expect("a folder");
        for rest in prose(&read(&page)).split("](").skip(1) {
            let target = rest.split(')').next().expect("a link");
            if target.contains("://") || target.starts_with("crate::") {
                continue;
            }
            local += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                page.clone()
            } else {
                folder.join(file)
            };
            let is_good = file.exists() && (anchor.is_empty() || anchors(&read(&file)).contains(anchor));
            if !is_good {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(local > 100, "only {local} links");
}

#[test]
fn anchors_are_those_of_rendered_pages() {
    let text = "# Frames: as JSON\n```sh\n# no heading\n```\n## `Device` & a_b\n";
    let expected = ["frames-as-json", "device--a_b"].map(str::to_owned);
    assert_eq!(anchors(text), BTreeSet::from(expected));
}

/// The first screen is short, and its commands exist.
#[test]
fn the_first_screen_of_the_readme_has_a_command_for_everyone() {
    let readme = read(&root().join("README.md"));
    let (before, rest) = readme.split_once("```sh\n").expect("commands");
    let words = before.split_whitespace().count();
    assert!(
        (100..=160).contains(&words),
        "{words} words before the first command"
    );
    let block = rest.split("```").next().expect("a fence");
    let commands = block
        .lines()
        .map(|line| line.split("  #").next().expect("a command").trim());
    let mut tools = BTreeSet::new();
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        tools.insert(match words[..] {
            ["bash", script] => {
                assert!(root().join(script).is_file(), "{command}");
                script
            }
            ["tileheap", subcommand, ..] => {
                let source = format!("crates/cli/src/commands/{subcommand}.rs");
                assert!(root().join(source).is_file(), "{command}");
                subcommand
            }
            ["cargo", "run", "--example", example, ..] => {
                let example = root().join("examples").join(example);
                assert!(example.is_dir(), "{command}");
                "cargo"
            }
            _ => panic!("{command}: not a known tool"),
        });
        for path in words
            .iter()
            .filter(|word| word.contains('/') && !word.starts_with("./"))
        {
            assert!(root().join(path).exists(), "{command}: {path}");
        }
    }
    let expected = [
        "capture",
        "cargo",
        "scripts/build-cpp.sh",
        "scripts/install.sh",
        "tensors",
    ];
    assert_eq!(tools, BTreeSet::from(expected));
}

/// The README and the page that it names have the terms that people search for.
#[test]
fn terms_of_other_tools_are_in_the_readme_and_explained() {
    let pages = ["README.md", "docs/guide/terms.md"].map(|page| read(&root().join(page)).to_lowercase());
    for term in [
        "high performance memory (hpm)",
        "gmem",
        "lazily allocated",
        "memoryless",
        "render graph",
        "transient aliasing",
        "local read",
        "vma",
        "rps",
        "granite",
        "wgpu",
        "heuristics",
    ] {
        assert!(pages.iter().all(|page| page.contains(term)), "{term}");
    }
}
