//! Images bound at offsets, with views and descriptor sets, and their deferred destruction.

use std::collections::VecDeque;
use std::ops::Range;

use ash::vk;

use super::commands::subresources;
use super::shape::{Layers, Shape, name};
use crate::Level;
use crate::Result;
use tileheap::runtime::objects::VkResultExt;

/// A resident texture that this frame can sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// The texture's image, in `SHADER_READ_ONLY_OPTIMAL`.
    pub image: vk::Image,
    /// A view of the resident levels.
    pub view: vk::ImageView,
    /// A descriptor set of [`TextureCache::set_layout`](super::TextureCache::set_layout) with the view, or the views of all levels;
    /// written once, before any frame uses it.
    pub set: vk::DescriptorSet,
    /// The finest resident level `n`; the view has `n + 1` mip levels, or one with single levels.
    pub level: Level,
    /// The finest level of the image: levels finer than `level` are not uploaded yet.
    pub(super) finest: Level,
    /// The texture's range of bytes in the cache's memory.
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Texture {
    /// The mip levels of the image for levels `from` to `to`, both included.
    pub(super) fn mips(&self, from: Level, to: Level) -> Range<u8> {
        self.finest.0 - to.0..self.finest.0 - from.0 + 1
    }
}

/// Objects to be destroyed when a frame completes.
#[derive(Clone, Copy, Debug)]
enum Retired {
    Image(Texture),
    View(Texture),
    Memory(vk::DeviceMemory),
}

/// Creates and destroys images; descriptor sets are reused, from pools created on demand.
#[derive(Default)]
pub(super) struct Images {
    /// The number of sampled images in each descriptor set.
    count: u32,
    pub(super) set_layout: vk::DescriptorSetLayout,
    pools: Vec<vk::DescriptorPool>,
    free_sets: Vec<vk::DescriptorSet>,
    /// The retired objects, each with the frame that must complete before it is destroyed, in ascending order.
    retired: VecDeque<(u64, Retired)>,
}

/// The number of sets per pool.
const SETS: usize = 256;

impl Images {
    /// Creates the descriptor set layout, an array of `count` sampled images.
    pub(super) fn make_layout(&mut self, device: &ash::Device, count: usize) -> Result<()> {
        self.retired.reserve(1024);
        self.count = count as u32;
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .binding(0)
            .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
            .descriptor_count(self.count)
            .stage_flags(vk::ShaderStageFlags::ALL)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
        // SAFETY: one binding.
        let layout = unsafe { device.create_descriptor_set_layout(&info, None) };
        self.set_layout = layout.with_call("vkCreateDescriptorSetLayout", || "a texture cache")?;
        Ok(())
    }

    fn add_pool(&mut self, device: &ash::Device) -> Result<()> {
        let what = || "a texture cache";
        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::SAMPLED_IMAGE,
            descriptor_count: SETS as u32 * self.count,
        }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(SETS as u32)
            .pool_sizes(&sizes);
        // SAFETY: sizes are not 0.
        let pool = unsafe { device.create_descriptor_pool(&info, None) }
            .with_call("vkCreateDescriptorPool", what)?;
        self.pools.push(pool);
        let layouts = [self.set_layout; SETS];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        // SAFETY: pool and layout are alive, and the pool holds as many.
        let sets =
            unsafe { device.allocate_descriptor_sets(&info) }.with_call("vkAllocateDescriptorSets", what)?;
        self.free_sets.reserve(self.pools.len() * SETS);
        self.free_sets.extend(sets);
        Ok(())
    }

    /// Creates an image in a range of `memory`, without a view.
    pub(super) fn make(
        device: &ash::Device,
        shape: &Shape,
        finest: Level,
        memory: vk::DeviceMemory,
        (start, end): (u64, u64),
    ) -> Result<Texture> {
        let what = || name(&shape.shape);
        // SAFETY: checked when the shape was measured.
        let image = unsafe { device.create_image(&shape.image_info(finest), None) }
            .with_call("vkCreateImage", what)?;
        // SAFETY: the image is new; the offset is a multiple of every alignment that was measured, and the block is as large as measured.
        let bound = unsafe { device.bind_image_memory(image, memory, start) };
        if let Err(error) = bound.with_call("vkBindImageMemory", what) {
            // SAFETY: no other reference exists.
            unsafe { device.destroy_image(image, None) };
            return Err(error.into());
        }
        Ok(Texture {
            image,
            view: vk::ImageView::null(),
            set: vk::DescriptorSet::null(),
            level: finest,
            finest,
            start,
            end,
        })
    }

    /// Creates a view of the levels up to `texture.level`, and a descriptor set with it; if each level is a separate image, creates only a view of
    /// that level.
    pub(super) fn make_view(
        &mut self,
        device: &ash::Device,
        shape: &Shape,
        texture: &mut Texture,
    ) -> Result<()> {
        let (single_levels, shape) = (shape.has_single_levels, &shape.shape);
        let first = if single_levels { texture.level } else { Level(0) };
        let info = vk::ImageViewCreateInfo::default()
            .image(texture.image)
            .view_type(match shape.layers {
                Layers::One => vk::ImageViewType::TYPE_2D,
                Layers::Array(_) => vk::ImageViewType::TYPE_2D_ARRAY,
                Layers::Cube => vk::ImageViewType::CUBE,
            })
            .format(shape.format)
            .subresource_range(subresources(texture.mips(first, texture.level)));
        // SAFETY: the image is bound, of that format, with these layers and levels.
        let view = unsafe { device.create_image_view(&info, None) };
        texture.view = view.with_call("vkCreateImageView", || name(shape))?;
        if !single_levels {
            texture.set = self.make_set(device, [texture.view].into_iter())?;
        }
        Ok(())
    }

    /// A descriptor set with these views; the last view is also written for the missing finer levels.
    pub(super) fn make_set(
        &mut self,
        device: &ash::Device,
        views: impl Iterator<Item = vk::ImageView>,
    ) -> Result<vk::DescriptorSet> {
        if self.free_sets.is_empty() {
            self.add_pool(device)?;
        }
        let set = self.free_sets.pop().expect("a pool was added");
        let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let mut images = [vk::DescriptorImageInfo::default().image_layout(layout); 32];
        for (index, view) in views.enumerate() {
            images[index..]
                .iter_mut()
                .for_each(|image| image.image_view = view);
        }
        let write = [vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(0)
            .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
            .image_info(&images[..self.count as usize])];
        // SAFETY: the views are alive, and no pending frame reads a set that is free.
        unsafe { device.update_descriptor_sets(&write, &[]) };
        Ok(set)
    }

    /// Destroys a view.
    ///
    /// # Safety
    /// No pending frame uses it.
    pub(super) unsafe fn destroy_view(&mut self, device: &ash::Device, live: Texture) {
        // SAFETY: the caller's duty; null is ignored.
        unsafe { device.destroy_image_view(live.view, None) };
        if live.set != vk::DescriptorSet::null() {
            self.free_sets.push(live.set);
        }
    }

    /// Destroys an image and its view.
    ///
    /// # Safety
    /// No pending frame uses it.
    pub(super) unsafe fn destroy(&mut self, device: &ash::Device, live: Texture) {
        // SAFETY: the caller's duty.
        unsafe { self.destroy_view(device, live) };
        // SAFETY: its only view is destroyed, or retired before it.
        unsafe { device.destroy_image(live.image, None) };
    }

    /// Schedules an image and its view for destruction when `frame` is complete.
    pub(super) fn retire(&mut self, frame: u64, live: Texture) {
        self.retired.push_back((frame, Retired::Image(live)));
    }

    /// Schedules a view for destruction when `frame` is complete.
    pub(super) fn retire_view(&mut self, frame: u64, live: Texture) {
        self.retired.push_back((frame, Retired::View(live)));
    }

    /// Schedules memory to be freed when `frame` is complete, after the images retired earlier.
    pub(super) fn retire_memory(&mut self, frame: u64, memory: vk::DeviceMemory) {
        self.retired.push_back((frame, Retired::Memory(memory)));
    }

    /// Destroys objects retired up to frame `complete`.
    ///
    /// # Safety
    /// Those frames are complete.
    pub(super) unsafe fn free(&mut self, device: &ash::Device, complete: u64) {
        while let Some(&(_, retired)) = self.retired.front().filter(|(frame, _)| *frame <= complete) {
            self.retired.pop_front();
            match retired {
                // SAFETY: the caller's duty.
                Retired::Image(live) => unsafe { self.destroy(device, live) },
                // SAFETY: the caller's duty.
                Retired::View(live) => unsafe { self.destroy_view(device, live) },
                // SAFETY: its images were retired before it.
                Retired::Memory(memory) => unsafe { device.free_memory(memory, None) },
            }
        }
    }

    /// Destroys all retired objects, the descriptor pools and the set layout.
    ///
    /// # Safety
    /// None of them is in use.
    pub(super) unsafe fn destroy_all(&mut self, device: &ash::Device) {
        // SAFETY: the caller's duty.
        unsafe { self.free(device, u64::MAX) };
        for pool in self.pools.drain(..) {
            // SAFETY: the caller's duty.
            unsafe { device.destroy_descriptor_pool(pool, None) };
        }
        self.free_sets.clear();
        // SAFETY: as above; null is ignored.
        unsafe { device.destroy_descriptor_set_layout(self.set_layout, None) };
        self.set_layout = vk::DescriptorSetLayout::null();
    }
}
