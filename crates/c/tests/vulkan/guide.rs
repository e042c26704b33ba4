//! The programs of `examples/cpp/guide`, the steps of the guide's chapter on C++, draw the same texels: in ordinary memory and in tile memory, with a
//! size that changes and a pass that is left out.

use tileheap_testkit::{cpp_program, emulate, workspace};

use crate::plaza::{assert_same_texels, render};

/// The first steps that share memory, and that use tile memory.
const ALIASING: usize = 2;
const TILE_MEMORY: usize = 3;

fn step_count() -> usize {
    let folders = (0..).map(|step| workspace().join(format!("examples/cpp/guide/step_{step}")));
    let count = folders.take_while(|folder| folder.is_dir()).count();
    assert!(count > TILE_MEMORY, "{count} steps");
    count
}

/// The number before a unit, as in `9 frames on llvmpipe: 2596352 B of ordinary memory, 0 B of tile memory`.
fn bytes(printed: &str, unit: &str) -> u64 {
    let before = printed.split(unit).next().expect("the text before the unit");
    let number = before.rsplit(' ').next().expect("a word");
    number.parse().unwrap_or_else(|_| panic!("{printed}"))
}

#[test]
fn all_steps_of_the_guide_draw_the_same_in_less_memory() {
    let mut first = None;
    for step in 0..step_count() {
        let name = format!("guide_{step}");
        let Some(mut program) = cpp_program(&name) else {
            return;
        };
        program.arg("--no-tile-memory");
        let (printed, texels) = render(program, &name);
        let (ordinary, tile) = (
            bytes(&printed, " B of ordinary memory"),
            bytes(&printed, " B of tile memory"),
        );
        let (most, expected) = first.get_or_insert((ordinary, texels.clone()));
        assert_same_texels(expected, &texels);
        assert_eq!((ordinary < *most, tile), (step >= ALIASING, 0), "{printed}");
    }
}

#[test]
fn steps_of_the_guide_draw_the_same_in_tile_memory() {
    let Some(first) = cpp_program("guide_0") else {
        return;
    };
    let (_, expected) = render(first, "guide_0-first");
    for profile in ["adreno-830", "hostile"] {
        for step in TILE_MEMORY..step_count() {
            let mut program = cpp_program(&format!("guide_{step}")).expect("all are built together");
            if !emulate(&mut program, profile) {
                return;
            }
            program.env("VK_TILEHEAP_EMULATOR_LOG", "true"); // `render` fails if there are messages.
            let (printed, texels) = render(program, &format!("guide_{step}-{profile}"));
            assert!(bytes(&printed, " B of tile memory") > 0, "{printed}");
            assert_same_texels(&expected, &texels);
        }
    }
}
