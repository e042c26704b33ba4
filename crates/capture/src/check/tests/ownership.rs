//! Ownership of contents by queue families.

use super::*;
use crate::check::finding::Fix;

/// Queue 0 writes an exclusive or concurrent buffer; queue 1 waits for the write and then runs commands.
fn written_by_another_family(exclusive: bool, second: impl Fn(u32) -> Vec<Command>, family: u32) -> Rig {
    let mut rig = Rig::new();
    let a = rig.buffer("a", 0);
    (
        rig.0.resources[a as usize].exclusive,
        rig.0.resources[a as usize].concurrent,
    ) = (exclusive, !exclusive);
    let first = rig.commands(vec![write(a)]);
    let second = rig.commands(second(a));
    let semaphore = SemaphoreUse {
        semaphore: 5,
        value: 0,
        stages: S::ALL_COMMANDS,
    };
    rig.step(RecordedStep::Submit(Batch {
        signals: vec![semaphore],
        ..batch(0, &[first])
    }));
    rig.step(RecordedStep::Submit(Batch {
        waits: vec![semaphore],
        family,
        ..batch(1, &[second])
    }));
    rig
}

/// "Resource Sharing Mode": another queue family that accesses contents without a transfer makes them undefined.
#[test]
fn contents_of_another_queue_family_need_a_transfer() {
    let reads = |a| vec![read(a)];
    let rig = written_by_another_family(true, reads, 1);
    let families = Problem::NotTransferred { from: 0, to: 1 };
    assert_eq!(rig.found(), [(Certain, families, 1, 1)]);
    let report = rig.report();
    let finding = &report.findings[0];
    assert_eq!(finding.section, "Resource Sharing Mode");
    let fix = Fix::Transfer {
        from: 0,
        to: 1,
        scopes: scopes(WRITTEN, READ),
    };
    assert_eq!(finding.fix, Some(fix));
    assert_eq!(written_by_another_family(false, reads, 1).found(), NONE);
    assert_eq!(written_by_another_family(true, reads, 0).found(), NONE);
    // It is overwritten first.
    let writes = |a| vec![write(a), mb(WRITTEN, READ), read(a)];
    assert_eq!(written_by_another_family(true, writes, 1).found(), NONE);
}

/// Documents of earlier versions do not say whether a resource needs a transfer.
#[test]
fn unknown_sharing_needs_no_transfer() {
    let mut rig = Rig::new();
    rig.buffer("a", 0);
    let mut document = serde_json::to_value(&rig.0).expect("JSON");
    assert!(document["resources"][0].get("exclusive").is_none());
    rig.0.resources[0].exclusive = true;
    document["resources"][0]["exclusive"] = true.into();
    assert_eq!(
        serde_json::from_value::<Recording>(document).expect("a recording"),
        rig.0
    );
}
