//! Rules of a device about render passes.

use ash::vk::{self, ImageAspectFlags as Aspects};

use super::device::{exceeds, lacks};
use super::passes::RenderPass;
use super::rule::{Problem, Rule, Rules};
use crate::profile::{DeviceProfile, Features, OptionalFeatures as Feature};

/// The extensions that let attachments and pipelines differ in sample count.
const MIXED: Feature = Feature::AMD_MIXED_ATTACHMENT_SAMPLES.union(Feature::NV_FRAMEBUFFER_MIXED_SAMPLES);

/// Returns the problem if an attachment with an aspect has a different sample count than the pipelines of its pass, which the device does not allow.
fn mixes_samples(pass: &RenderPass<'_>, device: &DeviceProfile, aspect: Aspects) -> Problem {
    let samples = pass.pass.samples?;
    let mut attached = pass.sampled();
    let (access, found) =
        attached.find(|(access, found)| access.range.aspects.contains(aspect) && *found != samples)?;
    // The two extensions chain their structure to pipelines, the feature uses a hook.
    let hooked = pass.pass.hook > 0;
    let enabled = device.optional_features?;
    let single = hooked && enabled.contains(Feature::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED);
    (!single && !enabled.intersects(MIXED)).then(|| {
        format!(
            "the sample count of its pipelines is {samples:?}, but that of `{}` is {found:?}: on `{}`, this needs \
             VK_AMD_mixed_attachment_samples, VK_NV_framebuffer_mixed_samples, or the feature \
             multisampledRenderToSingleSampled with a hook that chains its structure",
            pass.name_of(access),
            device.name
        )
    })
}

pub(super) static RENDER_PASSES: &Rules<fn(&RenderPass<'_>, &DeviceProfile) -> Problem> = &[
    Rule {
        rule: "VUID-VkRenderingInfo-colorAttachmentCount-06106",
        broken: |pass, device| {
            let limit = device.limits.max_color_attachments;
            exceeds(
                device,
                "its number of color attachments is",
                pass.max_colors(),
                limit,
                "maxColorAttachments",
            )
        },
    },
    Rule {
        // Also with local read: input attachment indices count from zero (VUID-VkRenderingInputAttachmentIndexInfo-pDepthInputAttachmentIndex-12274).
        rule: "VUID-VkSubpassDescription-inputAttachmentCount-12293",
        broken: |pass, device| {
            let limit = device.limits.max_per_stage_descriptor_input_attachments;
            exceeds(
                device,
                "the number of input attachments of a subpass is",
                pass.max_inputs(),
                limit,
                "maxPerStageDescriptorInputAttachments",
            )
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-pNext-07815",
        broken: |pass, device| {
            let area = pass.pass.area;
            let end = area.offset.x.unsigned_abs().saturating_add(area.extent.width);
            let limit = device.limits.max_framebuffer_width;
            exceeds(
                device,
                "its render area ends at column",
                end,
                limit,
                "maxFramebufferWidth",
            )
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-pNext-07816",
        broken: |pass, device| {
            let area = pass.pass.area;
            let end = area.offset.y.unsigned_abs().saturating_add(area.extent.height);
            let limit = device.limits.max_framebuffer_height;
            exceeds(
                device,
                "its render area ends at row",
                end,
                limit,
                "maxFramebufferHeight",
            )
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-layerCount-07817",
        broken: |pass, device| {
            let limit = device.limits.max_framebuffer_layers;
            // Views replace layers.
            let layers = if pass.pass.view_mask == 0 {
                pass.pass.layers
            } else {
                1
            };
            let (what, name) = ("its number of layers is", "maxFramebufferLayers");
            exceeds(device, what, layers, limit, name)
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-multiview-06127",
        broken: |pass, device| {
            let there = pass.pass.view_mask == 0 || device.features.contains(Features::MULTIVIEW);
            (!there).then(|| {
                format!(
                    "a view mask needs the feature multiview, which `{}` has not enabled",
                    device.name
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-viewMask-06128",
        broken: |pass, device| {
            let views = u32::BITS - pass.pass.view_mask.leading_zeros();
            let limit = device.limits.max_multiview_view_count;
            exceeds(
                device,
                "its view mask needs a view count of",
                views,
                limit,
                "maxMultiviewViewCount",
            )
        },
    },
    Rule {
        rule: "VUID-VkRenderingInfo-imageView-09429",
        broken: |pass, device| {
            let colors = pass.pass.samples.and_then(|_| pass.mismatched_colors())?;
            let [first, second] = colors.map(|color| pass.name_of(color));
            let user =
                format!("a subpass whose color attachments `{first}` and `{second}` differ in sample count");
            lacks(device, Feature::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED, &user)
        },
    },
    Rule {
        rule: "VUID-vkCmdDraw-multisampledRenderToSingleSampled-07285",
        broken: |pass, device| mixes_samples(pass, device, Aspects::COLOR),
    },
    Rule {
        rule: "VUID-vkCmdDraw-multisampledRenderToSingleSampled-07286",
        broken: |pass, device| mixes_samples(pass, device, Aspects::DEPTH),
    },
    Rule {
        rule: "VUID-vkCmdDraw-multisampledRenderToSingleSampled-07287",
        broken: |pass, device| mixes_samples(pass, device, Aspects::STENCIL),
    },
    Rule {
        rule: "VUID-VkRenderingInfo-imageView-06858",
        broken: |pass, device| {
            let samples = pass.pass.samples.filter(|_| pass.pass.hook > 0)?;
            let enabled = device.optional_features?;
            let single = enabled.contains(Feature::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED);
            let applies = single && !enabled.intersects(MIXED);
            let fits = |found: &vk::SampleCountFlags| [samples, vk::SampleCountFlags::TYPE_1].contains(found);
            let (access, found) = pass.sampled().find(|(_, found)| applies && !fits(found))?;
            Some(format!(
                "the sample count of its pipelines is {samples:?}, but that of `{}` is {found:?}: `{}` requires attachments to have the same sample count, or one sample",
                pass.name_of(access),
                device.name
            ))
        },
    },
    Rule {
        rule: "VUID-VkRenderPassTileShadingCreateInfoQCOM-tileShading-10658",
        broken: |pass, device| {
            let problem = || lacks(device, Feature::TILE_SHADING, "a pass with tile shading");
            pass.pass.tile_shading.then(problem).flatten()
        },
    },
];
