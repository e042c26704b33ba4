//! The problem of a finding in one sentence: `vkCmdDispatch` reads what `vkCmdBlitImage2` wrote, but nothing makes the write available.

use tileheap_capture::check::finding::{Action, Certainty, Finding, Problem, ResourceUse};

use super::words::{before_transition, clean, is_alias, layout};

/// The sentence, without a full stop.
pub(super) fn headline(finding: &Finding) -> String {
    let earlier = earlier(finding);
    let contents = |what: &str| format!("{} contents that {what}", uses(finding));
    let predicate = match finding.problem {
        Problem::Unordered | Problem::NotAvailable | Problem::NotVisible => hazard(finding, &earlier),
        Problem::NeverWritten => contents("nothing wrote"),
        Problem::Discarded => contents(&format!("{earlier} discarded")),
        Problem::Overwritten => contents(&format!("{earlier} overwrote through another resource")),
        Problem::WrittenThrough => contents(&format!("{earlier} wrote through another resource")),
        Problem::NotTransferred { from, to } => contents(&format!(
            "{earlier} wrote on queue family {from}, without a transfer of ownership to queue family {to}"
        )),
        Problem::Layout { is, expected } => {
            let found = by_certainty(finding, ["is", "may be"]);
            let (is, expected) = (layout(is), layout(expected));
            match finding.second.action {
                Action::Transition => {
                    let before = before_transition(&finding.second);
                    format!("names {expected} as the {before} of an image that {found} in {is}")
                }
                _ => format!("expects an image in layout {expected}, but it {found} in {is}"),
            }
        }
    };
    format!("`{}` {predicate}", clean(&finding.second.call))
}

/// The earlier command, as a phrase for other sentences.
fn earlier(finding: &Finding) -> String {
    let Some(first) = &finding.first else {
        return "earlier work".to_owned();
    };
    let which = if first.call == finding.second.call {
        "an earlier "
    } else {
        ""
    };
    format!("{which}`{}`", clean(&first.call))
}

/// Returns `certain`, or `possible` for a possible finding.
fn by_certainty(finding: &Finding, [certain, possible]: [&'static str; 2]) -> &'static str {
    match finding.verdict {
        Certainty::Possible => possible,
        _ => certain,
    }
}

/// The verb for the second command, such as `reads` or `may read`. If contents were written through another resource, only the intent is unknown, and
/// the verb is certain.
fn uses(finding: &Finding) -> &'static str {
    let forms = match finding.second.action {
        Action::Read { .. } => ["reads", "may read"],
        Action::Present => ["presents", "may present"],
        _ => ["uses", "may use"],
    };
    match finding.problem {
        Problem::WrittenThrough => forms[0],
        _ => by_certainty(finding, forms),
    }
}

/// The sentence for a missing dependency: the action of the second command, its resource, and the missing part.
fn hazard(finding: &Finding, earlier: &str) -> String {
    let second = finding.second.action;
    let Some(first) = &finding.first else {
        return format!("{} a resource, but {}", uses(finding), missing(finding, None));
    };
    let missing = missing(finding, Some(first));
    let is_alias = is_alias(finding);
    if let (Action::Transition, Action::Transition) = (first.action, second) {
        let verb = by_certainty(finding, ["changes", "may change"]);
        let did = if is_alias {
            format!("{earlier} changed that of another image in the same memory")
        } else {
            format!("{earlier} did")
        };
        return format!("{verb} the layout of an image after {did}, but {missing}");
    }
    let forms = match (second, first.action) {
        (Action::Read { .. }, _) => ["reads", "may read"],
        (Action::Write { .. }, Action::Read { .. } | Action::Write { .. }) => ["overwrites", "may overwrite"],
        (Action::Write { .. }, _) => ["writes to", "may write to"],
        (Action::Transition, _) => ["changes the layout of", "may change the layout of"],
        (Action::Release, _) => ["releases", "may release"],
        (Action::Acquire, _) => ["acquires", "may acquire"],
        (Action::Present, _) => ["presents", "may present"],
    };
    let verb = by_certainty(finding, forms);
    let object = if is_alias {
        shared_memory(finding, first, earlier)
    } else {
        one_resource(finding, first, earlier)
    };
    format!("{verb} {object}, but {missing}")
}

/// The resource that both commands use, named by its first use: `what A wrote`.
fn one_resource(finding: &Finding, first: &ResourceUse, earlier: &str) -> String {
    let what = match finding.second.action {
        Action::Read { .. } | Action::Write { .. } => "what",
        Action::Transition | Action::Present => "an image that",
        Action::Release | Action::Acquire => "a resource that",
    };
    match first.action {
        Action::Read { .. } => format!("{what} {earlier} reads"),
        Action::Write { .. } => format!("{what} {earlier} {}", written(finding)),
        Action::Transition => format!("an image whose layout {earlier} changes"),
        Action::Release => format!("a resource that {earlier} releases to another queue family"),
        Action::Acquire => format!("a resource that {earlier} acquires from another queue family"),
        Action::Present => "an image that the presentation engine reads".to_owned(),
    }
}

/// The memory that two resources share, named by its first use: `memory that A wrote through another resource`.
fn shared_memory(finding: &Finding, first: &ResourceUse, earlier: &str) -> String {
    let what = match finding.second.action {
        Action::Read { .. } | Action::Write { .. } => "",
        Action::Transition | Action::Present => "an image in ",
        Action::Release | Action::Acquire => "a resource in ",
    };
    let memory = match first.action {
        Action::Read { .. } => format!("memory that {earlier} reads through another resource"),
        Action::Write { .. } => {
            format!(
                "memory that {earlier} {} through another resource",
                written(finding)
            )
        }
        Action::Transition => format!("memory of another image whose layout {earlier} changes"),
        Action::Release => format!("memory of another resource that {earlier} releases"),
        Action::Acquire => format!("memory of another resource that {earlier} acquires"),
        Action::Present => "memory of another image that the presentation engine reads".to_owned(),
    };
    format!("{what}{memory}")
}

/// The verb for the earlier write: `writes` if the commands are unordered, since it may not have ended; otherwise `wrote`.
fn written(finding: &Finding) -> &'static str {
    match finding.problem {
        Problem::Unordered => "writes",
        _ => "wrote",
    }
}

/// The second half of a sentence about a missing dependency: the part that is missing.
fn missing(finding: &Finding, first: Option<&ResourceUse>) -> String {
    let write = match first.map(|first| first.action) {
        Some(Action::Transition) => "the layout transition",
        Some(Action::Release | Action::Acquire) => "the transfer of ownership",
        _ => "the write",
    };
    match finding.problem {
        Problem::NotAvailable => format!("nothing makes {write} available"),
        Problem::NotVisible => format!("nothing makes {write} visible to it"),
        _ => "nothing orders the two".to_owned(),
    }
}
