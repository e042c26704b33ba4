//! Random accesses: the parts, views and stages of each, and the contents that it needs.

use ash::vk::{self, ImageAspectFlags as Aspects, ImageCreateFlags, ImageType, ImageViewType as V};
use tileheap::frame::tables::{PassKind, ResourceKind, ViewDesc};
use tileheap::frame::{AccessKind, ClearValue, ImageDesc, LoadOp, Persistence, SubresourceRange};
use tileheap::units::Run;

use super::description::{DescribedAccess, DescribedPass};
use super::formats::{STORED, is_depth};
use super::generator::DescriptionGenerator;
use super::resource::Role;

impl DescribedAccess {
    /// An access that reads the whole resource.
    pub(super) fn new(resource: usize, kind: AccessKind) -> DescribedAccess {
        DescribedAccess {
            subpass: 0,
            resource,
            kind,
            reads: true,
            writes: false,
            load_op: LoadOp::Load,
            range: SubresourceRange::ALL,
            view: ViewDesc::default(),
            stages: None,
            previous: false,
            resolves: None,
        }
    }

    /// Changes the access to a write that replaces the contents of the whole resource.
    pub(super) fn writing(mut self) -> DescribedAccess {
        (self.reads, self.writes, self.load_op) = (false, true, LoadOp::DontCare);
        self
    }
}

impl DescriptionGenerator {
    /// The description of an image; `None` for a buffer.
    pub(super) fn image_desc(&self, resource: usize) -> Option<ImageDesc> {
        match self.description.resources[resource].kind {
            ResourceKind::Image { desc, .. } => Some(desc),
            ResourceKind::Buffer { .. } => None,
        }
    }

    /// Returns true if a resource is an image that is not 3D.
    pub(super) fn is_flat(&self, resource: usize) -> bool {
        self.image_desc(resource)
            .is_some_and(|desc| desc.image_type != ImageType::TYPE_3D)
    }

    /// A random resource that `wanted` accepts and that the pass does not use; `None` if there is none.
    pub(super) fn find(
        &mut self,
        pass: &DescribedPass,
        wanted: impl Fn(&DescriptionGenerator, usize) -> bool,
    ) -> Option<usize> {
        let used = |index: &usize| pass.accesses.iter().any(|access| access.resource == *index);
        let found: Vec<usize> = (0..self.description.resources.len())
            .filter(|index| !used(index) && wanted(self, *index))
            .collect();
        (!found.is_empty()).then(|| self.random.pick(&found))
    }

    /// Chooses the part that an access uses, and a view of it, at random.
    pub(super) fn part(&mut self, access: &mut DescribedAccess) {
        let Some(desc) = self.image_desc(access.resource) else {
            return;
        };
        let attached = access.kind.is_attachment() || access.kind == AccessKind::InputAttachment;
        let solid = desc.image_type == ImageType::TYPE_3D;
        let run = |draw: &mut DescriptionGenerator, count: u32| {
            let first = draw.random.below(u64::from(count.max(1))) as u32;
            let rest = u64::from(count.saturating_sub(first).max(1));
            Run::new(first, first + 1 + draw.random.below(rest) as u32)
        };
        if self.is_unrestricted() {
            access.range.levels = Run::new(self.random.below(4) as u32, self.random.below(6) as u32);
            access.range.layers = Run::new(self.random.below(4) as u32, self.random.below(20) as u32);
            access.range.aspects = Aspects::from_raw(self.random.below(16) as u32);
        } else {
            let levels = desc.mip_levels.min(16);
            if levels > 1 && self.one_in(2) {
                access.range.levels = run(self, levels);
                if attached || solid {
                    access.range.levels.end = access.range.levels.first + 1;
                }
            }
            let whole = self.meant(access.resource, access.kind, access.range);
            let layers = whole.layers.len() as u32;
            if layers > 1 && layers < 5000 && self.one_in(3) {
                access.range.layers = run(self, layers);
            }
            let both = whole.aspects == Aspects::DEPTH | Aspects::STENCIL;
            let apart = !access.kind.is_transfer() && access.kind != AccessKind::ResolveAttachment;
            if both && apart && self.one_in(4) {
                access.range.aspects = self.random.pick(&[Aspects::DEPTH, Aspects::STENCIL]);
            }
        }
        let blocks = desc.flags.contains(ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE);
        if self.is_unrestricted() {
            access.view.view_type = Some(V::from_raw(self.random.below(8) as i32));
            access.view.format = Some(self.view_format(&desc));
        } else if !access.kind.is_transfer()
            && !is_depth(desc.format)
            && self.one_in(if blocks { 2 } else { 12 })
        {
            let format = self.view_format(&desc);
            let fits = access.kind != AccessKind::StorageImage || STORED.contains(&format);
            access.view.format = fits.then_some(format);
            if blocks && fits {
                // Views of blocks as texels have one level.
                access.range.levels = Run::new(0, 1);
            }
        }
        if !access.kind.is_transfer() && self.one_in(12) {
            let layers = self
                .meant(access.resource, access.kind, access.range)
                .layers
                .len();
            let cube = desc.flags.contains(ImageCreateFlags::CUBE_COMPATIBLE) && !attached;
            access.view.view_type = match desc.image_type {
                ImageType::TYPE_1D => Some(V::TYPE_1D_ARRAY),
                ImageType::TYPE_3D if attached => Some(V::TYPE_2D_ARRAY),
                ImageType::TYPE_3D => Some(V::TYPE_3D),
                _ if cube && layers == 6 => Some(V::CUBE),
                _ if layers == 1 && self.one_in(2) => Some(V::TYPE_2D),
                _ => Some(V::TYPE_2D_ARRAY),
            };
        }
    }

    /// Chooses the load operation of an attachment write at random.
    pub(super) fn load_op(&mut self, access: &mut DescribedAccess) {
        let range = self.meant(access.resource, access.kind, access.range);
        let contents = self.has_contents(access.resource, range);
        let format = access
            .view
            .format
            .or(self.image_desc(access.resource).map(|desc| desc.format));
        let clear = LoadOp::Clear(self.clear_value(format.unwrap_or_default()));
        access.load_op = match contents || self.is_unrestricted() {
            true => self.random.pick(&[LoadOp::Load, clear, LoadOp::DontCare]),
            false => self.random.pick(&[clear, clear, LoadOp::DontCare]),
        };
        (access.reads, access.writes) = (access.load_op == LoadOp::Load, true);
    }

    fn clear_value(&mut self, format: vk::Format) -> ClearValue {
        let number = self.random.pick(&[0.0, 1.0, 0.5, -1.0, f32::INFINITY]);
        if self.is_unrestricted() {
            return self.random.pick(&[
                ClearValue::Float([f32::NAN; 4]),
                ClearValue::Int([-1; 4]),
                ClearValue::Uint([1; 4]),
                ClearValue::DepthStencil(2.0, 256),
            ]);
        }
        match ClearValue::zero_of(format) {
            ClearValue::Float(_) => ClearValue::Float([number; 4]),
            ClearValue::Int(_) => ClearValue::Int([-1; 4]),
            ClearValue::Uint(_) => ClearValue::Uint([7; 4]),
            ClearValue::DepthStencil(..) => ClearValue::DepthStencil(number.clamp(0.0, 1.0), 3),
        }
    }

    /// Adds a random shader, fixed-function or transfer access that fits the pass's kind.
    pub(super) fn plain_access(&mut self, pass: &mut DescribedPass) {
        let kind = self.plain_kind(pass.kind);
        let wants_image = kind.fits_images() && (!kind.fits_buffers() || self.one_in(2));
        let stored = kind == AccessKind::StorageImage;
        let fits = |draw: &DescriptionGenerator, index: usize| match draw.image_desc(index) {
            Some(desc) => {
                let single = desc.samples == vk::SampleCountFlags::TYPE_1;
                wants_image && (!stored || single && STORED.contains(&desc.format))
            }
            None => !wants_image,
        };
        let resource = match self.find(pass, fits).filter(|_| !self.random.one_in(6)) {
            _ if self.is_unrestricted() && !self.description.resources.is_empty() => {
                self.random.below(self.description.resources.len() as u64) as usize
            }
            Some(found) => found,
            None if !wants_image => self.new_buffer(),
            None if stored => self.new_image(Role::Stored, vk::SampleCountFlags::TYPE_1),
            None => self.new_image(Role::Sampled, vk::SampleCountFlags::TYPE_1),
        };
        let mut access = DescribedAccess::new(resource, kind);
        self.part(&mut access);
        access.stages = self.stages(pass.kind, kind);
        let history = self.description.resources[resource].persistence == Persistence::History;
        let readable = !kind.access_flags(true, false).is_empty();
        if readable && (history && self.one_in(2) || self.is_unrestricted()) {
            access.previous = true;
            pass.accesses.push(access);
            return;
        }
        let writable = !kind.access_flags(false, true).is_empty();
        let range = self.meant(resource, kind, access.range);
        if self.is_unrestricted() {
            (access.reads, access.writes) = (self.one_in(2), self.one_in(2));
            access.load_op =
                self.random
                    .pick(&[LoadOp::Load, LoadOp::DontCare, LoadOp::Clear(ClearValue::ZERO)]);
        } else if !self.has_contents(resource, range) {
            if !writable {
                self.fill_first(resource);
                if !self.has_contents(resource, range) && !self.is_unrestricted() {
                    return;
                }
            } else {
                access = access.writing();
            }
        } else if writable && (!readable || self.one_in(2)) {
            access = access.writing();
            if readable && self.one_in(3) {
                (access.reads, access.load_op) = (true, LoadOp::Load);
            }
        }
        pass.accesses.push(access);
    }

    fn plain_kind(&mut self, pass: PassKind) -> AccessKind {
        use AccessKind as K;
        if self.is_unrestricted() {
            return self.random.pick(&AccessKind::ALL);
        }
        let shaders = [
            K::SampledImage,
            K::SampledImage,
            K::StorageImage,
            K::StorageImage,
            K::UniformBuffer,
            K::StorageBuffer,
            K::UniformTexelBuffer,
            K::StorageTexelBuffer,
            K::IndirectBuffer,
            K::StorageBuffer,
        ];
        let transfers = [K::TransferSource, K::TransferDestination];
        match pass {
            PassKind::Render | PassKind::Compute if self.one_in(20) => K::DeviceAddress,
            PassKind::Render if self.one_in(4) => self.random.pick(&[K::VertexBuffer, K::IndexBuffer]),
            PassKind::Render => self.random.pick(&shaders),
            PassKind::Compute if self.one_in(4) => self.random.pick(&transfers),
            PassKind::Compute => self.random.pick(&shaders),
            PassKind::Transfer => self.random.pick(&transfers),
        }
    }

    /// Adds a transfer pass that initializes a resource.
    pub(super) fn fill_first(&mut self, resource: usize) {
        let mut pass = DescribedPass::new(PassKind::Transfer);
        pass.new_commands = self.one_in(4);
        pass.accesses
            .push(DescribedAccess::new(resource, AccessKind::TransferDestination).writing());
        self.push(pass);
    }
}
