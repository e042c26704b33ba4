//! Element types.

use std::fmt;
use std::str::FromStr;

use ash::vk;
use serde::{Deserialize, Serialize};

/// The type of an element, named as in TVM and NumPy.
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
    Int4,
    Int2,
    UInt4,
    UInt2,
    Complex128,
    Complex64,
    Float8E3M4,
    Float8E4M3,
    Float8E4M3B11Fnuz,
    Float8E4M3Fn,
    Float8E4M3Fnuz,
    Float8E5M2,
    Float8E5M2Fnuz,
    Float8E8M0Fnu,
    Float6E2M3Fn,
    Float6E3M2Fn,
    Float4E2M1Fn,
    /// An opaque type, of which only the width is known: 1 bit. The types after it are opaque too.
    Bits1,
    Bits2,
    Bits4,
    Bits6,
    Bits8,
    Bits16,
    Bits32,
    Bits64,
    Bits128,
}

type Row = (ElementType, &'static str, u64, Option<vk::Format>);

/// By [`ElementType`]: name, bits, and the format of texels with four such elements. Elements narrower than a byte are packed.
const TABLE: [Row; 39] = [
    (ElementType::Float64, "float64", 64, None),
    (
        ElementType::Float32,
        "float32",
        32,
        Some(vk::Format::R32G32B32A32_SFLOAT),
    ),
    (
        ElementType::Float16,
        "float16",
        16,
        Some(vk::Format::R16G16B16A16_SFLOAT),
    ),
    (ElementType::BFloat16, "bfloat16", 16, None),
    (ElementType::Int64, "int64", 64, None),
    (
        ElementType::Int32,
        "int32",
        32,
        Some(vk::Format::R32G32B32A32_SINT),
    ),
    (
        ElementType::Int16,
        "int16",
        16,
        Some(vk::Format::R16G16B16A16_SINT),
    ),
    (ElementType::Int8, "int8", 8, Some(vk::Format::R8G8B8A8_SINT)),
    (ElementType::UInt64, "uint64", 64, None),
    (
        ElementType::UInt32,
        "uint32",
        32,
        Some(vk::Format::R32G32B32A32_UINT),
    ),
    (
        ElementType::UInt16,
        "uint16",
        16,
        Some(vk::Format::R16G16B16A16_UINT),
    ),
    (ElementType::UInt8, "uint8", 8, Some(vk::Format::R8G8B8A8_UINT)),
    (ElementType::Bool, "bool", 8, Some(vk::Format::R8G8B8A8_UINT)),
    (ElementType::Int4, "int4", 4, None),
    (ElementType::Int2, "int2", 2, None),
    (ElementType::UInt4, "uint4", 4, None),
    (ElementType::UInt2, "uint2", 2, None),
    (ElementType::Complex128, "complex128", 128, None),
    (ElementType::Complex64, "complex64", 64, None),
    (ElementType::Float8E3M4, "float8_e3m4", 8, None),
    (ElementType::Float8E4M3, "float8_e4m3", 8, None),
    (ElementType::Float8E4M3B11Fnuz, "float8_e4m3b11fnuz", 8, None),
    (ElementType::Float8E4M3Fn, "float8_e4m3fn", 8, None),
    (ElementType::Float8E4M3Fnuz, "float8_e4m3fnuz", 8, None),
    (ElementType::Float8E5M2, "float8_e5m2", 8, None),
    (ElementType::Float8E5M2Fnuz, "float8_e5m2fnuz", 8, None),
    (ElementType::Float8E8M0Fnu, "float8_e8m0fnu", 8, None),
    (ElementType::Float6E2M3Fn, "float6_e2m3fn", 6, None),
    (ElementType::Float6E3M2Fn, "float6_e3m2fn", 6, None),
    (ElementType::Float4E2M1Fn, "float4_e2m1fn", 4, None),
    (ElementType::Bits1, "bits1", 1, None),
    (ElementType::Bits2, "bits2", 2, None),
    (ElementType::Bits4, "bits4", 4, None),
    (ElementType::Bits6, "bits6", 6, None),
    (ElementType::Bits8, "bits8", 8, None),
    (ElementType::Bits16, "bits16", 16, None),
    (ElementType::Bits32, "bits32", 32, None),
    (ElementType::Bits64, "bits64", 64, None),
    (ElementType::Bits128, "bits128", 128, None),
];

impl ElementType {
    /// Number of bits of one element.
    pub const fn bits(self) -> u64 {
        TABLE[self as usize].2
    }

    /// The size of `count` packed elements in bytes, rounded up; `None` if it exceeds 64 bits.
    ///
    /// ```
    /// use tileheap_tensor::ElementType;
    ///
    /// assert_eq!(ElementType::Float16.bytes_of(3), Some(6));
    /// assert_eq!(ElementType::Int4.bytes_of(3), Some(2));
    /// assert_eq!(ElementType::Float6E2M3Fn.bytes_of(3), Some(3)); // 18 bits
    /// ```
    pub const fn bytes_of(self, count: u64) -> Option<u64> {
        let bytes = (count as u128 * self.bits() as u128).div_ceil(8);
        if bytes > u64::MAX as u128 {
            return None;
        }
        Some(bytes as u64)
    }

    /// The narrowest opaque type of at least this width; `None` above 128 bits.
    pub fn of_bits(bits: u64) -> Option<ElementType> {
        let mut opaque = TABLE.iter().filter(|row| row.0 >= ElementType::Bits1);
        opaque.find(|row| row.2 >= bits).map(|row| row.0)
    }

    /// The name of the type, such as `float16`.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The four-component image format of this element type, if Vulkan has one.
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

    /// Parses the name of a type. Short names, such as `f32`, `i8`, `u16` and `bf16`, are also accepted.
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
        found.ok_or_else(|| format!("`{}` is not an element type", tileheap_json::clip(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_types() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, index, "{}", row.1);
            assert_eq!(row.1.parse(), Ok(row.0));
        }
        assert_eq!("i4".parse(), Ok(ElementType::Int4));
    }

    #[test]
    fn types_without_a_meaning_are_as_narrow_as_possible() {
        let widths = [0, 1, 3, 5, 6, 7, 12, 64, 65, 129].map(ElementType::of_bits);
        use ElementType::{Bits1, Bits4, Bits6, Bits8, Bits16, Bits64, Bits128};
        let expected = [Bits1, Bits1, Bits4, Bits6, Bits6, Bits8, Bits16, Bits64, Bits128].map(Some);
        assert_eq!(widths[..9], expected);
        assert_eq!(widths[9], None);
    }
}
