//! The subpasses of render pass instances, in the model's form.

use ash::vk::{self, ImageAspectFlags as Aspects};
use tileheap_sync::program::ResourceId;
use tileheap_sync::render_pass::{AttachmentUse, RenderPass, Role};

use super::log::{LogRecorder, LoggedAccess, ORDINARY};
use crate::model::position::Position;

/// A render pass instance that is being recorded.
#[derive(Debug, Default)]
pub(crate) struct Subpasses {
    /// The instance; `None` if a secondary command buffer continues it.
    pass: Option<RenderPass>,
    subpass: u32,
    /// The epochs of the last possible and the last certain draw to the attachments.
    last_drawn: [u32; 2],
    /// True if draws of the current subpass can read attachments that they draw to.
    has_feedback: bool,
    /// A hash of the resources that the current subpass draws to: see [`Subpasses::key`].
    key: u64,
    /// True if per-tile work also reads and writes attachments, in an order that is not tracked.
    is_tile_shading: bool,
    /// For each attachment of dynamic rendering: true if draws may read it as an input attachment, in some layouts. Empty if none may be
    /// read.
    reads_locally: Vec<bool>,
}

/// The ways in which draws of an instance may read attachments that they draw to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feedback {
    /// True if the instance has tile shading.
    pub(crate) is_tile_shading: bool,
    /// For each attachment of dynamic rendering: true if its image can be an input attachment. Empty if no image can.
    pub(crate) reads_locally: Vec<bool>,
}

impl Subpasses {
    /// The subpass that a secondary command buffer continues. `has_feedback` is true if draws may read attachments that
    /// they draw to.
    pub(crate) fn inherited(has_feedback: bool) -> Subpasses {
        Subpasses {
            has_feedback,
            key: u64::from(has_feedback),
            ..Subpasses::default()
        }
    }

    /// Begins a render pass instance.
    pub(crate) fn begin(
        recorded: &mut LogRecorder,
        pass: RenderPass,
        feedback: Feedback,
        at: &Position,
    ) -> Subpasses {
        recorded.pass(pass.begin(0), at);
        let mut subpasses = Subpasses {
            pass: Some(pass),
            is_tile_shading: feedback.is_tile_shading,
            reads_locally: feedback.reads_locally,
            ..Subpasses::default()
        };
        subpasses.find_feedback();
        subpasses
    }

    /// Ends the current subpass, and begins the next one, if there is one.
    pub(crate) fn next(&mut self, recorded: &mut LogRecorder, at: &Position) {
        self.leave(recorded, at);
        let Some(pass) = &self.pass else { return };
        if self.subpass as usize + 1 < pass.subpasses.len() {
            self.subpass += 1;
            recorded.pass(pass.begin(self.subpass), at);
            self.find_feedback();
        }
    }

    /// Ends the render pass instance.
    pub(crate) fn end(&mut self, recorded: &mut LogRecorder, at: &Position) {
        self.leave(recorded, at);
        self.pass = None;
        self.key = u64::from(self.has_feedback);
    }

    /// Ends a subpass. Which attachments were drawn to is unknown: the store operation `NONE` is assumed to keep the
    /// contents.
    fn leave(&self, recorded: &mut LogRecorder, at: &Position) {
        if let Some(pass) = &self.pass {
            recorded.pass(pass.end(self.subpass, |_| Aspects::empty()), at);
        }
    }

    /// Returns `true` if a draw has nothing to log for its attachments: an earlier draw of this epoch has drawn to them, and draws
    /// cannot read them.
    #[inline]
    pub(crate) fn has_drawn(&self, recorded: &LogRecorder, acts: bool) -> bool {
        !self.has_feedback && self.last_drawn[usize::from(acts)] == recorded.epoch
    }

    /// Logs the first draw or clear of attachments in an epoch, and the first one that certainly acts; if `acts` is false, the command may do nothing.
    #[inline]
    pub(crate) fn draw(
        &mut self,
        recorded: &mut LogRecorder,
        (command, acts): (&'static str, bool),
        at: &mut Position,
    ) {
        if self.last_drawn[usize::from(acts)] == recorded.epoch {
            return;
        }
        self.last_drawn[0] = recorded.epoch;
        if acts {
            self.last_drawn[1] = recorded.epoch;
        }
        at.is_at(command);
        self.draw_first(recorded, acts, at);
    }

    #[inline(never)]
    fn draw_first(&mut self, recorded: &mut LogRecorder, acts: bool, at: &Position) {
        let Some(pass) = &self.pass else {
            return recorded.draws(acts);
        };
        let list = recorded.list(self.attachment_accesses(pass, acts));
        recorded.access(list, at);
    }

    /// The accesses of a draw to tracked attachments; input attachments, and those whose contents stay undefined, are omitted.
    fn attachment_accesses(&self, pass: &RenderPass, acts: bool) -> Vec<LoggedAccess> {
        let mut accesses = Vec::new();
        for one in &pass.subpasses[self.subpass as usize] {
            let attachment = &pass.attachments[one.attachment];
            let keeps = attachment.store == vk::AttachmentStoreOp::NONE;
            let is_color = one.role == Role::Color;
            // Undefined contents of which nothing is stored stay undefined.
            let is_undefined = attachment.load == vk::AttachmentLoadOp::DONT_CARE
                || attachment.initial_layout == vk::ImageLayout::UNDEFINED;
            let is_followed = is_color && !is_undefined || !keeps;
            if attachment.resource == ORDINARY || !is_followed || one.role == Role::Input {
                continue;
            }
            // Depth and stencil state decide which tests read and write; of an attachment that is not stored, programs may write nothing.
            let is_certain = acts && is_color && !keeps;
            let drawn = pass.draw(one).into_iter();
            accesses.extend(drawn.map(|access| LoggedAccess {
                access,
                is_certain,
                may_follow_write: false,
            }));
        }
        accesses
    }

    /// Returns `true` if draws of the current subpass can read attachments that they draw to, as input attachments.
    #[inline]
    pub(crate) fn has_feedback(&self) -> bool {
        self.has_feedback
    }

    /// The accesses of a draw to attachments that it may also read. They belong to the same event as the accesses of its shaders, and each draw has a
    /// separate event, since it may read what the previous draw has written.
    pub(crate) fn draw_with_feedback(&self, recorded: &mut LogRecorder, acts: bool) -> Vec<LoggedAccess> {
        recorded.epoch += 1;
        match &self.pass {
            Some(pass) => self.attachment_accesses(pass, acts),
            None => vec![recorded.draws_and_may_read(acts)],
        }
    }

    /// Determines whether the subpass that has begun reads attachments that it draws to, and its key.
    fn find_feedback(&mut self) {
        let uses = self
            .pass
            .as_ref()
            .map_or(&[][..], |pass| &pass.subpasses[self.subpass as usize]);
        let is_input = |one: &AttachmentUse| {
            let can_be_input = self.reads_locally.get(one.attachment) == Some(&true);
            let is_local = can_be_input && is_readable(one.layout);
            one.role == Role::Input || is_local && self.resource_of(one) != Some(ORDINARY)
        };
        self.has_feedback = !self.is_tile_shading && reads_drawn(uses, is_input);
        self.key = self.drawn().fold(u64::from(self.has_feedback), |key, resource| {
            key.rotate_left(7) ^ u64::from(resource.0)
        });
    }

    fn resource_of(&self, one: &AttachmentUse) -> Option<ResourceId> {
        let pass = self.pass.as_ref()?;
        Some(pass.attachments[one.attachment].resource)
    }

    /// The resources that the current subpass draws to: accesses of its draws to these count as ordered, unless they are input attachments.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = ResourceId> {
        let uses = self.pass.iter().flat_map(|pass| {
            let uses = &pass.subpasses[self.subpass as usize];
            uses.iter()
                .map(move |one| (one.role, pass.attachments[one.attachment].resource))
        });
        let drawn = uses.filter(|(role, resource)| *role != Role::Input && *resource != ORDINARY);
        drawn.map(|(_, resource)| resource)
    }

    /// Hash of the resources that the current subpass draws to, and of whether draws may read them; 0 if there are none.
    #[inline]
    pub(crate) fn key(&self) -> u64 {
        self.key
    }
}

/// Returns `true` if a subpass reads an attachment that it draws to; `is_input` selects the uses that read.
pub(crate) fn reads_drawn(uses: &[AttachmentUse], is_input: impl Fn(&AttachmentUse) -> bool) -> bool {
    let is_drawn = |input: &AttachmentUse| {
        let same = uses.iter().filter(|one| one.attachment == input.attachment);
        same.map(|one| one.role).any(|role| match role {
            Role::Color => true,
            Role::DepthStencil { written } => !written.is_empty(),
            _ => false,
        })
    };
    uses.iter().filter(|one| is_input(one)).any(is_drawn)
}

/// Returns `true` if dynamic rendering with local read can read attachments in a layout: `GENERAL` and `RENDERING_LOCAL_READ`.
fn is_readable(layout: vk::ImageLayout) -> bool {
    const LOCAL_READ: vk::ImageLayout = vk::ImageLayout::from_raw(1_000_232_000);
    [vk::ImageLayout::GENERAL, LOCAL_READ].contains(&layout)
}

#[cfg(test)]
mod tests {
    use tileheap_sync::program::Texels;
    use tileheap_sync::render_pass::{Attachment, AttachmentUse};
    use tileheap_units::Run;

    use super::*;

    /// An instance with a color attachment in a layout.
    fn instance(layout: vk::ImageLayout) -> RenderPass {
        let (one, aspects) = (Run::new(0, 1), Aspects::COLOR);
        RenderPass {
            attachments: vec![Attachment {
                resource: ResourceId(1),
                texels: Texels {
                    aspects,
                    levels: one,
                    layers: one,
                    area: None,
                },
                load: vk::AttachmentLoadOp::CLEAR,
                store: vk::AttachmentStoreOp::STORE,
                stencil_load: vk::AttachmentLoadOp::CLEAR,
                stencil_store: vk::AttachmentStoreOp::STORE,
                initial_layout: layout,
                final_layout: layout,
            }],
            subpasses: vec![vec![AttachmentUse {
                attachment: 0,
                role: Role::Color,
                layout,
            }]],
            ..RenderPass::default()
        }
    }

    /// Number of events of a subpass with these draws, including its beginning.
    fn events(draws: &[bool]) -> usize {
        let pass = instance(vk::ImageLayout::GENERAL);
        let (mut recorded, mut at) = (LogRecorder::new(), Position::default());
        let mut subpasses = Subpasses::begin(&mut recorded, pass, Feedback::default(), &at);
        for acts in draws {
            subpasses.draw(&mut recorded, ("vkCmdDraw", *acts), &mut at);
        }
        recorded.freeze().len()
    }

    #[test]
    fn dynamic_rendering_reads_attachments_in_two_layouts() {
        let has_feedback = |layout, reads_locally| {
            let (mut recorded, at) = (LogRecorder::new(), Position::default());
            let feedback = Feedback {
                reads_locally: vec![reads_locally],
                ..Feedback::default()
            };
            Subpasses::begin(&mut recorded, instance(layout), feedback, &at).has_feedback()
        };
        let local_read = vk::ImageLayout::from_raw(1_000_232_000);
        assert!(has_feedback(local_read, true) && has_feedback(vk::ImageLayout::GENERAL, true));
        assert!(!has_feedback(local_read, false));
        assert!(!has_feedback(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, true));
    }

    #[test]
    fn draws_to_undefined_contents_that_are_not_stored_are_not_logged() {
        let accesses = |load, initial_layout| {
            let mut pass = instance(vk::ImageLayout::GENERAL);
            let attachment = &mut pass.attachments[0];
            (attachment.load, attachment.initial_layout) = (load, initial_layout);
            attachment.store = vk::AttachmentStoreOp::NONE;
            Subpasses::default().attachment_accesses(&pass, true).len()
        };
        let general = vk::ImageLayout::GENERAL;
        assert_eq!(accesses(vk::AttachmentLoadOp::DONT_CARE, general), 0);
        assert_eq!(
            accesses(vk::AttachmentLoadOp::LOAD, vk::ImageLayout::UNDEFINED),
            0
        );
        assert_eq!(accesses(vk::AttachmentLoadOp::LOAD, general), 1);
    }

    #[test]
    fn draws_that_may_do_nothing_do_not_stand_for_others() {
        assert_eq!(events(&[]), 1);
        assert_eq!(events(&[true, true, false]), 2);
        assert_eq!(events(&[false, false]), 2);
        assert_eq!(events(&[false, true, false, true]), 3);
    }
}
