//! The JSON format of device profiles: versioned, with Vulkan's names.
//!
//! `presets.json` is an array of all presets.
//!
//! Sizes are in bytes. `tile` is null or absent if there is no tile memory; its size is that of its heap. `gmem` is 0 if not known. `merge`
//! (`{ "colorBits": 128, "attachments": 8 }`) has the limits within which the driver merges render passes; absent if not known. Features are
//! those of [`Features`] under Vulkan's names (`attachmentStoreOpNone` and `depthStencilResolve` stand for [`Features::STORE_OP_NONE`] and
//! [`Features::DEPTH_STENCIL_RESOLVE`], which are not Vulkan feature bits). Of `limits`, only the first four are required. `optionalFeatures`
//! are those of [`OptionalFeatures`]; absent if not known.

use bitflags::Flags;
use serde::{Deserialize, Serialize};

use super::device::{DeviceProfile, Features, MeasuredCosts, MemoryHeap, MemoryType, MergeLimits, TileHeap};
use super::limits::{Limits, OptionalFeatures};
use crate::error::{Error, Result};
use crate::units::Bytes;

/// The value of `format` in the JSON document of a profile.
const FORMAT: &str = "tileheap-profile";
/// The format version that is written and read.
const VERSION: u64 = 1;

/// Vulkan's names of [`Features`].
const FEATURES: [(&str, Features); 10] = [
    ("synchronization2", Features::SYNCHRONIZATION_2),
    ("dynamicRendering", Features::DYNAMIC_RENDERING),
    ("timelineSemaphore", Features::TIMELINE_SEMAPHORE),
    ("maintenance4", Features::MAINTENANCE_4),
    ("attachmentStoreOpNone", Features::STORE_OP_NONE),
    ("dynamicRenderingLocalRead", Features::LOCAL_READ),
    (
        "separateDepthStencilLayouts",
        Features::SEPARATE_DEPTH_STENCIL_LAYOUTS,
    ),
    ("multiview", Features::MULTIVIEW),
    ("maintenance9", Features::MAINTENANCE_9),
    ("depthStencilResolve", Features::DEPTH_STENCIL_RESOLVE),
];

impl DeviceProfile {
    /// The profile as indented JSON, which [`DeviceProfile::from_json`] reads.
    pub fn to_json(&self) -> String {
        tileheap_json::write(self)
    }

    /// Reads a profile from JSON and validates it.
    ///
    /// # Errors
    /// [`Error::Json`] with the line and column, or the errors of [`DeviceProfile::validate`].
    ///
    /// ```
    /// use tileheap_device::profile::DeviceProfile;
    ///
    /// let adreno = DeviceProfile::preset("adreno-830")?;
    /// assert_eq!(DeviceProfile::from_json(&adreno.to_json())?, adreno);
    /// # Ok::<(), tileheap_device::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<DeviceProfile> {
        let json: ProfileJson = tileheap_json::read(text, FORMAT, VERSION)?;
        json.into_profile()
    }
}

/// Writes the profile in its JSON format, as [`DeviceProfile::to_json`] does.
impl Serialize for DeviceProfile {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ProfileJson::new(self).serialize(serializer)
    }
}

/// Reads a profile in its JSON format, and validates it.
impl<'de> Deserialize<'de> for DeviceProfile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<DeviceProfile, D::Error> {
        let json = ProfileJson::deserialize(deserializer)?;
        json.into_profile().map_err(serde::de::Error::custom)
    }
}

/// The JSON form of a profile.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ProfileJson {
    format: String,
    version: u64,
    name: String,
    #[serde(default)]
    source: String,
    memory_heaps: Vec<MemoryHeap>,
    memory_types: Vec<MemoryType>,
    /// The tile heap, whose size is that of the memory heap it names.
    #[serde(default)]
    tile: Option<TileHeap>,
    #[serde(default)]
    gmem: Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    merge: Option<MergeLimits>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    costs: Option<MeasuredCosts>,
    limits: Limits,
    features: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    optional_features: Option<Vec<String>>,
}

impl ProfileJson {
    fn new(profile: &DeviceProfile) -> ProfileJson {
        let optional = profile.optional_features;
        ProfileJson {
            format: FORMAT.to_owned(),
            version: VERSION,
            name: profile.name.clone(),
            source: profile.source.clone(),
            memory_heaps: profile.heaps.clone(),
            memory_types: profile.memory_types.clone(),
            tile: profile.tile,
            gmem: profile.gmem,
            merge: profile.merge,
            costs: profile.costs,
            limits: profile.limits,
            features: names_of(&FEATURES, profile.features),
            optional_features: optional.map(|set| names_of(&OptionalFeatures::NAMES, set)),
        }
    }

    fn into_profile(self) -> Result<DeviceProfile> {
        let optional = self.optional_features.as_deref();
        let heaps = self.memory_heaps;
        let tile = self.tile.map(|tile| {
            // Validation reports an index out of range.
            let size = heaps
                .get(tile.heap as usize)
                .map_or(Bytes::ZERO, |heap| heap.size);
            TileHeap { size, ..tile }
        });
        let profile = DeviceProfile {
            name: self.name,
            source: self.source,
            memory_types: self.memory_types,
            heaps,
            tile,
            gmem: self.gmem,
            merge: self.merge,
            costs: self.costs,
            limits: self.limits,
            features: features_of(&FEATURES, &self.features)?,
            optional_features: optional
                .map(|names| features_of(&OptionalFeatures::NAMES, names))
                .transpose()?,
        };
        profile.validate()?;
        Ok(profile)
    }
}

/// Returns the names of the features that are set.
fn names_of<F: Flags + Copy>(known: &[(&'static str, F)], features: F) -> Vec<String> {
    let set = known.iter().filter(|(_, feature)| features.contains(*feature));
    set.map(|(name, _)| (*name).to_owned()).collect()
}

/// Returns the features with these names.
fn features_of<F: Flags + Copy>(known: &[(&'static str, F)], names: &[String]) -> Result<F> {
    names.iter().try_fold(F::empty(), |all, name| {
        let found = known.iter().find(|(known, _)| known == name);
        let (_, feature) = found.ok_or_else(|| Error::UnknownFeature {
            feature: tileheap_json::clip(name),
            known: known.iter().map(|(name, _)| *name).collect(),
        })?;
        Ok(all.union(*feature))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::presets::PRESETS;

    fn damaged(from: &str, to: &str) -> String {
        let text = DeviceProfile::preset("adreno-830").unwrap().to_json();
        assert!(text.contains(from), "{from}");
        DeviceProfile::from_json(&text.replacen(from, to, 1))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn every_preset_survives_the_round_trip() {
        for name in PRESETS {
            let profile = DeviceProfile::preset(name).unwrap();
            assert_eq!(profile.name, name);
            assert_eq!(DeviceProfile::from_json(&profile.to_json()).unwrap(), profile);
        }
    }

    #[test]
    fn every_feature_has_a_name() {
        let named = FEATURES
            .iter()
            .fold(Features::empty(), |all, (_, feature)| all | *feature);
        assert_eq!(named, Features::all());
        let named = OptionalFeatures::NAMES.iter();
        let named = named.fold(OptionalFeatures::empty(), |all, (_, feature)| all | *feature);
        assert_eq!(named, OptionalFeatures::all());
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(damaged("tileheap-profile", "profile").contains("\"profile\""));
        assert!(
            damaged("\"version\": 1", "\"version\": 2").contains("version 2, written by a later tileheap")
        );
        assert!(damaged("\"gmem\"", "\"gmen\"").contains("gmen"));
        assert!(damaged("VK_MEMORY_HEAP_DEVICE_LOCAL_BIT", "DEVICE_LOCAL").contains("did you mean"));
        assert!(damaged("maintenance4", "maintenance5").contains("`maintenance5`"));
        assert!(damaged("geometryShader", "geometryShaders").contains("`geometryShaders`"));
        assert!(damaged("8355840", "0").contains("0 B"));
        assert!(damaged("8355840", "-1").contains("-1"));
        assert!(damaged("8355840", "1e400").contains("line"));
        assert!(damaged("\"bytes\": 12288", "\"bytes\": 0").contains("a positive integer"));
        assert!(damaged("\"rows\": 32", "\"rows\": 0").contains("0 texel rows"));
        assert!(damaged("\"memoryTypeIndex\": 1", "\"memoryTypeIndex\": 77").contains("type 77"));
        assert!(damaged("\"heapIndex\": 2", "\"heapIndex\": 16").contains("heap 16"));
        assert!(damaged("{", "").contains("line 2"));
        assert!(DeviceProfile::from_json("").is_err());
        assert!(DeviceProfile::from_json(&"[".repeat(100_000)).is_err());
    }
}
