//! Render passes: what their load and store operations and initial layouts do to attachments in tile memory.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;

use crate::chain::{elements, find};
use crate::messages::{Finding, MessageId};
use crate::recording::{Pass, Recorder, Recording};
use crate::resources::{Attachment, Resource};

/// An attachment of a render pass instance that is in tile memory.
struct Attached {
    resource: Arc<Resource>,
    attachment: Attachment,
    /// The render area is all of it.
    is_covered: bool,
}

/// `vkCmdBeginRenderPass` comes next.
///
/// # Safety
/// `info` is valid.
pub(crate) unsafe fn begin_render_pass(
    recorder: &Recorder,
    info: *const vk::RenderPassBeginInfo<'_>,
    command: &str,
) {
    // SAFETY: The caller's promise.
    let info = unsafe { &*info };
    let resources = &recorder.device.resources;
    let pass = resources.render_passes.get(info.render_pass.as_raw());
    let framebuffer = resources.framebuffers.get(info.framebuffer.as_raw());
    let mut attached = Vec::new();
    if let (Some(pass), Some(framebuffer)) = (pass, framebuffer) {
        let views = if framebuffer.imageless {
            // SAFETY: The caller's promise.
            let views = unsafe { find::<vk::RenderPassAttachmentBeginInfo<'_>>(info.p_next) };
            // SAFETY: As above.
            let views = views.map_or(&[][..], |views| unsafe {
                elements(views.p_attachments, views.attachment_count)
            });
            views
                .iter()
                .map(|view| resources.image_views.get(view.as_raw()))
                .collect()
        } else {
            framebuffer.attachments.clone()
        };
        for (resource, attachment) in views.into_iter().zip(&pass.attachments) {
            attached.extend(resource.map(|resource| Attached {
                is_covered: covers(info.render_area, resource.extent),
                resource,
                attachment: *attachment,
            }));
        }
    }
    begin(recorder, &attached, (true, true), command);
}

/// `vkCmdBeginRendering` comes next.
///
/// # Safety
/// `info` is valid.
pub(crate) unsafe fn begin_rendering(recorder: &Recorder, info: &vk::RenderingInfo<'_>) {
    let views = &recorder.device.resources.image_views;
    let mut attached: Vec<Attached> = Vec::new();
    let mut add = |target: &vk::RenderingAttachmentInfo<'_>, is_stencil: bool| {
        if target.resolve_mode != vk::ResolveModeFlags::NONE
            && let Some(resource) = views.get(target.resolve_image_view.as_raw())
        {
            attached.push(Attached {
                is_covered: false,
                resource,
                attachment: RESOLVED,
            });
        }
        let Some(resource) = views.get(target.image_view.as_raw()) else {
            return;
        };
        let (load, store) = (target.load_op, target.store_op);
        let other = attached
            .iter_mut()
            .find(|other| Arc::ptr_eq(&other.resource, &resource));
        match other {
            Some(other) if is_stencil => {
                (other.attachment.stencil_load, other.attachment.stencil_store) = (load, store);
            }
            _ => {
                // The aspect that is not attached stays as it is.
                let (kept_load, kept_store) = (vk::AttachmentLoadOp::NONE_KHR, vk::AttachmentStoreOp::NONE);
                let two = resource.two_aspects;
                let stencil = if two {
                    (kept_load, kept_store)
                } else {
                    (load, store)
                };
                let (first, second) = if is_stencil && two {
                    (stencil, (load, store))
                } else {
                    ((load, store), stencil)
                };
                attached.push(Attached {
                    is_covered: covers(info.render_area, resource.extent),
                    resource,
                    attachment: Attachment {
                        load: first.0,
                        store: first.1,
                        stencil_load: second.0,
                        stencil_store: second.1,
                        from_undefined: false,
                        is_resolve: false,
                    },
                });
            }
        }
    };
    // SAFETY: The caller's promise.
    for color in unsafe { elements(info.p_color_attachments, info.color_attachment_count) } {
        add(color, false);
    }
    // SAFETY: The caller's promise.
    if let Some(depth) = unsafe { info.p_depth_attachment.as_ref() } {
        add(depth, false);
    }
    // SAFETY: The caller's promise.
    if let Some(stencil) = unsafe { info.p_stencil_attachment.as_ref() } {
        add(stencil, true);
    }
    // A suspended instance stores nothing yet, and one that resumes loads nothing again.
    let loads = !info.flags.contains(vk::RenderingFlags::RESUMING);
    let stores = !info.flags.contains(vk::RenderingFlags::SUSPENDING);
    begin(recorder, &attached, (loads, stores), "vkCmdBeginRendering");
}

/// What a resolve attachment does: it is written.
const RESOLVED: Attachment = Attachment {
    load: vk::AttachmentLoadOp::NONE_KHR,
    store: vk::AttachmentStoreOp::STORE,
    stencil_load: vk::AttachmentLoadOp::NONE_KHR,
    stencil_store: vk::AttachmentStoreOp::STORE,
    from_undefined: false,
    is_resolve: true,
};

fn covers(area: vk::Rect2D, extent: vk::Extent2D) -> bool {
    area.offset.x <= 0
        && area.offset.y <= 0
        && i64::from(area.offset.x) + i64::from(area.extent.width) >= i64::from(extent.width)
        && i64::from(area.offset.y) + i64::from(area.extent.height) >= i64::from(extent.height)
}

impl Attachment {
    fn discards_on_load(&self) -> bool {
        let discards = vk::AttachmentLoadOp::DONT_CARE;
        self.from_undefined || (self.load == discards && self.stencil_load == discards)
    }

    fn discards_on_store(&self) -> bool {
        let discards = vk::AttachmentStoreOp::DONT_CARE;
        self.store == discards && self.stencil_store == discards
    }

    fn loads(&self) -> bool {
        let loads = vk::AttachmentLoadOp::LOAD;
        !self.from_undefined && (self.load == loads || self.stencil_load == loads)
    }
}

fn begin(recorder: &Recorder, attached: &[Attached], (loads, stores): (bool, bool), command: &str) {
    let mut findings = Vec::new();
    {
        let mut recording = recorder.lock();
        recorder.act(&mut recording);
        let mut pass = Pass::default();
        for (index, this) in attached.iter().enumerate() {
            begin_attachment(
                recorder,
                &mut recording,
                attached,
                index,
                loads,
                command,
                &mut findings,
            );
            let place = this
                .resource
                .place
                .get()
                .filter(|_| stores && this.resource.single);
            if let (Some(place), true) = (place, this.attachment.discards_on_store() && this.is_covered) {
                pass.at_end
                    .push((place.first, place.end, "a store operation DONT_CARE"));
            }
        }
        recording.pass = Some(pass);
    }
    recorder.device.reporter.report_all(findings);
}

fn begin_attachment(
    recorder: &Recorder,
    recording: &mut Recording,
    attached: &[Attached],
    index: usize,
    loads: bool,
    command: &str,
    findings: &mut Vec<Finding>,
) {
    let this = &attached[index];
    let Some(place) = this.resource.place.get() else {
        return;
    };
    let wrong = Recorder::check_object(recording.bound, &this.resource, command, MessageId::WrongObject);
    let is_wrong = wrong.is_some();
    findings.extend(wrong);
    if this.attachment.is_resolve {
        findings.push(Finding {
            id: MessageId::ResolveAttachment,
            object: this.resource.object,
            text: format!("{command}: a resolve attachment is in tile memory, which no tile image may be"),
        });
    }
    if loads && this.attachment.discards_on_load() && this.resource.single {
        let all = this.attachment.from_undefined || this.is_covered;
        // Attachments that share bytes take turns within the pass: which lives at its beginning cannot be told.
        let shares = attached.iter().enumerate().any(|(other, attached)| {
            let place_of = attached.resource.place.get();
            other != index && place_of.is_some_and(|other| other.first < place.end && place.first < other.end)
        });
        if all && !shares {
            recording.contents.discard(place.first, place.end);
            recorder.poison(
                place.first,
                place.end,
                "a load operation DONT_CARE or an initial layout UNDEFINED",
            );
        }
    } else if loads && !is_wrong && this.attachment.loads() {
        findings.extend(recording.contents.read(&this.resource, place));
    }
    recording.contents.write(place);
}

/// A render pass has ended.
pub(crate) fn end(recorder: &Recorder) {
    let mut recording = recorder.lock();
    let Some(pass) = recording.pass.take() else { return };
    for (first, end, why) in pass.at_end {
        recording.contents.discard(first, end);
        recorder.poison(first, end, why);
    }
    if pass.ran_secondaries {
        recording.bound = None;
    }
}

/// `vkCmdExecuteCommands`, which is cut where a secondary command buffer discards.
pub(crate) fn execute(
    recorder: &Recorder,
    secondaries: &[vk::CommandBuffer],
    run: impl Fn(&[vk::CommandBuffer]),
) {
    let mut findings = Vec::new();
    {
        let mut recording = recorder.lock();
        let mut begun = 0;
        for (index, handle) in secondaries.iter().enumerate() {
            let Some(secondary) = crate::recording::recorder(*handle) else {
                continue;
            };
            let (contents, uses_tile) = {
                let secondary = secondary.lock();
                (secondary.contents.clone(), secondary.uses_tile)
            };
            recording.uses_tile |= uses_tile;
            let Some(entry) = contents.entry else { continue };
            let live = recording.contents.live;
            let first = recording.contents.entry.is_none();
            if let Some(pass) = &mut recording.pass {
                if entry < live {
                    findings.push(inheritance_missing(*handle, entry, live));
                    pass.at_end.push((
                        entry,
                        live,
                        "a secondary command buffer without the primary's tile memory",
                    ));
                }
            } else if first {
                recording.contents.entry = Some(entry);
            } else if entry < live {
                run(&secondaries[begun..index]);
                begun = index;
                recording.contents.discard(entry, live);
                recorder.poison(entry, live, "a secondary command buffer with less bound");
            }
            if recording.pass.is_none() {
                recording.contents.live = contents.live;
            }
            findings.extend(recording.contents.run(&contents));
        }
        run(&secondaries[begun..]);
        match &mut recording.pass {
            Some(pass) => pass.ran_secondaries = true,
            // The specification does not say what is bound now.
            None => recording.bound = None,
        }
    }
    recorder.device.reporter.report_all(findings);
}

fn inheritance_missing(secondary: vk::CommandBuffer, entry: u64, live: u64) -> Finding {
    Finding {
        id: MessageId::InheritanceMissing,
        object: (vk::ObjectType::COMMAND_BUFFER, secondary.as_raw()),
        text: format!(
            "a secondary command buffer runs inside a render pass with {entry} B of tile memory inherited while the primary \
             has {live} B bound: its first action command discards [{entry}, {live}); chain VkTileMemoryBindInfoQCOM with \
             the primary's object to its VkCommandBufferInheritanceInfo"
        ),
    }
}
