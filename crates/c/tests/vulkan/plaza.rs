//! `examples/cpp/tables`, which executes tables in C++, draws what `examples/plaza` draws with the runtime, in every texel of every frame: in
//! ordinary memory and in tile memory, with a size that changes and a pass that is left out.

use std::path::PathBuf;
use std::process::{Command, Output};

use tileheap_testkit::{cpp_program, emulate, example, own_file};

/// Nine frames: the fifth is the first of another size, and four have no halos.
const FRAMES: [&str; 7] = [
    "--size", "320x180", "--resize", "203x117", "--frames", "9", "--toggle",
];
const BYTES: u64 = 4 * (4 * 320 * 180 + 5 * 203 * 117);

/// Runs a program that renders, and returns its output and a file with the texels.
fn render(mut program: Command, name: &str) -> (String, PathBuf) {
    let texels = own_file(&format!("plaza-{name}.rgba"));
    program.args(FRAMES).arg("--texels").arg(&texels);
    program
        .arg("--output")
        .arg(own_file(&format!("plaza-{name}.png")));
    let Output {
        status,
        stdout,
        stderr,
    } = program.output().unwrap();
    let (printed, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{name}: {status}: {said}");
    assert_eq!(said, "", "{name}");
    assert_eq!(std::fs::metadata(&texels).unwrap().len(), BYTES, "{name}");
    (printed.into_owned(), texels)
}

#[track_caller]
fn assert_same_texels(one: &PathBuf, other: &PathBuf) {
    let [one_texels, other_texels] = [one, other].map(|path| std::fs::read(path).unwrap());
    let differing = one_texels.chunks(4).zip(other_texels.chunks(4));
    let differing = differing.filter(|(one, other)| one != other).count();
    assert_eq!(
        differing,
        0,
        "texels that differ between {} and {}",
        one.display(),
        other.display()
    );
}

#[test]
fn tables_executed_in_cpp_draw_what_the_runtime_draws() {
    let Some(tables) = cpp_program("tables") else {
        return;
    };
    let (_, rust) = render(example("plaza"), "rust");
    let (_, cpp) = render(tables, "cpp");
    assert_same_texels(&rust, &cpp);
    let mut tables = cpp_program("tables").expect("it was there before");
    tables.arg("--no-tile-memory");
    let (printed, ordinary) = render(tables, "cpp-ordinary");
    assert!(!printed.contains("Tile memory"), "{printed}");
    assert_same_texels(&rust, &ordinary);
    assert_ne!(
        std::fs::read(&rust).unwrap()[..BYTES as usize / 9],
        [0; BYTES as usize / 9]
    );
}

#[test]
fn tables_executed_in_cpp_draw_the_same_in_tile_memory() {
    let profiles = match std::env::var("VK_TILEHEAP_EMULATOR_PROFILE") {
        // The test above runs on it.
        Ok(profile) => vec![profile],
        Err(_) => vec!["adreno-830".to_owned(), "hostile".to_owned()],
    };
    for profile in profiles {
        let Some(mut ordinary) = cpp_program("tables") else {
            return;
        };
        ordinary.arg("--no-tile-memory");
        let (_, ordinary) = render(ordinary, "cpp-ordinary");
        let mut tables = cpp_program("tables").expect("it was there before");
        if !emulate(&mut tables, &profile) {
            return;
        }
        let (printed, tile) = render(tables, &format!("cpp-{profile}"));
        assert!(printed.contains("Tile memory: largest binding"), "{printed}");
        assert_same_texels(&ordinary, &tile);
    }
}

#[test]
fn the_programs_name_what_is_wrong() {
    let refusals = [
        (&["--frobnicate"][..], 2, "unknown option '--frobnicate'"),
        (&["--frames"], 2, "--frames needs a value"),
        (&["--frames", "0"], 2, "invalid value '0' for --frames"),
        (&["--frames", "4x"], 2, "invalid value '4x' for --frames"),
        (&["--size", "320"], 2, "invalid value '320' for --size"),
        (
            &["--resize", "320x99999"],
            2,
            "invalid value '320x99999' for --resize",
        ),
        (
            &["--texels", "/nowhere/texels"],
            1,
            "cannot write /nowhere/texels",
        ),
        (
            &["--frames", "1", "--size", "8x8", "--output", "/nowhere/x.png"],
            1,
            "cannot write /nowhere/x.png",
        ),
    ];
    for (arguments, code, expected) in refusals {
        let Some(mut program) = cpp_program("tables") else {
            return;
        };
        let output = program.args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(
            said.starts_with("error: ") && said.contains(expected),
            "{arguments:?}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
