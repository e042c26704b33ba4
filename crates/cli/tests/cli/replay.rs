//! `tileheap trace` and `tileheap replay`.

use crate::run::{file, json, scratch, tileheap};

fn trace(name: &str, arguments: &[&str]) -> String {
    let path = scratch(name).to_str().expect("a path in UTF-8").to_owned();
    let all = [&["trace"], arguments, &["-o", &path]].concat();
    assert_eq!(tileheap(&all).good(), "");
    path
}

#[test]
fn all_policies_replay_a_generated_trace() {
    let trace = trace("insertion.trace", &["insertion", "--frames", "60", "--seed", "3"]);
    let plots = scratch("plots");
    let plots = plots.to_str().expect("a path in UTF-8");
    let arguments = [
        "replay",
        &trace,
        "--budget",
        "2MiB",
        "--all",
        "--lower-bound",
        "--plot",
        plots,
    ];
    let text = tileheap(&arguments).good();
    for word in [
        "coherent",
        "arenas",
        "first-attempt",
        "lower bound",
        "Arena walls",
        "60 frames",
    ] {
        assert!(text.contains(word), "{word} in {text}");
    }
    for policy in ["ring", "arenas"] {
        let plot = std::fs::read_to_string(format!("{plots}/insertion-{policy}.svg")).expect("a plot");
        assert!(plot.starts_with("<svg") && plot.ends_with("</svg>\n"));
        assert_eq!(
            plot.contains("fill=\"#4e79a7\""),
            policy == "arenas",
            "walls are drawn where there are some"
        );
    }
    let document = json(&tileheap(&[&arguments[..], &["--json"]].concat()).good());
    let bound = document["lower_bound"]["mean"].as_u64().expect("a number");
    let policies = document["policies"].as_array().expect("policies");
    assert_eq!((policies.len(), &document["frames"]), (13, &60.into()));
    for policy in policies {
        let mean = policy["traffic"]["mean"].as_u64().expect("a number");
        assert!(mean >= bound, "{policy}");
        assert_eq!(policy["frame_bytes"].as_array().map(Vec::len), Some(60));
    }
}

#[test]
fn one_policy_is_ours_unless_another_is_named() {
    let trace = trace("cyclic.trace", &["cyclic", "--frames", "5"]);
    assert!(
        tileheap(&["replay", &trace, "--budget", "1MiB"])
            .good()
            .contains("coherent")
    );
    let arenas = tileheap(&["replay", &trace, "--budget", "1MiB", "--policy", "clock"]).good();
    assert!(arenas.contains("clock") && !arenas.contains("coherent"));
}

#[test]
fn bad_traces_and_budgets_are_named() {
    let trace = trace("whole.trace", &["strafe", "--frames", "20"]);
    let replay = |path: &str, budget: &str| tileheap(&["replay", path, "--budget", budget]).bad(1);
    let small = replay(&trace, "80KiB");
    assert!(
        small.contains("81,920 B") && small.contains("87,384 B"),
        "{small}"
    );
    let bytes = std::fs::read(&trace).expect("the trace");
    let cut = scratch("cut.trace");
    std::fs::write(&cut, &bytes[..bytes.len() * 2 / 3]).expect("a scratch file");
    let message = replay(cut.to_str().expect("UTF-8"), "2MiB");
    assert!(
        message.contains("truncated") && message.contains("cut.trace"),
        "{message}"
    );
    let message = replay(&file("none.trace", "not a trace at all"), "2MiB");
    assert!(message.contains("not a trace"), "{message}");
    assert!(replay("/nowhere.trace", "2MiB").contains("/nowhere.trace"));
    // Created as chain 0 of 2, again as chain 1.
    let mut twice = b"tileheap-trace\n".to_vec();
    twice.extend([1, 8, 2, 1, 16, 1, 24, 2, 0, 2, 1, 6, 0, 0]);
    let path = scratch("twice.trace");
    std::fs::write(&path, twice).expect("a scratch file");
    let message = replay(path.to_str().expect("UTF-8"), "2MiB");
    assert!(message.contains("texture 0 has chain 0"), "{message}");
    let usage = tileheap(&["replay", &trace, "--budget", "2MiB", "--policy", "best"]).bad(2);
    assert!(usage.contains("coherent"), "{usage}");
}
