//! `VK_QCOM_tile_shading`, as far as it is offered: what tests ask of a device with `tileShading` alone, or without it. The module
//! `shading` has work per tile.

use ash::vk;
use tileheap_device::ffi;
use tileheap_device::ffi::{RenderPassTileShadingCreateInfoQCOM, TileShadingRenderPassFlagsQCOM as Flags};

use super::suite::{Ask, Suite, on_every_profile};
use crate::rig::area;

const OPTIMAL: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;

const WITHOUT: Ask<'_> = Ask {
    extensions: &[ffi::tile_properties::NAME, ffi::tile_shading::NAME],
    dynamic_rendering: true,
    ..Ask::without_feature(vk::API_VERSION_1_3)
};
const WITH: Ask<'_> = Ask {
    tile_shading: true,
    ..WITHOUT
};

impl Suite {
    fn largest_apron(&self) -> u32 {
        let mut limits = ffi::PhysicalDeviceTileShadingPropertiesQCOM::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
        // SAFETY: A live device.
        unsafe {
            self.instance
                .get_physical_device_properties2(self.physical, &mut properties)
        };
        limits.max_apron_size
    }

    /// Tries to make a marked render pass of which validation says these.
    fn try_pass(&self, flags: Flags, apron: vk::Extent2D, expected: &[&str]) {
        let mut marked = RenderPassTileShadingCreateInfoQCOM::default()
            .flags(flags)
            .tile_apron_size(apron);
        let attachments = [vk::AttachmentDescription::default()
            .format(vk::Format::R8G8B8A8_UNORM)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .final_layout(OPTIMAL)];
        let references = [vk::AttachmentReference::default().layout(OPTIMAL)];
        let subpasses = [vk::SubpassDescription::default().color_attachments(&references)];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .push_next(&mut marked);
        self.create_wrong(&info, expected);
    }

    /// Tries to make such a pass by the other structures.
    fn try_pass2(&self, flags: Flags, expected: &[&str]) {
        let mut marked = RenderPassTileShadingCreateInfoQCOM::default().flags(flags);
        let attachments = [vk::AttachmentDescription2::default()
            .format(vk::Format::R8G8B8A8_UNORM)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .final_layout(OPTIMAL)];
        let references = [vk::AttachmentReference2::default().layout(OPTIMAL)];
        let subpasses = [vk::SubpassDescription2::default().color_attachments(&references)];
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .push_next(&mut marked);
        self.create_wrong(&info, expected);
    }

    /// Tries to begin marked dynamic rendering without attachments.
    fn try_rendering(&self, apron: vk::Extent2D, expected: &[&str]) {
        let mut marked = RenderPassTileShadingCreateInfoQCOM::default()
            .flags(Flags::ENABLE)
            .tile_apron_size(apron);
        let info = vk::RenderingInfo::default()
            .render_area(area(64, 64))
            .layer_count(1)
            .push_next(&mut marked);
        let commands = self.begin();
        // SAFETY: Recording; wrong on purpose, and never submitted; so below.
        self.expect(expected, |device| unsafe {
            device.cmd_begin_rendering(commands, &info)
        });
        // SAFETY: As above; where the call was stopped no rendering has begun.
        self.expect(&[], |device| unsafe {
            if !self.stops() {
                device.cmd_end_rendering(commands);
            }
            device.end_command_buffer(commands).expect("recorded");
        });
    }
}

const NONE: vk::Extent2D = vk::Extent2D { width: 0, height: 0 };

#[test]
fn marks_need_the_feature() {
    const OFF: [&str; 1] = ["VUID-VkRenderPassTileShadingCreateInfoQCOM-tileShading-10658"];
    on_every_profile(&WITHOUT, |suite| {
        suite.try_pass(Flags::ENABLE, NONE, &OFF);
        suite.try_rendering(NONE, &OFF);
    });
}

#[test]
fn aprons_need_features_that_are_not_offered() {
    on_every_profile(&WITH, |suite| {
        let side = suite.largest_apron();
        let square = area(side, side).extent;
        let apron = "VUID-VkRenderPassTileShadingCreateInfoQCOM-flags-10659";
        suite.try_pass(Flags::ENABLE, square, &[apron]);
        let oblong = area(side, side - 1).extent;
        let other = "VUID-VkRenderPassTileShadingCreateInfoQCOM-tileShadingAnisotropicApron-10661";
        suite.try_rendering(oblong, &[apron, other]);
    });
}

#[test]
fn passes_are_not_made_inside_work_per_tile() {
    on_every_profile(&WITH, |suite| {
        let both = Flags::ENABLE | Flags::PER_TILE_EXECUTION;
        suite.try_pass(both, NONE, &["VUID-vkCreateRenderPass-flags-10646"]);
        suite.try_pass2(both, &["VUID-vkCreateRenderPass2-flags-10649"]);
    });
}
