//! The checks find what is planted, and nothing in this repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tileheap_house::{cycles, language, sources};

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

/// Two files after the root that depend on each other.
#[test]
fn whatever_names_an_item_of_another_file_makes_a_cycle() {
    const BOTH: &str = "mod a; mod b;";
    for (what, root, a, b) in [
        (
            "imports",
            BOTH,
            "use crate::b::B; pub struct A(B);",
            "use super::a::A; pub struct B(Option<Box<A>>);",
        ),
        (
            "a qualified path",
            BOTH,
            "pub fn one() -> u32 { crate::b::two() }",
            "pub fn two() -> u32 { super::a::one() }",
        ),
        (
            "a path through an imported module",
            BOTH,
            "use crate::b as other; pub struct A(other::B);",
            "use crate::a::{self}; pub struct B(Option<Box<a::A>>);",
        ),
        (
            "a re-export",
            "mod a; mod b; pub use a::A; pub use b::*;",
            "use crate::B; pub struct A(B);",
            "pub struct B(Option<Box<crate::A>>);",
        ),
        (
            "macro calls, and imports in functions",
            BOTH,
            "pub fn one() { println!(\"{}\", crate::b::two()) }",
            "pub fn two() -> u32 { use crate::a::one; one(); 2 }",
        ),
    ] {
        let found = cycles_of(&[("lib.rs", root), ("a.rs", a), ("b.rs", b)]);
        assert_eq!(found, [["a.rs", "b.rs"]], "{what}");
    }
}

#[test]
fn parents_and_children_make_cycles_too() {
    let shared = "mod step; pub struct Shared; pub fn run() { step::step(&Shared) }";
    let found = cycles_of(&[
        ("lib.rs", "mod stage;"),
        ("stage/mod.rs", shared),
        ("stage/step.rs", "use super::Shared; pub fn step(_: &Shared) {}"),
    ]);
    assert_eq!(found, [["stage/mod.rs", "stage/step.rs"]]);
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
fn nothing_is_found_in_the_repository() {
    let roots = sources::packages(&sources::root());
    let roots = roots.iter().flat_map(|package| sources::crate_roots(package));
    assert!(roots.count() > 12, "few crates were found");
    assert_eq!(tileheap_house::findings(&[]), Vec::<String>::new());
}

#[test]
fn let_chains_are_found() {
    let text = "fn f(a: Option<u32>, b: bool) {\n    if let Some(1) = a && b {}\n    while b && let Some(_) = a {}\n    if let Some(1) = a {}\n}";
    let found = language::let_chains(Path::new("a.rs"), text).expect("it parses");
    assert_eq!(found, ["a.rs:2: a let chain", "a.rs:3: a let chain"]);
}
