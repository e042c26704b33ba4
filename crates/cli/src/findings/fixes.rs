//! Remedies for findings, in words.

use ash::vk;
use tileheap_capture::check::finding::{Action, Finding, Fix, ResourceUse};
use tileheap_capture::document::recording::DependencyScopes;

use super::words::{self, clean, is_alias, is_of_render_pass, position, scope};

/// The remedy for a finding, in words; `None` if the finding has no fix.
pub(super) fn fix(finding: &Finding) -> Option<String> {
    let (first, second) = (finding.first.as_ref(), &finding.second);
    Some(match finding.fix.as_ref()? {
        Fix::Barrier(scopes) => barrier(*scopes, is_alias(finding), first, second),
        Fix::Semaphore { stages } => semaphore(*stages, first, second),
        Fix::Transfer { from, to, scopes } => transfer((*from, *to), *scopes, first, second),
    })
}

/// The remedy for a missing ownership transfer: a release and an acquire, on queues that are already ordered.
fn transfer(
    (from, to): (u32, u32),
    scopes: DependencyScopes,
    first: Option<&ResourceUse>,
    second: &ResourceUse,
) -> String {
    let write = first.map_or_else(|| "the write".to_owned(), position);
    let src = scope((scopes.src_stages, scopes.src_access));
    let dst = scope((scopes.dst_stages, scopes.dst_access));
    format!(
        "barriers with srcQueueFamilyIndex {from} and dstQueueFamilyIndex {to}, {src} -> {dst}: a release after {write} and an acquire before {}",
        position(second)
    )
}

/// The remedy for a missing dependency: a memory barrier, or more stages and accesses in the dependency that transitions the image.
fn barrier(
    scopes: DependencyScopes,
    is_alias: bool,
    first: Option<&ResourceUse>,
    second: &ResourceUse,
) -> String {
    let from = scope((scopes.src_stages, scopes.src_access));
    let to = scope((scopes.dst_stages, scopes.dst_access));
    let is_transition = |one: &ResourceUse| one.action == Action::Transition;
    let at = position(second);
    if is_transition(second) && is_alias {
        return format!(
            "a memory barrier in or before {at}, besides the image's own barrier: {from} -> {to}"
        );
    }
    if is_transition(second) {
        return wider_transition(second, "first", &from);
    }
    if let Some(first) = first.filter(|first| is_transition(first) && !is_alias) {
        return wider_transition(first, "second", &to);
    }
    let is_drawn = |one: &ResourceUse| {
        ["vkCmdDraw", "vkCmdClearAttachments"]
            .iter()
            .any(|call| one.call.starts_with(call))
    };
    let at = match (first.is_some_and(is_drawn), is_drawn(second)) {
        (false, true) => format!("before the render pass of {at}"),
        (true, true) => "between the two".to_owned(),
        _ => format!("before {at}"),
    };
    format!("a memory barrier {at}: {from} -> {to}")
}

/// The remedy of adding stages and accesses to the barrier that includes a layout transition; for a render pass, to a subpass dependency.
fn wider_transition(one: &ResourceUse, which: &str, scope: &str) -> String {
    let at = position(one);
    let of_subpass = match one.call.as_str() {
        call if call.starts_with("vkCmdEnd") => "a dependency to VK_SUBPASS_EXTERNAL",
        call if call.starts_with("vkCmdBegin") => {
            "a dependency from VK_SUBPASS_EXTERNAL to the first subpass"
        }
        _ => "a dependency to the next subpass",
    };
    match is_of_render_pass(one) {
        true => format!("give the render pass of {at} {of_subpass} with {scope} in its {which} scope"),
        false => format!("add {scope} to the {which} scope of the image barrier in {at}"),
    }
}

/// The remedy for unordered work on different queues, or for unordered presentation: a semaphore.
fn semaphore(stages: vk::PipelineStageFlags2, first: Option<&ResourceUse>, second: &ResourceUse) -> String {
    let waits = format!(
        "submission {} waits for at {}",
        second.submission,
        words::stages(stages)
    );
    match first {
        Some(first) if first.call.starts_with("vkAcquireNextImage") => {
            format!("let `{}` signal a semaphore that {waits}", clean(&first.call))
        }
        Some(first) if second.action == Action::Present => format!(
            "a semaphore that submission {} signals and `{}` waits for",
            first.submission,
            clean(&second.call)
        ),
        Some(first) => format!(
            "a semaphore that submission {} signals and {waits}",
            first.submission
        ),
        None => format!("a semaphore that {waits}"),
    }
}
