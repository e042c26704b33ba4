//! The contents of a report other than the problems that were found.

use super::*;
use crate::check::finding::Overlap;
use crate::document::UnresolvedKind;
use crate::document::recording::UnfollowedAccess;

#[test]
fn resubmitted_command_buffers_raise_the_count_of_a_finding() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let buffer = rig.commands(vec![write(a), read(a)]);
    for _ in 0..3 {
        rig.submit(&[buffer]);
        rig.step(RecordedStep::WaitIdle(None));
    }
    let report = rig.report();
    let [finding] = &report.findings[..] else {
        panic!("{report:?}")
    };
    assert_eq!((finding.count, finding.second.submission), (3, 1));
    assert_eq!(
        (report.command_buffers, report.commands, report.checked),
        (3, 6, 6)
    );
}

#[test]
fn findings_between_equal_commands_are_one_with_a_count() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let all = || mb(EVERYTHING, EVERYTHING);
    let mut commands = vec![write(a), read(a), all(), write(a), read(a), all()];
    assert_eq!(found(rig.clone(), commands.clone()), [(Certain, Unordered, 1, 2)]);
    // A different label makes it a different finding.
    commands[4].label = "tonemap".to_owned();
    let buffer = rig.commands(commands);
    rig.submit(&[buffer]);
    let findings = rig.report().findings;
    let labels: Vec<&str> = findings.iter().map(|one| one.second.label.as_str()).collect();
    assert_eq!(labels, ["", "tonemap"]);
}

#[test]
fn certain_findings_come_first() {
    let mut rig = Rig::new();
    let (a, b) = (rig.buffer("a", 0), rig.buffer("b", SIZE));
    let maybe = dispatch(vec![RecordedAccess {
        conditional: true,
        ..bytes(a, (0, SIZE), CS, STORAGE_READ)
    }]);
    let commands = vec![write(a), maybe, write(b), read(b)];
    assert_eq!(
        found(rig, commands),
        [(Certain, Unordered, 3, 4), (Possible, Unordered, 1, 2)]
    );
}

#[test]
fn findings_say_where_two_commands_meet() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 256);
    let b = rig.buffer("b", 1024);
    let part = |resource, of| dispatch(vec![bytes(resource, of, CS, STORAGE_WRITE)]);
    let buffer = rig.commands(vec![
        part(a, (0, 2048)),
        part(a, (1024, 3000)),
        part(b, (500, 1600)),
    ]);
    rig.submit(&[buffer]);
    let findings = rig.report().findings;
    let places: Vec<&Overlap> = findings.iter().map(|one| &one.overlap).collect();
    let own = Overlap::Resource(ResourcePart::Bytes(1024, 2048));
    let shared = |first, end| Overlap::Memory {
        memory: 0,
        first,
        end,
    };
    assert_eq!(places, [&own, &shared(1524, 2624)]);
    assert!(findings.iter().all(|one| one.unknown.is_none()));
}

#[test]
fn possible_findings_say_what_is_unknown() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let buffer = rig.commands(vec![
        dispatch(vec![some(bytes(a, (0, SIZE), CS, STORAGE_WRITE))]),
        dispatch(vec![some(bytes(a, (0, SIZE), CS, STORAGE_READ))]),
    ]);
    rig.submit(&[buffer]);
    let findings = rig.report().findings;
    let unknown: Vec<_> = findings.iter().map(|one| one.unknown.as_deref()).collect();
    assert_eq!(unknown, [Some("which elements of `a` the two commands access")]);
}

#[test]
fn everything_that_was_not_checked_is_listed() {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    let b = rig.buffer("b", SIZE);
    rig.0.memories[0].mapped = true;
    rig.0.resources[b as usize].unchecked = Some("sparse memory".to_owned());
    let unresolved = |resources: Vec<u32>| Command {
        unresolved: vec![UnfollowedAccess {
            kind: UnresolvedKind::DeviceAddress,
            what: "set 0, binding 1".to_owned(),
            resources,
        }],
        ..call("vkCmdDispatch", CommandEffect::None)
    };
    let wrong = dispatch(vec![bytes(a, (0, 4), S::COPY, STORAGE_WRITE)]);
    let buffer = rig.commands(vec![
        unresolved(vec![a]),
        unresolved(vec![a, b]),
        write(b),
        write(b),
        wrong,
    ]);
    rig.submit(&[buffer]);
    let report = rig.report();
    assert_eq!((report.findings.len(), report.checked), (0, 0));
    let entries: Vec<_> = report
        .unchecked
        .iter()
        .map(|one| (one.count, one.resource_count, one.always, one.what.as_str()))
        .collect();
    assert_eq!(
        entries,
        [
            (2, 2, false, "commands access memory by buffer device addresses"),
            (
                2,
                1,
                false,
                "accesses are to resources that cannot be checked: sparse memory"
            ),
            (
                1,
                1,
                false,
                "accesses are of a type that the stage does not perform, or that the checker does not know"
            ),
            (
                2,
                2,
                true,
                "resources are in mapped memory: the host's reads and writes are not recorded"
            ),
            (0, 0, true, "work before the frame is assumed to be complete"),
        ]
    );
    assert_eq!(
        report.unchecked[0].first,
        "`vkCmdDispatch`, command 1 of `cb0`: set 0, binding 1"
    );
    assert_eq!(report.unchecked[0].resources, ["a", "b"]);
}

#[test]
fn reports_are_read_back() {
    let mut rig = Rig::new();
    let x = rig.image("x", 0);
    let buffer = rig.commands(vec![image_write(x), image_read(x)]);
    rig.submit(&[buffer]);
    let report = rig.report();
    assert!(!report.findings.is_empty());
    let text = serde_json::to_string(&report).expect("a document");
    assert_eq!(
        serde_json::from_str::<CheckReport>(&text).expect("the document"),
        report
    );
}
