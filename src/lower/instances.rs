//! Builds render pass instances: attachments, operations, subpasses, and the parameters of pipelines and secondary command buffers.

use ash::vk;
use bumpalo::Bump;
use bumpalo::collections::Vec;

use super::create::{ATTACHED, TILE_ATTACHED, attachment_view};
use super::error::LowerError;
use super::layouts::combined;
use super::operations::{AttachmentOperations, deciding};
use super::placed::Placed;
use super::subpasses::{dependencies, preserve};
use super::tables::instances::{AttachmentRow, InstanceRow, ReferenceRow, SubpassRow};
use super::tables::objects::{AccessRow, ViewRow};
use super::tables::{ImageOrBuffer, Lowered, OptionalIndex};
use crate::frame::tables::{Access, CommandSource, PassKind};
use crate::frame::{AccessKind, ClearValue, LoadOp, PassId};
use crate::plan::Plan;
use crate::profile::Features;
use crate::units::{Bytes, Run};
use tileheap_device::AccessKinds;

/// Builds the render pass instances of a frame.
pub(super) struct Instances<'a> {
    pub(super) placed: &'a Placed<'a>,
    pub(super) operations: &'a AttachmentOperations<'a>,
    pub(super) views: ViewRows<'a>,
    /// Per access of the current pass, the row of its attachment.
    rows: Vec<'a, OptionalIndex>,
    /// Per attachment of the current pass, the aspects that its accesses have declared so far.
    declared: Vec<'a, vk::ImageAspectFlags>,
    /// The kinds of the current pass's accesses.
    kinds: AccessKinds,
}

impl<'a> Instances<'a> {
    pub(super) fn new(
        placed: &'a Placed<'a>,
        operations: &'a AttachmentOperations<'a>,
        views: ViewRows<'a>,
    ) -> Instances<'a> {
        Instances {
            placed,
            operations,
            views,
            rows: Vec::new_in(placed.scratch),
            declared: Vec::new_in(placed.scratch),
            kinds: AccessKinds::default(),
        }
    }

    /// Adds the render pass instance of a pass with its attachments and subpasses; returns `NONE` for passes of another kind.
    ///
    /// # Errors
    /// If the pass requires a feature that the device lacks, such as dynamic rendering.
    pub(super) fn add(&mut self, pass: PassId, lowered: &mut Lowered) -> Result<OptionalIndex, LowerError> {
        let plan = self.placed.plan;
        let described = plan.frame.pass(pass);
        if described.kind != PassKind::Render {
            return Ok(OptionalIndex::NONE);
        }
        let dynamic = self.placed.is_dynamic(pass);
        self.kinds = self.placed.kinds_in(pass);
        let inputs = self.kinds.contains(AccessKind::InputAttachment);
        let [attachments, colors] = self.attachments(pass, lowered);
        let mut instance = InstanceRow {
            pass,
            dynamic,
            local_read: dynamic && (described.subpasses > 1 || inputs),
            secondary: described.contents == CommandSource::Secondary,
            tile_shading: described.tile_shading,
            area: described.area,
            framebuffer: vk::Extent2D {
                width: described.area.offset.x as u32 + described.area.extent.width,
                height: described.area.offset.y as u32 + described.area.extent.height,
            },
            layers: if described.view_mask == 0 {
                described.layers
            } else {
                1
            },
            view_mask: described.view_mask,
            attachments,
            colors: if dynamic { colors } else { Run::default() },
            depth: OptionalIndex::NONE,
            stencil: OptionalIndex::NONE,
            subpasses: Run::default(),
            hook: described.hook,
            tile_memory: plan.passes[pass.index()]
                .bound_object
                .map_or(Bytes::ZERO, |object| plan.objects[object.index()].size),
        };
        let first = lowered.subpasses.len() as u32;
        for subpass in 0..described.subpasses {
            self.subpass(&mut instance, subpass, lowered);
        }
        instance.subpasses = Run::new(first, lowered.subpasses.len() as u32);
        if described.subpasses > 1 && !dynamic {
            preserve(&instance, self.placed.scratch, lowered);
        }
        if instance.local_read {
            name_all(&instance, lowered);
        }
        if !dynamic {
            check_object(plan, &instance, &self.declared, lowered)?;
        }
        lowered.instances.push(instance);
        Ok(OptionalIndex::some(lowered.instances.len() as u32 - 1))
    }

    /// Adds the attachments of a pass, each view once; returns the run of all attachments, and the run of color attachments that are not resolve targets.
    fn attachments(&mut self, pass: PassId, lowered: &mut Lowered) -> [Run; 2] {
        let frame = &self.placed.plan.frame;
        let is_color = |access: &Access| access.range.aspects.contains(vk::ImageAspectFlags::COLOR);
        let first = lowered.attachments.len() as u32;
        self.rows.clear();
        self.declared.clear();
        self.rows
            .resize(frame.accesses_of(pass).len(), OptionalIndex::NONE);
        let (accesses, indices) = (frame.accesses_of(pass), frame.pass(pass).accesses.indices());
        let mut add = |kind: AccessKind, color: Option<bool>| {
            if self.kinds.contains(kind) {
                for (nth, access) in accesses.iter().enumerate() {
                    if access.kind == kind && color.is_none_or(|color| is_color(access) == color) {
                        self.rows[nth] = self.attachment(indices.start + nth, first, lowered);
                    }
                }
            }
            lowered.attachments.len() as u32
        };
        add(AccessKind::ColorAttachment, None);
        let colors = add(AccessKind::InputAttachment, Some(true));
        add(AccessKind::DepthStencilAttachment, None);
        add(AccessKind::InputAttachment, Some(false));
        let all = add(AccessKind::ResolveAttachment, None);
        [Run::new(first, all), Run::new(first, colors)]
    }

    /// The usage of an attachment's view, which includes storage if the pass also accesses it as a tile attachment.
    fn usage_of(&self, access: &Access) -> vk::ImageUsageFlags {
        if !self.kinds.contains(AccessKind::TileAttachment) {
            return ATTACHED;
        }
        let frame = &self.placed.plan.frame;
        let mut others = frame.pass(access.pass).accesses.of(frame.accesses()).iter();
        let tile =
            |other: &Access| other.kind == AccessKind::TileAttachment && other.resource == access.resource;
        match others.any(tile) {
            true => TILE_ATTACHED,
            false => ATTACHED,
        }
    }

    /// The row of the attachment that an access uses, added unless a row from `first` on has its view. Depth and stencil that are declared
    /// separately are one attachment.
    fn attachment(&mut self, index: usize, first: u32, lowered: &mut Lowered) -> OptionalIndex {
        let frame = &self.placed.plan.frame;
        let access = &frame.accesses()[index];
        let ImageOrBuffer::Image(image) = lowered.accesses[index].object.get() else {
            return OptionalIndex::NONE;
        };
        let row = &lowered.images[image as usize];
        let samples = row.samples;
        let usage = self.usage_of(access);
        let view = attachment_view(image, row, access.range, access.view, usage);
        let AccessRow {
            layout,
            stencil_layout,
            ..
        } = lowered.accesses[index];
        let deciding = deciding(frame, index);
        let [main, stencil] = self.operations.of(frame, deciding);
        let own = AttachmentRow {
            view: self.views.row_of(lowered, view),
            format: view.format,
            samples,
            layout,
            stencil_layout,
            combined_layout: combined(view.format, [layout, stencil_layout]),
            operations: main,
            stencil,
            clear: match frame.accesses()[deciding].load_op {
                LoadOp::Clear(value) => value.into(),
                _ => ClearValue::ZERO.into(),
            },
            resolve: OptionalIndex::NONE,
            resolve_mode: vk::ResolveModeFlags::NONE,
        };
        let aspects = access.range.aspects;
        let known = &mut lowered.attachments[first as usize..];
        let Some(position) = known.iter().position(|other| other.view == own.view) else {
            lowered.attachments.push(own);
            self.declared.push(aspects);
            return OptionalIndex::some(lowered.attachments.len() as u32 - 1);
        };
        let declared = &mut self.declared[position];
        add_aspects(&mut known[position], &own, aspects & !*declared);
        *declared |= aspects;
        OptionalIndex::some(first + position as u32)
    }

    /// Adds a subpass of an instance, whose attachments have been added.
    fn subpass(&self, instance: &mut InstanceRow, subpass: u32, lowered: &mut Lowered) {
        let frame = &self.placed.plan.frame;
        let pass = instance.pass;
        let of = |kind| {
            let accesses = match self.kinds.contains(kind) {
                true => frame.accesses_of(pass),
                false => &[],
            };
            let own = accesses.iter().zip(&self.rows);
            own.filter(move |(access, _)| access.kind == kind && access.subpass == subpass)
        };
        let rows_of = |kind| of(kind).filter_map(|(_, row)| row.get());
        let depth = rows_of(AccessKind::DepthStencilAttachment).next();
        let colors = references(instance, rows_of(AccessKind::ColorAttachment), lowered);
        let inputs = references(instance, rows_of(AccessKind::InputAttachment), lowered);
        let [resolves, depth_resolve] = self.resolves(instance, subpass, depth, lowered);
        let depth_reference = references(instance, depth.into_iter(), lowered);
        let depths = of(AccessKind::DepthStencilAttachment).map(|(access, _)| access.range.aspects);
        let aspects = depths.fold(vk::ImageAspectFlags::empty(), |all, aspects| all | aspects);
        let has = |aspect| depth.filter(|_| aspects.contains(aspect));
        let depths = [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL].map(has);
        if instance.dynamic {
            for (attached, row) in [&mut instance.depth, &mut instance.stencil]
                .into_iter()
                .zip(depths)
            {
                if attached.is_none() {
                    *attached = row.into();
                }
            }
        }
        let attachment = |reference: &ReferenceRow, lowered: &Lowered| {
            lowered.attachments[(instance.attachments.first + reference.attachment) as usize]
        };
        let first = lowered.formats.len() as u32;
        for index in colors.indices() {
            let color = attachment(&lowered.references[index], lowered);
            lowered.formats.push(color.format);
        }
        let color_formats = Run::new(first, lowered.formats.len() as u32);
        let mut attached = [colors, depth_reference, inputs]
            .into_iter()
            .flat_map(|run| run.indices());
        let samples = attached
            .next()
            .map(|index| attachment(&lowered.references[index], lowered).samples);
        let [depth_format, stencil_format] = depths.map(|row| {
            row.map_or(vk::Format::UNDEFINED, |row| {
                lowered.attachments[row as usize].format
            })
        });
        // Without earlier subpasses, only input attachments have to wait.
        let dependencies = match subpass > 0 || self.kinds.contains(AccessKind::InputAttachment) {
            true => dependencies(frame, pass, subpass, lowered),
            false => Run::default(),
        };
        let mut barriers = Run::default();
        let mut locations = [Run::default(); 2];
        if instance.local_read {
            let last = dependencies.of(&lowered.subpass_dependencies).last();
            let own = last.is_some_and(|one| one.src_subpass == subpass);
            barriers = Run::new(dependencies.first, dependencies.end - u32::from(own));
            locations = [colors, inputs].map(|run| places(instance, run, lowered));
        }
        lowered.subpasses.push(SubpassRow {
            dependencies,
            barriers,
            colors,
            resolves,
            inputs,
            depth: first_of(depth_reference),
            depth_resolve: first_of(depth_resolve),
            preserved: Run::default(),
            locations: locations[0],
            input_indices: locations[1],
            color_formats,
            depth_format,
            stencil_format,
            depth_aspects: aspects,
            samples: frame
                .pass(pass)
                .samples
                .or(samples)
                .unwrap_or(vk::SampleCountFlags::TYPE_1),
        });
    }

    /// Adds the references to the resolve attachments of color attachments (one for each, or none at all), and to those of depth and stencil.
    ///
    /// The n-th resolve attachment that a subpass declares for a resource is that of the n-th attachment of that resource.
    fn resolves(
        &self,
        instance: &InstanceRow,
        subpass: u32,
        depth: Option<u32>,
        lowered: &mut Lowered,
    ) -> [Run; 2] {
        if !self.kinds.contains(AccessKind::ResolveAttachment) {
            return [Run::default(); 2];
        }
        let accesses = self.placed.plan.frame.accesses_of(instance.pass);
        let of = |wanted: AccessKind| {
            let own = move |(access, _): &(&Access, _)| access.kind == wanted && access.subpass == subpass;
            accesses.iter().zip(&self.rows).filter(own)
        };
        if of(AccessKind::ResolveAttachment).next().is_none() {
            return [Run::default(); 2];
        }
        let target_of = |source: &Access, row: &OptionalIndex| {
            let same = |(other, _): &(&Access, _)| other.resource == source.resource;
            let earlier = of(source.kind)
                .filter(same)
                .take_while(|(_, other)| *other != row);
            let mut targets = of(AccessKind::ResolveAttachment);
            let of_source = |(target, _): &(&Access, _)| target.resolves == Some(source.resource);
            targets.by_ref().filter(of_source).nth(earlier.count())?.1.get()
        };
        let first = lowered.references.len() as u32;
        for (source, row) in of(AccessKind::ColorAttachment) {
            let target = target_of(source, row);
            let reference = target.map_or(ReferenceRow::UNUSED, |target| {
                reference(instance, target, lowered)
            });
            lowered.references.push(reference);
            resolve(instance, *row, target, lowered);
        }
        let end = lowered.references.len() as u32;
        let source = of(AccessKind::DepthStencilAttachment).next();
        let target = source.and_then(|(source, row)| target_of(source, row));
        resolve(instance, depth.into(), target, lowered);
        let any = lowered.references[first as usize..]
            .iter()
            .any(|one| one.get().is_some());
        let colors = if any { Run::new(first, end) } else { Run::default() };
        [colors, references(instance, target.into_iter(), lowered)]
    }
}

/// Returns an error if a render pass object cannot express the pass; `declared` are the aspects that its accesses declare, per attachment.
fn check_object(
    plan: &Plan,
    instance: &InstanceRow,
    declared: &[vk::ImageAspectFlags],
    lowered: &Lowered,
) -> Result<(), LowerError> {
    let resolves = plan.profile.features.contains(Features::DEPTH_STENCIL_RESOLVE);
    let attachments = instance.attachments.of(&lowered.attachments);
    let subpasses = instance.subpasses.of(&lowered.subpasses);
    let in_part = |row: &SubpassRow| {
        let depth = row.depth.get().map(|depth| &lowered.references[depth as usize]);
        let format = depth.map(|one| attachments[one.attachment as usize].format);
        format.is_some_and(|format| row.depth_aspects != crate::format::aspects(format))
    };
    // An object attaches both aspects, and without barriers the layout of the other one is not known.
    let apart = plan
        .profile
        .features
        .contains(Features::SEPARATE_DEPTH_STENCIL_LAYOUTS);
    let mut rows = attachments.iter().zip(declared);
    let attached_in_part =
        apart && rows.any(|(row, declared)| *declared != crate::format::aspects(row.format));
    let why = if !resolves && subpasses.iter().any(|row| row.depth_resolve.is_some()) {
        "resolving depth in a render pass object requires Vulkan 1.2 or VK_KHR_depth_stencil_resolve"
    } else if attached_in_part
        || subpasses.iter().any(in_part)
        || attachments
            .iter()
            .any(|row| row.combined_layout == vk::ImageLayout::UNDEFINED)
    {
        "attaching only one aspect of a depth/stencil format requires dynamic rendering, and local read for input attachments or several subpasses"
    } else {
        return Ok(());
    };
    let pass = plan.frame.pass(instance.pass).name.clone();
    Err(LowerError::UnsupportedPass { pass, why })
}

/// A reference to a row of attachments.
fn reference(instance: &InstanceRow, row: u32, lowered: &Lowered) -> ReferenceRow {
    ReferenceRow {
        attachment: row - instance.attachments.first,
        layout: lowered.attachments[row as usize].combined_layout,
    }
}

fn references(instance: &InstanceRow, rows: impl Iterator<Item = u32>, lowered: &mut Lowered) -> Run {
    let first = lowered.references.len() as u32;
    for row in rows {
        let reference = reference(instance, row, lowered);
        lowered.references.push(reference);
    }
    Run::new(first, lowered.references.len() as u32)
}

fn first_of(run: Run) -> OptionalIndex {
    run.indices().next().map(|row| row as u32).into()
}

/// Sets the resolve target and mode of an attachment.
fn resolve(instance: &InstanceRow, row: OptionalIndex, target: Option<u32>, lowered: &mut Lowered) {
    let Some((row, target)) = row.get().zip(target) else {
        return;
    };
    let attachment = &mut lowered.attachments[row as usize];
    attachment.resolve_mode = resolve_mode(attachment.format);
    if instance.dynamic {
        attachment.resolve = OptionalIndex::some(target);
    }
}

/// Per color attachment of an instance with local read, its position among references; `VK_ATTACHMENT_UNUSED` if it is not among them.
fn places(instance: &InstanceRow, references: Run, lowered: &mut Lowered) -> Run {
    let first = lowered.indices.len() as u32;
    for attachment in 0..instance.colors.len() as u32 {
        let mut own = references.of(&lowered.references).iter();
        let place = own.position(|one| one.attachment == attachment);
        lowered
            .indices
            .push(place.map_or(vk::ATTACHMENT_UNUSED, |place| place as u32));
    }
    Run::new(first, lowered.indices.len() as u32)
}

/// Sets the attachment formats of each subpass's pipelines to those of the whole instance, for an instance with local read.
fn name_all(instance: &InstanceRow, lowered: &mut Lowered) {
    let first = lowered.formats.len() as u32;
    let colors = instance.colors.of(&lowered.attachments).iter();
    lowered.formats.extend(colors.map(|color| color.format));
    let color_formats = Run::new(first, lowered.formats.len() as u32);
    let format_of = |row: OptionalIndex| {
        let attachment = row.get().map(|row| &lowered.attachments[row as usize]);
        attachment.map_or(vk::Format::UNDEFINED, |attachment| attachment.format)
    };
    let [depth_format, stencil_format] = [instance.depth, instance.stencil].map(format_of);
    for row in &mut lowered.subpasses[instance.subpasses.indices()] {
        row.color_formats = color_formats;
        row.depth_format = depth_format;
        row.stencil_format = stencil_format;
    }
}

/// Takes operations, layout and clear value of `aspects` from another access of the same view, for an attachment that was declared without
/// them.
fn add_aspects(attachment: &mut AttachmentRow, own: &AttachmentRow, aspects: vk::ImageAspectFlags) {
    let value = |clear| match clear {
        ClearValue::DepthStencil(depth, stencil) => (depth, stencil),
        _ => (0.0, 0),
    };
    let [known, new] = [attachment.clear, own.clear].map(|clear| value(clear.get()));
    if aspects.contains(vk::ImageAspectFlags::STENCIL) {
        (attachment.stencil, attachment.stencil_layout) = (own.stencil, own.stencil_layout);
        attachment.clear = ClearValue::DepthStencil(known.0, new.1).into();
    }
    if aspects.contains(vk::ImageAspectFlags::DEPTH) {
        (attachment.operations, attachment.layout) = (own.operations, own.layout);
        attachment.clear = ClearValue::DepthStencil(new.0, known.1).into();
    }
    let layouts = [attachment.layout, attachment.stencil_layout];
    attachment.combined_layout = combined(attachment.format, layouts);
}

/// The resolve mode: the average, or the first sample for formats that have no average. Depth and stencil are resolved to the first sample: every
/// device supports this, including those that require the same mode for both.
///
/// Source: `VkPhysicalDeviceDepthStencilResolveProperties`; VUID-VkSubpassDescriptionDepthStencilResolve-depthResolveMode-03183 and the
/// next three; VUID-VkRenderingInfo-pDepthAttachment-06102 and the next three.
fn resolve_mode(format: vk::Format) -> vk::ResolveModeFlags {
    match ClearValue::zero_of(format) {
        ClearValue::Float(_) => vk::ResolveModeFlags::AVERAGE,
        _ => vk::ResolveModeFlags::SAMPLE_ZERO,
    }
}

/// The rows of views, listed by image.
pub(super) struct ViewRows<'a> {
    /// Per image, its first view row.
    first: Vec<'a, OptionalIndex>,
    /// Per view row, the next one of the same image.
    next: Vec<'a, OptionalIndex>,
}

impl<'a> ViewRows<'a> {
    /// Lists without views, for `images` images.
    pub(super) fn new(images: usize, scratch: &'a Bump) -> ViewRows<'a> {
        ViewRows {
            first: bumpalo::vec![in scratch; OptionalIndex::NONE; images],
            next: Vec::with_capacity_in(2 * images, scratch),
        }
    }

    /// The row of a view, added if there is no equal one.
    pub(super) fn row_of(&mut self, lowered: &mut Lowered, view: ViewRow) -> u32 {
        let new = lowered.views.len() as u32;
        let mut at = &mut self.first[view.image as usize];
        while let Some(row) = at.get() {
            if lowered.views[row as usize] == view {
                return row;
            }
            at = &mut self.next[row as usize];
        }
        *at = OptionalIndex::some(new);
        self.next.push(OptionalIndex::NONE);
        lowered.views.push(view);
        new
    }
}
