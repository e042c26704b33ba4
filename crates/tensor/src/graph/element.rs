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

impl ElementType {
    /// Every type.
    pub const ALL: [ElementType; 13] = [
        ElementType::Float64,
        ElementType::Float32,
        ElementType::Float16,
        ElementType::BFloat16,
        ElementType::Int64,
        ElementType::Int32,
        ElementType::Int16,
        ElementType::Int8,
        ElementType::UInt64,
        ElementType::UInt32,
        ElementType::UInt16,
        ElementType::UInt8,
        ElementType::Bool,
    ];

    /// Bytes of one element.
    pub const fn bytes(self) -> u64 {
        match self {
            ElementType::Float64 | ElementType::Int64 | ElementType::UInt64 => 8,
            ElementType::Float32 | ElementType::Int32 | ElementType::UInt32 => 4,
            ElementType::Float16 | ElementType::BFloat16 | ElementType::Int16 | ElementType::UInt16 => 2,
            ElementType::Int8 | ElementType::UInt8 | ElementType::Bool => 1,
        }
    }

    /// Its name: `float16`.
    pub const fn name(self) -> &'static str {
        match self {
            ElementType::Float64 => "float64",
            ElementType::Float32 => "float32",
            ElementType::Float16 => "float16",
            ElementType::BFloat16 => "bfloat16",
            ElementType::Int64 => "int64",
            ElementType::Int32 => "int32",
            ElementType::Int16 => "int16",
            ElementType::Int8 => "int8",
            ElementType::UInt64 => "uint64",
            ElementType::UInt32 => "uint32",
            ElementType::UInt16 => "uint16",
            ElementType::UInt8 => "uint8",
            ElementType::Bool => "bool",
        }
    }

    /// The image format of four of them; none for types that no image has.
    pub const fn texel_format(self) -> Option<vk::Format> {
        Some(match self {
            ElementType::Float32 => vk::Format::R32G32B32A32_SFLOAT,
            ElementType::Float16 => vk::Format::R16G16B16A16_SFLOAT,
            ElementType::Int32 => vk::Format::R32G32B32A32_SINT,
            ElementType::UInt32 => vk::Format::R32G32B32A32_UINT,
            ElementType::Int16 => vk::Format::R16G16B16A16_SINT,
            ElementType::UInt16 => vk::Format::R16G16B16A16_UINT,
            ElementType::Int8 => vk::Format::R8G8B8A8_SINT,
            ElementType::UInt8 | ElementType::Bool => vk::Format::R8G8B8A8_UINT,
            _ => return None,
        })
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
        let long = ElementType::ALL
            .into_iter()
            .find(|element| element.name() == name);
        let short = || {
            let (kind, bits) = name.split_at(name.find(|c: char| c.is_ascii_digit())?);
            let kind = match kind {
                "f" => "float",
                "i" => "int",
                "u" => "uint",
                "bf" => "bfloat",
                _ => return None,
            };
            let long = format!("{kind}{bits}");
            ElementType::ALL
                .into_iter()
                .find(|element| element.name() == long)
        };
        long.or_else(short)
            .ok_or_else(|| format!("`{}` is no element type", tileheap_json::clip(name)))
    }
}
