//! The limits of a frame: the cap that no arrangement exceeds, and the causes of the gap below that cap.

use serde_json::{Value, json};
use tileheap::arrange::{CannotGroup, ResourceCap, SearchResult, Shortfall};
use tileheap::plan::Plan;
use tileheap::units::Bytes;

use crate::values::{percent, share};

/// The reason why a resource is not divided into strips or, if its strips cost too much, their minimum number.
fn cap_in_words(cap: &ResourceCap) -> String {
    match &cap.why {
        CannotGroup::NoInsideImage => {
            "it is used outside any sequence of passes that can run in strips".to_owned()
        }
        why => why.to_string(),
    }
}

/// The resources that tile memory can hold neither as a whole nor in strips, or in strips only at a cost, as JSON.
pub(super) fn caps_document(plan: &Plan, found: &SearchResult) -> Value {
    let caps = found.caps.iter().map(|cap| {
        json!({
            "resource": plan.input.frame().resource(cap.resource).name,
            "bytes": cap.bytes.0,
            "share": cap.bytes.0 as f64 / found.described.described.0.max(1) as f64,
            "why": cap_in_words(cap),
        })
    });
    caps.collect()
}

/// The passes that use more at once than the tile heap holds, as JSON.
pub(super) fn crowded_document(plan: &Plan, found: &SearchResult) -> Value {
    let frame = plan.input.frame();
    let crowded = found.crowded.iter().map(|one| {
        json!({
            "pass": frame.pass(one.pass).name,
            "used_bytes": one.used.0,
            "bytes": one.bytes.0,
            "share": one.bytes.0 as f64 / found.described.described.0.max(1) as f64,
            "why": one.in_words(frame),
        })
    });
    crowded.collect()
}

/// The gap between the share on chip and its cap, by cause, as JSON.
pub(super) fn shortfalls_document(plan: &Plan, found: &SearchResult) -> Value {
    let shortfalls = found.shortfalls.iter().map(|one| {
        json!({
            "bytes": one.bytes.0,
            "share": one.bytes.0 as f64 / found.described.described.0.max(1) as f64,
            "what": one.cause.in_words(plan.input.frame()),
        })
    });
    shortfalls.collect()
}

/// The limits of a frame, in words: its cap, and the causes of the gap below the cap that are at least a hundredth of the traffic each.
pub(crate) fn limits_in_words(plan: &Plan, found: &SearchResult) -> String {
    let all = found.described.described;
    let mut words = String::new();
    if !found.caps.is_empty() || !found.crowded.is_empty() || found.fixed > Bytes::ZERO {
        words += &format!("Limits that cap the traffic on chip at {}\n", share(found.cap()));
    }
    if found.fixed > Bytes::ZERO {
        words += &format!(
            "  {} ({}): resources that tile memory cannot hold (external, history, used in transfers, or refused by the driver)\n",
            percent(found.fixed.0, all.0),
            found.fixed,
        );
    }
    for cap in &found.caps {
        words += &format!(
            "  {}: {} ({}): {}\n",
            plan.input.frame().resource(cap.resource).name,
            percent(cap.bytes.0, all.0),
            cap.bytes,
            cap_in_words(cap)
        );
    }
    for one in &found.crowded {
        words += &format!(
            "  {} ({}): {}\n",
            percent(one.bytes.0, all.0),
            one.bytes,
            one.in_words(plan.input.frame())
        );
    }
    let told = |one: &&Shortfall| one.bytes.0 * 100 >= all.0;
    let told: Vec<&Shortfall> = found.shortfalls.iter().filter(told).collect();
    if !told.is_empty() {
        words += &format!(
            "Gap between {} and the cap of {}\n",
            share(found.traffic.share()),
            share(found.cap())
        );
    }
    for one in told {
        words += &format!(
            "  {} ({}): {}\n",
            percent(one.bytes.0, all.0),
            one.bytes,
            one.cause.in_words(plan.input.frame())
        );
    }
    words
}
