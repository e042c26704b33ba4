//! Render pass instances, converted to the model.
//!
//! ```text
//! attachment, layers [4, 8), view masks 0b1001 and 0b1000      subpass 0    subpass 1
//!   layer 4 (view 0)                                           drawn
//!   layer 7 (view 3)                                           drawn        drawn
//! ```
//! The model has one attachment for each run of layers that the same subpasses render.

use ash::vk::{self, ImageAspectFlags as Aspects};
use tileheap::frame::SubresourceRange;
use tileheap::units::Run;
use tileheap_sync::program::{self, Command, DependencyScopes, PassDependency};
use tileheap_sync::render_pass::{Attachment, AttachmentUse, RenderPass, Role, written_in};
use vk::{AccessFlags2 as A, AttachmentStoreOp as Store};

use super::resources::Resources;
use crate::document::recording::{self, RenderPassInstance};

/// The reason why an access might not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// A shader may skip the access or use another descriptor, or an indirect or conditional command may do nothing.
    Shader,
    /// A copy of query results without waiting skips results that are not available.
    Results,
    /// Depth and stencil tests and writes may be disabled.
    Tests,
    /// Color writes may be disabled.
    Mask,
}

/// A render pass instance whose commands are being converted.
pub(super) struct OpenInstance {
    pass: RenderPass,
    /// The view mask of each subpass.
    view_masks: Vec<u32>,
    /// Per attachment of `pass`, the mask of the views that it stands for; 0 without multiview.
    views: Vec<u32>,
    area: Option<[[u32; 2]; 2]>,
    number: u32,
    subpass: u32,
    /// True if a draw of this subpass has accessed the attachments since the last barrier.
    is_drawn: bool,
}

impl OpenInstance {
    /// Converts an instance, given its number in the recording; the first subpass has not begun yet.
    pub(super) fn new(instance: &RenderPassInstance, number: u32, resources: &Resources<'_>) -> OpenInstance {
        let masks: Vec<u32> = instance
            .subpasses
            .iter()
            .map(|subpass| subpass.view_mask)
            .collect();
        let runs = runs(&masks);
        let mut attachments = Vec::new();
        let mut views = Vec::new();
        // The model's attachments for each attachment of the recording.
        let mut of: Vec<std::ops::Range<usize>> = Vec::new();
        for one in &instance.attachments {
            let first = attachments.len();
            for &run in &runs {
                attachments.extend(attachment(one, run, resources));
                views.resize(attachments.len(), mask_of(run));
            }
            of.push(first..attachments.len());
        }
        let subpasses = instance.subpasses.iter().map(|subpass| {
            let uses = subpass.uses.iter().flat_map(|one| {
                let of = of[one.attachment as usize].clone();
                of.map(|attachment| AttachmentUse {
                    attachment,
                    role: role(one),
                    layout: one.layout,
                })
            });
            uses.collect()
        });
        let dependencies = instance.dependencies.iter().filter(|one| one.from != one.to);
        let dependencies = dependencies.map(|one| PassDependency {
            from: one.from,
            to: one.to,
            scopes: scopes(&one.scopes),
        });
        let axis = |index: usize| {
            instance
                .area
                .map_or(Run::new(0, u32::MAX), |area| area[index].into())
        };
        OpenInstance {
            pass: RenderPass {
                attachments,
                area: [axis(0), axis(1), Run::new(0, u32::MAX)],
                subpasses: subpasses.collect(),
                dependencies: dependencies.collect(),
                resumes: instance.resumes,
                suspends: instance.suspends,
            },
            view_masks: masks,
            views,
            area: instance.area,
            number,
            subpass: 0,
            is_drawn: false,
        }
    }

    /// Returns the number of the instance, and the current subpass.
    pub(super) fn place(&self) -> (u32, u32) {
        (self.number, self.subpass)
    }

    /// Returns the render area, unless it covers every attachment.
    pub(super) fn area(&self) -> Option<[[u32; 2]; 2]> {
        self.area
    }

    /// Begins the instance.
    pub(super) fn begin(&mut self) -> Vec<Command> {
        self.pass.begin(0)
    }

    /// Begins the next subpass.
    pub(super) fn next(&mut self) -> Vec<Command> {
        let mut commands = self.stores();
        self.subpass += 1;
        self.is_drawn = false;
        commands.extend(self.pass.begin(self.subpass));
        commands
    }

    /// Ends the instance.
    pub(super) fn end(&mut self) -> Vec<Command> {
        self.stores()
    }

    /// Ends the current subpass. It is not known which aspects draws have written: with the store operation `NONE`, none are assumed.
    fn stores(&self) -> Vec<Command> {
        self.pass.end(self.subpass, |_| Aspects::empty())
    }

    /// Notes a barrier within the subpass: draws after it access the attachments again.
    pub(super) fn after_barrier(&mut self) {
        self.is_drawn = false;
    }

    /// Returns the accesses of a draw to the color and depth/stencil attachments of the subpass, each with the reason why it might not happen; none
    /// if an earlier draw has made them since the last barrier.
    pub(super) fn draw(&mut self) -> Vec<(program::MemoryAccess, Option<Doubt>)> {
        let mut accesses = Vec::new();
        if std::mem::replace(&mut self.is_drawn, true) {
            return accesses;
        }
        let mask = self.view_masks[self.subpass as usize];
        for one in &self.pass.subpasses[self.subpass as usize] {
            if mask != 0 && self.views[one.attachment] & mask == 0 {
                continue;
            }
            let mut one = *one;
            let kept = kept_by_store(&self.pass.attachments[one.attachment]);
            match &mut one.role {
                // The load or the transition stands for the write: nothing is stored.
                Role::Color if !kept.is_empty() && is_undefined(&self.pass.attachments[one.attachment]) => {}
                Role::Color if kept.is_empty() => accesses.extend(self.of(&one, None)),
                // A program that stores nothing draws nothing, or loses what it draws.
                Role::Color => accesses.extend(self.of(&one, Some(Doubt::Mask))),
                Role::DepthStencil { written } => {
                    *written &= !kept;
                    accesses.extend(self.of(&one, Some(Doubt::Tests)));
                }
                // Input attachments are among the accesses of draws.
                _ => {}
            }
        }
        accesses
    }

    fn of(&self, one: &AttachmentUse, doubt: Option<Doubt>) -> Vec<(program::MemoryAccess, Option<Doubt>)> {
        let accesses = self.pass.draw(one).into_iter();
        accesses.map(|access| (access, doubt)).collect()
    }
}

/// Returns the aspects of an attachment with the store operation `NONE`, which preserves them if no draw writes them. The recording does not show which
/// aspects draws write.
fn kept_by_store(attachment: &Attachment) -> Aspects {
    let all = attachment.texels.aspects;
    let of = |aspects: Aspects, store: Store| {
        if store == Store::NONE {
            aspects
        } else {
            Aspects::empty()
        }
    };
    of(all & !Aspects::STENCIL, attachment.store) | of(all & Aspects::STENCIL, attachment.stencil_store)
}

/// Returns true if the contents of an attachment are undefined when its render pass begins, before any clear.
fn is_undefined(attachment: &Attachment) -> bool {
    attachment.load == vk::AttachmentLoadOp::DONT_CARE
        || attachment.initial_layout == vk::ImageLayout::UNDEFINED
}

/// Returns runs of views that the same subpasses render; a single run without an end if multiview is not used.
pub(super) fn runs(masks: &[u32]) -> Vec<Run> {
    if masks.iter().all(|mask| *mask == 0) {
        return vec![Run::new(0, u32::MAX)];
    }
    let members = |view: u32| masks.iter().map(move |mask| mask >> view & 1 == 1);
    let mut runs: Vec<Run> = Vec::new();
    for view in (0..u32::BITS).filter(|&view| members(view).any(|is_member| is_member)) {
        match runs.last_mut() {
            Some(run) if run.end == view && members(view).eq(members(run.first)) => run.end += 1,
            _ => runs.push(Run::new(view, view + 1)),
        }
    }
    runs
}

/// Returns the mask of the views of a run; 0 if it has no end.
fn mask_of(run: Run) -> u32 {
    match run.end {
        u32::MAX => 0,
        end => (run.first..end).fold(0, |mask, view| mask | 1 << view),
    }
}

/// Returns the layers of an attachment for a run of views.
pub(super) fn layers_of(one: &recording::Attachment, run: Run) -> Run {
    let all = one.range.layers;
    Run::new(
        all.first.saturating_add(run.first),
        all.first.saturating_add(run.end).min(all.end),
    )
}

/// Returns the part of an attachment that a run of views uses; `None` if it is not checked, or does not exist.
fn attachment(one: &recording::Attachment, run: Run, resources: &Resources<'_>) -> Option<Attachment> {
    let range = SubresourceRange {
        layers: layers_of(one, run),
        ..one.range
    };
    Some(Attachment {
        resource: resources.id(one.resource)?,
        texels: resources.texels(one.resource as usize, range, None)?,
        load: one.load,
        store: one.store,
        stencil_load: one.stencil_load,
        stencil_store: one.stencil_store,
        initial_layout: one.initial,
        final_layout: one.last,
    })
}

fn role(one: &recording::AttachmentUse) -> Role {
    let resolved = if one.resolved.is_empty() {
        Aspects::from_raw(u32::MAX)
    } else {
        one.resolved
    };
    match one.role {
        recording::Role::Color => Role::Color,
        recording::Role::DepthStencil => Role::DepthStencil {
            written: written_in(one.layout),
        },
        recording::Role::Input => Role::Input,
        recording::Role::ResolveSource => Role::ResolveSource { resolved },
        recording::Role::ResolveTarget => Role::ResolveTarget { resolved },
    }
}

/// Returns true if an access type is that of a color or depth/stencil attachment.
pub(super) fn is_of_attachment(access: A) -> bool {
    access.intersects(
        A::COLOR_ATTACHMENT_READ
            | A::COLOR_ATTACHMENT_WRITE
            | A::DEPTH_STENCIL_ATTACHMENT_READ
            | A::DEPTH_STENCIL_ATTACHMENT_WRITE,
    )
}

/// Converts scopes to the model.
pub(super) fn scopes(scopes: &recording::DependencyScopes) -> DependencyScopes {
    DependencyScopes {
        src: scopes.src_stages,
        src_access: scopes.src_access,
        dst: scopes.dst_stages,
        dst_access: scopes.dst_access,
    }
}
