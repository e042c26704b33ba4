//! `VkRenderPassCreateInfo` and `VkRenderPassCreateInfo2` in one form.

use ash::vk;

use crate::dependencies::{Dependency, of_subpass, of_subpass2};
use crate::{array, chained};

/// A render pass create info.
#[derive(Clone, Debug, Default)]
pub struct RenderPassDesc {
    /// Its attachments.
    pub attachments: Vec<vk::AttachmentDescription2<'static>>,
    /// Its subpasses.
    pub subpasses: Vec<Subpass>,
    /// Source and destination subpasses, with the dependency between them.
    pub dependencies: Vec<(u32, u32, Dependency)>,
    /// Attachments with separate stencil layouts: the initial and the final one.
    pub stencils: Vec<(u32, [vk::ImageLayout; 2])>,
}

/// An attachment and its layout in a subpass.
pub type Reference = (u32, vk::ImageLayout);

/// The attachments of a subpass, without unused ones and without resolve pairs with an unused member.
#[derive(Clone, Debug, Default)]
pub struct Subpass {
    /// Color attachments.
    pub colors: Vec<Reference>,
    /// The depth/stencil attachment.
    pub depth: Option<Reference>,
    /// Input attachments.
    pub inputs: Vec<Reference>,
    /// Source attachments and resolve targets.
    pub resolves: Vec<(u32, Reference)>,
    /// The layouts of stencil, if different from those of depth.
    pub stencils: Vec<Reference>,
    /// The mask of the views that it renders, or 0.
    pub view_mask: u32,
}

macro_rules! references {
    ($all:expr) => {
        $all.iter()
            .map(|one| (one.attachment, one.layout))
            .filter(|one| one.0 != vk::ATTACHMENT_UNUSED)
    };
}

/// `VkSubpassDescription` and its successor, which have fields of the same names.
macro_rules! subpass {
    ($one:expr, $view_mask:expr, $depth_target:expr, $stencils:expr) => {{
        let one = $one;
        let colors = array!(one.p_color_attachments, one.color_attachment_count);
        let targets = array!(one.p_resolve_attachments, one.color_attachment_count).iter();
        let inputs = array!(one.p_input_attachments, one.input_attachment_count);
        let depth = references!(array!(one.p_depth_stencil_attachment, 1)).next();
        let depth_target: Option<Reference> = $depth_target;
        let pairs = colors.iter().zip(targets);
        let pairs = pairs.map(|(from, to)| (from.attachment, (to.attachment, to.layout)));
        let depths = depth.zip(depth_target).map(|(from, to)| (from.0, to));
        let unused = vk::ATTACHMENT_UNUSED;
        Subpass {
            colors: references!(colors).collect(),
            depth,
            inputs: references!(inputs).collect(),
            resolves: pairs
                .chain(depths)
                .filter(|(from, to)| *from != unused && to.0 != unused)
                .collect(),
            stencils: $stencils,
            view_mask: $view_mask,
        }
    }};
}

impl RenderPassDesc {
    /// Converts a `VkRenderPassCreateInfo`.
    pub fn first_kind(info: &vk::RenderPassCreateInfo<'_>) -> RenderPassDesc {
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
                .map(|(index, one)| subpass!(one, mask(index), None, Vec::new()))
                .collect(),
            dependencies: dependencies
                .map(|one| (one.src_subpass, one.dst_subpass, of_subpass(one)))
                .collect(),
            stencils: Vec::new(),
        }
    }

    /// Converts a `VkRenderPassCreateInfo2`.
    pub fn second_kind(info: &vk::RenderPassCreateInfo2<'_>) -> RenderPassDesc {
        let target = |one: &vk::SubpassDescription2<'_>| {
            let depth = chained!(one.p_next => vk::SubpassDescriptionDepthStencilResolve<'_>)?;
            references!(array!(depth.p_depth_stencil_resolve_attachment, 1)).next()
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
                .map(|one| subpass!(one, one.view_mask, target(one), stencils(one)))
                .collect(),
            dependencies: dependencies
                .map(|one| (one.src_subpass, one.dst_subpass, of_subpass2(one)))
                .collect(),
            stencils: own_stencils,
        }
    }
}
