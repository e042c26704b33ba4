//! Random passes.

use ash::vk::{self, QueueFlags as Q, SampleCountFlags as Samples};
use tileheap::frame::tables::{PassKind, SkippedOutputs};
use tileheap::frame::{AccessKind, ClearValue, LoadOp};

use super::description::{DescribedAccess, DescribedPass};
use super::formats::is_depth;
use super::generator::DescriptionGenerator;
use super::resource::Role;

impl DescriptionGenerator {
    /// Adds a random pass that the queue supports.
    pub(super) fn pass(&mut self) {
        let queue = self.queue();
        let kind = self.random.pick(&[
            PassKind::Render,
            PassKind::Render,
            PassKind::Compute,
            PassKind::Transfer,
        ]);
        let kind = match kind {
            _ if self.is_unrestricted() => kind,
            PassKind::Render if !queue.contains(Q::GRAPHICS) => PassKind::Compute,
            other => other,
        };
        let kind = match kind {
            PassKind::Compute if !queue.intersects(Q::GRAPHICS | Q::COMPUTE) && !self.is_unrestricted() => {
                PassKind::Transfer
            }
            other => other,
        };
        let mut pass = DescribedPass::new(kind);
        pass.new_commands = self.one_in(4);
        if kind == PassKind::Render {
            self.render_pass(&mut pass);
        }
        let most = if kind == PassKind::Render { 3 } else { 4 };
        for _ in 0..self.random.below(most) + u64::from(kind != PassKind::Render) {
            self.plain_access(&mut pass);
        }
        // Accesses must be in order of subpasses.
        pass.accesses.sort_by_key(|access| access.subpass);
        if self.is_unrestricted() {
            pass.optional = Some(self.random.pick(&[SkippedOutputs::Kept, SkippedOutputs::Lost]));
        } else if self.one_in(12) {
            pass.optional = Some(SkippedOutputs::Lost);
        }
        pass.tile_shading = self.is_unrestricted();
        pass.in_strips = self.one_in(10);
        pass.secondary = if kind == PassKind::Render {
            self.one_in(8)
        } else {
            self.is_unrestricted()
        };
        pass.hook = u32::from(self.is_unrestricted());
        self.push(pass);
    }

    fn render_pass(&mut self, pass: &mut DescribedPass) {
        let several = self.one_in(4);
        let samples = if several { Samples::TYPE_4 } else { Samples::TYPE_1 };
        let mut layers = 0;
        for _ in 0..self.random.pick(&[0, 1, 1, 1, 1, 2, 2, 3, 5]) {
            self.attachment(pass, AccessKind::ColorAttachment, samples);
        }
        if self.one_in(3) || pass.accesses.is_empty() && !self.one_in(8) {
            self.attachment(pass, AccessKind::DepthStencilAttachment, samples);
        }
        for access in &pass.accesses {
            let range = self.meant(access.resource, access.kind, access.range);
            let own = range.layers.len() as u32;
            layers = if layers == 0 { own } else { layers.min(own) };
        }
        if samples != Samples::TYPE_1 || self.is_unrestricted() {
            self.resolves(pass);
        }
        if self.one_in(4) {
            self.input(pass);
        }
        if self.one_in(50) {
            self.many_inputs(pass);
        }
        if self.one_in(6) {
            self.next_subpass(pass, samples);
        }
        if self.is_unrestricted() {
            pass.views = self.random.pick(&[1, 2, 3, 5, 0x8000_0000, u32::MAX]);
        } else if self.one_in(8) && layers > 0 {
            pass.views = 1 + self.random.below(u64::from((1u32 << layers.min(4)) - 1)) as u32;
        }
        if self.is_unrestricted() {
            let [x, y] = [0; 2].map(|_| self.random.below(80) as i32 - 8);
            let [width, height] = [0; 2].map(|_| self.random.below(80) as u32);
            pass.area = Some(vk::Rect2D {
                offset: vk::Offset2D { x, y },
                extent: vk::Extent2D { width, height },
            });
            pass.samples = Some(Samples::from_raw(self.random.pick(&[0, 1, 2, 3, 4, 64, 128])));
        } else if self.one_in(6) {
            let offset = vk::Offset2D { x: 1, y: 0 };
            let extent = vk::Extent2D { width: 3, height: 1 };
            pass.area = Some(vk::Rect2D { offset, extent });
        }
    }

    /// Adds a color or depth/stencil attachment.
    fn attachment(&mut self, pass: &mut DescribedPass, kind: AccessKind, samples: Samples) {
        let wants_depth = kind == AccessKind::DepthStencilAttachment;
        let rendered = |draw: &DescriptionGenerator, index: usize| {
            draw.image_desc(index).is_some_and(|desc| {
                let compressed = tileheap::format::info(desc.format).is_none_or(|info| info.is_compressed());
                desc.samples == samples && is_depth(desc.format) == wants_depth && !compressed
            })
        };
        let resource = match self.find(pass, rendered).filter(|_| !self.random.one_in(3)) {
            _ if self.is_unrestricted() && !self.description.resources.is_empty() => {
                self.random.below(self.description.resources.len() as u64) as usize
            }
            Some(found) => found,
            None => self.new_image(if wants_depth { Role::Depth } else { Role::Color }, samples),
        };
        let mut access = DescribedAccess::new(resource, kind);
        self.part(&mut access);
        access.stages = self.stages(pass.kind, kind);
        let range = self.meant(resource, kind, access.range);
        let contents = self.has_contents(resource, range);
        if !(wants_depth && contents && self.one_in(3)) {
            self.load_op(&mut access);
        }
        pass.accesses.push(access);
    }

    /// Adds resolve attachments for some of the attachments.
    fn resolves(&mut self, pass: &mut DescribedPass) {
        let sources: Vec<DescribedAccess> = pass.accesses.clone();
        for source in sources {
            let Some(desc) = self.image_desc(source.resource).filter(|_| self.random.one_in(2)) else {
                continue;
            };
            let format = source.view.format.unwrap_or(desc.format);
            let range = self.meant(source.resource, source.kind, source.range);
            let like = |draw: &DescriptionGenerator, index: usize| {
                let desc = draw.image_desc(index);
                desc.is_some_and(|desc| desc.format == format && desc.samples == Samples::TYPE_1)
            };
            let target = match self.find(pass, like) {
                Some(found) => found,
                None => self.plain_image(format, Samples::TYPE_1, range.layers.len() as u32),
            };
            let mut access = DescribedAccess::new(target, AccessKind::ResolveAttachment).writing();
            access.resolves = Some(source.resource);
            if self.one_in(6) {
                access.load_op = LoadOp::Clear(ClearValue::zero_of(format));
            }
            if self.is_unrestricted() {
                self.part(&mut access);
                self.load_op(&mut access);
                access.resolves = Some(self.random.below(self.description.resources.len() as u64) as usize);
            }
            pass.accesses.push(access);
        }
    }

    /// Adds an input attachment: an attachment of the pass, or another image that has contents, if there is one.
    fn input(&mut self, pass: &mut DescribedPass) {
        let own: Vec<DescribedAccess> = pass
            .accesses
            .iter()
            .filter(|access| access.kind != AccessKind::ResolveAttachment && self.is_flat(access.resource))
            .copied()
            .collect();
        if !own.is_empty() && self.one_in(2) {
            let attached = self.random.pick(&own);
            let mut input = DescribedAccess::new(attached.resource, AccessKind::InputAttachment);
            (input.range, input.view) = (attached.range, attached.view);
            input.stages = self.stages(pass.kind, input.kind);
            if self.is_unrestricted() {
                self.part(&mut input);
            }
            pass.accesses.push(input);
            return;
        }
        let full = |draw: &DescriptionGenerator, index: usize| {
            let kind = AccessKind::InputAttachment;
            let range = draw.meant(index, kind, Default::default());
            draw.is_flat(index) && draw.has_contents(index, range)
        };
        if let Some(found) = self.find(pass, full) {
            let mut input = DescribedAccess::new(found, AccessKind::InputAttachment);
            input.stages = self.stages(pass.kind, input.kind);
            pass.accesses.push(input);
        }
    }

    /// Adds 4 to 12 input attachments, which can be more than a device allows.
    fn many_inputs(&mut self, pass: &mut DescribedPass) {
        for _ in 0..self.random.pick(&[4, 7, 8, 9, 12]) {
            let image = self.plain_image(vk::Format::R8G8B8A8_UNORM, Samples::TYPE_1, 1);
            self.fill_first(image);
            pass.accesses
                .push(DescribedAccess::new(image, AccessKind::InputAttachment));
        }
    }

    /// Adds a second subpass, which reuses attachments of the first one, has an additional color attachment, or both.
    fn next_subpass(&mut self, pass: &mut DescribedPass, samples: Samples) {
        let own: Vec<DescribedAccess> = pass
            .accesses
            .iter()
            .filter(|access| access.kind.is_attachment() && access.writes)
            .copied()
            .collect();
        let before = pass.accesses.len();
        for attached in &own {
            let choice = self.random.below(4);
            let again = attached.kind != AccessKind::ResolveAttachment && choice == 0;
            if again {
                let mut again = *attached;
                (again.reads, again.load_op, again.subpass) = (true, LoadOp::Load, 1);
                pass.accesses.push(again);
            } else if choice < 3 && self.is_flat(attached.resource) {
                let mut input = DescribedAccess::new(attached.resource, AccessKind::InputAttachment);
                (input.range, input.view, input.subpass) = (attached.range, attached.view, 1);
                pass.accesses.push(input);
            }
        }
        if pass.accesses.len() == before || self.one_in(2) {
            let samples = if self.one_in(4) { Samples::TYPE_1 } else { samples };
            self.attachment(pass, AccessKind::ColorAttachment, samples);
            let last = pass.accesses.last_mut().expect("just added");
            last.subpass = 1;
        }
    }
}
