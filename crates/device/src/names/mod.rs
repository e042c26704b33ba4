//! Conversion between Vulkan's enumerants and flags and their exact names, which all JSON documents use.
//!
//! The names are derived from those that `ash` prints (`R8G8B8A8_UNORM` of `vk::Format` is `VK_FORMAT_R8G8B8A8_UNORM`), so
//! there is no table to keep in step with the registry; a few that `ash` 0.38 lacks are listed next to their type. A value
//! or bit without a name is written in hexadecimal (`0x08000000`) and read back as such, so nothing is lost.
//!
//! ```
//! use ash::vk;
//! use tileheap_device::names;
//!
//! assert_eq!(names::name_of(vk::Format::D32_SFLOAT), "VK_FORMAT_D32_SFLOAT");
//! let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE;
//! assert_eq!(names::bit_names(usage), ["VK_IMAGE_USAGE_SAMPLED_BIT", "VK_IMAGE_USAGE_STORAGE_BIT"]);
//! let error = names::value_of::<vk::Format>("VK_FORMAT_D32_FLOAT").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "`VK_FORMAT_D32_FLOAT` is not a VkFormat: did you mean `VK_FORMAT_D32_SFLOAT`?"
//! );
//! ```
//! In `serde` structs: `#[serde(with = "names::value")]` for one value, `#[serde(with = "names::bits")]` for a set of bits.

mod vocabulary;

use std::fmt::Write as _;

pub use vocabulary::Vocabulary;
use vocabulary::{Shape, TypeNames};

/// A name that does not exist in Vulkan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a {type_name}{}", suggestion(.nearest))]
pub struct NameError {
    /// The invalid name, shortened if very long.
    pub name: String,
    /// The Vulkan type: `VkFormat`, ….
    pub type_name: &'static str,
    /// The nearest valid name, if one is close enough.
    pub nearest: Option<String>,
}

fn suggestion(nearest: &Option<String>) -> String {
    match nearest {
        Some(name) => format!(": did you mean `{name}`?"),
        None => String::new(),
    }
}

/// Vulkan's name of an enumerant or of a single flag bit; hexadecimal if it has no name.
pub fn name_of<T: Vocabulary>(value: T) -> String {
    T::names().name(value.to_raw())
}

/// The enumerant or flag bit with this name, or with this hexadecimal number.
///
/// # Errors
/// [`NameError`] with the nearest valid name.
pub fn value_of<T: Vocabulary>(name: &str) -> Result<T, NameError> {
    T::names().value(name).map(T::from_raw_value)
}

/// The enumerant or flag bit with exactly this name; `None` if there is none. Cheaper than [`value_of`], because it builds no error.
pub fn exact<T: Vocabulary>(name: &str) -> Option<T> {
    T::names().exact(name).map(T::from_raw_value)
}

/// The names of the bits of `flags`, lowest first; bits without a name follow as one hexadecimal number.
pub fn bit_names<T: Vocabulary>(flags: T) -> Vec<String> {
    T::names().bit_names(flags.to_raw())
}

/// Returns the union of the named bits.
///
/// # Errors
/// [`NameError`] for the first invalid name.
pub fn bits_of<'a, T: Vocabulary>(names: impl IntoIterator<Item = &'a str>) -> Result<T, NameError> {
    let of_type = T::names();
    let mut raw = 0;
    for name in names {
        raw |= of_type.value(name)?;
    }
    Ok(T::from_raw_value(raw))
}

/// Every name of a Vulkan type with its value, aliases included, in alphabetical order.
pub fn all<T: Vocabulary>() -> impl Iterator<Item = (&'static str, T)> {
    let table = T::names().table();
    table
        .iter()
        .map(|entry| (entry.name.as_str(), T::from_raw_value(entry.raw)))
}

/// `serde` form of an enumerant or single bit: its name as a string.
pub mod value {
    use super::Vocabulary;
    use serde::de::Error as _;

    /// Writes the name.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<T: Vocabulary, S: serde::Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::name_of(*value))
    }

    /// Reads a name.
    ///
    /// # Errors
    /// The deserializer's errors; for an unknown name, an error that suggests the nearest valid one.
    pub fn deserialize<'de, T: Vocabulary, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let name = <String as serde::Deserialize>::deserialize(deserializer)?;
        super::value_of(&name).map_err(D::Error::custom)
    }
}

/// `serde` form of an enumerant that may be missing: its name as a string, or null.
pub mod option {
    use super::Vocabulary;

    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(transparent, bound = "")]
    struct Named<T: Vocabulary>(#[serde(with = "super::value")] T);

    /// Writes the name.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<T: Vocabulary, S: serde::Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        serde::Serialize::serialize(&value.map(Named), to)
    }

    /// Reads a name.
    ///
    /// # Errors
    /// The deserializer's errors; for an unknown name, an error that suggests the nearest valid one.
    pub fn deserialize<'de, T: Vocabulary, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let named: Option<Named<T>> = serde::Deserialize::deserialize(from)?;
        Ok(named.map(|Named(value)| value))
    }
}

/// `serde` form of a set of bits: an array of their names.
pub mod bits {
    use super::Vocabulary;
    use serde::de::Error as _;

    /// Writes the names of the bits.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<T: Vocabulary, S: serde::Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(super::bit_names(*value))
    }

    /// Reads an array of names.
    ///
    /// # Errors
    /// The deserializer's errors; for an unknown name, an error that suggests the nearest valid one.
    pub fn deserialize<'de, T: Vocabulary, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let names = <Vec<String> as serde::Deserialize>::deserialize(deserializer)?;
        super::bits_of(names.iter().map(String::as_str)).map_err(D::Error::custom)
    }
}

impl TypeNames {
    fn name(&self, raw: u64) -> String {
        self.known_name(raw).unwrap_or_else(|| self.hexadecimal(raw))
    }

    fn value(&self, name: &str) -> Result<u64, NameError> {
        if let Some(raw) = self.exact(name).or_else(|| self.parse_hexadecimal(name)) {
            return Ok(raw);
        }
        let names = self.table().iter().map(|entry| entry.name.as_str());
        Err(NameError {
            name: shortened(name),
            type_name: self.type_name,
            nearest: tileheap_json::nearest(name, names).map(str::to_owned),
        })
    }

    fn exact(&self, name: &str) -> Option<u64> {
        let table = self.table();
        let index = table.binary_search_by(|entry| entry.name.as_str().cmp(name));
        Some(table[index.ok()?].raw)
    }

    fn bit_names(&self, raw: u64) -> Vec<String> {
        let (mut names, mut unknown) = (Vec::new(), 0);
        for bit in (0..64).map(|shift| 1u64 << shift).filter(|bit| raw & bit != 0) {
            match self.known_name(bit) {
                Some(name) => names.push(name),
                None => unknown |= bit,
            }
        }
        if unknown != 0 {
            names.push(self.hexadecimal(unknown));
        }
        names
    }

    /// The name of exactly this value, derived from the `Debug` output of `ash`, or from a list.
    fn known_name(&self, raw: u64) -> Option<String> {
        self.derived(raw).or_else(|| {
            let listed = self.listed.iter().find(|entry| entry.1 == raw)?;
            Some(listed.0.to_owned())
        })
    }

    fn hexadecimal(&self, raw: u64) -> String {
        let mut text = String::with_capacity(18);
        let _ = match self.shape {
            Shape::Bits { wide: true } => write!(text, "0x{raw:016X}"),
            _ => write!(text, "0x{raw:08X}"),
        };
        text
    }

    fn parse_hexadecimal(&self, text: &str) -> Option<u64> {
        let digits = text.strip_prefix("0x")?;
        // `from_str_radix` would take a sign.
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let raw = u64::from_str_radix(digits, 16).ok()?;
        let fits = matches!(self.shape, Shape::Bits { wide: true }) || u32::try_from(raw).is_ok();
        fits.then_some(raw)
    }
}

/// Returns a name as error messages quote it: escaped, on one line, and cut after 80 characters.
pub fn shortened(text: &str) -> String {
    const MAX_LENGTH: usize = 80;
    let mut short: String = text
        .chars()
        .take(MAX_LENGTH)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(MAX_LENGTH).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk;

    fn round_trip<T: Vocabulary + PartialEq + std::fmt::Debug>() {
        assert!(!T::names().table().is_empty());
        for (name, value) in all::<T>() {
            assert_eq!(value_of::<T>(&name_of(value)), Ok(value), "{name}");
        }
    }

    #[test]
    fn every_name_reads_back() {
        round_trip::<vk::Format>();
        round_trip::<vk::ImageLayout>();
        round_trip::<vk::ImageType>();
        round_trip::<vk::AttachmentLoadOp>();
        round_trip::<vk::AttachmentStoreOp>();
        round_trip::<vk::SampleCountFlags>();
        round_trip::<vk::ImageUsageFlags>();
        round_trip::<vk::ImageCreateFlags>();
        round_trip::<vk::BufferUsageFlags>();
        round_trip::<vk::QueueFlags>();
        round_trip::<vk::PipelineStageFlags2>();
        round_trip::<vk::AccessFlags2>();
        round_trip::<vk::DependencyFlags>();
        round_trip::<vk::MemoryAllocateFlags>();
        round_trip::<vk::MemoryPropertyFlags>();
        round_trip::<vk::MemoryHeapFlags>();
    }

    #[test]
    fn names_are_those_of_the_registry() {
        fn called<T: Vocabulary>(value: T, name: &str) {
            assert_eq!(name_of(value), format!("VK_{name}"));
        }
        use vk::{ImageCreateFlags, PipelineStageFlags2};
        called(vk::Format::ASTC_10X5_SRGB_BLOCK, "FORMAT_ASTC_10x5_SRGB_BLOCK");
        let planes = vk::Format::G8_B8_R8_3PLANE_420_UNORM;
        called(planes, "FORMAT_G8_B8_R8_3PLANE_420_UNORM");
        called(vk::ImageLayout::PRESENT_SRC_KHR, "IMAGE_LAYOUT_PRESENT_SRC_KHR");
        called(vk::ImageType::TYPE_2D, "IMAGE_TYPE_2D");
        called(vk::SampleCountFlags::TYPE_4, "SAMPLE_COUNT_4_BIT");
        let mesh = PipelineStageFlags2::MESH_SHADER_EXT;
        called(mesh, "PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT");
        let array = ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE;
        called(array, "IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT");
        let tile = vk::MemoryHeapFlags::from_raw(8);
        called(tile, "MEMORY_HEAP_TILE_MEMORY_BIT_QCOM");
        called(vk::DependencyFlags::BY_REGION, "DEPENDENCY_BY_REGION_BIT");
        let address = vk::MemoryAllocateFlags::DEVICE_ADDRESS;
        called(address, "MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT");
        called(vk::AttachmentStoreOp::NONE, "ATTACHMENT_STORE_OP_NONE");
    }

    #[test]
    fn aliases_are_read() {
        let transfer = value_of("VK_PIPELINE_STAGE_2_TRANSFER_BIT");
        assert_eq!(transfer, Ok(vk::PipelineStageFlags2::ALL_TRANSFER));
        assert_eq!(value_of("VK_ACCESS_2_NONE"), Ok(vk::AccessFlags2::NONE));
        let format = value_of("VK_FORMAT_A4R4G4B4_UNORM_PACK16_EXT");
        assert_eq!(format, Ok(vk::Format::A4R4G4B4_UNORM_PACK16));
    }

    #[test]
    fn what_has_no_name_survives_in_hexadecimal() {
        let flags = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::from_raw(0x4000_0000);
        let names = bit_names(flags);
        assert_eq!(names, ["VK_IMAGE_USAGE_SAMPLED_BIT", "0x40000000"]);
        assert_eq!(bits_of(names.iter().map(String::as_str)), Ok(flags));
        let wide = vk::AccessFlags2::from_raw(1 << 63);
        assert_eq!(bit_names(wide), ["0x8000000000000000"]);
        assert_eq!(value_of("0x8000000000000000"), Ok(wide));
        let format = vk::Format::from_raw(-5);
        assert_eq!(value_of(&name_of(format)), Ok(format));
        assert!(value_of::<vk::Format>("0x8000000000000000").is_err());
        assert!(value_of::<vk::Format>("0x+5").is_err());
        assert!(value_of::<vk::Format>("0x").is_err());
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        fn nearest<T: Vocabulary + std::fmt::Debug>(name: &str) -> String {
            value_of::<T>(name).unwrap_err().nearest.unwrap_or_default()
        }
        assert_eq!(
            nearest::<vk::Format>("R8G8B8A8_UNORM"),
            "VK_FORMAT_R8G8B8A8_UNORM"
        );
        let usage = nearest::<vk::ImageUsageFlags>("VK_IMAGE_USAGE_SAMPLED");
        assert_eq!(usage, "VK_IMAGE_USAGE_SAMPLED_BIT");
        assert_eq!(nearest::<vk::QueueFlags>("graphics"), "VK_QUEUE_GRAPHICS_BIT");
        assert_eq!(nearest::<vk::QueueFlags>("¯\\_(ツ)_/¯"), "");
        let long = value_of::<vk::Format>(&"\n".repeat(1 << 20)).unwrap_err();
        assert!(long.to_string().len() < 250 && !long.to_string().contains('\n'));
    }
}
