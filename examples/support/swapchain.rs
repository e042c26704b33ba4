//! The images of a window's surface, and their semaphores.

use ash::{khr, vk};
use tileheap::runtime::Context;

use super::FRAMES_IN_FLIGHT;
use super::error::{Called, Result, no_window};
use super::memory::Image;

pub struct Swapchain {
    functions: khr::swapchain::Device,
    surface_functions: khr::surface::Instance,
    surface: vk::SurfaceKHR,
    pub format: vk::SurfaceFormatKHR,
    pub extent: vk::Extent2D,
    handle: vk::SwapchainKHR,
    images: Vec<SwapchainImage>,
    /// Signaled when an image of the swapchain was acquired; one semaphore per slot.
    acquired: [vk::Semaphore; FRAMES_IN_FLIGHT],
}

#[derive(Clone, Copy, Debug)]
pub struct SwapchainImage {
    pub index: u32,
    pub image: vk::Image,
    pub view: vk::ImageView,
    /// Signaled when the image may be presented. One per image, since nothing signals that presentation has finished waiting for it.
    pub presentable: vk::Semaphore,
}

impl Swapchain {
    /// A swapchain without images, which [`Swapchain::resize`] creates.
    pub fn new(context: &Context) -> Result<Swapchain> {
        let surface_functions = khr::surface::Instance::new(context.entry(), context.instance());
        let (physical_device, surface) = (context.physical_device(), context.surface());
        // SAFETY: the context owns the surface, and chose the device for it.
        let formats =
            unsafe { surface_functions.get_physical_device_surface_formats(physical_device, surface) }
                .called("vkGetPhysicalDeviceSurfaceFormatsKHR")?;
        // The tone mapping shader encodes sRGB itself.
        let plain = [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM];
        let format = formats
            .into_iter()
            .find(|one| plain.contains(&one.format) && one.color_space == vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .ok_or_else(|| {
                no_window("its surface supports neither B8G8R8A8_UNORM nor R8G8B8A8_UNORM with sRGB colors")
            })?;
        let device = context.device();
        let acquired = [create_semaphore(device)?, create_semaphore(device)?];
        Ok(Swapchain {
            functions: khr::swapchain::Device::new(context.instance(), device),
            surface_functions,
            surface,
            format,
            extent: vk::Extent2D::default(),
            handle: vk::SwapchainKHR::null(),
            images: Vec::new(),
            acquired,
        })
    }

    /// Creates images of the window's size; returns false, and changes nothing, if the window has no size.
    ///
    /// # Safety
    /// The device no longer uses the old images.
    pub unsafe fn resize(&mut self, context: &Context, window: vk::Extent2D) -> Result<bool> {
        let (device, physical_device) = (context.device(), context.physical_device());
        // SAFETY: the context owns the surface, and chose the device for it.
        let limits = unsafe {
            self.surface_functions
                .get_physical_device_surface_capabilities(physical_device, self.surface)
        }
        .called("vkGetPhysicalDeviceSurfaceCapabilitiesKHR")?;
        let extent = match limits.current_extent {
            // The surface adopts the size of its swapchain.
            vk::Extent2D { width: u32::MAX, .. } => vk::Extent2D {
                width: window
                    .width
                    .clamp(limits.min_image_extent.width, limits.max_image_extent.width),
                height: window
                    .height
                    .clamp(limits.min_image_extent.height, limits.max_image_extent.height),
            },
            current => current,
        };
        if extent.width == 0 || extent.height == 0 {
            return Ok(false);
        }
        let most = if limits.max_image_count == 0 {
            u32::MAX
        } else {
            limits.max_image_count
        };
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(self.surface)
            .min_image_count((limits.min_image_count + 1).min(most))
            .image_format(self.format.format)
            .image_color_space(self.format.color_space)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .pre_transform(limits.current_transform)
            .composite_alpha(one_of(limits.supported_composite_alpha))
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true)
            .old_swapchain(self.handle);
        // SAFETY: the surface is alive, and no image of the old swapchain is in use.
        let handle =
            unsafe { self.functions.create_swapchain(&info, None) }.called("vkCreateSwapchainKHR")?;
        // SAFETY: the caller's duty.
        unsafe { self.destroy_images(device) };
        (self.handle, self.extent) = (handle, extent);
        // SAFETY: the swapchain was just created.
        let images =
            unsafe { self.functions.get_swapchain_images(handle) }.called("vkGetSwapchainImagesKHR")?;
        for (index, image) in images.into_iter().enumerate() {
            self.images.push(SwapchainImage {
                index: index as u32,
                image,
                view: Image::viewed(device, image, self.format.format, vk::ImageAspectFlags::COLOR)?.view,
                presentable: create_semaphore(device)?,
            });
        }
        Ok(true)
    }

    /// The next image, and the semaphore for its acquisition; `None` if the swapchain no longer fits the window.
    ///
    /// The slot's previous frame must be complete.
    pub fn acquire(&self, slot: usize) -> Result<Option<(SwapchainImage, vk::Semaphore)>> {
        let acquired = self.acquired[slot];
        // SAFETY: no operation on the semaphore is pending: the slot's last frame waited for it.
        let image = unsafe {
            self.functions
                .acquire_next_image(self.handle, u64::MAX, acquired, vk::Fence::null())
        };
        match image {
            Ok((index, _)) => Ok(Some((self.images[index as usize], acquired))),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok(None),
            Err(result) => Err(result).called("vkAcquireNextImageKHR"),
        }
    }

    /// Presents an image; returns true if the swapchain still fits the window.
    pub fn present(&self, queue: vk::Queue, image: SwapchainImage) -> Result<bool> {
        let (waits, handles, indices) = ([image.presentable], [self.handle], [image.index]);
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&waits)
            .swapchains(&handles)
            .image_indices(&indices);
        // SAFETY: the image was acquired, and a submitted frame signals the semaphore.
        match unsafe { self.functions.queue_present(queue, &info) } {
            Ok(suboptimal) => Ok(!suboptimal),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok(false),
            Err(result) => Err(result).called("vkQueuePresentKHR"),
        }
    }

    /// Destroys the swapchain and its semaphores.
    ///
    /// # Safety
    /// The device no longer uses the images.
    pub unsafe fn destroy(&mut self, device: &ash::Device) {
        // SAFETY: the caller's duty.
        unsafe { self.destroy_images(device) };
        for semaphore in self.acquired {
            // SAFETY: the caller's duty.
            unsafe { device.destroy_semaphore(semaphore, None) };
        }
    }

    /// # Safety
    /// The device no longer uses the images.
    unsafe fn destroy_images(&mut self, device: &ash::Device) {
        for image in self.images.drain(..) {
            // SAFETY: the caller's duty; the swapchain owns the images.
            unsafe {
                device.destroy_image_view(image.view, None);
                device.destroy_semaphore(image.presentable, None);
            }
        }
        // SAFETY: as above; null is ignored.
        unsafe { self.functions.destroy_swapchain(self.handle, None) };
        self.handle = vk::SwapchainKHR::null();
    }
}

/// Chooses opaque composition if the surface supports it.
fn one_of(supported: vk::CompositeAlphaFlagsKHR) -> vk::CompositeAlphaFlagsKHR {
    if supported.contains(vk::CompositeAlphaFlagsKHR::OPAQUE) {
        return vk::CompositeAlphaFlagsKHR::OPAQUE;
    }
    vk::CompositeAlphaFlagsKHR::from_raw(1 << supported.as_raw().trailing_zeros())
}

fn create_semaphore(device: &ash::Device) -> Result<vk::Semaphore> {
    // SAFETY: the info is complete.
    unsafe { device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }.called("vkCreateSemaphore")
}
