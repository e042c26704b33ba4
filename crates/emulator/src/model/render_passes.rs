//! Reads render pass create infos: operations on attachments, and bytes per pixel.

use std::ffi::c_void;

use ash::vk;
use tileheap_device::ffi::TileMemorySizeInfoQCOM;
use tileheap_device::format;
use tileheap_device::profile::texel_bytes;
use tileheap_layer::render_passes::{AttachmentReference, RenderPassDesc, Subpass};
use tileheap_layer::{chained, dependencies};
use tileheap_sync::program::{DependencyScopes, PassDependency};
use tileheap_sync::render_pass::{AttachmentUse, Role, written_in};
use vk::ImageAspectFlags as Aspects;

use super::resources::{Attachment, RenderPass, has_two_aspects, is_read_only_layout, is_stencil_only};
use super::tile_passes::is_tile_shading;

/// The operations of a render pass, including structures chained to its create info.
pub(crate) fn render_pass(desc: &RenderPassDesc, p_next: *const c_void) -> RenderPass {
    let mut uses: Vec<_> = desc.subpasses.iter().map(uses).collect();
    let of = |index: usize| uses.iter().flatten().filter(move |one| one.attachment == index);
    let is_resolve = |index: usize| of(index).any(|one| matches!(one.role, Role::ResolveTarget { .. }));
    let is_written = |index: usize| of(index).any(is_written);
    let described = (0..).zip(&desc.attachments);
    let mut attachments: Vec<Attachment> = described
        .map(|(index, description)| Attachment {
            is_read_only: !is_written(index) && !is_resolve(index),
            view: index,
            ..attachment(description, is_resolve(index))
        })
        .collect();
    let bytes = |index: usize| {
        let description = desc.attachments.get(index);
        description.map_or(0, |description| {
            pixel_bytes(description.format, description.samples)
        })
    };
    let subpass_bytes = uses.iter().map(|used| distinct(used).map(bytes).sum()).collect();
    split_stencils(desc, &mut attachments, &mut uses);
    RenderPass {
        attachments,
        view_mask: desc.subpasses.iter().fold(0, |all, one| all | one.view_mask),
        tile_size: declared_size(p_next),
        subpass_bytes,
        dependencies: desc.dependencies.iter().filter_map(dependency).collect(),
        uses,
        is_tile_shading: is_tile_shading(p_next),
        resuming_pass: None,
    }
}

/// The attachment uses of a subpass.
fn uses(subpass: &Subpass) -> Vec<AttachmentUse> {
    let used = |&(attachment, layout): &AttachmentReference, role| AttachmentUse {
        attachment: attachment as usize,
        role,
        layout,
    };
    let drawn = || subpass.colors.iter().chain(&subpass.depth_stencil);
    let depth = |one: &AttachmentReference| {
        let written = written_in(one.1);
        used(one, Role::DepthStencil { written })
    };
    let source = |resolve: &(u32, AttachmentReference)| {
        let source = drawn().find(|one| one.0 == resolve.0)?;
        let resolved = subpass.resolved_from(source.0);
        Some(used(source, Role::ResolveSource { resolved }))
    };
    let sources = subpass.resolves.iter().filter_map(source);
    let target = |(source, target): &(u32, AttachmentReference)| {
        let resolved = subpass.resolved_from(*source);
        used(target, Role::ResolveTarget { resolved })
    };
    let targets = subpass.resolves.iter().map(target);
    let colors = subpass.colors.iter().map(|one| used(one, Role::Color));
    let inputs = subpass.inputs.iter().map(|one| used(one, Role::Input));
    colors
        .chain(subpass.depth_stencil.iter().map(depth))
        .chain(inputs)
        .chain(sources)
        .chain(targets)
        .collect()
}

/// Returns true if draws may write to an attachment with this use.
pub(crate) fn is_written(one: &AttachmentUse) -> bool {
    match one.role {
        Role::Color => true,
        Role::DepthStencil { .. } => !is_read_only_layout(one.layout),
        Role::Input | Role::ResolveSource { .. } | Role::ResolveTarget { .. } => false,
    }
}

/// Returns true for the source or the target of a resolve operation.
pub(crate) fn is_resolved(one: &AttachmentUse) -> bool {
    matches!(one.role, Role::ResolveSource { .. } | Role::ResolveTarget { .. })
}

/// Returns the attachments that draws use, in ascending order and without repetition: an attachment that is also read as input has a single place in
/// the tile.
fn distinct(uses: &[AttachmentUse]) -> impl Iterator<Item = usize> + use<> {
    let drawn = uses.iter().filter(|one| !is_resolved(one));
    let mut attachments: Vec<_> = drawn.map(|one| one.attachment).collect();
    attachments.sort_unstable();
    attachments.dedup();
    attachments.into_iter()
}

/// Converts a dependency; `None` for a subpass self-dependency, which only allows barriers within the subpass.
fn dependency((from, to, one): &(u32, u32, dependencies::Dependency)) -> Option<PassDependency> {
    let subpass = |index: u32| (index != vk::SUBPASS_EXTERNAL).then_some(index);
    (from != to).then(|| PassDependency {
        from: subpass(*from),
        to: subpass(*to),
        scopes: DependencyScopes {
            src: one.src_stages,
            src_access: one.src_access,
            dst: one.dst_stages,
            dst_access: one.dst_access,
        },
    })
}

/// Creates separate attachments for stencil aspects whose layouts are separate from those of depth.
fn split_stencils(desc: &RenderPassDesc, attachments: &mut Vec<Attachment>, uses: &mut [Vec<AttachmentUse>]) {
    let in_subpasses = desc.subpasses.iter().flat_map(|subpass| &subpass.stencil_layouts);
    let in_subpasses = in_subpasses.map(|one| one.0);
    let mut split: Vec<u32> = desc
        .stencil_layouts
        .iter()
        .map(|one| one.0)
        .chain(in_subpasses)
        .collect();
    split.sort_unstable();
    split.dedup();
    for index in split {
        let Some(both) = attachments.get_mut(index as usize) else {
            continue;
        };
        if both.aspects != Aspects::DEPTH | Aspects::STENCIL {
            continue;
        }
        both.aspects = Aspects::DEPTH;
        let mut stencil = Attachment {
            aspects: Aspects::STENCIL,
            ..*both
        };
        if let Some((_, layouts)) = desc.stencil_layouts.iter().find(|one| one.0 == index) {
            [stencil.initial_layout, stencil.final_layout] = *layouts;
        }
        let own = attachments.len();
        attachments.push(stencil);
        for (used, subpass) in uses.iter_mut().zip(&desc.subpasses) {
            let layout = subpass.stencil_layouts.iter().find(|one| one.0 == index);
            let of_both = used.iter().filter(|one| one.attachment == index as usize);
            let stencils = of_both.map(|one| stencil_use(one, own, layout.map(|one| one.1)));
            let stencils: Vec<_> = stencils.collect();
            used.extend(stencils);
        }
    }
}

/// Converts the use of a depth/stencil attachment to the use of its stencil aspect, in a separate layout if it has one.
fn stencil_use(one: &AttachmentUse, attachment: usize, layout: Option<vk::ImageLayout>) -> AttachmentUse {
    let layout = layout.unwrap_or(one.layout);
    let role = match one.role {
        Role::DepthStencil { .. } => Role::DepthStencil {
            written: written_in(layout),
        },
        role => role,
    };
    AttachmentUse {
        attachment,
        role,
        layout,
    }
}

pub(crate) fn declared_size(p_next: *const c_void) -> u64 {
    chained!(p_next => TileMemorySizeInfoQCOM<'_>).map_or(0, |info| info.size)
}

fn has_depth_or_stencil(format: vk::Format) -> bool {
    // D16_UNORM, X8_D24, D32, S8 and the combined formats have consecutive numbers.
    (vk::Format::D16_UNORM.as_raw()..=vk::Format::D32_SFLOAT_S8_UINT.as_raw()).contains(&format.as_raw())
}

fn attachment(description: &vk::AttachmentDescription2<'_>, is_resolve: bool) -> Attachment {
    let depth = (description.load_op, description.store_op);
    let stencil = (description.stencil_load_op, description.stencil_store_op);
    let (first, second) = if has_two_aspects(description.format) {
        (depth, stencil)
    } else if is_stencil_only(description.format) {
        (stencil, stencil)
    } else {
        (depth, depth)
    };
    Attachment {
        load: first.0,
        store: first.1,
        stencil_load: second.0,
        stencil_store: second.1,
        initial_layout: description.initial_layout,
        final_layout: description.final_layout,
        view: 0,
        aspects: format::aspects(description.format),
        is_resolve,
        is_depth: has_depth_or_stencil(description.format),
        is_read_only: false,
    }
}

/// On-chip bytes of a pixel, including all samples; a sample of unknown size counts as 4 bytes.
pub(crate) fn pixel_bytes(format: vk::Format, samples: vk::SampleCountFlags) -> u64 {
    texel_bytes(format).unwrap_or(4) * u64::from(samples.as_raw().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_absent_aspects_do_not_count() {
        let mut description = vk::AttachmentDescription2::default()
            .format(vk::Format::R8G8B8A8_UNORM)
            .store_op(vk::AttachmentStoreOp::STORE)
            .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE);
        let (kept, dropped) = (vk::AttachmentStoreOp::STORE, vk::AttachmentStoreOp::DONT_CARE);
        assert_eq!(attachment(&description, false).stencil_store, kept);
        description.format = vk::Format::D24_UNORM_S8_UINT;
        assert_eq!(attachment(&description, false).stencil_store, dropped);
        description.format = vk::Format::S8_UINT;
        assert_eq!(attachment(&description, false).store, dropped);
    }

    const COLOR_LAYOUT: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    const DEPTH_LAYOUT: vk::ImageLayout = vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL;

    fn described(format: vk::Format) -> vk::AttachmentDescription2<'static> {
        vk::AttachmentDescription2::default()
            .format(format)
            .samples(vk::SampleCountFlags::TYPE_1)
            .initial_layout(vk::ImageLayout::UNDEFINED)
            .final_layout(vk::ImageLayout::GENERAL)
    }

    #[test]
    fn resolves_are_uses_without_memory_of_the_tile() {
        let color = described(vk::Format::R8G8B8A8_UNORM);
        let subpass = Subpass {
            colors: vec![(0, COLOR_LAYOUT)],
            resolves: vec![(0, (1, vk::ImageLayout::GENERAL))],
            ..Subpass::default()
        };
        let inputs = Subpass {
            colors: vec![(1, COLOR_LAYOUT)],
            inputs: vec![(0, vk::ImageLayout::GENERAL), (1, vk::ImageLayout::GENERAL)],
            ..Subpass::default()
        };
        let desc = RenderPassDesc {
            attachments: vec![color.samples(vk::SampleCountFlags::TYPE_4), color],
            subpasses: vec![subpass, inputs],
            ..RenderPassDesc::default()
        };
        let pass = render_pass(&desc, std::ptr::null());
        let roles = |subpass: usize| -> Vec<(usize, Role)> {
            let uses = pass.uses[subpass].iter();
            uses.map(|one| (one.attachment, one.role)).collect()
        };
        let resolved = [
            (0, Role::Color),
            (
                0,
                Role::ResolveSource {
                    resolved: Aspects::COLOR,
                },
            ),
            (
                1,
                Role::ResolveTarget {
                    resolved: Aspects::COLOR,
                },
            ),
        ];
        assert_eq!(roles(0), resolved);
        assert_eq!(roles(1), [(1, Role::Color), (0, Role::Input), (1, Role::Input)]);
        assert_eq!(pass.subpass_bytes, [16, 20]);
        assert_eq!(pass.uses[0][2].layout, vk::ImageLayout::GENERAL);
        assert_eq!(
            [0, 1].map(|index: usize| pass.attachments[index].is_resolve),
            [false, true]
        );
    }

    /// `VkSubpassDescriptionDepthStencilResolve`: an aspect without a mode is not resolved.
    #[test]
    fn resolves_of_depth_and_stencil_have_the_aspects_with_a_mode() {
        let both = described(vk::Format::D24_UNORM_S8_UINT);
        let pass = |resolved| {
            let subpass = Subpass {
                depth_stencil: Some((0, DEPTH_LAYOUT)),
                resolves: vec![(0, (1, DEPTH_LAYOUT))],
                resolved_aspects: resolved,
                ..Subpass::default()
            };
            render_pass(
                &RenderPassDesc {
                    attachments: vec![both.samples(vk::SampleCountFlags::TYPE_4), both],
                    subpasses: vec![subpass],
                    ..RenderPassDesc::default()
                },
                std::ptr::null(),
            )
        };
        for resolved in [
            Aspects::DEPTH,
            Aspects::STENCIL,
            Aspects::DEPTH | Aspects::STENCIL,
        ] {
            let uses = &pass(resolved).uses[0];
            let roles: Vec<Role> = uses.iter().skip(1).map(|one| one.role).collect();
            let expected = [Role::ResolveSource { resolved }, Role::ResolveTarget { resolved }];
            assert_eq!(roles, expected);
        }
    }

    #[test]
    fn stencil_with_layouts_of_its_own_is_an_attachment_of_its_own() {
        use vk::ImageLayout as L;
        let subpass = |depth, stencil| Subpass {
            depth_stencil: Some((0, depth)),
            stencil_layouts: vec![(0, stencil)],
            ..Subpass::default()
        };
        let desc = RenderPassDesc {
            attachments: vec![described(vk::Format::D24_UNORM_S8_UINT)],
            subpasses: vec![
                subpass(DEPTH_LAYOUT, L::STENCIL_READ_ONLY_OPTIMAL),
                subpass(L::DEPTH_READ_ONLY_OPTIMAL, L::STENCIL_ATTACHMENT_OPTIMAL),
            ],
            stencil_layouts: vec![(0, [L::GENERAL, L::STENCIL_READ_ONLY_OPTIMAL])],
            ..RenderPassDesc::default()
        };
        let pass = render_pass(&desc, std::ptr::null());
        let parts = pass.attachments.iter().map(|one| (one.view, one.aspects));
        let parts: Vec<_> = parts.collect();
        assert_eq!(parts, [(0, Aspects::DEPTH), (0, Aspects::STENCIL)]);
        let layouts = [0, 1].map(|index: usize| {
            let one = &pass.attachments[index];
            [one.initial_layout, one.final_layout]
        });
        let own = [L::GENERAL, L::STENCIL_READ_ONLY_OPTIMAL];
        assert_eq!(layouts, [[L::UNDEFINED, L::GENERAL], own]);
        let written = |subpass: usize, used: usize| {
            let one = &pass.uses[subpass][used];
            let Role::DepthStencil { written } = one.role else {
                panic!("{one:?}");
            };
            written & pass.attachments[one.attachment].aspects
        };
        let none = Aspects::empty();
        assert_eq!([written(0, 0), written(0, 1)], [Aspects::DEPTH, none]);
        assert_eq!([written(1, 0), written(1, 1)], [none, Aspects::STENCIL]);
        assert_eq!(pass.subpass_bytes, [4, 4], "one view");
    }

    #[test]
    fn dependencies_of_a_subpass_on_itself_are_left_out() {
        let one = dependencies::Dependency {
            src_stages: vk::PipelineStageFlags2::COPY,
            src_access: vk::AccessFlags2::TRANSFER_WRITE,
            dst_stages: vk::PipelineStageFlags2::FRAGMENT_SHADER,
            dst_access: vk::AccessFlags2::SHADER_READ,
            memory: dependencies::DependencyMemory::All,
            families: (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED),
        };
        let external = vk::SUBPASS_EXTERNAL;
        let desc = RenderPassDesc {
            dependencies: vec![(external, 0, one), (0, 0, one), (0, 1, one), (1, external, one)],
            ..RenderPassDesc::default()
        };
        let pass = render_pass(&desc, std::ptr::null());
        let ends: Vec<_> = pass.dependencies.iter().map(|one| (one.from, one.to)).collect();
        assert_eq!(ends, [(None, Some(0)), (Some(0), Some(1)), (Some(1), None)]);
        let scopes = pass.dependencies[0].scopes;
        assert_eq!((scopes.src, scopes.dst), (one.src_stages, one.dst_stages));
        assert_eq!(
            (scopes.src_access, scopes.dst_access),
            (one.src_access, one.dst_access)
        );
    }
}
