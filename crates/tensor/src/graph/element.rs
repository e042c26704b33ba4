//! Types of elements.

use std::fmt;
use std::str::FromStr;

use ash::vk;
use serde::{Deserialize, Serialize};

/// What one element is; named as TVM and NumPy name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum ElementType {
    Float64,
    Float32,
    Float16,
    BFloat16,
    Int64,
    Int32,
    Int16,
    Int8,
    UInt64,
    UInt32,
    UInt16,
    UInt8,
    Bool,
}

/// By [`ElementType`]: name, bytes, and the image format of four of them.
const TABLE: [(ElementType, &str, u64, Option<vk::Format>); 13] = [
    (ElementType::Float64, "float64", 8, None),
    (
        ElementType::Float32,
        "float32",
        4,
        Some(vk::Format::R32G32B32A32_SFLOAT),
    ),
    (
        ElementType::Float16,
        "float16",
        2,
        Some(vk::Format::R16G16B16A16_SFLOAT),
    ),
    (ElementType::BFloat16, "bfloat16", 2, None),
    (ElementType::Int64, "int64", 8, None),
    (
        ElementType::Int32,
        "int32",
        4,
        Some(vk::Format::R32G32B32A32_SINT),
    ),
    (
        ElementType::Int16,
        "int16",
        2,
        Some(vk::Format::R16G16B16A16_SINT),
    ),
    (ElementType::Int8, "int8", 1, Some(vk::Format::R8G8B8A8_SINT)),
    (ElementType::UInt64, "uint64", 8, None),
    (
        ElementType::UInt32,
        "uint32",
        4,
        Some(vk::Format::R32G32B32A32_UINT),
    ),
    (
        ElementType::UInt16,
        "uint16",
        2,
        Some(vk::Format::R16G16B16A16_UINT),
    ),
    (ElementType::UInt8, "uint8", 1, Some(vk::Format::R8G8B8A8_UINT)),
    (ElementType::Bool, "bool", 1, Some(vk::Format::R8G8B8A8_UINT)),
];

impl ElementType {
    /// Bytes of one element.
    pub const fn bytes(self) -> u64 {
        TABLE[self as usize].2
    }

    /// Its name: `float16`.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The image format of four of them; none for types that no image has.
    pub const fn texel_format(self) -> Option<vk::Format> {
        TABLE[self as usize].3
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ElementType {
    type Err = String;

    /// Also the short names: `f32`, `i8`, `u16`, `bf16`.
    fn from_str(name: &str) -> Result<ElementType, String> {
        let named = |name: &str| TABLE.iter().find(|row| row.1 == name).map(|row| row.0);
        let short = || {
            let (kind, bits) = name.split_at(name.find(|c: char| c.is_ascii_digit())?);
            let kind = match kind {
                "f" => "float",
                "i" => "int",
                "u" => "uint",
                "bf" => "bfloat",
                _ => return None,
            };
            named(&format!("{kind}{bits}"))
        };
        let found = named(name).or_else(short);
        found.ok_or_else(|| format!("`{}` is no element type", tileheap_json::clip(name)))
    }
}
