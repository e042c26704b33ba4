//! `examples/cpp/tables`, which executes tables in C++, and `examples/cpp/runtime`, which calls the runtime through C, draw the same texels in every
//! frame as `examples/plaza` in Rust: in ordinary memory and in tile memory, with a size that changes and a pass that is left out.

use std::path::PathBuf;
use std::process::{Command, Output};

use tileheap_testkit::{cpp_program, emulate, example, own_file};

/// Nine frames: the fifth is the first of another size, and four have no halos.
const FRAMES: [&str; 7] = [
    "--size", "320x180", "--resize", "203x117", "--frames", "9", "--toggle",
];
const BYTES: u64 = 4 * (4 * 320 * 180 + 5 * 203 * 117);

/// Runs a program that renders, and returns its output and a file with the texels.
pub(super) fn render(mut program: Command, name: &str) -> (String, PathBuf) {
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
pub(super) fn assert_same_texels(one: &PathBuf, other: &PathBuf) {
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

/// The programs that draw the frame in C++.
const PROGRAMS: [&str; 2] = ["tables", "runtime"];

/// A program that [`PROGRAMS`] names, in ordinary memory.
fn in_ordinary_memory(name: &str) -> Option<Command> {
    let mut program = cpp_program(name)?;
    program.arg("--no-tile-memory");
    Some(program)
}

#[test]
fn cpp_programs_draw_what_rust_draws() {
    let mut rust = None;
    for name in PROGRAMS {
        let (Some(program), Some(ordinary)) = (cpp_program(name), in_ordinary_memory(name)) else {
            return;
        };
        let rust = rust.get_or_insert_with(|| render(example("plaza"), "rust").1);
        let (_, cpp) = render(program, name);
        assert_same_texels(rust, &cpp);
        let (printed, ordinary) = render(ordinary, &format!("{name}-ordinary"));
        assert!(!printed.contains("Tile memory"), "{printed}");
        assert_same_texels(rust, &ordinary);
    }
    let rust = std::fs::read(rust.expect("a program was compared")).unwrap();
    assert_ne!(rust[..BYTES as usize / 9], [0; BYTES as usize / 9]);
}

#[test]
fn cpp_programs_draw_the_same_in_tile_memory() {
    let profiles = match std::env::var("VK_TILEHEAP_EMULATOR_PROFILE") {
        // The test above runs on it.
        Ok(profile) => vec![profile],
        Err(_) => vec!["adreno-830".to_owned(), "hostile".to_owned()],
    };
    for name in PROGRAMS {
        let Some(ordinary) = in_ordinary_memory(name) else {
            return;
        };
        let (_, ordinary) = render(ordinary, &format!("{name}-ordinary-memory"));
        for profile in &profiles {
            let mut program = cpp_program(name).expect("it was there before");
            if !emulate(&mut program, profile) {
                return;
            }
            let (printed, tile) = render(program, &format!("{name}-{profile}"));
            assert!(printed.contains("Tile memory: largest binding"), "{printed}");
            assert_same_texels(&ordinary, &tile);
        }
    }
}

#[test]
fn the_cpp_header_runs_frames_and_refuses_wrong_calls() {
    for profile in [None, Some("hostile")] {
        let Some(mut program) = cpp_program("test_runtime") else {
            return;
        };
        if profile.is_some_and(|profile| !emulate(&mut program, profile)) {
            return;
        }
        let output = program.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{profile:?}: {}: {said}", output.status);
        assert_eq!(said, "", "{profile:?}");
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
    for (name, (arguments, code, expected)) in PROGRAMS
        .iter()
        .flat_map(|name| refusals.iter().map(move |refusal| (*name, *refusal)))
    {
        let Some(mut program) = cpp_program(name) else {
            return;
        };
        let output = program.args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name} {arguments:?}: {said}");
        assert!(
            said.starts_with("error: ") && said.contains(expected),
            "{name} {arguments:?}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
