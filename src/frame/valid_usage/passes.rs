//! Rules about render passes and their attachments.

use ash::vk::{self, ImageAspectFlags as Aspects};

use super::accepted::Accepted;
use super::images::is_sample_count;
use super::rule::{NOT_SUPPORTED, Problem, Rule, Rules, Subject};
use crate::frame::area::attachment_extent;
use crate::frame::tables::{Access, Pass, Resource, ResourceKind};
use crate::frame::{AccessKind, Persistence};

/// A render pass with all its subpasses.
pub(super) struct RenderPass<'a> {
    pub(super) pass: &'a Pass,
    pub(super) accesses: &'a [Access],
    pub(super) resources: &'a [Resource],
    /// The frame's base extent.
    pub(super) base: vk::Extent2D,
}

impl RenderPass<'_> {
    pub(super) fn name_of(&self, access: &Access) -> &str {
        &self.resources[access.resource.index()].name
    }

    /// Attachments that can be multisampled: color, depth and stencil.
    pub(super) fn sampled(&self) -> impl Iterator<Item = (&Access, vk::SampleCountFlags)> {
        let own =
            |access: &&Access| access.kind.is_attachment() && access.kind != AccessKind::ResolveAttachment;
        let attached = self.accesses.iter().filter(own);
        attached.map(|access| (access, self.samples_of(access)))
    }

    /// Two color attachments of one subpass that differ in sample count.
    pub(super) fn mismatched_colors(&self) -> Option<[&Access; 2]> {
        self.mismatched_samples(|access| access.kind == AccessKind::ColorAttachment)
    }

    /// The first two of the selected attachments that belong to one subpass and differ in sample count.
    fn mismatched_samples(&self, wanted: fn(&Access) -> bool) -> Option<[&Access; 2]> {
        let all = || self.sampled().filter(|(access, _)| wanted(access));
        let (_, first) = all().next()?;
        if all().all(|(_, samples)| samples == first) {
            return None;
        }
        all().find_map(|(access, samples)| {
            let differs =
                |(other, others): &(&Access, _)| other.subpass == access.subpass && *others != samples;
            let (other, _) = all().find(differs)?;
            Some([access, other])
        })
    }

    fn differ(&self, [first, second]: [&Access; 2]) -> String {
        let samples = |access| self.samples_of(access).as_raw();
        format!(
            "attachments `{}` and `{}` must have the same sample count, but have {} and {}; if the device supports mixed sample counts, \
             declare the sample count of the pass's pipelines",
            self.name_of(first),
            self.name_of(second),
            samples(first),
            samples(second)
        )
    }

    /// The column after the pass's render area.
    fn right(&self) -> i64 {
        let area = self.pass.area;
        i64::from(area.offset.x) + i64::from(area.extent.width)
    }

    /// The row after the pass's render area.
    fn bottom(&self) -> i64 {
        let area = self.pass.area;
        i64::from(area.offset.y) + i64::from(area.extent.height)
    }

    /// The smallest width (or height, as `side` selects) of the attachments of some kinds; `i64::MAX` if there are none.
    fn smallest(&self, wanted: fn(AccessKind) -> bool, side: fn(vk::Extent2D) -> u32) -> i64 {
        let attached = self.accesses.iter().filter(|access| wanted(access.kind));
        let sides = attached.filter_map(|access| {
            let (extent, _) = attachment_extent(std::slice::from_ref(access), self.resources)?;
            Some(i64::from(side(extent)))
        });
        sides.min().unwrap_or(i64::MAX)
    }

    fn area_words(&self) -> String {
        let vk::Rect2D { offset, extent } = self.pass.area;
        format!(
            "{} x {} at ({}, {})",
            extent.width, extent.height, offset.x, offset.y
        )
    }

    fn is_empty(&self, side: u32) -> Problem {
        let vk::Extent2D { width, height } = self.pass.area.extent;
        (side == 0).then(|| format!("its render area, {width} x {height}, is empty"))
    }

    /// Returns the problem if a declared render area is outside the texels that all attachments cover, which are the default area.
    fn outside(&self, is_outside: impl FnOnce() -> bool) -> Problem {
        if self.pass.render_area.is_none() || !is_outside() {
            return None;
        }
        let limit = attachment_extent(self.accesses, self.resources).map_or(self.base, |(extent, _)| extent);
        Some(format!(
            "its render area, {}, is not inside the {} x {} texels that all its attachments cover",
            self.area_words(),
            limit.width,
            limit.height
        ))
    }

    /// The largest number of color attachments that a subpass of the pass has.
    pub(super) fn max_colors(&self) -> u32 {
        self.max_of_kind(AccessKind::ColorAttachment)
    }

    /// The largest number of input attachments that a subpass of the pass has.
    pub(super) fn max_inputs(&self) -> u32 {
        self.max_of_kind(AccessKind::InputAttachment)
    }

    fn max_of_kind(&self, kind: AccessKind) -> u32 {
        let of_subpass = |subpass: u32| {
            let attached = self.accesses.iter().filter(|access| access.kind == kind);
            attached.filter(|access| access.subpass == subpass).count() as u32
        };
        (0..self.pass.subpasses).map(of_subpass).max().unwrap_or(0)
    }

    fn samples_of(&self, access: &Access) -> vk::SampleCountFlags {
        match &self.resources[access.resource.index()].kind {
            ResourceKind::Image { desc, .. } => desc.samples,
            ResourceKind::Buffer { .. } => vk::SampleCountFlags::TYPE_1,
        }
    }

    fn format_of(&self, access: &Access) -> vk::Format {
        let own = self.resources[access.resource.index()].format();
        access.view.format.unwrap_or(own)
    }

    /// Every resolve attachment with its source: the n-th target of a resource receives the samples of its n-th attachment.
    fn resolves(&self) -> impl Iterator<Item = (&Access, &Access)> {
        let is_target = |access: &&Access| access.kind == AccessKind::ResolveAttachment;
        self.accesses.iter().filter(is_target).filter_map(move |target| {
            let like = |other: &&Access| {
                is_target(other) && (other.resolves, other.subpass) == (target.resolves, target.subpass)
            };
            let before = self
                .accesses
                .iter()
                .take_while(|other| !std::ptr::eq(*other, target));
            let sources = self.sampled().map(|(access, _)| access);
            let mut sources = sources.filter(|source| {
                source.subpass == target.subpass && Some(source.resource) == target.resolves
            });
            let source = sources.nth(before.filter(like).count())?;
            Some((source, target))
        })
    }

    /// Returns the problem if an attachment with an aspect has fewer layers than the view mask requires: one more than the index of the last view.
    fn lacks_views(&self, aspect: Aspects) -> Problem {
        let mask = Some(self.pass.view_mask).filter(|mask| *mask != 0)?;
        let views = u32::BITS - mask.leading_zeros();
        let mut attached = self.accesses.iter().filter(|access| access.kind.is_attached());
        let short = attached.find(|access| {
            access.range.aspects.contains(aspect) && (access.range.layers.len() as u32) < views
        })?;
        let layers = short.range.layers.len();
        Some(format!(
            "its view mask {mask:#b} requires a layer count of at least {views}, but that of `{}` is {layers}",
            self.name_of(short)
        ))
    }

    /// A color attachment that a subpass attaches twice.
    fn color_twice(&self) -> Option<&Access> {
        let colors = || {
            self.accesses
                .iter()
                .filter(|access| access.kind == AccessKind::ColorAttachment)
        };
        colors().find(|access| {
            colors().any(|other| {
                !std::ptr::eq(*access, other)
                    && (other.resource, other.version, other.subpass)
                        == (access.resource, access.version, access.subpass)
                    && other.range.intersects(access.range)
            })
        })
    }

    /// A written attachment whose texels shaders also access other than as an attachment.
    ///
    /// Source: VUID-vkCmdDraw-None-10795 to -10797, which allow that if the feedback loop is enabled.
    fn feedback(&self) -> Option<&Access> {
        let written = |access: &&Access| access.kind.is_attachment() && access.writes;
        self.accesses.iter().filter(written).find(|attached| {
            self.accesses.iter().any(|other| {
                !other.kind.is_attached()
                    && (other.resource, other.version) == (attached.resource, attached.version)
                    && other.range.intersects(attached.range)
            })
        })
    }
}

/// The properties of a plain render pass that rules depend on. A plain pass has one subpass, a derived area, and attachments of different resources with the
/// same sample count; it has no views, input or resolve attachments.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PlainPass {
    area: vk::Rect2D,
    layers: u32,
    colors: u32,
}

impl PlainPass {
    /// The properties of a render pass; `None` if it is not plain.
    fn of(pass: &RenderPass<'_>) -> Option<PlainPass> {
        let Pass {
            area,
            layers,
            render_area: None,
            subpasses: 1,
            view_mask: 0,
            tile_shading: false,
            samples: None,
            ..
        } = *pass.pass
        else {
            return None;
        };
        let (mut samples, mut colors, mut seen) = (None, 0, 0u64);
        for (index, access) in pass.accesses.iter().enumerate() {
            let bit = 1 << (access.resource.index() % 64);
            let same = |other: &Access| other.resource == access.resource;
            // Different resources may share a bit.
            let again = seen & bit != 0 && pass.accesses[..index].iter().any(same);
            let together = [AccessKind::InputAttachment, AccessKind::ResolveAttachment];
            if again || together.contains(&access.kind) {
                return None;
            }
            seen |= bit;
            if access.kind.is_attachment() {
                let own = pass.samples_of(access);
                if *samples.get_or_insert(own) != own {
                    return None;
                }
                colors += u32::from(access.kind == AccessKind::ColorAttachment);
            }
        }
        samples.map(|_| PlainPass { area, layers, colors })
    }

    fn bits(&self) -> u64 {
        let vk::Rect2D { offset, extent } = self.area;
        let place = u64::from(offset.x as u32 ^ offset.y as u32);
        let size = u64::from(extent.width) << 32 | u64::from(extent.height);
        size ^ place << 16 ^ u64::from(self.layers) << 48 ^ u64::from(self.colors) << 60
    }
}

/// A cache of accepted render passes.
#[derive(Default)]
pub(super) struct AcceptedPasses(Accepted<PlainPass>);

impl AcceptedPasses {
    /// Returns `true` if a render pass with the same properties was accepted.
    pub(super) fn contains(&self, pass: &RenderPass<'_>) -> bool {
        PlainPass::of(pass).is_some_and(|own| self.0.contains(own.bits(), &own))
    }

    pub(super) fn add(&mut self, pass: &RenderPass<'_>) {
        if let Some(own) = PlainPass::of(pass) {
            self.0.add(own.bits(), own);
        }
    }
}

impl Subject for RenderPass<'_> {
    fn words(&self) -> String {
        format!("pass `{}`", self.pass.name)
    }
}

fn is_input(kind: AccessKind) -> bool {
    kind == AccessKind::InputAttachment
}

pub(super) static RENDER_PASSES: &Rules<fn(&RenderPass<'_>) -> Problem> = &[
    Rule {
        rule: "VUID-VkRenderingInfo-None-08994",
        broken: |pass| pass.is_empty(pass.pass.area.extent.width),
    },
    Rule {
        rule: "VUID-VkRenderingInfo-None-08995",
        broken: |pass| pass.is_empty(pass.pass.area.extent.height),
    },
    Rule {
        rule: "VUID-VkRenderingInfo-pNext-06077",
        broken: |pass| pass.outside(|| pass.pass.area.offset.x < 0),
    },
    Rule {
        rule: "VUID-VkRenderingInfo-pNext-06078",
        broken: |pass| pass.outside(|| pass.pass.area.offset.y < 0),
    },
    Rule {
        rule: "VUID-VkRenderingInfo-pNext-06079",
        broken: |pass| {
            pass.outside(|| pass.right() > pass.smallest(AccessKind::is_attachment, |all| all.width))
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-pNext-06080",
        broken: |pass| {
            pass.outside(|| pass.bottom() > pass.smallest(AccessKind::is_attachment, |all| all.height))
        },
    },
    Rule {
        rule: "VUID-VkFramebufferCreateInfo-flags-04533",
        broken: |pass| pass.outside(|| pass.right() > pass.smallest(is_input, |all| all.width)),
    },
    Rule {
        rule: "VUID-VkFramebufferCreateInfo-flags-04534",
        broken: |pass| pass.outside(|| pass.bottom() > pass.smallest(is_input, |all| all.height)),
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |pass| {
            let vk::Extent2D { width, height } = pass.base;
            let outside = pass.right() > width.into() || pass.bottom() > height.into();
            (outside && attachment_extent(pass.accesses, pass.resources).is_none()).then(|| {
                format!(
                    "it has no attachments, and its render area, {}, is not inside the frame's base extent, {width} x {height}",
                    pass.area_words()
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-viewMask-12403",
        broken: |pass| pass.lacks_views(Aspects::COLOR),
    },
    Rule {
        rule: "VUID-VkRenderingInfo-viewMask-12404",
        broken: |pass| pass.lacks_views(Aspects::DEPTH),
    },
    Rule {
        rule: "VUID-VkRenderingInfo-viewMask-12405",
        broken: |pass| pass.lacks_views(Aspects::STENCIL),
    },
    Rule {
        rule: "VUID-VkRenderingInfo-imageView-09429",
        broken: |pass| {
            let different = pass.mismatched_colors().filter(|_| pass.pass.samples.is_none())?;
            Some(pass.differ(different))
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-multisampledRenderToSingleSampled-06857",
        broken: |pass| {
            let different = pass
                .mismatched_samples(|_| true)
                .filter(|_| pass.pass.samples.is_none())?;
            Some(pass.differ(different))
        },
    },
    Rule {
        rule: "VUID-VkRenderingAttachmentInfo-imageView-06861",
        broken: |pass| {
            let single = |access: &Access| pass.samples_of(access) == vk::SampleCountFlags::TYPE_1;
            let (source, target) = pass.resolves().find(|(source, _)| single(source))?;
            let (source, target) = (pass.name_of(source), pass.name_of(target));
            Some(format!(
                "it resolves `{source}` into `{target}`, but `{source}` has one sample: resolve a multisampled image"
            ))
        },
    },
    Rule {
        rule: "VUID-VkRenderingAttachmentInfo-imageView-06864",
        broken: |pass| {
            let (_, target) = pass
                .resolves()
                .find(|(_, target)| pass.samples_of(target) != vk::SampleCountFlags::TYPE_1)?;
            let (name, samples) = (pass.name_of(target), pass.samples_of(target));
            Some(format!(
                "it resolves into `{name}`, whose sample count is {samples:?}: resolve into an image with one sample"
            ))
        },
    },
    Rule {
        rule: "VUID-VkRenderingAttachmentInfo-imageView-06865",
        broken: |pass| {
            let differ =
                |(source, target): &(&Access, &Access)| pass.format_of(source) != pass.format_of(target);
            let (source, target) = pass.resolves().find(differ)?;
            Some(format!(
                "it resolves `{}` of format {:?} into `{}` of format {:?}: make the formats the same",
                pass.name_of(source),
                pass.format_of(source),
                pass.name_of(target),
                pass.format_of(target)
            ))
        },
    },
    Rule {
        rule: "VUID-VkPipelineMultisampleStateCreateInfo-rasterizationSamples-parameter",
        broken: |pass| {
            let samples = pass.pass.samples.filter(|samples| !is_sample_count(*samples))?;
            Some(format!(
                "the sample count of pipelines must be 1, 2, 4, 8, 16, 32 or 64, but its bits are {:#b}",
                samples.as_raw()
            ))
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-imageView-10643",
        broken: |pass| {
            let is_map = |access: &&Access| access.kind == AccessKind::FragmentDensityMap;
            let map = pass
                .accesses
                .iter()
                .filter(|_| pass.pass.tile_shading)
                .find(is_map)?;
            Some(format!(
                "it has tile shading and the fragment density map `{}`, which cannot be combined",
                pass.name_of(map)
            ))
        },
    },
    Rule {
        rule: "section \"Render Pass Commands\"",
        broken: |pass| {
            let twice = pass.color_twice()?;
            Some(format!(
                "a subpass has `{}` as a color attachment twice: declare one access that reads and writes",
                pass.name_of(twice)
            ))
        },
    },
    Rule {
        rule: "VUID-vkCmdDraw-None-06537",
        broken: |pass| {
            let is_attachment = |access: &&Access| access.kind.is_attachment();
            let mut attached = pass.accesses.iter().filter(is_attachment);
            let written = attached.find(|attached| {
                pass.accesses.iter().any(|other| {
                    other.writes
                        && !other.kind.is_attached()
                        && (other.resource, other.version) == (attached.resource, attached.version)
                        && other.range.intersects(attached.range)
                })
            })?;
            Some(format!(
                "it uses `{}` as an attachment and also writes it through another access",
                pass.name_of(written)
            ))
        },
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |pass| {
            let attached = pass.feedback()?;
            let previous = match pass.resources[attached.resource.index()].persistence {
                Persistence::History => ", or read the previous version of the history",
                Persistence::Transient | Persistence::External(_) => "",
            };
            Some(format!(
                "its shaders read `{}`, which it also writes as an attachment (a feedback loop): read it as an input attachment or in another pass{previous}",
                pass.name_of(attached)
            ))
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FrameBuilder, ImageDesc, LoadOp};
    use crate::profile::DeviceProfile;

    /// The device rules that passes break; each pass is given by the number and the width of its color attachments.
    fn violations(passes: &[(u32, u32)]) -> Vec<String> {
        let extent = |width| vk::Extent2D { width, height: 64 };
        let mut frame = FrameBuilder::new("passes", extent(64));
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        for (pass, &(colors, width)) in passes.iter().enumerate() {
            let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent(width));
            let images = (0..colors).map(|color| frame.image(format!("image {pass} {color}"), desc));
            let images: Vec<_> = images.collect();
            let builder = frame.render_pass(commands, format!("pass {pass}"));
            images
                .into_iter()
                .fold(builder, |pass, image| pass.color(image, LoadOp::DontCare));
        }
        let mut device = DeviceProfile::preset("adreno-830").unwrap();
        (
            device.limits.max_color_attachments,
            device.limits.max_framebuffer_width,
        ) = (2, 100);
        let frame = frame.build().unwrap();
        let subjects = frame.violations_on(&device).into_iter().map(|one| one.subject);
        subjects.filter(|subject| subject.starts_with("pass")).collect()
    }

    #[test]
    fn passes_are_accepted_only_with_the_properties_of_accepted_ones() {
        assert_eq!(violations(&[(2, 64), (2, 64), (1, 64), (1, 100)]), [""; 0]);
        assert_eq!(
            violations(&[(2, 64), (3, 64), (3, 64)]),
            ["pass `pass 1`", "pass `pass 2`"]
        );
        assert_eq!(violations(&[(1, 64), (1, 101), (1, 64)]), ["pass `pass 1`"]);
    }
}
