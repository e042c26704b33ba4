//! Messages about missing order.

use std::collections::HashSet;

use ash::vk;
use vk::AccessFlags2 as A;

use super::record::{Done, Hazard};
use super::scopes::Usage;
use crate::model::finding::Finding;
use crate::model::objects::Object;
use crate::tables::messages::MessageId;

/// Each pair of commands and resources is reported once: a frame repeats.
#[derive(Debug, Default)]
pub(crate) struct Reported(HashSet<[(Object, Usage, u32); 2]>);

impl Reported {
    /// The messages about hazards. Where a write is not ordered behind reads, nothing is said of the write that they read.
    pub(crate) fn findings(&mut self, hazards: &[Hazard]) -> Vec<Finding> {
        let is_covered = |hazard: &Hazard| {
            let reads = hazards.iter().filter(|other| !other.before.usage.writes());
            let of = |done: Done| (done.object, done.at, done.submit);
            hazard.before.usage.writes()
                && reads.into_iter().any(|other| {
                    of(other.after) == of(hazard.after)
                        && other.first < hazard.end
                        && hazard.first < other.end
                })
        };
        let key = |done: Done| (done.object, done.usage, done.at.actions);
        let new = hazards.iter().filter(|hazard| !is_covered(hazard));
        let mut is_first = |hazard: &&Hazard| self.0.insert([key(hazard.before), key(hazard.after)]);
        new.filter(|hazard| is_first(hazard)).map(finding).collect()
    }
}

fn finding(hazard: &Hazard) -> Finding {
    let (first, end) = (hazard.first, hazard.end);
    let (before, after) = (&hazard.before, &hazard.after);
    let object = after.object;
    let (kind, verb, text);
    if first == end {
        text = format!(
            "queue family transfer without order: {object} is acquired, and its release does not happen before"
        );
        verb = "released";
    } else {
        (kind, verb) = match (before.usage.writes(), after.usage.writes()) {
            (true, false) => ("read after write", "written"),
            (false, _) => ("write after read", "read"),
            (true, true) => ("write after write", "written"),
        };
        let does = if after.usage == Usage::BARRIER {
            "changes its layout"
        } else if after.usage.writes() {
            "is written"
        } else {
            "is read"
        };
        text = format!(
            "{kind} without order: {object} {does} at [{first}, {end}) of the tile heap{}",
            usage_text(after.usage)
        );
    }
    let cause = format!(
        "{} is {verb} there by {}, in {}{}",
        before.object,
        before.at,
        before.submit,
        usage_text(before.usage)
    );
    Finding {
        cause: Some(cause),
        remedy: Some(remedy(hazard).into()),
        submit: Some(after.submit),
        ..Finding::new(MessageId::MissingOrder, object, text).at(after.at)
    }
}

fn usage_text(usage: Usage) -> String {
    if usage == Usage::BARRIER {
        return String::new();
    }
    format!(", {:?} in {:?}", usage.access(), usage.stages())
}

/// The dependency that would do.
fn remedy(hazard: &Hazard) -> String {
    let (before, after) = (&hazard.before, &hazard.after);
    if hazard.first == hazard.end {
        return "signal and wait for the semaphore between the two queues at ALL_COMMANDS: no other stage holds the transfer"
            .to_owned();
    }
    let stages = |done: &Done| match done.usage {
        Usage::BARRIER => "ALL_COMMANDS".to_owned(),
        usage => format!("{:?}", usage.stages()),
    };
    let access = |done: &Done, is_read_enough: bool| {
        let access = done.usage.access();
        let is_named = !is_read_enough && access != A::NONE;
        if is_named {
            format!("{access:?}")
        } else {
            "NONE".to_owned()
        }
    };
    let is_read = !before.usage.writes();
    let (src, src_access) = (stages(before), access(before, is_read));
    let between = if before.submit == after.submit {
        "a barrier"
    } else {
        "a barrier in either batch, or semaphores,"
    };
    if after.usage == Usage::BARRIER {
        return format!("add srcStageMask {src} and srcAccessMask {src_access} to the barrier");
    }
    let (dst, dst_access) = (stages(after), access(after, is_read));
    format!(
        "{between} between them with srcStageMask {src}, srcAccessMask {src_access}, dstStageMask {dst}, dstAccessMask {dst_access}"
    )
}
