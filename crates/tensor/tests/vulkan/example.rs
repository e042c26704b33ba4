//! `examples/network` as a program.

use crate::support::example;

#[test]
fn every_network_computes_what_the_cpu_does_the_same_with_and_without_aliasing() {
    for arguments in [
        &["--size", "64"][..],
        &["--size", "32", "--half", "--rounds", "4"],
    ] {
        let output = example("network").args(arguments).output().expect("cargo runs");
        let printed = String::from_utf8_lossy(&output.stdout);
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaints}\n{printed}");
        let count = |text: &str| printed.lines().filter(|line| line.contains(text)).count();
        // Three networks, in buffers, textures and image arrays.
        assert_eq!(count("identical with and without aliasing"), 9, "{printed}");
        let ratio = |line: &str| {
            let (before, _) = line.split_once(" x the bound")?;
            before.split_whitespace().last()?.parse::<f64>().ok()
        };
        let lines = printed.lines();
        for line in lines.filter(|line| line.trim_start().starts_with("aliased")) {
            assert!(ratio(line).is_some_and(|ratio| ratio <= 1.02), "{line}");
        }
    }
}

#[test]
fn a_size_that_is_no_size_is_refused() {
    let output = example("network")
        .args(["--size", "0"])
        .output()
        .expect("cargo runs");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--size"));
}
