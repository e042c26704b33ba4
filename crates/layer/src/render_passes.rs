//! `VkRenderPassCreateInfo` and `VkRenderPassCreateInfo2` in one form.

use std::ffi::c_void;

use ash::vk;

use crate::dependencies::{Dependency, of_subpass, of_subpass2};
use crate::{array, chained};

/// The contents of a `VkRenderPassCreateInfo` or `VkRenderPassCreateInfo2`.
#[derive(Clone, Debug, Default)]
pub struct RenderPassDesc {
    /// The attachments.
    pub attachments: Vec<vk::AttachmentDescription2<'static>>,
    /// The subpasses.
    pub subpasses: Vec<Subpass>,
    /// Source and destination subpasses, with the dependency between them.
    pub dependencies: Vec<(u32, u32, Dependency)>,
    /// Attachments with separate stencil layouts: the index, and the initial and the final stencil layout.
    pub stencil_layouts: Vec<(u32, [vk::ImageLayout; 2])>,
    /// The fragment density map attachment.
    pub density_map: Option<AttachmentReference>,
}

/// An attachment and its layout in a subpass.
pub type AttachmentReference = (u32, vk::ImageLayout);

/// The attachments of a subpass, without unused ones and without resolve pairs with an unused member.
#[derive(Clone, Debug, Default)]
pub struct Subpass {
    /// Color attachments.
    pub colors: Vec<AttachmentReference>,
    /// The depth/stencil attachment.
    pub depth_stencil: Option<AttachmentReference>,
    /// Input attachments.
    pub inputs: Vec<AttachmentReference>,
    /// Pairs of a source attachment and a resolve target.
    pub resolves: Vec<(u32, AttachmentReference)>,
    /// The aspects of depth and stencil that have a resolve mode; empty if neither is resolved.
    pub resolved_aspects: vk::ImageAspectFlags,
    /// Attachments with a separate stencil layout in the subpass, with that layout.
    pub stencil_layouts: Vec<AttachmentReference>,
    /// The mask of the views that the subpass renders; 0 without multiview.
    pub view_mask: u32,
    /// The fragment shading rate attachment.
    pub shading_rate: Option<AttachmentReference>,
}

macro_rules! references {
    ($all:expr) => {
        $all.iter()
            .map(|one| (one.attachment, one.layout))
            .filter(|one| one.0 != vk::ATTACHMENT_UNUSED)
    };
}

/// Converts a `VkSubpassDescription` or `VkSubpassDescription2`, which have fields of the same names.
macro_rules! subpass {
    ($one:expr, $view_mask:expr, $depth_target:expr, $resolved:expr, $stencils:expr) => {{
        let one = $one;
        let colors = array!(one.p_color_attachments, one.color_attachment_count);
        let targets = array!(one.p_resolve_attachments, one.color_attachment_count).iter();
        let inputs = array!(one.p_input_attachments, one.input_attachment_count);
        let depth = references!(array!(one.p_depth_stencil_attachment, 1)).next();
        let depth_target: Option<AttachmentReference> = $depth_target;
        let pairs = colors
            .iter()
            .zip(targets)
            .map(|(from, to)| (from.attachment, (to.attachment, to.layout)));
        let depths = depth.zip(depth_target).map(|(from, to)| (from.0, to));
        let unused = vk::ATTACHMENT_UNUSED;
        Subpass {
            colors: references!(colors).collect(),
            depth_stencil: depth,
            inputs: references!(inputs).collect(),
            resolves: pairs
                .chain(depths)
                .filter(|(from, to)| *from != unused && to.0 != unused)
                .collect(),
            resolved_aspects: $resolved,
            stencil_layouts: $stencils,
            view_mask: $view_mask,
            shading_rate: None,
        }
    }};
}

/// Returns the fragment density map attachment of a render pass.
fn density_map(p_next: *const c_void) -> Option<AttachmentReference> {
    let info = chained!(p_next => vk::RenderPassFragmentDensityMapCreateInfoEXT<'_>)?;
    let one = &info.fragment_density_map_attachment;
    (one.attachment != vk::ATTACHMENT_UNUSED).then_some((one.attachment, one.layout))
}

/// Returns the fragment shading rate attachment of a subpass.
fn shading_rate(subpass: &vk::SubpassDescription2<'_>) -> Option<AttachmentReference> {
    let info = chained!(subpass.p_next => vk::FragmentShadingRateAttachmentInfoKHR<'_>)?;
    references!(array!(info.p_fragment_shading_rate_attachment, 1)).next()
}

/// Returns the aspects of depth and stencil that have a resolve mode.
pub fn resolved_aspects(depth: vk::ResolveModeFlags, stencil: vk::ResolveModeFlags) -> vk::ImageAspectFlags {
    let of = |mode: vk::ResolveModeFlags, aspect| match mode {
        vk::ResolveModeFlags::NONE => vk::ImageAspectFlags::empty(),
        _ => aspect,
    };
    of(depth, vk::ImageAspectFlags::DEPTH) | of(stencil, vk::ImageAspectFlags::STENCIL)
}

impl Subpass {
    /// Returns the aspects that the resolve of a source attachment covers.
    pub fn resolved_from(&self, source: u32) -> vk::ImageAspectFlags {
        match self.depth_stencil {
            Some((depth, _)) if depth == source => self.resolved_aspects,
            _ => vk::ImageAspectFlags::COLOR,
        }
    }
}

impl RenderPassDesc {
    /// Converts a `VkRenderPassCreateInfo`.
    pub fn from_v1(info: &vk::RenderPassCreateInfo<'_>) -> RenderPassDesc {
        let multiview = chained!(info.p_next => vk::RenderPassMultiviewCreateInfo<'_>);
        let masks = multiview.map_or(&[][..], |views| array!(views.p_view_masks, views.subpass_count));
        let mask = |index: usize| masks.get(index).copied().unwrap_or(0);
        let newer = |old: &vk::AttachmentDescription| {
            vk::AttachmentDescription2::default()
                .format(old.format)
                .samples(old.samples)
                .load_op(old.load_op)
                .store_op(old.store_op)
                .stencil_load_op(old.stencil_load_op)
                .stencil_store_op(old.stencil_store_op)
                .initial_layout(old.initial_layout)
                .final_layout(old.final_layout)
        };
        let attachments = array!(info.p_attachments, info.attachment_count).iter();
        let subpasses = array!(info.p_subpasses, info.subpass_count).iter().enumerate();
        let dependencies = array!(info.p_dependencies, info.dependency_count).iter();
        RenderPassDesc {
            attachments: attachments.map(newer).collect(),
            subpasses: subpasses
                .map(|(index, one)| {
                    subpass!(one, mask(index), None, vk::ImageAspectFlags::empty(), Vec::new())
                })
                .collect(),
            dependencies: dependencies
                .map(|one| (one.src_subpass, one.dst_subpass, of_subpass(one)))
                .collect(),
            stencil_layouts: Vec::new(),
            density_map: density_map(info.p_next),
        }
    }

    /// Converts a `VkRenderPassCreateInfo2`.
    pub fn from_v2(info: &vk::RenderPassCreateInfo2<'_>) -> RenderPassDesc {
        let target = |one: &vk::SubpassDescription2<'_>| {
            let depth = chained!(one.p_next => vk::SubpassDescriptionDepthStencilResolve<'_>)?;
            references!(array!(depth.p_depth_stencil_resolve_attachment, 1)).next()
        };
        let resolved = |one: &vk::SubpassDescription2<'_>| {
            let modes = chained!(one.p_next => vk::SubpassDescriptionDepthStencilResolve<'_>);
            modes.map_or(vk::ImageAspectFlags::empty(), |modes| {
                resolved_aspects(modes.depth_resolve_mode, modes.stencil_resolve_mode)
            })
        };
        let stencils = |one: &vk::SubpassDescription2<'_>| {
            let inputs = array!(one.p_input_attachments, one.input_attachment_count).iter();
            let depth = array!(one.p_depth_stencil_attachment, 1).iter();
            let resolved = chained!(one.p_next => vk::SubpassDescriptionDepthStencilResolve<'_>);
            let target = resolved.map_or(&[][..], |one| array!(one.p_depth_stencil_resolve_attachment, 1));
            let references = inputs.chain(depth).chain(target);
            let layout = |one: &vk::AttachmentReference2<'_>| {
                let own = chained!(one.p_next => vk::AttachmentReferenceStencilLayout<'_>)?;
                Some((one.attachment, own.stencil_layout))
            };
            references.filter_map(layout).collect()
        };
        let plain = |one: &vk::AttachmentDescription2<'_>| vk::AttachmentDescription2 {
            p_next: std::ptr::null(),
            _marker: std::marker::PhantomData,
            ..*one
        };
        let attachments = array!(info.p_attachments, info.attachment_count).iter();
        let subpasses = array!(info.p_subpasses, info.subpass_count).iter();
        let dependencies = array!(info.p_dependencies, info.dependency_count).iter();
        let own_stencil = |(index, one): (u32, &vk::AttachmentDescription2<'_>)| {
            let own = chained!(one.p_next => vk::AttachmentDescriptionStencilLayout<'_>)?;
            Some((index, [own.stencil_initial_layout, own.stencil_final_layout]))
        };
        let own_stencils = (0..).zip(attachments.clone()).filter_map(own_stencil).collect();
        RenderPassDesc {
            attachments: attachments.map(plain).collect(),
            subpasses: subpasses
                .map(|one| Subpass {
                    shading_rate: shading_rate(one),
                    ..subpass!(one, one.view_mask, target(one), resolved(one), stencils(one))
                })
                .collect(),
            dependencies: dependencies
                .map(|one| (one.src_subpass, one.dst_subpass, of_subpass2(one)))
                .collect(),
            stencil_layouts: own_stencils,
            density_map: density_map(info.p_next),
        }
    }
}
