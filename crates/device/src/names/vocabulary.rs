//! The Vulkan types that have names, and the rules that derive these names from `ash`'s output.

use std::sync::OnceLock;

use ash::vk;
use tileheap_units::CompactSort;

/// A Vulkan enumeration or flag type whose values have names. Sealed: implemented for the types that occur in
/// frames, profiles and plans.
pub trait Vocabulary: Names {
    /// Vulkan's name of the type.
    const TYPE: &'static str;

    /// The value as a number.
    fn to_raw(self) -> u64;
    /// Converts a number that fits the type to a value.
    fn from_raw_value(raw: u64) -> Self;
}

/// Provides the names of a [`Vocabulary`]. A separate supertrait, so that `Vocabulary` is sealed.
pub trait Names: Copy + std::fmt::Debug + Sized + 'static {
    /// The names of the type.
    fn names() -> &'static TypeNames;
}

/// The names of a type, for functions that are compiled once for all types.
pub struct TypeNames {
    /// Vulkan's name of the type.
    pub(super) type_name: &'static str,
    /// The prefix of every name.
    prefix: &'static str,
    /// The kind of values that the type has.
    pub(super) shape: Shape,
    /// Names that `ash` lacks, and aliases, with their values.
    pub(super) listed: &'static [(&'static str, u64)],
    /// Formats a number as `ash` formats the value.
    printed: fn(u64) -> String,
    /// All names with their values; filled on first use.
    table: OnceLock<Vec<Entry>>,
}

/// The kind of values that a type has, and thus the numbers to scan for names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Single bits of a mask, which has 64 bits if `wide` is true and 32 bits otherwise.
    Bits {
        /// True for a 64-bit mask.
        wide: bool,
    },
    /// Core values, which are small numbers, and the values of these extensions (`1000000000 + 1000 x (extension - 1) +
    /// n`).
    Values {
        /// The extension numbers, minus 1.
        extensions: &'static [u32],
    },
}

/// A name and its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) raw: u64,
}

/// Number of core values that are scanned: more than any type has. `EXTENSION_VALUES` is the number for each extension.
const CORE_VALUES: u32 = 256;
const EXTENSION_VALUES: u32 = 64;

macro_rules! vocabulary {
    ($($flags:ty, $raw:ty, $prefix:literal, $type:literal, $shape:expr, $listed:expr;)*) => {$(
        impl Vocabulary for $flags {
            const TYPE: &'static str = $type;

            fn to_raw(self) -> u64 {
                // An enumerant is a signed number; its low 32 bits are kept.
                const MASK: u64 = u64::MAX >> (64 - <$raw>::BITS);
                self.as_raw() as u64 & MASK
            }

            fn from_raw_value(raw: u64) -> Self {
                <$flags>::from_raw(raw as $raw)
            }
        }

        impl Names for $flags {
            fn names() -> &'static TypeNames {
                static NAMES: TypeNames = TypeNames {
                    type_name: $type,
                    prefix: $prefix,
                    shape: $shape,
                    listed: &$listed,
                    printed: |raw| format!("{:?}", <$flags>::from_raw_value(raw)),
                    table: OnceLock::new(),
                };
                &NAMES
            }
        }
    )*};
}

const BITS: Shape = Shape::Bits { wide: false };
const WIDE_BITS: Shape = Shape::Bits { wide: true };
const CORE: Shape = Shape::Values { extensions: &[] };

vocabulary! {
    vk::Format, i32, "VK_FORMAT_", "VkFormat", Shape::Values { extensions: &[54, 66, 156, 330, 340, 464, 470] }, [
        ("VK_FORMAT_A4R4G4B4_UNORM_PACK16_EXT", 1_000_340_000),
        ("VK_FORMAT_A4B4G4R4_UNORM_PACK16_EXT", 1_000_340_001),
        ("VK_FORMAT_A1B5G5R5_UNORM_PACK16", 1_000_470_000),
        ("VK_FORMAT_A8_UNORM", 1_000_470_001),
        ("VK_FORMAT_R16G16_SFIXED5_NV", 1_000_464_000),
    ];
    vk::ImageLayout, i32, "VK_IMAGE_LAYOUT_", "VkImageLayout",
        Shape::Values { extensions: &[1, 24, 111, 117, 164, 218, 232, 241, 299, 314, 339] }, [
        ("VK_IMAGE_LAYOUT_RENDERING_LOCAL_READ", 1_000_232_000),
    ];
    vk::ImageType, i32, "VK_IMAGE_TYPE_", "VkImageType", CORE, [];
    vk::ImageTiling, i32, "VK_IMAGE_TILING_", "VkImageTiling", Shape::Values { extensions: &[158] }, [];
    vk::ImageViewType, i32, "VK_IMAGE_VIEW_TYPE_", "VkImageViewType", CORE, [];
    vk::ImageAspectFlags, u32, "VK_IMAGE_ASPECT_", "VkImageAspectFlagBits", BITS, [];
    vk::ResolveModeFlags, u32, "VK_RESOLVE_MODE_", "VkResolveModeFlagBits", BITS, [
        ("VK_RESOLVE_MODE_NONE", 0),
    ];
    vk::AttachmentLoadOp, i32, "VK_ATTACHMENT_LOAD_OP_", "VkAttachmentLoadOp", Shape::Values { extensions: &[400] }, [
        ("VK_ATTACHMENT_LOAD_OP_NONE", 1_000_400_000),
        ("VK_ATTACHMENT_LOAD_OP_NONE_EXT", 1_000_400_000),
    ];
    vk::AttachmentStoreOp, i32, "VK_ATTACHMENT_STORE_OP_", "VkAttachmentStoreOp", Shape::Values { extensions: &[301] }, [];
    vk::SampleCountFlags, u32, "VK_SAMPLE_COUNT_", "VkSampleCountFlagBits", BITS, [];
    vk::ImageUsageFlags, u32, "VK_IMAGE_USAGE_", "VkImageUsageFlagBits", BITS, [
        ("VK_IMAGE_USAGE_HOST_TRANSFER_BIT", 0x0040_0000),
        ("VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM", 0x0800_0000),
    ];
    vk::ImageCreateFlags, u32, "VK_IMAGE_CREATE_", "VkImageCreateFlagBits", BITS, [];
    vk::BufferUsageFlags, u32, "VK_BUFFER_USAGE_", "VkBufferUsageFlagBits", BITS, [
        ("VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM", 0x0800_0000),
    ];
    vk::QueueFlags, u32, "VK_QUEUE_", "VkQueueFlagBits", BITS, [];
    vk::PipelineStageFlags2, u64, "VK_PIPELINE_STAGE_2_", "VkPipelineStageFlagBits2", WIDE_BITS, [
        ("VK_PIPELINE_STAGE_2_NONE", 0),
        ("VK_PIPELINE_STAGE_2_TRANSFER_BIT", 0x1000),
    ];
    vk::AccessFlags2, u64, "VK_ACCESS_2_", "VkAccessFlagBits2", WIDE_BITS, [
        ("VK_ACCESS_2_NONE", 0),
        ("VK_ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM", 1 << 51),
        ("VK_ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM", 1 << 52),
    ];
    vk::DependencyFlags, u32, "VK_DEPENDENCY_", "VkDependencyFlagBits", BITS, [];
    vk::MemoryAllocateFlags, u32, "VK_MEMORY_ALLOCATE_", "VkMemoryAllocateFlagBits", BITS, [];
    vk::MemoryPropertyFlags, u32, "VK_MEMORY_PROPERTY_", "VkMemoryPropertyFlagBits", BITS, [];
    vk::MemoryHeapFlags, u32, "VK_MEMORY_HEAP_", "VkMemoryHeapFlagBits", BITS, [
        ("VK_MEMORY_HEAP_TILE_MEMORY_BIT_QCOM", 0x8),
    ];
}

impl TypeNames {
    /// All names with their values, sorted by name.
    pub(super) fn table(&self) -> &[Entry] {
        self.table.get_or_init(|| self.build_table())
    }

    /// Builds the table from the derived and the listed names.
    fn build_table(&self) -> Vec<Entry> {
        let raws: Vec<u64> = match self.shape {
            Shape::Bits { wide } => (0..if wide { 64 } else { 32 }).map(|shift| 1 << shift).collect(),
            Shape::Values { extensions } => {
                let of_extension = |&number: &u32| {
                    let first = 1_000_000_000 + 1000 * number;
                    first..first + EXTENSION_VALUES
                };
                let of_extensions = extensions.iter().flat_map(of_extension);
                (0..CORE_VALUES).chain(of_extensions).map(u64::from).collect()
            }
        };
        let derived = raws.into_iter().filter_map(|raw| {
            let name = self.derived(raw)?;
            Some(Entry { name, raw })
        });
        let listed = self.listed.iter().map(|&(name, raw)| Entry {
            name: name.to_owned(),
            raw,
        });
        let mut table: Vec<Entry> = derived.chain(listed).collect();
        table.compact_sort();
        table.dedup();
        table
    }

    /// Derives Vulkan's name of a value; `None` if `ash` does not print the value as a single name.
    pub(super) fn derived(&self, raw: u64) -> Option<String> {
        let word = (self.printed)(raw);
        // Values without a name are printed as numbers, no bits at all as nothing, several as `A | B`.
        let named = word.starts_with(|first: char| first.is_ascii_uppercase()) && !word.contains(' ');
        if !named {
            return None;
        }
        let mut word = match word.strip_prefix("TYPE_") {
            // `ash` avoids names that start with a digit.
            Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit()) => rest,
            _ => &word,
        }
        .to_owned();
        if let Shape::Bits { .. } = self.shape {
            let (stem, vendor) = split_vendor(&word);
            word = format!("{stem}_BIT{vendor}");
        }
        if word.starts_with("ASTC_") {
            // The registry writes block extents with a small x: `ASTC_10x5`.
            word = word.replacen('X', "x", 1);
        }
        Some(format!("{}{word}", self.prefix))
    }
}

/// Splits the vendor suffix from a name: `MESH_SHADER_EXT` into `MESH_SHADER` and `_EXT`. The second part is empty for
/// core names.
fn split_vendor(word: &str) -> (&str, &str) {
    const VENDORS: [&str; 12] = [
        "_KHR", "_EXT", "_NV", "_QCOM", "_HUAWEI", "_AMD", "_AMDX", "_ARM", "_IMG", "_INTEL", "_VALVE",
        "_SEC",
    ];
    let vendor = VENDORS.iter().find(|vendor| word.ends_with(**vendor));
    word.split_at(word.len() - vendor.map_or(0, |vendor| vendor.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the table contains every named value among the numbers that the registry may assign, so that the
    /// list of extensions above is complete.
    fn no_value_is_missing<T: Vocabulary>() {
        let known: Vec<u64> = T::names().table().iter().map(|entry| entry.raw).collect();
        let extensions = (0..700).flat_map(|number| {
            let first = 1_000_000_000 + 1000 * number;
            first..first + 100
        });
        for raw in (0..1000).chain(extensions) {
            if T::names().derived(raw).is_some() {
                assert!(known.contains(&raw), "{} {raw}", T::TYPE);
            }
        }
    }

    #[test]
    fn the_tables_hold_every_name_that_ash_knows() {
        no_value_is_missing::<vk::Format>();
        no_value_is_missing::<vk::ImageLayout>();
        no_value_is_missing::<vk::ImageType>();
        no_value_is_missing::<vk::ImageTiling>();
        no_value_is_missing::<vk::ImageViewType>();
        no_value_is_missing::<vk::AttachmentLoadOp>();
        no_value_is_missing::<vk::AttachmentStoreOp>();
    }
}
