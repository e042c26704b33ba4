//! Tracks the layout of every subresource step by step, and reports commands that expect a different one.
//!
//! The layout is unknown until a command names it, and again after another queue has used the image or the presentation engine has released it to the
//! program. Images that interpret the same bytes in the same way share one layout ("Image Layouts": transitions apply to all of them). Accesses that may not
//! happen expect nothing, and an access to unknown texels expects its layout in at least one subresource.

use std::collections::HashMap;

use ash::vk::{AccessFlags2 as A, ImageAspectFlags as Aspects, ImageLayout as L, PipelineStageFlags2 as S};
use tileheap::frame::SubresourceRange;
use tileheap::units::Run;
use tileheap_sync::program::{Tag, Texels};
use tileheap_sync::scopes::WRITES;

use super::cells::{Image, KnownLayout, SubresourceLayouts, is_equal};
use super::finding::{self, Certainty, Overlap, Problem};
use super::groups::Draft;
use super::passes::{layers_of, runs};
use super::sites::{Sites, UsePosition};
use crate::document::recording::{
    AffectedMemory, Attachment, Batch, CommandEffect, Dependency, RecordedAccess, RecordedStep,
    RenderPassInstance, Resource, ResourceKind, ResourcePart, Role,
};

const OLD_LAYOUT: &str = "VUID-VkImageMemoryBarrier2-oldLayout-01197";
const PRESENTED: &str = "VUID-VkPresentInfoKHR-pImageIndices-01430";

/// The position of a command that expects or changes layouts, and its queue.
#[derive(Clone, Copy)]
struct LayoutCommand {
    step: u64,
    tag: Tag,
    /// The queue that runs the command; `None` for the presentation engine.
    queue: Option<u32>,
}

/// Subresources that are not in the expected layout.
struct Mismatch {
    known: KnownLayout,
    range: SubresourceRange,
}

/// Drafts the findings about layouts, in the order of the host's steps.
pub(super) fn drafts(sites: &Sites<'_>) -> Vec<Draft> {
    let is_new = new_images(sites);
    let queues = sites.recording.steps.iter().filter_map(|step| match step {
        RecordedStep::Submit(batch) if !batch.command_buffers.is_empty() => Some(batch.queue),
        _ => None,
    });
    let mut queues: Vec<u32> = queues.collect();
    queues.sort_unstable();
    queues.dedup();
    let mut layouts = Layouts {
        sites,
        is_new: &is_new,
        is_one_queue: queues.len() <= 1,
        images: HashMap::new(),
        drafts: Vec::new(),
    };
    for (number, step) in (0..).zip(&sites.recording.steps) {
        match step {
            RecordedStep::Submit(batch) => layouts.batch(number, batch),
            RecordedStep::Acquire { resource, .. } => layouts.forget(*resource),
            RecordedStep::Present { resources, .. } => {
                for &resource in resources {
                    layouts.present(number, resource);
                }
            }
            _ => {}
        }
    }
    layouts.drafts
}

/// Returns, by index of the first image of each set that interprets the same bytes in the same way, true if all images of the set were created in the
/// frame, in the layout `UNDEFINED`.
fn new_images(sites: &Sites<'_>) -> Vec<bool> {
    let resources = &sites.recording.resources;
    // Linear images may begin in `PREINITIALIZED`.
    let is_new = |resource: &Resource| {
        resource.created && matches!(resource.kind, ResourceKind::Image { linear: false, .. })
    };
    let mut is_class_new: Vec<bool> = resources.iter().map(is_new).collect();
    for (index, resource) in resources.iter().enumerate() {
        is_class_new[sites.resources.class(index)] &= is_new(resource);
    }
    is_class_new
}

struct Layouts<'a> {
    sites: &'a Sites<'a>,
    is_new: &'a [bool],
    /// True if all batches with commands use one queue, and so run in submission order.
    is_one_queue: bool,
    /// The layouts of each set of images that interpret the same bytes in the same way, by the index of the first of them.
    images: HashMap<usize, Image>,
    drafts: Vec<Draft>,
}

impl Layouts<'_> {
    fn batch(&mut self, step: u64, batch: &Batch) {
        if !self.is_one_queue {
            // Batches of several queues may run in a different order than submitted.
            let images = self.images.values_mut();
            images.for_each(|image| image.cells = SubresourceLayouts::Equal(None));
        }
        for &buffer in &batch.command_buffers {
            let commands = &self.sites.recording.command_buffers[buffer as usize].commands;
            let first = self.sites.commands.first_tag(buffer as usize);
            // The open render pass instance, and its subpass.
            let mut open: Option<(&RenderPassInstance, usize)> = None;
            for (tag, command) in (first..).map(Tag).zip(commands) {
                let queue = Some(batch.queue);
                let at = LayoutCommand { step, tag, queue };
                match &command.action {
                    CommandEffect::Access(accesses) => accesses.iter().for_each(|one| self.access(at, one)),
                    CommandEffect::Barrier(dependencies) | CommandEffect::WaitEvents { dependencies, .. } => {
                        let family = batch.family;
                        dependencies.iter().for_each(|one| self.barrier(at, one, family));
                    }
                    CommandEffect::Begin(instance) => {
                        self.begin(at, instance, &command.call);
                        self.subpass(at, instance, 0);
                        open = Some((instance, 0));
                    }
                    CommandEffect::NextSubpass => {
                        if let Some((instance, subpass)) = &mut open {
                            *subpass += 1;
                            self.subpass(at, instance, *subpass);
                        }
                    }
                    CommandEffect::End => {
                        if let Some((instance, _)) = open.take() {
                            let attachments = instance.attachments.iter();
                            attachments.for_each(|one| self.render(at, instance, one, one.last));
                        }
                    }
                    CommandEffect::None
                    | CommandEffect::SetEvent { .. }
                    | CommandEffect::ResetEvent { .. } => {}
                }
            }
        }
    }

    fn access(&mut self, at: LayoutCommand, access: &RecordedAccess) {
        let (ResourcePart::Texels { range, .. }, Some(layout)) = (access.part, access.layout) else {
            return;
        };
        // Input attachments are in the layout of their subpass.
        if access.conditional || access.access == A::INPUT_ATTACHMENT_READ {
            return;
        }
        let (stage, kind) = (access.stage, access.access);
        let action = match WRITES.contains(kind) {
            true => finding::Action::Write { stage, access: kind },
            false => finding::Action::Read { stage, access: kind },
        };
        let used = (access.resource, range, layout.0);
        self.expect(at, used, access.whole, action, None);
    }

    fn barrier(&mut self, at: LayoutCommand, dependency: &Dependency, family: u32) {
        let AffectedMemory::Image {
            resource,
            range,
            old,
            new,
        } = dependency.memory
        else {
            return;
        };
        match dependency.families {
            Some([from, to]) if from != to => {
                if from == family && old != L::UNDEFINED {
                    let used = (resource, range, old);
                    self.expect(at, used, true, finding::Action::Release, Some(OLD_LAYOUT));
                }
                // The layout changes once, between the two halves.
                let layout = (to == family).then_some(new);
                self.change(at, resource, range, layout);
            }
            _ if old == new => {}
            _ => {
                if old != L::UNDEFINED {
                    let used = (resource, range, old);
                    self.expect(at, used, true, finding::Action::Transition, Some(OLD_LAYOUT));
                }
                self.change(at, resource, range, Some(new));
            }
        }
    }

    /// Begins a render pass instance: checks that its attachments are in their initial layouts.
    fn begin(&mut self, at: LayoutCommand, instance: &RenderPassInstance, call: &str) {
        for (index, one) in (0..).zip(&instance.attachments) {
            if one.initial == L::UNDEFINED {
                continue;
            }
            let uses = instance.subpasses.iter().flat_map(|subpass| &subpass.uses);
            let role = uses
                .filter(|used| used.attachment == index)
                .map(|used| used.role)
                .next();
            let (action, vuid) = begins(call, one.range.aspects, role);
            for range in rendered(instance, one) {
                self.expect(at, (one.resource, range, one.initial), true, action, vuid);
            }
        }
    }

    /// Begins a subpass: changes its attachments to the layouts that they have in it.
    fn subpass(&mut self, at: LayoutCommand, instance: &RenderPassInstance, subpass: usize) {
        for one in &instance.subpasses[subpass].uses {
            let attachment = &instance.attachments[one.attachment as usize];
            self.render(at, instance, attachment, one.layout);
        }
    }

    /// Changes an attachment of a render pass instance to a layout.
    fn render(
        &mut self,
        at: LayoutCommand,
        instance: &RenderPassInstance,
        attachment: &Attachment,
        layout: L,
    ) {
        let image = &self.sites.recording.resources[attachment.resource as usize];
        let is_3d = matches!(image.kind, ResourceKind::Image { is_3d: true, .. });
        if is_3d && layout != attachment.initial {
            // All slices change together, unless VK_KHR_maintenance9 is enabled, which is not known.
            let layers = Run::new(0, u32::MAX);
            let range = SubresourceRange {
                layers,
                ..attachment.range
            };
            self.change(at, attachment.resource, range, None);
        }
        for range in rendered(instance, attachment) {
            self.change(at, attachment.resource, range, Some(layout));
        }
    }

    /// Checks the layout of an image that is presented.
    fn present(&mut self, step: u64, resource: u32) {
        let range = SubresourceRange::ALL;
        let expected = L::PRESENT_SRC_KHR;
        let at = LayoutCommand {
            step,
            tag: Tag(0),
            queue: None,
        };
        let mismatch = self.mismatch(at, (resource, range, expected), true);
        if let Some(mismatch) = mismatch.filter(|one| one.known.layout != L::SHARED_PRESENT_KHR) {
            let action = finding::Action::Present;
            self.report(at, (resource, expected), mismatch, action, Some(PRESENTED));
        }
    }

    /// Forgets the layouts of an image that is acquired, since its new layout is not recorded.
    fn forget(&mut self, resource: u32) {
        self.images.remove(&self.sites.resources.class(resource as usize));
    }

    /// Checks that a part of an image is in the layout that a command expects.
    fn expect(
        &mut self,
        at: LayoutCommand,
        (resource, range, layout): (u32, SubresourceRange, L),
        is_whole: bool,
        action: finding::Action,
        vuid: Option<&'static str>,
    ) {
        let mismatch = self.mismatch(at, (resource, range, layout), is_whole);
        if let Some(mismatch) = mismatch {
            self.report(at, (resource, layout), mismatch, action, vuid);
            self.change(at, resource, range, None);
        }
        self.learn(at, resource, range, layout, is_whole);
    }

    fn report(
        &mut self,
        at: LayoutCommand,
        (resource, expected): (u32, L),
        mismatch: Mismatch,
        action: finding::Action,
        vuid: Option<&'static str>,
    ) {
        let spot = |(step, tag), action| UsePosition {
            step,
            tag,
            resource: resource as usize,
            action,
        };
        let changed = mismatch.known.by;
        let section = match action {
            finding::Action::Present => "WSI Swapchain",
            finding::Action::Transition => "Image Layout Transitions",
            finding::Action::Release => "Queue Family Ownership Transfer",
            _ => "Image Layout Matching Rules",
        };
        self.drafts.push(Draft {
            verdict: Certainty::Certain,
            problem: Problem::Layout {
                is: mismatch.known.layout,
                expected,
            },
            first: changed.map(|at| spot(at, finding::Action::Transition)),
            second: spot((at.step, at.tag), action),
            overlap: Overlap::Resource(ResourcePart::Texels {
                range: mismatch.range,
                area: None,
            }),
            unknown: None,
            fix: None,
            section,
            vuid,
        });
    }

    /// Returns the image that a command uses, unless it is not checked. Forgets the layouts if another queue used it last, since the order of the two uses is
    /// not known.
    fn image(&mut self, at: LayoutCommand, resource: u32) -> Option<&mut Image> {
        let resources = self.sites.resources;
        resources.id(resource)?;
        // The host may have changed the layout.
        if self.sites.recording.resources[resource as usize].host_writes {
            return None;
        }
        let class = resources.class(resource as usize);
        let (is_new, is_one_queue) = (self.is_new, self.is_one_queue);
        let image = self.images.entry(class).or_insert_with(|| Image {
            all: resources.all_texels(resource as usize),
            depth: resources.depth(resource as usize),
            queue: None,
            cells: SubresourceLayouts::Equal((is_new[class] && is_one_queue).then_some(KnownLayout {
                layout: L::UNDEFINED,
                by: None,
            })),
        });
        if let Some(queue) = at.queue {
            if image.queue.is_some_and(|last| last != queue) {
                image.cells = SubresourceLayouts::Equal(None);
            }
            image.queue = Some(queue);
        }
        Some(image)
    }

    /// Returns the subresources of a part that are in a different layout; if the part is not accessed as a whole, only if no subresource matches.
    fn mismatch(
        &mut self,
        at: LayoutCommand,
        (resource, range, expected): (u32, SubresourceRange, L),
        is_whole: bool,
    ) -> Option<Mismatch> {
        let texels = self.texels(resource, range)?;
        let image = self.image(at, resource)?;
        let mut found: Option<Mismatch> = None;
        let mut all_differ = true;
        image.each(&texels, |aspect, level, layer, known| {
            let differs = known.filter(|known| !is_equal(known.layout, expected, aspect));
            all_differ &= differs.is_some();
            let Some(known) = differs else { return };
            let one = |index: u32| Run::new(index, index + 1);
            match &mut found {
                Some(mismatch) => {
                    mismatch.range.aspects |= aspect;
                    for (run, index) in [
                        (&mut mismatch.range.levels, level),
                        (&mut mismatch.range.layers, layer),
                    ] {
                        *run = Run::new(run.first.min(index), run.end.max(index + 1));
                    }
                }
                None => {
                    let range = SubresourceRange {
                        aspects: aspect,
                        levels: one(level),
                        layers: one(layer),
                    };
                    found = Some(Mismatch { known, range });
                }
            }
        });
        found.filter(|_| is_whole || all_differ)
    }

    /// Assumes the layout that a command expects for subresources whose layout is unknown, if the command certainly accesses each of them.
    fn learn(
        &mut self,
        at: LayoutCommand,
        resource: u32,
        range: SubresourceRange,
        layout: L,
        is_whole: bool,
    ) {
        let Some(texels) = self.texels(resource, range) else {
            return;
        };
        let Some(image) = self.image(at, resource) else {
            return;
        };
        // An access to some texels proves the layout of a subresource only if there is exactly one.
        let is_one = texels.levels.len() == 1 && texels.layers.len() == 1;
        if is_whole || is_one {
            image.fill(&texels, |known| known.or(Some(KnownLayout { layout, by: None })));
        }
    }

    /// Changes a part of an image to a layout, or to an unknown one.
    fn change(&mut self, at: LayoutCommand, resource: u32, range: SubresourceRange, layout: Option<L>) {
        let Some(texels) = self.texels(resource, range) else {
            return;
        };
        let Some(image) = self.image(at, resource) else {
            return;
        };
        let by = Some((at.step, at.tag));
        image.fill(&texels, |known| match (known, layout) {
            (Some(known), Some(layout)) if known.layout == layout => Some(known),
            _ => layout.map(|layout| KnownLayout { layout, by }),
        });
    }

    fn texels(&self, resource: u32, range: SubresourceRange) -> Option<Texels> {
        let index = resource as usize;
        match range == SubresourceRange::ALL {
            true => Some(self.sites.resources.all_texels(index)),
            false => self.sites.resources.texels(index, range, None),
        }
    }
}

/// Returns the layers of an attachment that an instance renders.
fn rendered(instance: &RenderPassInstance, attachment: &Attachment) -> Vec<SubresourceRange> {
    let all = instance
        .subpasses
        .iter()
        .fold(0, |all, subpass| all | subpass.view_mask);
    let ranges = runs(&[all]).into_iter().map(|run| SubresourceRange {
        layers: layers_of(attachment, run),
        ..attachment.range
    });
    ranges
        .filter(|range| range.layers.first < range.layers.end)
        .collect()
}

/// Returns the action that a command which begins an instance performs on an attachment, and the rule about the attachment's layout.
fn begins(call: &str, aspects: Aspects, role: Option<Role>) -> (finding::Action, Option<&'static str>) {
    let is_color = !aspects.intersects(Aspects::DEPTH | Aspects::STENCIL);
    let vuid = match (call, role) {
        ("vkCmdBeginRenderPass", _) => "VUID-vkCmdBeginRenderPass-initialLayout-00900",
        ("vkCmdBeginRenderPass2" | "vkCmdBeginRenderPass2KHR", _) => {
            "VUID-vkCmdBeginRenderPass2-initialLayout-03100"
        }
        (_, Some(Role::Color)) => "VUID-vkCmdBeginRendering-pRenderingInfo-09592",
        (_, Some(Role::DepthStencil)) if aspects == Aspects::STENCIL => {
            "VUID-vkCmdBeginRendering-pRenderingInfo-09590"
        }
        (_, Some(Role::DepthStencil)) => "VUID-vkCmdBeginRendering-pRenderingInfo-09588",
        _ => "",
    };
    let action = match call.starts_with("vkCmdBeginRenderPass") {
        true => finding::Action::Transition,
        false if is_color => finding::Action::Write {
            stage: S::COLOR_ATTACHMENT_OUTPUT,
            access: A::COLOR_ATTACHMENT_WRITE,
        },
        false => finding::Action::Write {
            stage: S::EARLY_FRAGMENT_TESTS,
            access: A::DEPTH_STENCIL_ATTACHMENT_WRITE,
        },
    };
    (action, Some(vuid).filter(|vuid| !vuid.is_empty()))
}
