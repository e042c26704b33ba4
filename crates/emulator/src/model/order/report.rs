//! Messages about missing dependencies and lost contents.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use ash::vk;
use tileheap_sync::program::{Command, ResourceId, ResourcePart, Tag, Tiling};
use tileheap_sync::{
    Action, Certainty, DiscardedContents, Findings, Hazard, LossReason, LostContents, MemoryUse,
    MissingDependency,
};
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::log::{BATCH_END, Event};
use super::mistakes::{Mistake, Mistakes, Repeated};
use super::sites::Sites;
use super::unseen::UnseenWritesSoFar;
use crate::model::discards::{Discard, DiscardReason};
use crate::model::finding::Finding;
use crate::model::objects::{Names, Object};
use crate::model::parts::{named_part, with_aspects};
use crate::model::resources::Resource;
use crate::tables::messages::MessageId;

/// The verdicts that are reported in addition to [`Certainty::Certain`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verdicts {
    pub(crate) possible: bool,
    pub(crate) pedantic: bool,
}

impl Verdicts {
    fn include(self, verdict: Certainty) -> bool {
        match verdict {
            Certainty::Certain => true,
            Certainty::Pedantic => self.pedantic,
            Certainty::Possible => self.possible,
        }
    }
}

/// Reports findings with some verdicts. Frames repeat mistakes: each is reported once.
#[derive(Debug, Default)]
pub(crate) struct FindingReporter {
    verdicts: Verdicts,
    /// True if a mistake is reported each time that it occurs, not only once.
    repeats: bool,
    mistakes: Mistakes,
}

/// The kinds of work that the layer may have missed.
#[derive(Clone, Copy)]
pub(crate) struct UnseenWork<'a> {
    pub(crate) writes: &'a UnseenWritesSoFar,
    /// True if unseen work may have ordered accesses.
    pub(crate) order: bool,
    /// True if unseen barriers may have transferred resources between queue families.
    pub(crate) transfers: bool,
}

/// A command and a resource that it uses.
fn command(used: &MemoryUse) -> (u64, Tag, ResourceId) {
    (used.batch, used.tag, used.resource)
}

impl FindingReporter {
    /// Creates a reporter of findings with these verdicts. Objects have the names in `names`. Reports each mistake once, or every time if
    /// `repeats` is true.
    pub(crate) fn new(verdicts: Verdicts, repeats: bool, names: Arc<Names>) -> FindingReporter {
        FindingReporter {
            verdicts,
            repeats,
            mistakes: Mistakes::new(names),
        }
    }

    /// Mistakes that were found more than once, and reported once.
    pub(crate) fn repeated(&self) -> Vec<Repeated> {
        self.mistakes.repeated()
    }

    /// Returns the messages about findings. Lost contents are only possible findings if unseen writes can reach the resource; hazards are only
    /// possible findings if there may be order that the layer does not see.
    pub(crate) fn findings(
        &mut self,
        findings: &Findings,
        sites: &Sites,
        unseen: UnseenWork<'_>,
    ) -> Vec<Finding> {
        let lost = findings.lost.iter().filter(|one| !is_for_host(one, sites));
        let lost = lost.map(|one| LostContents {
            verdict: verdict_of_loss(one, sites, unseen),
            ..*one
        });
        let lost: Vec<LostContents> = lost.filter(|one| self.verdicts.include(one.verdict)).collect();
        let discarded = findings
            .discarded
            .iter()
            .filter(|one| one.verdict == Certainty::Certain);
        let mut found: Vec<Finding> = discarded.filter_map(|one| inheritance(one, sites)).collect();
        for (index, one) in lost.iter().enumerate() {
            // One message per loss: about its most certain read.
            let key = |lost: &LostContents| (lost.reader.batch, lost.reader.resource, lost.loss);
            let is_told = (0..).zip(&lost).any(|(before, other)| {
                let is_before = before < index && other.verdict == one.verdict;
                key(other) == key(one) && (is_before || other.verdict > one.verdict)
            });
            if !is_told {
                let same = lost[index + 1..].iter().filter(|other| {
                    let command = |lost: &LostContents| (key(lost), lost.verdict, lost.reader.tag);
                    command(other) == command(one)
                });
                let part = same.fold(one.reader.part, |part, other| {
                    with_aspects(part, &other.reader.part)
                });
                let reader = MemoryUse { part, ..one.reader };
                let lost = LostContents { reader, ..*one };
                let mistake = || Mistake::of_loss(&lost, sites, self.mistakes.names());
                let mistake = (!self.repeats).then(mistake);
                found.extend(self.report_once(mistake, || lost_contents(&lost, sites)));
            }
        }
        let followed = findings.hazards.iter().filter(|one| is_followed(one, sites));
        let hazards = followed.map(|one| Hazard {
            verdict: match unseen.order && one.verdict == Certainty::Certain {
                true => Certainty::Possible,
                false => verdict_of_hazard(one, sites),
            },
            ..*one
        });
        let hazards: Vec<Hazard> = hazards.filter(|one| self.verdicts.include(one.verdict)).collect();
        for hazard in &hazards {
            if !is_explained(hazard, &lost, &hazards) {
                let mistake = || Mistake::of_hazard(hazard, sites, self.mistakes.names());
                let mistake = (!self.repeats).then(mistake);
                found.extend(self.report_once(mistake, || missing_order(hazard, sites)));
            }
        }
        found
    }

    /// Returns the finding, unless its mistake was reported before.
    fn report_once(
        &mut self,
        mistake: Option<Mistake>,
        finding: impl FnOnce() -> Finding,
    ) -> Option<Finding> {
        match mistake {
            Some(mistake) => self.mistakes.find(mistake, finding),
            None => Some(finding()),
        }
    }
}

/// Returns `true` if another finding makes a hazard redundant: reads of lost contents need no order, and if a write is not ordered after reads, the
/// missing order after the earlier write is not reported.
fn is_explained(hazard: &Hazard, lost: &[LostContents], hazards: &[Hazard]) -> bool {
    let after = command(&hazard.after);
    if !hazard.after.action.writes() {
        return lost.iter().any(|lost| {
            // Without a transfer, the queues still have to be ordered.
            let is_undefined = !matches!(
                lost.loss,
                LossReason::WrittenThrough(_) | LossReason::NotTransferred { .. }
            );
            is_undefined && lost.verdict >= hazard.verdict && command(&lost.reader) == after
        });
    }
    hazard.before.action.writes()
        && hazards.iter().any(|other| {
            !other.before.action.writes()
                && other.verdict >= hazard.verdict
                && command(&other.after) == after
                && other.bytes.0 < hazard.bytes.1
                && hazard.bytes.0 < other.bytes.1
        })
}

/// Returns `false` for an unbound resource, unless the hazard is between a release and its acquire: for such resources, only that order is tracked.
fn is_followed(hazard: &Hazard, sites: &Sites) -> bool {
    let is_transfer = (hazard.before.action, hazard.after.action) == (Action::Release, Action::Acquire);
    is_transfer || sites.resource(hazard.after.resource).is_some()
}

/// The verdict on a hazard, given what is known about its commands. A hazard of an external transfer is not certain if the commands are in
/// different batches: work outside of the device may order them.
fn verdict_of_hazard(hazard: &Hazard, sites: &Sites) -> Certainty {
    let uses = [&hazard.before, &hazard.after];
    let are_certain = uses.map(|used| sites.is_certain(used));
    let is_outside = hazard.before.batch != hazard.after.batch
        && uses.into_iter().any(|used| sites.is_transfer_outside(used));
    match hazard.verdict {
        Certainty::Certain if are_certain != [true, true] || is_outside => Certainty::Possible,
        verdict => verdict,
    }
}

/// Returns `true` if the host probably wrote the contents: no command has written them since the loss, and the memory
/// is mapped.
fn is_for_host(lost: &LostContents, sites: &Sites) -> bool {
    let resource = sites.resource(lost.reader.resource);
    resource.is_some_and(|resource| sites.is_mapped(resource))
}

/// The verdict on lost contents, given what is known about the command that reads them. If part of a buffer is defined, the finding is only possible: a
/// shader may read only that part through its descriptor. This does not apply to images: no program knows which texels are in which bytes.
fn verdict_of_loss(lost: &LostContents, sites: &Sites, unseen: UnseenWork<'_>) -> Certainty {
    let Some(resource) = sites.resource(lost.reader.resource) else {
        return lost.verdict;
    };
    let is_shader = matches!(lost.reader.action, Action::Access(stage, _) if is_shader(stage));
    let is_part = lost.is_partial && is_shader && resource.tiling == Tiling::Linear;
    let is_untransferred = matches!(lost.loss, LossReason::NotTransferred { .. });
    match unseen.writes.may_have_written(resource)
        || is_untransferred && (unseen.transfers || lost.last.is_some_and(|last| !sites.is_certain(&last)))
        || sites.may_follow_write(&lost.reader)
        || is_part
        || may_load_unused_stencil(&lost.reader, resource)
        || !sites.is_certain(&lost.reader)
    {
        true => Certainty::Possible,
        false => lost.verdict,
    }
}

/// Returns `true` for the load of a stencil aspect in ordinary memory that may be unused: many programs leave its load operation at 0, which is
/// LOAD.
fn may_load_unused_stencil(reader: &MemoryUse, resource: &Resource) -> bool {
    let is_stencil = matches!(reader.part, ResourcePart::Texels(texels) if texels.aspects == vk::ImageAspectFlags::STENCIL);
    let is_load = matches!(reader.action, Action::Access(_, A::DEPTH_STENCIL_ATTACHMENT_READ));
    is_stencil && is_load && resource.has_two_aspects() && resource.tile_place().is_none()
}

fn is_shader(stage: S) -> bool {
    let transfers = S::COPY | S::CLEAR | S::BLIT | S::RESOLVE;
    let attachments = S::COLOR_ATTACHMENT_OUTPUT | S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS;
    let fetches =
        S::DRAW_INDIRECT | S::INDEX_INPUT | S::VERTEX_ATTRIBUTE_INPUT | S::CONDITIONAL_RENDERING_EXT;
    !(transfers | attachments | fetches).intersects(stage)
}

/// Describes a resource in a message: format, extent and affected part of an image, or size of a buffer.
struct ResourceText<'a> {
    object: Object,
    resource: Option<&'a Resource>,
    part: Option<String>,
}

impl fmt::Display for ResourceText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.object)?;
        let Some(resource) = self.resource else {
            return Ok(());
        };
        if resource.tiling == Tiling::Linear && resource.format == vk::Format::UNDEFINED {
            return write!(f, " of {} B", resource.size);
        }
        let vk::Extent3D { width, height, depth } = resource.extent;
        write!(f, " ({:?}, {width}x{height}", resource.format)?;
        if depth != 1 {
            write!(f, "x{depth}")?;
        }
        match &self.part {
            Some(part) => write!(f, "; {part})"),
            None => write!(f, ")"),
        }
    }
}

/// Names the object and, for an image, the affected part.
fn resource_name(used: &MemoryUse, sites: &Sites) -> String {
    let ResourceText { object, part, .. } = described(used, sites);
    part.map_or_else(|| object.to_string(), |part| format!("{object} ({part})"))
}

fn described<'a>(used: &MemoryUse, sites: &'a Sites) -> ResourceText<'a> {
    let resource = sites.resource(used.resource);
    ResourceText {
        object: sites.object(used.resource),
        resource,
        part: resource.and_then(|resource| named_part(resource, &used.part)),
    }
}

fn missing_order(hazard: &Hazard, sites: &Sites) -> Finding {
    let (before, after) = (&hazard.before, &hazard.after);
    let object = sites.object(after.resource);
    let (kind, verb) = match (before.action.writes(), after.action.writes()) {
        _ if after.action == Action::Acquire => ("queue family ownership transfer", "released"),
        (true, false) => ("read after write", "written"),
        (false, _) => ("write after read", "read"),
        (true, true) => ("write after write", "written"),
    };
    let does = match after.action {
        Action::Access(..) if after.action.writes() => "is written",
        Action::Access(..) => "is read",
        Action::Transition => "changes its layout",
        Action::Release => "is released to another queue family",
        Action::Acquire => "is acquired from another queue family",
    };
    let bytes = |used: &MemoryUse| {
        sites.bytes(used).map_or_else(String::new, |_| {
            format!(
                " at [{}, {}) of {}",
                hazard.bytes.0,
                hazard.bytes.1,
                sites.memory(used.resource)
            )
        })
    };
    let missing = match hazard.missing {
        MissingDependency::Execution => "",
        MissingDependency::Availability => ", but the write is not made available",
        MissingDependency::Visibility => ", but the write is not made visible to this access",
    };
    let (id, possibly) = match hazard.verdict {
        Certainty::Certain => (MessageId::MissingOrder, ""),
        Certainty::Pedantic => (MessageId::PedanticOrder, " by the letter of the specification"),
        Certainty::Possible => (
            MessageId::PossibleOrder,
            " if both accesses happen, to the same bytes and in this order",
        ),
    };
    let text = format!(
        "unsynchronized {kind}{possibly}: {} {does}{}{}{missing} (section \"{}\")",
        described(after, sites),
        bytes(after),
        action_text(after.action),
        hazard.section(),
    );
    let cause = format!(
        "{} is {verb} there{}{}",
        described(before, sites),
        sites.place(before),
        action_text(before.action)
    );
    Finding {
        cause: Some(cause),
        remedy: Some(remedy(hazard, sites).into()),
        submit: sites.submit(after.batch),
        at: sites.at(after.tag),
        ..Finding::new(id, object, text)
    }
}

fn action_text(action: Action) -> String {
    match action {
        Action::Access(stage, access) => format!(", {access:?} in {stage:?}"),
        _ => String::new(),
    }
}

/// Describes the change that would order the accesses.
fn remedy(hazard: &Hazard, sites: &Sites) -> String {
    let is_acquire = hazard.after.action == Action::Acquire;
    if is_acquire && sites.is_transfer_outside(&hazard.after) {
        return "acquire the resource in a later batch, after the other owner has released it, or leave out both transfers"
            .to_owned();
    }
    if is_acquire {
        return "signal the semaphore between the two queues and wait for it at ALL_COMMANDS: no other stage includes the transfer"
            .to_owned();
    }
    let scopes = hazard.remedy();
    let named = |access: A| match access {
        A::NONE => "NONE".to_owned(),
        access => format!("{access:?}"),
    };
    let (src, src_access) = (scopes.src, named(scopes.src_access));
    if hazard.after.action == Action::Transition {
        let masks = format!("srcStageMask {src:?} and srcAccessMask {src_access}");
        let is_aliased = hazard.before.resource != hazard.after.resource && scopes.src_access != A::NONE;
        return match begins_subpass(&hazard.after, sites) {
            true => format!("add {masks} to a dependency from VK_SUBPASS_EXTERNAL or the earlier subpass"),
            false if is_aliased => format!(
                "add a memory barrier with {masks} to the same command: an image barrier only covers accesses through its own image"
            ),
            false => format!("add {masks} to the barrier"),
        };
    }
    let between = match hazard.before.batch == hazard.after.batch {
        true => "put a barrier",
        false => "put a barrier in either batch, or semaphores,",
    };
    format!(
        "{between} between the accesses with srcStageMask {src:?}, srcAccessMask {src_access}, dstStageMask {:?}, dstAccessMask {}",
        scopes.dst,
        named(scopes.dst_access)
    )
}

fn lost_contents(lost: &LostContents, sites: &Sites) -> Finding {
    let reader = &lost.reader;
    let object = sites.object(reader.resource);
    let (first, end) = sites.bytes(reader).unwrap_or(lost.bytes);
    let (from, to) = (lost.bytes.0.max(first), lost.bytes.1.min(end));
    let reads = described(reader, sites);
    let undefined = match lost.is_partial || (from, to) != (first, end) {
        true => format!("of which [{from}, {to}) is undefined"),
        false if reads.part.is_none() => "where nothing is defined".to_owned(),
        // Other parts of the image may be defined, in any of these bytes.
        false => "where nothing of that part is defined".to_owned(),
    };
    let (id, is_read) = match (lost.verdict, lost.loss) {
        (Certainty::Possible, LossReason::WrittenThrough(_)) => (MessageId::PossibleContents, "is read"),
        (Certainty::Possible, _) => (MessageId::PossibleContents, "may be read"),
        _ => (MessageId::ReadsDiscarded, "is read"),
    };
    let undefined = match lost.loss {
        LossReason::WrittenThrough(_) => {
            format!("of which [{from}, {to}) was last written through another resource")
        }
        _ => undefined,
    };
    let text = format!(
        "{reads} {is_read} at [{first}, {end}) of {}{}, {undefined}",
        sites.memory(reader.resource),
        action_text(reader.action)
    );
    let (cause, remedy) = loss(lost, sites);
    Finding {
        cause: Some(cause),
        remedy,
        submit: sites.submit(reader.batch),
        at: sites.at(reader.tag),
        ..Finding::new(id, object, text)
    }
}

/// Describes the last write and the loss of contents; also returns the remedy that would preserve the contents.
fn loss(lost: &LostContents, sites: &Sites) -> (String, Option<Cow<'static, str>>) {
    const OVERWRITTEN: &str = "place resources that are alive at the same time in separate bytes";
    let write = last_write(lost.last.as_ref(), sites);
    let at = |batch: u64, tag: Tag| {
        let at = sites.at(tag).map(|at| format!(": {at}"));
        let submit = sites.submit(batch).map(|submit| format!(", in {submit}"));
        at.unwrap_or_default() + &submit.unwrap_or_default()
    };
    let of = |reason: DiscardReason, discarded: String, (batch, tag): (u64, Tag)| {
        let (text, at) = (reason.text(), at(batch, tag));
        match lost.last {
            Some(_) => (
                format!("{write}; contents lost by {text}{discarded}{at}"),
                Some(reason.remedy().into()),
            ),
            // There are no contents to keep.
            None => (format!("{write}; undefined since {text}{discarded}{at}"), None),
        }
    };
    match lost.loss {
        LossReason::NeverWritten => (write, None),
        LossReason::MemoryDiscarded { batch, tag } => {
            let reason = match tag {
                BATCH_END => sites.end_discard,
                tag => match sites.event(tag) {
                    Some((_, (_, Event::Discard(lost)))) => Some(lost.0.reason),
                    _ => None,
                },
            };
            let reason = reason.unwrap_or(DiscardReason::LessBound);
            of(reason, String::new(), (batch, tag))
        }
        LossReason::Discarded(by) => {
            let reason = match by.action {
                Action::Release => DiscardReason::Release,
                _ if begins_subpass(&by, sites) => DiscardReason::Load,
                Action::Access(..) => DiscardReason::Store,
                _ => DiscardReason::Transition,
            };
            let discarded = format!(" of {}", resource_name(&by, sites));
            of(reason, discarded, (by.batch, by.tag))
        }
        LossReason::WrittenThrough(by) => {
            let by = format!("{}{}", described(&by, sites), at(by.batch, by.tag));
            (
                format!("last written through an aliasing resource, {by}"),
                Some("if this is not intended, write the bytes through the resource through which they are read".into()),
            )
        }
        LossReason::Overwritten(by) => {
            let how = match by.action {
                Action::Transition => "a layout transition of",
                Action::Release | Action::Acquire => "a queue family ownership transfer of",
                _ => "a write to",
            };
            let text = format!(
                "{write}; contents lost by {how} another resource in the same bytes, {}{}",
                described(&by, sites),
                at(by.batch, by.tag)
            );
            (text, Some(OVERWRITTEN.into()))
        }
        LossReason::NotTransferred { by, from, to } => {
            let does = match by.action {
                Action::Acquire => "acquires the resource without a release",
                _ => "accesses the resource without a transfer of ownership",
            };
            let access = match by == lost.reader {
                true => String::new(),
                false => at(by.batch, by.tag),
            };
            let text = format!(
                "{write}, on queue family {from}; queue family {to} {does}{access} (section \"Resource Sharing Mode\")"
            );
            let remedy = format!(
                "release the resource in a barrier on queue family {from} after the write and acquire it in one on queue family {to} before the \
                 read, both with srcQueueFamilyIndex {from} and dstQueueFamilyIndex {to}, or create it with VK_SHARING_MODE_CONCURRENT"
            );
            (text, Some(remedy.into()))
        }
    }
}

/// Returns `true` for a command that begins a subpass.
fn begins_subpass(by: &MemoryUse, sites: &Sites) -> bool {
    let event = sites.event(by.tag).map(|(_, (_, event))| event);
    let Some(Event::Pass(commands)) = event else {
        return false;
    };
    let begins = |command: &Command| matches!(command, Command::BeginRendering { .. } | Command::NextSubpass);
    commands.iter().any(begins)
}

fn last_write(last: Option<&MemoryUse>, sites: &Sites) -> String {
    match last {
        Some(last) => format!(
            "last write of {}{}",
            resource_name(last, sites),
            sites.place(last)
        ),
        None => "no known earlier write".to_owned(),
    }
}

/// Returns the finding for a secondary command buffer that discards contents inside a render pass.
fn inheritance(lost: &DiscardedContents, sites: &Sites) -> Option<Finding> {
    let (_, (at, event)) = sites.event(lost.tag)?;
    let Event::Discard(discarded) = event else {
        return None;
    };
    let (discard, Some(secondary)) = **discarded else {
        return None;
    };
    let Discard { first, end, .. } = discard;
    let text = format!(
        "{secondary} runs inside a render pass with {first} B of tile memory inherited while its primary has {end} B bound: its first \
         action command discards [{first}, {end}), of which [{}, {}) has contents",
        lost.bytes.0, lost.bytes.1
    );
    Some(Finding {
        cause: Some(last_write(Some(&lost.last), sites)),
        submit: sites.submit(lost.batch),
        at: Some(*at),
        ..Finding::new(MessageId::InheritanceMissing, secondary, text)
    })
}
