//! Device profiles.

use ash::vk;
use std::sync::Arc;

use tileheap::profile::{DeviceProfile, Features, PRESETS};
use tileheap::units::Bytes;

use crate::boundary::{boundary, run};
use crate::enums::{FeatureFlag, known_bits};
use crate::handles::{Handle, object};
use crate::loader;
use crate::opaque::{ErrorHandle, ProfileHandle, ProfileT, TextHandle};
use crate::status::{Fault, Status};
use crate::strings::{StringView, needed_text, view};
use crate::structs::{begin, need, put, read, reserved, sized, write};
use crate::text::put_text;
use crate::vulkan::{FeatureFlags, OptionalGetInstanceProcAddr};

sized! { Input: PhysicalDeviceDesc to reserved; }
sized! { Output: ProfileInfo to tile_buffer_transfers; }

object!(ProfileT, ProfileObject: Profile);

/// A device profile, shared by the objects that were created from it.
pub struct ProfileObject {
    pub(crate) profile: Arc<DeviceProfile>,
}

/// A physical device whose profile is queried.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PhysicalDeviceDesc {
    /// `sizeof(ThPhysicalDeviceDesc)`.
    pub struct_size: u32,
    /// `apiVersion` of the `VkApplicationInfo` that the instance was created with; at least `VK_API_VERSION_1_1`.
    pub api_version: u32,
    /// `vkGetInstanceProcAddr` of the Vulkan loader.
    pub get_instance_proc_addr: OptionalGetInstanceProcAddr,
    /// The instance.
    pub instance: vk::Instance,
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
    /// The features that the device is created with, as bits of `ThFeatureFlag`; `UINT32_MAX` for all that the physical device has. Plans use only
    /// these features.
    pub enabled: FeatureFlags,
    /// Zero.
    pub reserved: u32,
}

/// The tile heap and the features of a device profile.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ProfileInfo {
    /// `sizeof(ThProfileInfo)`.
    pub struct_size: u32,
    /// Bits of `ThFeatureFlag`.
    pub features: FeatureFlags,
    /// The name of the profile or the device.
    pub name: StringView,
    /// The source of the profile's values.
    pub source: StringView,
    /// The size of the tile heap in bytes; 0 without a tile heap.
    pub tile_size: u64,
    /// The on-chip memory that the tile heap and the driver's binning share, in bytes; 0 if unknown.
    pub gmem: u64,
    /// The index of the tile heap, or `TH_NONE`.
    pub tile_heap: u32,
    /// The index of the memory type of the tile heap, or `TH_NONE`.
    pub tile_memory_type: u32,
    /// `queueSubmitBoundary`: contents of tile memory last until the end of a submit, not only of a batch.
    pub queue_submit_boundary: vk::Bool32,
    /// `tileBufferTransfers`: buffers in tile memory can be copied from and to.
    pub tile_buffer_transfers: vk::Bool32,
}

/// Writes the names of the profiles that `thCreateProfile` knows: up to `*count` into `names`, or only their number if `names` is null. The
/// names are valid as long as the library is loaded.
///
/// Returns `TH_STATUS_INCOMPLETE` if there are more than fit.
///
/// Thread safety: may be called at any time.
#[unsafe(export_name = "thGetProfileNames")]
pub unsafe extern "C" fn get_profile_names(
    count: *mut u32,
    names: *mut StringView,
    error: ErrorHandle,
) -> Status {
    boundary("thGetProfileNames", error, || {
        need(count, "count")?;
        let all = PRESETS.len() as u32;
        if names.is_null() {
            // SAFETY: not null; the caller lets it be written.
            unsafe { put(count, all, "count") }?;
            return Ok(Status::Success);
        }
        // SAFETY: not null; the caller has set it.
        let room = unsafe { count.read_unaligned() };
        let written = room.min(all);
        for (index, name) in PRESETS.iter().take(written as usize).enumerate() {
            // SAFETY: the array has `*count` elements.
            let to = unsafe { names.add(index) };
            // SAFETY: as above.
            unsafe { put(to, view(name), "names") }?;
        }
        // SAFETY: not null.
        unsafe { put(count, written, "count") }?;
        Ok(if written < all {
            Status::Incomplete
        } else {
            Status::Success
        })
    })
}

unsafe fn create(profile: *mut ProfileHandle, value: DeviceProfile) -> Result<(), Fault> {
    let object = ProfileObject {
        profile: Arc::new(value),
    };
    let handle = ProfileHandle::create(object)?;
    // SAFETY: null or writable.
    unsafe { put(profile, handle, "profile") }
}

/// Creates the profile of a known device: `adreno-830`, `no-tile-memory`, or another of `thGetProfileNames`.
///
/// Fails with `TH_STATUS_ERROR_INVALID_ARGUMENT` if no profile has the name; the message lists them.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateProfile")]
pub unsafe extern "C" fn create_profile(
    name: StringView,
    profile: *mut ProfileHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateProfile", error, || {
        // SAFETY: null or writable.
        unsafe { begin(profile, "profile") }?;
        // SAFETY: the caller's text.
        let name = unsafe { needed_text(name, "name") }?;
        let found = DeviceProfile::preset(name).map_err(|_| {
            Fault::argument(format!(
                "no device profile is named `{name}`: choose one of {}, or call thCreateProfileFromJson",
                PRESETS.join(", ")
            ))
        })?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { create(profile, found) }
    })
}

/// Creates a profile from JSON, as `tileheap profile --json` and `thCreateProfileText` write it.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateProfileFromJson")]
pub unsafe extern "C" fn create_profile_from_json(
    json: StringView,
    profile: *mut ProfileHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateProfileFromJson", error, || {
        // SAFETY: null or writable.
        unsafe { begin(profile, "profile") }?;
        // SAFETY: the caller's text.
        let text = unsafe { needed_text(json, "json") }?;
        let read = DeviceProfile::from_json(text).map_err(tileheap::Error::from)?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { create(profile, read) }
    })
}

/// Creates the profile of a physical device by querying it.
///
/// Before the device is created, a profile with all features says what can be enabled.
///
/// Fails with `TH_STATUS_ERROR_VULKAN` if the driver fails, lacks a function, or offers less than Vulkan 1.1.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateProfileFromPhysicalDevice")]
pub unsafe extern "C" fn create_profile_from_physical_device(
    desc: *const PhysicalDeviceDesc,
    profile: *mut ProfileHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateProfileFromPhysicalDevice", error, || {
        // SAFETY: null or writable.
        unsafe { begin(profile, "profile") }?;
        // SAFETY: the caller's structure.
        let desc = unsafe { read(desc) }?;
        // SAFETY: the caller's instance and physical device.
        let found = unsafe { query(&desc) }.map_err(|fault| fault.within("ThPhysicalDeviceDesc"))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { create(profile, found) }
    })
}

unsafe fn query(desc: &PhysicalDeviceDesc) -> Result<DeviceProfile, Fault> {
    reserved(desc.reserved)?;
    if desc.enabled != u32::MAX {
        let known = Features::all().bits() | FeatureFlag::TileMemory as u32;
        known_bits(desc.enabled, known, "ThFeatureFlag", "enabled")?;
    }
    let (function, instance) = (desc.get_instance_proc_addr, desc.instance);
    // SAFETY: the caller's handles.
    let (_, support) = unsafe { loader::query(function, instance, desc.physical_device, desc.api_version) }?;
    let mut found = DeviceProfile::clone(support.profile());
    found.features &= Features::from_bits_truncate(desc.enabled);
    if desc.enabled & FeatureFlag::TileMemory as u32 == 0 {
        found.tile = None;
    }
    Ok(found)
}

/// Creates a copy of a profile with a tile heap of another size, to find out what a different size would change.
///
/// Fails with `TH_STATUS_ERROR_INVALID_PROFILE` if the profile has no tile heap, or the size is 0.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateProfileWithTileSize")]
pub unsafe extern "C" fn create_profile_with_tile_size(
    profile: ProfileHandle,
    tile_size: u64,
    resized: *mut ProfileHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateProfileWithTileSize", error, || {
        // SAFETY: null or writable.
        unsafe { begin(resized, "resized") }?;
        let object = profile.get("profile")?;
        let found = DeviceProfile::clone(&object.profile).with_tile_heap_size(Bytes(tile_size));
        // SAFETY: not null; the caller lets it be written.
        unsafe { create(resized, found.map_err(tileheap::Error::from)?) }
    })
}

/// Returns a profile's tile heap and features. The strings are valid until the profile is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetProfileInfo")]
pub unsafe extern "C" fn get_profile_info(
    profile: ProfileHandle,
    info: *mut ProfileInfo,
    error: ErrorHandle,
) -> Status {
    run("thGetProfileInfo", error, || {
        let object = profile.get("profile")?;
        let profile = &object.profile;
        let tile = profile.tile;
        let tile_memory = tile.map_or(0, |_| FeatureFlag::TileMemory as u32);
        let value = ProfileInfo {
            struct_size: 0,
            features: profile.features.bits() | tile_memory,
            name: view(&profile.name),
            source: view(&profile.source),
            tile_size: tile.map_or(0, |tile| tile.size.0),
            gmem: profile.gmem.0,
            tile_heap: tile.map_or(u32::MAX, |tile| tile.heap),
            tile_memory_type: tile.map_or(u32::MAX, |tile| tile.memory_type),
            queue_submit_boundary: tile.is_some_and(|tile| tile.queue_submit_boundary).into(),
            tile_buffer_transfers: tile.is_some_and(|tile| tile.buffer_transfers).into(),
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(info, value) }
    })
}

/// Writes a profile as JSON. Destroy the text with `thDestroyText`.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateProfileText")]
pub unsafe extern "C" fn create_profile_text(
    profile: ProfileHandle,
    json: *mut TextHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateProfileText", error, || {
        let object = profile.get("profile")?;
        // SAFETY: null or writable.
        unsafe { put_text(json, || Ok(object.profile.to_json())) }
    })
}

/// Destroys a profile. Objects that were created from it keep what they need. A null handle is ignored.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyProfile")]
pub extern "C" fn destroy_profile(profile: ProfileHandle) -> Status {
    run("thDestroyProfile", std::ptr::null_mut(), || profile.destroy())
}
