//! Drafts findings about missing dependencies from the model's hazards, and describes what is unknown about them.

use std::collections::{HashMap, HashSet};

use ash::vk;
use tileheap_sync::program::{ResourceId, ResourcePart, Tag};
use tileheap_sync::{Action as ModelAction, Certainty as ModelVerdict, Hazard, MemoryUse, MissingDependency};
use vk::{AccessFlags2 as A, ImageAspectFlags as Aspects};

use super::finding::{Certainty, Fix, Overlap, Problem};
use super::groups::Draft;
use super::passes::Doubt;
use super::sites::{Sites, Unit};
use super::words;
use crate::document::recording::{self, DependencyScopes, RecordedStep};
use tileheap::frame::SubresourceRange;
use tileheap::units::Run;

/// Two commands, each by its step and tag.
pub(super) type Pair = [(u64, Tag); 2];

/// Two units of commands that one dependency orders, each with its step and the resource that it uses.
type Merged = [(u64, Unit, usize); 2];

/// Drafts a finding for each hazard, merging those that one dependency fixes, but skips possible hazards between fragment shaders of one subpass. Also
/// returns the pairs of commands with certain hazards.
pub(super) fn drafts(sites: &Sites<'_>) -> (Vec<Draft>, HashSet<Pair>) {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut known: HashMap<Merged, usize> = HashMap::new();
    let mut explained = HashSet::new();
    let hazards = sites.outcome.findings.hazards.iter();
    for hazard in hazards.filter(|hazard| !is_between_fragments(sites, hazard)) {
        let draft = draft(sites, hazard);
        if draft.verdict == Certainty::Certain {
            let pair = [&hazard.before, &hazard.after].map(|used| (used.batch, used.tag));
            explained.insert(pair);
        }
        let spots = [draft.first.unwrap_or(draft.second), draft.second];
        let key = spots.map(|spot| (spot.step, sites.unit(&spot), spot.resource));
        match known.get(&key) {
            Some(&at) => drafts[at].merge(draft),
            None => {
                known.insert(key, drafts.len());
                drafts.push(draft);
            }
        }
    }
    (drafts, explained)
}

fn draft(sites: &Sites<'_>, hazard: &Hazard) -> Draft {
    let (verdict, unknown) = judge(sites, hazard);
    let is_presented = |used: &MemoryUse| sites.batch(used.batch).is_none();
    Draft {
        verdict,
        problem: match hazard.missing {
            MissingDependency::Execution => Problem::Unordered,
            MissingDependency::Availability => Problem::NotAvailable,
            MissingDependency::Visibility => Problem::NotVisible,
        },
        first: Some(sites.use_position(&hazard.before)),
        second: sites.use_position(&hazard.after),
        overlap: overlap(sites, &hazard.before, &hazard.after),
        unknown,
        fix: Some(fix(sites, hazard)),
        section: match is_presented(&hazard.before) || is_presented(&hazard.after) {
            true => "WSI Swapchain",
            false => hazard.section(),
        },
        vuid: None,
    }
}

/// Returns the verdict and, for a possible finding, a description of what is unknown.
fn judge(sites: &Sites<'_>, hazard: &Hazard) -> (Certainty, Option<String>) {
    if hazard.verdict == ModelVerdict::Pedantic {
        return (Certainty::Pedantic, None);
    }
    if let Some(unknown) = doubt(sites, hazard) {
        return (Certainty::Possible, Some(unknown));
    }
    match hazard.verdict {
        ModelVerdict::Certain
            if is_transfer_after_semaphore_wait(sites, hazard) || !share_bytes(sites, hazard) =>
        {
            (Certainty::Pedantic, None)
        }
        ModelVerdict::Certain => (Certainty::Certain, None),
        ModelVerdict::Pedantic => (Certainty::Pedantic, None),
        ModelVerdict::Possible => (Certainty::Possible, Some(elements(sites, hazard))),
    }
}

/// Returns a reason, other than unknown elements, why a hazard is only possible, not certain; `None` if there is none.
fn doubt(sites: &Sites<'_>, hazard: &Hazard) -> Option<String> {
    let uses = [&hazard.before, &hazard.after];
    for used in uses {
        if let Some(words) = doubt_of(sites, used) {
            return Some(words);
        }
    }
    if let Some(used) = uses
        .into_iter()
        .find(|used| sites.resources.is_inexact(used.resource))
    {
        return Some(words::texels(sites.name(used.resource)));
    }
    let last = hazard.before.batch.max(hazard.after.batch);
    if hazard.before.batch != hazard.after.batch && sites.outcome.is_unknown(last) {
        return Some(words::OUTSIDE.to_owned());
    }
    if matches!(sites.step(hazard.before.batch), RecordedStep::Present { .. }) {
        return Some(words::presented(sites.name(hazard.before.resource)));
    }
    // Within a batch, nothing outside of the recording can order two commands.
    let are_apart = hazard.before.batch != hazard.after.batch;
    let is_outside = uses.iter().any(|used| sites.commands.is_outside(used));
    let actions = uses.map(|used| used.action);
    let is_half = matches!(actions, [ModelAction::Release, other] if other != ModelAction::Acquire)
        || matches!(actions, [other, ModelAction::Acquire] if other != ModelAction::Release);
    if are_apart && is_outside || is_half {
        return Some(words::TRANSFER.to_owned());
    }
    is_feedback(sites, hazard).then(|| words::RASTERIZATION_ORDER.to_owned())
}

/// Describes why an access might not happen; `None` if it certainly happens.
pub(super) fn doubt_of(sites: &Sites<'_>, used: &MemoryUse) -> Option<String> {
    let (call, name) = (sites.call(used.batch, used.tag), sites.name(used.resource));
    let doubt = sites.batch(used.batch).and(sites.commands.doubt_of(used))?;
    Some(match doubt {
        Doubt::Shader => words::shader(call, name),
        Doubt::Results => words::results(call, name),
        Doubt::Tests => words::tests(call, name),
        Doubt::Mask => words::mask(call, name),
    })
}

/// Returns true for a release and an acquire on a queue that has waited for a semaphore. The wait is at one stage, but transfers execute only in
/// `ALL_COMMANDS`. Programs wait at the stage of the first access, and no known implementation requires more.
fn is_transfer_after_semaphore_wait(sites: &Sites<'_>, hazard: &Hazard) -> bool {
    let is_transfer =
        [hazard.before.action, hazard.after.action] == [ModelAction::Release, ModelAction::Acquire];
    let Some(acquires) = sites.batch(hazard.after.batch) else {
        return false;
    };
    let mut earlier = sites.recording.steps[..=hazard.after.batch as usize].iter();
    is_transfer
        && earlier.any(|step| match step {
            RecordedStep::Submit(batch) => batch.queue == acquires.queue && !batch.waits.is_empty(),
            _ => false,
        })
}

/// Returns true if two resources share bytes, not only pages of `bufferImageGranularity`.
fn share_bytes(sites: &Sites<'_>, hazard: &Hazard) -> bool {
    let uses = [&hazard.before, &hazard.after];
    let [own, other] = uses.map(|used| bytes(sites, used.resource, used.part));
    hazard.before.resource == hazard.after.resource || own.0 < other.1 && other.0 < own.1
}

/// Returns true if one command of a render pass instance accesses an attachment and another one accesses the same image in a shader. It is not known
/// whether they access the same pixels.
fn is_feedback(sites: &Sites<'_>, hazard: &Hazard) -> bool {
    let uses = [&hazard.before, &hazard.after];
    let places = uses.map(|used| sites.site(used.batch, used.tag).and_then(|site| site.place));
    let instance = |place: Option<(u32, u32)>| place.map(|(instance, _)| instance);
    let is_shader = |used: &MemoryUse| match used.action {
        ModelAction::Access(_, A::INPUT_ATTACHMENT_READ) => places[0] == places[1],
        ModelAction::Access(..) => is_partial(used),
        _ => false,
    };
    let is_attachment = |used: &MemoryUse| matches!(used.action, ModelAction::Access(_, access) if super::passes::is_of_attachment(access));
    let [before, after] = uses;
    instance(places[0]).is_some()
        && instance(places[0]) == instance(places[1])
        && before.batch == after.batch
        && (is_shader(before) && is_attachment(after) || is_attachment(before) && is_shader(after))
}

/// Returns true for a possible hazard between fragment shaders of two draws of one subpass that access the same storage image or buffer. No barrier can be
/// recorded between them, and programs let each pixel access its own elements, or let only one of its fragments pass the depth test: the recording does
/// not show this.
pub(super) fn is_between_fragments(sites: &Sites<'_>, hazard: &Hazard) -> bool {
    let uses = [&hazard.before, &hazard.after];
    let [before, after] = uses.map(|used| sites.site(used.batch, used.tag).and_then(|site| site.place));
    let storage = A::SHADER_STORAGE_READ | A::SHADER_STORAGE_WRITE;
    let is_of_fragments = |used: &MemoryUse| match used.action {
        ModelAction::Access(stage, access) => {
            stage == vk::PipelineStageFlags2::FRAGMENT_SHADER && storage.contains(access)
        }
        _ => false,
    };
    before.is_some()
        && before == after
        && hazard.before.batch == hazard.after.batch
        && uses.into_iter().all(is_of_fragments)
        && judge(sites, hazard).0 == Certainty::Possible
}

/// Describes what is unknown about a hazard that the model reports as possible.
fn elements(sites: &Sites<'_>, hazard: &Hazard) -> String {
    let uses = [&hazard.before, &hazard.after];
    let some = uses.map(is_partial);
    let [first, second] = uses.map(|used| sites.name(used.resource));
    let [first_call, second_call] = uses.map(|used| sites.call(used.batch, used.tag));
    match some {
        [true, true] => words::elements(first, second),
        [true, false] => words::some_elements(first_call, first),
        [false, true] => words::some_elements(second_call, second),
        // In a batch that waits for an unrecorded signal, even a hazard between whole accesses is only possible.
        [false, false] if sites.outcome.is_unknown(hazard.after.batch) => words::OUTSIDE.to_owned(),
        [false, false] => words::elements(first, second),
    }
}

/// Returns true for an access that may use only some elements of its part: any access except those to color and depth/stencil attachments and those of
/// transfer commands.
fn is_partial(used: &MemoryUse) -> bool {
    let ModelAction::Access(_, access) = used.action else {
        return false;
    };
    !super::passes::is_of_attachment(access) && !access.intersects(A::TRANSFER_READ | A::TRANSFER_WRITE)
}

/// Returns the fix for a hazard.
fn fix(sites: &Sites<'_>, hazard: &Hazard) -> Fix {
    let remedy = hazard.remedy();
    let mut scopes = DependencyScopes {
        src_stages: remedy.src,
        src_access: remedy.src_access,
        dst_stages: remedy.dst,
        dst_access: remedy.dst_access,
    };
    let batches = [&hazard.before, &hazard.after].map(|used| sites.batch(used.batch));
    match batches {
        [Some(first), Some(second)] if first.queue == second.queue => Fix::Barrier(scopes),
        [None, Some(second)] => {
            // If the batch waits for the semaphore of the acquire, its barrier has to begin at the stage that waits.
            let RecordedStep::Acquire {
                semaphore: Some(semaphore),
                ..
            } = sites.step(hazard.before.batch)
            else {
                return Fix::Semaphore { stages: remedy.dst };
            };
            let wait = second.waits.iter().find(|wait| wait.semaphore == *semaphore);
            match wait {
                Some(wait) => {
                    scopes.src_stages = wait.stages;
                    Fix::Barrier(scopes)
                }
                None => Fix::Semaphore { stages: remedy.dst },
            }
        }
        [_, None] => Fix::Semaphore {
            stages: vk::PipelineStageFlags2::ALL_COMMANDS,
        },
        _ => Fix::Semaphore { stages: remedy.dst },
    }
}

/// Returns the bytes or texels that two uses share; if they share only a page of `bufferImageGranularity`, the bytes of that page.
pub(super) fn overlap(sites: &Sites<'_>, first: &MemoryUse, second: &MemoryUse) -> Overlap {
    if first.resource == second.resource {
        return Overlap::Resource(common(first.part, second.part));
    }
    let [own, other] = [first, second].map(|used| bytes(sites, used.resource, used.part));
    let shared = |page: u64| {
        let first = (own.0 - own.0 % page).max(other.0 - other.0 % page);
        let end = |end: u64| end.div_ceil(page).saturating_mul(page);
        (first, end(own.1).min(end(other.1)))
    };
    let exact = shared(1);
    let (first, end) = match exact.0 < exact.1 {
        true => exact,
        // They share a page of `bufferImageGranularity`.
        false => shared(sites.recording.granularity.max(1)),
    };
    let placement = sites.resources.get(second.resource).placement;
    Overlap::Memory {
        memory: placement.map_or(u32::MAX, |placement| placement.object),
        first,
        end,
    }
}

/// Returns the bytes of memory that may contain a part.
fn bytes(sites: &Sites<'_>, resource: ResourceId, part: ResourcePart) -> (u64, u64) {
    let placed = sites.resources.placed(resource);
    match part {
        ResourcePart::Bytes(first, end) => {
            let at = |offset: u64| placed.first.saturating_add(offset).min(placed.end);
            (at(first), at(end))
        }
        ResourcePart::Texels(_) => (placed.first, placed.end),
    }
}

/// Converts a part for the report.
pub(super) fn part(part: ResourcePart) -> recording::ResourcePart {
    common(part, part)
}

/// Returns the intersection of two parts; if their areas are disjoint, the intersection of their subresources.
fn common(first: ResourcePart, second: ResourcePart) -> recording::ResourcePart {
    let meet = |a: Run, b: Run| [a.first.max(b.first), a.end.min(b.end)];
    match (first, second) {
        (ResourcePart::Texels(first), ResourcePart::Texels(second)) => {
            let area = match (first.area, second.area) {
                (Some([x, y, _]), None) | (None, Some([x, y, _])) => Some([x.into(), y.into()]),
                (Some(own), Some(other)) => Some([meet(own[0], other[0]), meet(own[1], other[1])]),
                (None, None) => None,
            };
            let is_area = |area: &[[u32; 2]; 2]| area.iter().all(|axis| axis[0] < axis[1]);
            let both = first.aspects & second.aspects;
            let range = SubresourceRange {
                aspects: if both == Aspects::empty() {
                    second.aspects
                } else {
                    both
                },
                levels: meet(first.levels, second.levels).into(),
                layers: meet(first.layers, second.layers).into(),
            };
            recording::ResourcePart::Texels {
                range,
                area: area.filter(is_area),
            }
        }
        (ResourcePart::Bytes(first, end), ResourcePart::Bytes(other, other_end)) => {
            recording::ResourcePart::Bytes(first.max(other), end.min(other_end))
        }
        (_, ResourcePart::Bytes(first, end)) | (ResourcePart::Bytes(first, end), _) => {
            recording::ResourcePart::Bytes(first, end)
        }
    }
}
