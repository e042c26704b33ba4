//! The checks find what is planted, and nothing in this repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tileheap_house::{cycles, language, names, sources};

/// The files of the cycles in a crate of these sources; its root is `lib.rs`.
fn cycles_of(sources: &[(&str, &str)]) -> Vec<Vec<String>> {
    let files: BTreeMap<PathBuf, String> = sources
        .iter()
        .map(|(name, text)| (PathBuf::from(name), (*text).to_owned()))
        .collect();
    let cycles =
        cycles::of_sources(Path::new("lib.rs"), &|path| files.get(path).cloned()).expect("it parses");
    let names = |cycle: &cycles::Cycle| {
        cycle
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect()
    };
    cycles.iter().map(names).collect()
}

const BOTH: &str = "mod a; mod b;";

#[test]
fn imports_make_a_cycle() {
    let found = cycles_of(&[
        ("lib.rs", BOTH),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "use super::a::A; pub struct B(Option<Box<A>>);"),
    ]);
    assert_eq!(found, [["a.rs", "b.rs"]]);
}

#[test]
fn a_qualified_path_makes_a_cycle() {
    let found = cycles_of(&[
        ("lib.rs", BOTH),
        ("a.rs", "pub fn one() -> u32 { crate::b::two() }"),
        ("b.rs", "pub fn two() -> u32 { super::a::one() }"),
    ]);
    assert_eq!(found, [["a.rs", "b.rs"]]);
}

#[test]
fn a_path_through_an_imported_module_makes_a_cycle() {
    let found = cycles_of(&[
        ("lib.rs", BOTH),
        ("a.rs", "use crate::b as other; pub struct A(other::B);"),
        ("b.rs", "use crate::a::{self}; pub struct B(Option<Box<a::A>>);"),
    ]);
    assert_eq!(found, [["a.rs", "b.rs"]]);
}

#[test]
fn a_re_export_leads_to_the_file_that_defines() {
    let found = cycles_of(&[
        ("lib.rs", "mod a; mod b; pub use a::A; pub use b::*;"),
        ("a.rs", "use crate::B; pub struct A(B);"),
        ("b.rs", "pub struct B(Option<Box<crate::A>>);"),
    ]);
    assert_eq!(found, [["a.rs", "b.rs"]]);
}

#[test]
fn a_type_of_the_parent_that_uses_its_child_makes_a_cycle() {
    let found = cycles_of(&[
        ("lib.rs", "mod stage;"),
        (
            "stage/mod.rs",
            "mod step; pub struct Shared; pub fn run() { step::step(&Shared) }",
        ),
        ("stage/step.rs", "use super::Shared; pub fn step(_: &Shared) {}"),
    ]);
    assert_eq!(found, [["stage/mod.rs", "stage/step.rs"]]);
}

#[test]
fn paths_in_macro_calls_and_imports_in_functions_count() {
    let found = cycles_of(&[
        ("lib.rs", BOTH),
        ("a.rs", "pub fn one() { println!(\"{}\", crate::b::two()) }"),
        ("b.rs", "pub fn two() -> u32 { use crate::a::one; one(); 2 }"),
    ]);
    assert_eq!(found, [["a.rs", "b.rs"]]);
}

#[test]
fn a_macro_of_the_parent_and_what_it_generates_count() {
    let found = cycles_of(&[
        (
            "lib.rs",
            "macro_rules! ids { ($n:ident) => { pub struct $n; } } mod a; pub fn f() -> a::A { a::A }",
        ),
        ("a.rs", "ids!(A);"),
    ]);
    assert_eq!(found, [["a.rs", "lib.rs"]]);
}

#[test]
fn a_longer_cycle_is_one() {
    let found = cycles_of(&[
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "pub fn a() { crate::b::b() }"),
        ("b.rs", "pub fn b() { crate::c::c() }"),
        ("c.rs", "pub fn c() { crate::a::a(); crate::d::d() }"),
        ("d.rs", "pub fn d() {}"),
    ]);
    assert_eq!(found, [["a.rs", "b.rs", "c.rs"]]);
}

#[test]
fn declarations_tests_and_other_crates_make_none() {
    let found = cycles_of(&[
        ("lib.rs", "mod a; mod b; pub use b::B;"),
        (
            "a.rs",
            "pub struct A; #[cfg(test)] mod tests { use crate::b::B; fn f(_: B) {} }",
        ),
        (
            "b.rs",
            "use std::fmt; use super::a::A; /// [`crate::b::B`]\npub struct B(A); impl fmt::Debug for B { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(\"B\") } }",
        ),
    ]);
    assert_eq!(found, Vec::<Vec<String>>::new());
}

#[test]
fn no_file_of_the_repository_is_in_a_cycle() {
    let mut found = String::new();
    let root = sources::root();
    let mut roots = 0;
    for file in sources::packages(&root)
        .iter()
        .flat_map(|package| sources::crate_roots(package))
    {
        roots += 1;
        let cycles = cycles::of_crate(&file).unwrap_or_else(|error| panic!("{error}"));
        found.extend(cycles.iter().map(ToString::to_string));
    }
    assert!(roots > 12, "only {roots} crates were found");
    assert!(found.is_empty(), "{found}");
}

#[test]
fn no_file_is_longer_than_600_lines() {
    let root = sources::root();
    for path in sources::rust_files(&root) {
        let text = std::fs::read_to_string(&path).expect("a source file");
        let lines = text.lines().count();
        assert!(lines <= 600, "{}: {lines} lines", path.display());
    }
}

#[test]
fn let_chains_are_found() {
    let text = "fn f(a: Option<u32>, b: bool) {\n    if let Some(1) = a && b {}\n    while b && let Some(_) = a {}\n    if let Some(1) = a {}\n}";
    let found = language::let_chains(Path::new("a.rs"), text).expect("it parses");
    assert_eq!(found, ["a.rs:2: a let chain", "a.rs:3: a let chain"]);
}

#[test]
fn let_chains_are_in_no_file_of_the_repository() {
    for path in sources::rust_files(&sources::root()) {
        let text = std::fs::read_to_string(&path).expect("a source file");
        let found = language::let_chains(&path, &text).unwrap_or_else(|error| panic!("{error}"));
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn retired_names_are_found_as_whole_names() {
    let text = "/// Who lives where.\nstruct Turn { worth: u32 } // a turn, worthwhile\nfn whereabouts() { let reach = 1; }";
    let found = names::retired(Path::new("a.rs"), text).expect("it parses");
    assert_eq!(
        found,
        [
            "a.rs:1: \"who lives where\"",
            "a.rs:2: `Turn`",
            "a.rs:2: `worth`",
            "a.rs:3: `whereabouts`"
        ]
    );
}

#[test]
fn retired_names_are_in_no_file_of_the_repository() {
    let root = sources::root();
    let mut found = Vec::new();
    for path in sources::rust_files(&root) {
        // These quote them.
        if path.ends_with("house/src/names.rs") || path.ends_with("house/tests/house.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        found.extend(names::retired(&path, &text).unwrap_or_else(|error| panic!("{error}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
