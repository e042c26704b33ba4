//! Cycles between the files of a crate.
//!
//! A file depends on another if it names something that the other *defines*: in a `use`, in a qualified path, through a re-export or
//! a glob, inside a macro call or a function. `mod` declarations are no dependency, and what is compiled for tests alone does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::module::Tree;

/// Files that depend on one another, and the names that tie them.
#[derive(Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The files.
    pub files: Vec<PathBuf>,
    /// From file, to file, names.
    pub arrows: Vec<(PathBuf, PathBuf, Vec<String>)>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "a cycle of {} files:", self.files.len())?;
        for (from, to, names) in &self.arrows {
            writeln!(
                f,
                "  {} -> {}: {}",
                from.display(),
                to.display(),
                names.join(", ")
            )?;
        }
        Ok(())
    }
}

type Arrows = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// The cycles of the crate whose root file is `root`.
///
/// # Errors
/// A file that is missing or does not parse.
pub fn of_crate(root: &Path) -> Result<Vec<Cycle>, String> {
    of_sources(root, &|path| std::fs::read_to_string(path).ok())
}

/// The same with files from anywhere.
///
/// # Errors
/// A file that is missing or does not parse.
pub fn of_sources(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Result<Vec<Cycle>, String> {
    let tree = Tree::read(root, read)?;
    let arrows = arrows(&tree);
    let mut cycles: Vec<Cycle> = strongly_connected(&arrows)
        .into_iter()
        .filter(|files| files.len() > 1)
        .map(|files| cycle(files, &arrows))
        .collect();
    cycles.sort_by(|a, b| a.files.cmp(&b.files));
    Ok(cycles)
}

fn cycle(files: BTreeSet<PathBuf>, arrows: &Arrows) -> Cycle {
    let inside = arrows.iter().filter(|(from, _)| files.contains(*from));
    let named = inside.flat_map(|(from, targets)| {
        targets
            .iter()
            .filter(|(to, _)| files.contains(*to))
            .map(|(to, names)| (from.clone(), to.clone(), names.iter().cloned().collect()))
    });
    Cycle {
        arrows: named.collect(),
        files: files.into_iter().collect(),
    }
}

fn arrows(tree: &Tree) -> Arrows {
    let mut arrows = Arrows::new();
    for (index, module) in tree.modules.iter().enumerate() {
        let imported = module.imports.iter().map(|(_, path)| path);
        for path in imported.chain(&module.mentions) {
            let defined = definition(tree, index, path, 0);
            if let Some((file, name)) = defined.filter(|(file, _)| *file != module.file) {
                let targets = arrows.entry(module.file.clone()).or_default();
                targets.entry(file).or_default().insert(name);
            }
        }
    }
    arrows
}

/// More steps than any honest chain of re-exports has.
const DEEPEST: u32 = 32;

/// The file that defines what a path in a module names, and the name; `None` for other crates', locals and modules.
fn definition(tree: &Tree, from: usize, path: &[String], depth: u32) -> Option<(PathBuf, String)> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => member(tree, 0, rest, depth),
        "self" => member(tree, from, rest, depth),
        "super" => member(tree, tree.modules[from].parent?, rest, depth),
        "Self" => None,
        _ => member(tree, from, path, depth),
    }
}

/// What a path names when looked up in a module.
fn member(tree: &Tree, at: usize, path: &[String], depth: u32) -> Option<(PathBuf, String)> {
    if depth > DEEPEST {
        return None;
    }
    let (first, rest) = path.split_first()?;
    let module = &tree.modules[at];
    if first == "self" {
        return member(tree, at, rest, depth);
    }
    if first == "super" {
        return member(tree, module.parent?, rest, depth);
    }
    if module.items.contains(first) {
        return Some((module.file.clone(), first.clone()));
    }
    if let Some(&child) = module.children.get(first) {
        return member(tree, child, rest, depth);
    }
    for (_, imported) in module.imports.iter().filter(|(name, _)| name == first) {
        let whole: Vec<String> = imported.iter().chain(rest).cloned().collect();
        // An import of the name itself from another crate resolves to nothing here.
        if imported.first() != Some(first) || imported.len() > 1 {
            let found = definition(tree, at, &whole, depth + 1);
            if found.is_some() {
                return found;
            }
        }
    }
    for glob in &module.globs {
        let whole: Vec<String> = glob.iter().chain(path).cloned().collect();
        let found = definition(tree, at, &whole, depth + 1);
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Sets of files each of which leads to every other.
fn strongly_connected(arrows: &Arrows) -> BTreeSet<BTreeSet<PathBuf>> {
    let behind = |file: &PathBuf| {
        let mut found = BTreeSet::new();
        let mut open = vec![file];
        while let Some(next) = open.pop() {
            let targets = arrows.get(next).into_iter().flat_map(BTreeMap::keys);
            open.extend(targets.filter(|target| found.insert((*target).clone())));
        }
        found
    };
    let behind: BTreeMap<&PathBuf, BTreeSet<PathBuf>> =
        arrows.keys().map(|file| (file, behind(file))).collect();
    let both_ways = |file: &PathBuf| {
        let leads_back = |other: &&PathBuf| behind.get(other).is_some_and(|others| others.contains(file));
        behind[file].iter().filter(leads_back).cloned().collect()
    };
    arrows.keys().map(both_ways).collect()
}
