//! `tileheap trace` and `tileheap replay`.

use crate::run::{Run, contains, file, json, list, number, place, scratch, tileheap};

fn trace(name: &str, arguments: &[&str]) -> String {
    let path = place(name);
    let all = [&["trace"], arguments, &["-o", &path]].concat();
    assert_eq!(tileheap(&all).good(), "");
    path
}

fn replay(trace: &str, budget: &str, options: &[&str]) -> Run {
    tileheap(&[&["replay", trace, "--memory", budget], options].concat())
}

#[test]
fn all_policies_replay_a_generated_trace() {
    let trace = trace("insertion.trace", &["insertion", "--frames", "60", "--seed", "3"]);
    let plots = place("plots");
    let options = ["--all", "--lower-bound", "--plot", &plots];
    let text = replay(&trace, "2MiB", &options);
    let words = [
        "coherent",
        "arenas",
        "first-attempt",
        "lower bound",
        "Arena walls",
        "60 frames",
    ];
    text.shows(&words);
    for policy in ["ring", "arenas"] {
        let plot = std::fs::read_to_string(format!("{plots}/insertion-{policy}.svg")).expect("a plot");
        assert!(plot.starts_with("<svg") && plot.ends_with("</svg>\n"));
        let has_walls = plot.contains("fill=\"#4e79a7\"");
        assert_eq!(
            has_walls,
            policy == "arenas",
            "walls are drawn where there are some"
        );
    }
    let document = json(&replay(&trace, "2MiB", &[&options[..], &["--json"]].concat()).good());
    let policies = list(&document["policies"]);
    assert_eq!((policies.len(), &document["frames"]), (13, &60.into()));
    for policy in policies {
        let mean = number(&policy["traffic"]["mean"]);
        assert!(mean >= number(&document["lower_bound"]["mean"]), "{policy}");
        assert_eq!(list(&policy["frame_bytes"]).len(), 60);
    }
}

#[test]
fn bad_traces_and_budgets_are_named() {
    let trace = trace("whole.trace", &["strafe", "--frames", "20"]);
    let bytes = std::fs::read(&trace).expect("the trace");
    let written = |name: &str, bytes: &[u8]| {
        std::fs::write(scratch(name), bytes).expect("a scratch file");
        place(name)
    };
    let cut = written("cut.trace", &bytes[..bytes.len() * 2 / 3]);
    // Created as chain 0 of 2, again as chain 1.
    let twice = b"tileheap-trace\n\x01\x08\x02\x01\x10\x01\x18\x02\x00\x02\x01\x06\x00\x00";
    let twice = written("twice.trace", twice);
    let none = file("none.trace", "not a trace at all");
    for (path, budget, parts) in [
        (&*trace, "80KiB", &["81,920 B", "87,384 B"][..]),
        (&cut, "2MiB", &["truncated", "cut.trace"]),
        (&none, "2MiB", &["not a trace"]),
        ("/nowhere.trace", "2MiB", &["/nowhere.trace"]),
        (&twice, "2MiB", &["texture 0 has chain 0"]),
    ] {
        contains(replay(path, budget, &[]).bad(1), parts);
    }
}
