//! Selects the physical device of a [`Context`](super::Context), and creates the device.

use ash::vk;

use super::capabilities::Capabilities;
use super::context_desc::{ContextDesc, DeviceSelection};
use super::device_queue::DeviceQueue;
use super::error::{RuntimeError, VkResultExt};
use super::instance::Instance;
use super::support::{DeviceSupport, text_of};
use crate::Result;
use crate::profile::OptionalFeatures;

/// A suitable physical device, with the family of its first queue.
pub(super) struct Candidate {
    pub(super) physical_device: vk::PhysicalDevice,
    pub(super) support: DeviceSupport,
    families: Vec<vk::QueueFamilyProperties>,
    main_family: u32,
}

/// Selects the best of the requested devices.
pub(super) fn choose(instance: &Instance, desc: &ContextDesc<'_>) -> Result<Candidate> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.raw.enumerate_physical_devices() }
        .with_call("vkEnumeratePhysicalDevices", || "the instance")?;
    let mut names = Vec::new();
    let mut best: Option<(u32, Candidate)> = None;
    for (index, &physical_device) in devices.iter().enumerate() {
        // SAFETY: one of the instance's.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical_device) };
        let name = text_of(properties.device_name_as_c_str());
        let wanted = match &desc.device {
            DeviceSelection::Best => true,
            DeviceSelection::Index(wanted) => *wanted == index,
            DeviceSelection::Name(part) => name.to_lowercase().contains(&part.to_lowercase()),
        };
        names.push(name);
        if !wanted {
            continue;
        }
        match candidate(instance, physical_device) {
            Ok(Some(candidate)) => {
                let rank = rank(&properties, &candidate.support);
                if best.as_ref().is_none_or(|(other, _)| rank > *other) {
                    best = Some((rank, candidate));
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(device = names[index], %error, "passed over"),
        }
    }
    let found = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    best.map(|(_, candidate)| candidate).ok_or_else(|| {
        RuntimeError::NoDevice {
            wanted: desc.device.to_string(),
            found,
        }
        .into()
    })
}

fn rank(properties: &vk::PhysicalDeviceProperties, support: &DeviceSupport) -> u32 {
    let kind = match properties.device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => 4,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 3,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 1,
        _ => 0,
    };
    if support.missing_requirements().is_empty() {
        10 + kind
    } else {
        kind
    }
}

/// The physical device as a candidate, if one of its queue families supports graphics and compute (and presentation, if there is a surface).
fn candidate(instance: &Instance, physical_device: vk::PhysicalDevice) -> Result<Option<Candidate>> {
    // SAFETY: one of the instance's, which was created with this version.
    let support = unsafe { DeviceSupport::query(&instance.raw, physical_device, instance.api_version) }?;
    // SAFETY: one of the instance's.
    let families = unsafe {
        instance
            .raw
            .get_physical_device_queue_family_properties(physical_device)
    };
    let both = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    let mut main = None;
    for (index, family) in families.iter().enumerate() {
        let index = index as u32;
        if main.is_none() && family.queue_flags.contains(both) && instance.presents(physical_device, index)? {
            main = Some(index);
        }
    }
    Ok(main.map(|main| Candidate {
        physical_device,
        support,
        families,
        main_family: main,
    }))
}

pub(super) fn create_device(
    instance: &Instance,
    candidate: &Candidate,
    desc: &ContextDesc<'_>,
) -> Result<(ash::Device, Capabilities, OptionalFeatures)> {
    let Candidate {
        physical_device,
        support,
        families,
        main_family: main,
    } = candidate;
    let by = || support.profile().name.clone();
    let mut extensions = desc.device_extensions.names().to_vec();
    // Also without a surface: frames that leave images to a swapchain can be planned and run.
    let swapchain = ash::khr::swapchain::NAME;
    let offered = instance.has_surfaces() && support.has_extension(swapchain);
    if (offered || desc.surface.is_some()) && !extensions.contains(&swapchain) {
        extensions.push(swapchain);
    }
    for extension in &extensions {
        if !support.has_extension(extension) {
            return Err(RuntimeError::missing(by(), extension.to_string_lossy()));
        }
    }
    // SAFETY: one of the instance's.
    let offered = unsafe { instance.raw.get_physical_device_features(*physical_device) };
    if let Some(feature) = missing_feature(&desc.features, &offered) {
        return Err(RuntimeError::missing(by(), format!("feature {feature}")));
    }
    let mut wanted = Capabilities::RECOMMENDED;
    if desc.buffer_device_address {
        wanted |= Capabilities::BUFFER_DEVICE_ADDRESS;
        if !support
            .offered_capabilities()
            .contains(Capabilities::BUFFER_DEVICE_ADDRESS)
        {
            return Err(RuntimeError::missing(by(), "feature bufferDeviceAddress"));
        }
    }
    wanted.set(Capabilities::DEBUG_UTILS, instance.names_objects());
    let queues: Vec<_> = queue_families(families, *main)
        .map(|family| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&[1.0])
        })
        .collect();
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .enabled_features(&desc.features);
    // SAFETY: the names are alive, and nothing is chained.
    let mut enable = unsafe { support.enable(&info, wanted & !desc.without) };
    let (capabilities, optional_features) = (enable.capabilities(), enable.optional_features());
    let info = enable.info(&info);
    // SAFETY: extensions and features were looked up; one queue of each family.
    let device = unsafe { instance.raw.create_device(*physical_device, &info, None) }
        .with_call("vkCreateDevice", by)?;
    Ok((device, capabilities, optional_features))
}

/// The families that get a queue: that of the first queue, then every other one that supports graphics, compute or transfers.
fn queue_families(families: &[vk::QueueFamilyProperties], main: u32) -> impl Iterator<Item = u32> {
    let useful = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
    let others = families
        .iter()
        .enumerate()
        .filter(move |(index, family)| *index as u32 != main && family.queue_flags.intersects(useful));
    std::iter::once(main).chain(others.map(|(index, _)| index as u32))
}

pub(super) fn queues_of(device: &ash::Device, candidate: &Candidate) -> Vec<DeviceQueue> {
    let families = queue_families(&candidate.families, candidate.main_family);
    let queue = |family: u32| DeviceQueue {
        // SAFETY: the device was created with one queue of this family.
        handle: unsafe { device.get_device_queue(family, 0) },
        family,
        capabilities: candidate.families[family as usize].queue_flags,
    };
    families.map(queue).collect()
}

/// The name of the first feature that is requested but not offered.
fn missing_feature(
    wanted: &vk::PhysicalDeviceFeatures,
    offered: &vk::PhysicalDeviceFeatures,
) -> Option<String> {
    // Printed side by side: `PhysicalDeviceFeatures { robust_buffer_access: 0, …`.
    let (wanted, offered) = (format!("{wanted:?}"), format!("{offered:?}"));
    let fields = |text: &str| -> Vec<String> {
        let body = text.split_once('{').map_or("", |(_, body)| body);
        body.trim_end_matches(['}', ' '])
            .split(", ")
            .map(|field| field.trim().to_owned())
            .collect()
    };
    let (wanted, offered) = (fields(&wanted), fields(&offered));
    let missing = wanted.iter().zip(&offered).find(|(wanted, offered)| {
        let is_on = |field: &str| field.split_once(": ").is_some_and(|(_, value)| value != "0");
        is_on(wanted) && !is_on(offered)
    })?;
    missing.0.split_once(": ").map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_feature_is_named() {
        let offered = vk::PhysicalDeviceFeatures::default().sampler_anisotropy(true);
        let wanted = offered.geometry_shader(true);
        assert_eq!(missing_feature(&offered, &offered), None);
        assert_eq!(
            missing_feature(&wanted, &offered),
            Some("geometry_shader".to_owned())
        );
    }
}
