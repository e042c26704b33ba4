//! `examples/deferred` as a program: its pictures, output and files, and its errors.

use tileheap_testkit as support;

use std::collections::BTreeSet;

use support::{example, example_here, own_file};
use tileheap::frame::Frame;

use super::output::{Picture, complaint, printed, read_picture};

#[test]
fn the_picture_is_the_same_without_aliasing_and_the_frame_can_be_planned_from_its_dump() {
    let (picture, dump) = (own_file("deferred.png"), own_file("deferred.json"));
    // Sides that are odd and not multiples of a tile's.
    let mut command = example("deferred");
    command.args("--size 333x187 --frames 3 --compare --profile adreno-830 --output".split(' '));
    command.arg(&picture).arg("--dump-frame").arg(&dump);
    let printed = printed(command);
    assert!(printed.contains("identical"), "{printed}");

    let frame = Frame::from_json(&std::fs::read_to_string(&dump).expect("the dump was written"))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(frame.batches().len(), 2);
    assert!(frame.passes().len() >= 12, "{} passes", frame.passes().len());
    for resource in frame.resources() {
        let plans = printed
            .lines()
            .filter(|line| line.contains(&resource.name))
            .count();
        assert!(plans >= 2, "`{}` is not in both plans:\n{printed}", resource.name);
    }
    assert!(printed.contains("adreno-830"), "{printed}");

    let (width, height, texels) = read_picture(&picture);
    assert_eq!((width, height), (333, 187));
    let colors: BTreeSet<[u8; 4]> = texels.iter().copied().collect();
    assert!(colors.len() > 5000, "only {} colors", colors.len());
    let brightness = |texel: &[u8; 4]| texel[..3].iter().map(|&channel| u32::from(channel)).sum::<u32>();
    assert!(
        texels.iter().any(|texel| brightness(texel) > 650),
        "no lantern shines"
    );
    assert!(
        texels.iter().any(|texel| brightness(texel) < 100),
        "the night is not dark"
    );
}

/// Renders three frames, on the emulator if there is a heap size; returns the output and the picture. `None`, and the test is skipped, if
/// the emulator is not available.
fn render(size: &str, arguments: &[&str], heap: Option<&str>) -> Option<(String, Picture)> {
    let name = format!(
        "deferred-{size}{}-{}.png",
        arguments.concat(),
        heap.unwrap_or("none")
    );
    let picture = own_file(&name);
    let mut command = example("deferred");
    let frames = if arguments.contains(&"--frames") {
        &[][..]
    } else {
        &["--frames", "3"]
    };
    command.args(["--size", size, "--output"]);
    command.arg(&picture).args(frames).args(arguments);
    if let Some(heap) = heap {
        if !support::emulate(&mut command, "adreno-830") {
            return None;
        }
        command.env("VK_TILEHEAP_EMULATOR_HEAP_SIZE", heap);
    }
    Some((printed(command), read_picture(&picture)))
}

/// The heap size of an Adreno 830.
const WHOLE: &str = "8355840";

#[test]
fn the_picture_is_the_same_on_vulkan_1_1() {
    let [newest, oldest] = [&[][..], &["--vulkan-1-1"]].map(|way| render("160x90", way, None));
    assert!(newest.map(|(_, picture)| picture) == oldest.map(|(_, picture)| picture));
}

/// On the emulator: in its tile memory with every recording path, and on a device whose tile memory is not used.
#[test]
fn the_picture_is_the_same_in_tile_memory() {
    let (_, plain) = render("160x90", &["--no-tile-memory"], None).expect("no emulator is needed");
    for way in [&[][..], &["--vulkan-1-1"], &["--no-tile-memory"]] {
        let Some((printed, emulated)) = render("160x90", way, Some(WHOLE)) else {
            return;
        };
        let leaves_it = way == ["--no-tile-memory"];
        assert_eq!(
            printed.contains("stayed on chip"),
            !leaves_it,
            "{way:?}: {printed}"
        );
        assert!(plain == emulated, "{way:?}: the pictures differ");
    }
}

/// In heaps with room for all, half and little, with bound memory that shrinks from pass to pass; and with split lifetimes, which this
/// frame has in a heap of this size: the temporal filter's history is read while it is on chip.
#[test]
fn the_picture_is_the_same_on_a_ladder_and_with_split_lifetimes() {
    let (_, plain) = render("333x187", &[], None).expect("no emulator is needed");
    for heap in ["491520", "1228800", WHOLE] {
        let Some((printed, emulated)) = render("333x187", &["--ladder"], Some(heap)) else {
            return;
        };
        assert!(printed.contains("stayed on chip"), "{heap}: {printed}");
        // The ladder works: less is bound than with one object for each run.
        let line = printed
            .lines()
            .find(|line| line.starts_with("bound tile memory, summed over passes:"));
        let bytes: Vec<u64> = line
            .unwrap_or_else(|| panic!("{heap}: {printed}"))
            .split(|c: char| !c.is_ascii_digit() && c != ',')
            .filter_map(|number| number.replace(',', "").parse().ok())
            .collect();
        assert!(bytes[0] < bytes[1], "{heap}: {line:?}");
        assert!(plain == emulated, "{heap}: the pictures differ");
    }
    for split in [&[][..], &["--split"]] {
        let (printed, emulated) = render("333x187", split, Some(WHOLE)).expect("it was there before");
        assert_eq!(
            printed.contains("split lifetimes: "),
            !split.is_empty(),
            "{printed}"
        );
        assert!(plain == emulated, "{split:?}: the pictures differ");
    }
}

/// Identical if merged, reordered and fused; in strips, except for a few pixels that may change when drawn at another origin. If more pixels
/// differ, the program fails.
#[test]
fn the_picture_is_the_same_in_another_arrangement() {
    for (allow, limit) in [("order,merge,fuse", 0), ("strips", 61)] {
        let arguments = ["--best", "--compare", "--allow", allow];
        let Some((printed, _)) = render("320x192", &arguments, Some("294912")) else {
            return;
        };
        let compared = format!("of 61440 texels differ from the frame as described; at most {limit} may");
        assert!(printed.contains(&compared), "{allow}: {printed}");
        assert_eq!(printed.contains(" strips"), limit > 0, "{printed}");
    }
}

/// Validated, in ordinary memory and in tile memory: every frame equals that with separate memory for all resources, repeated topologies
/// create no objects, and all share little more memory than one needs.
#[test]
fn eight_parts_come_and_go_at_random() {
    let (frames, heaps) = match super::is_repeated() {
        false => ("60", &[None, Some("1228800")][..]),
        true => ("20", &[None][..]),
    };
    for &heap in heaps {
        let toggle = ["--toggle", "--compare", "--frames", frames];
        let Some((printed, _)) = render("160x90", &toggle, heap) else {
            return;
        };
        assert!(
            printed.contains(&format!("in each of {frames} frames")),
            "{printed}"
        );
        // Parses the number that follows the text `what`.
        let after = |what: &str| -> f64 {
            let rest = printed
                .split_once(what)
                .unwrap_or_else(|| panic!("no `{what}`: {printed}"))
                .1;
            rest.split(' ')
                .next()
                .and_then(|count| count.parse().ok())
                .expect("a number")
        };
        let seen = after(" frames of ");
        let warm = format!("first {}, ", seen.min(16.0));
        let [first, new, again, share] = ["created: ", &warm, "new ones, ", " B, "].map(after);
        assert!((10.0..31.0).contains(&seen) && share <= 1.25, "{printed}");
        // A repeated topology creates objects only if a larger one has taken over its memory since.
        assert!(first > 0.0 && new + again < first, "{printed}");
    }
}

/// With and without toggled parts; without them, nothing is created after the first frame.
#[test]
fn every_frame_has_another_resolution() {
    for (way, heap) in [
        ("--vulkan-1-1", None),
        ("--toggle", None),
        ("--compare", Some("1228800")),
    ] {
        let arguments = ["--dynamic-resolution", "--compare", "--frames", "20", way];
        let Some((printed, _)) = render("160x90", &arguments[..4 + usize::from(way != "--compare")], heap)
        else {
            return;
        };
        assert!(printed.contains("in each of 20 frames"), "{printed}");
        let creates_nothing = printed.contains("20 resolutions: 0 objects created");
        assert_eq!(creates_nothing, way != "--toggle", "{printed}");
    }
}

/// The scene is unchanged next to the panels; the panels show the plan.
#[test]
fn the_heap_map_is_drawn_over_the_picture() {
    let run = |arguments: &[&str]| {
        let way = [&["--frames", "1"], arguments].concat();
        Some(render("880x600", &way, Some(WHOLE))?.1.2)
    };
    let Some(scene) = run(&[]) else { return };
    let [shown, other] = [&["--overlay"][..], &["--overlay", "--heap", "2MiB"]]
        .map(|way| run(way).expect("it was there before"));
    // Columns and rows with only the scene: right of the list, above the map.
    let is_scene = |at: usize| at % 880 > 322 && at / 880 < 300;
    assert!((0..scene.len()).all(|at| !is_scene(at) || scene[at] == shown[at]));
    let changed = |from: usize, to: usize| (from..to).filter(|&at| shown[at] != other[at]).count();
    assert!(changed(0, 880 * 300) > 1000, "the list is the same");
    assert!(changed(880 * 330, shown.len()) > 10_000, "the map is the same");
}

/// The output of a failing run: one line.
fn fault(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = example("deferred");
    command.args(arguments).envs(environment.iter().copied());
    complaint(&command.output().expect("cargo runs"))
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    assert!(fault(&["--size", "0x180"], &[]).contains("0x180"));
    assert!(fault(&["--size", "wide"], &[]).contains("1280x720"));
    assert!(fault(&["--frames", "0"], &[]).contains("--frames"));
    assert!(fault(&["--color"], &[]).contains("--color"));
    assert!(fault(&["--exclude", "nobody"], &[]).contains("light_masks"));
    assert!(fault(&["--heap", "lots"], &[]).contains("24MiB"));
    assert!(fault(&["--profile", "adreno-83"], &[]).contains("adreno-83"));
    assert!(fault(&["--device", "no such device"], &[]).contains("no such device"));
    fault(&[], &[("VK_DRIVER_FILES", "/dev/null")]);

    let not_a_folder = own_file("not-a-folder");
    std::fs::write(&not_a_folder, "").expect("a file can be written");
    let below = not_a_folder.join("frame.png");
    let below = below.to_str().expect("a UTF-8 path");
    assert!(fault(&["--size", "32x18", "--frames", "1", "--output", below], &[]).contains("not-a-folder"));
    assert!(fault(&["--dump-frame", below], &[]).contains("not-a-folder"));
    assert!(fault(&["--size", "99999x2"], &[]).contains("99999"));
    assert!(fault(&["--window"], &[("DISPLAY", ""), ("WAYLAND_DISPLAY", "")]).contains("no window"));
}

/// An empty file hides the real library.
#[test]
fn without_a_loader_one_line_says_what_to_do() {
    let folder = own_file("no loader");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("libvulkan.so.1"), "").expect("an empty file");
    // The test bed's libraries precede all others, so this runs on the machine's own.
    let output = example_here("deferred")
        .env("LD_LIBRARY_PATH", &folder)
        .output()
        .expect("cargo runs");
    assert!(complaint(&output).contains("no Vulkan loader"));
}
