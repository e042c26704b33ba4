//! The format names of loose descriptions.

use ash::vk;

use crate::names;

/// Result of reading a loose format name.
pub(super) enum FormatReading {
    Named(vk::Format),
    /// A format chosen by its size per texel, since the name does not determine one.
    Guessed(vk::Format),
}

/// The format with a loose name, or else a format with `bytes_per_texel`; `None` if neither determines one.
pub(super) fn parse_format(name: &str, bytes_per_texel: u32, depth: bool) -> Option<FormatReading> {
    let name = name.trim().to_ascii_uppercase();
    let bare = name.strip_prefix("VK_FORMAT_").unwrap_or(&name);
    let named = listed(bare)
        .or_else(|| completed(bare))
        .or_else(|| completed(&bare.replace("_FLOAT", "_SFLOAT")))
        .or_else(|| completed(&bare.replace("_FLOAT", "_UFLOAT")))
        .or_else(|| shorthand(bare));
    match named {
        Some(format) => Some(FormatReading::Named(format)),
        None => by_size(bytes_per_texel, depth).map(FormatReading::Guessed),
    }
}

/// The format with a common name that the naming rules do not cover.
fn listed(name: &str) -> Option<vk::Format> {
    use vk::Format as F;
    Some(match name {
        "SWAPCHAIN" | "BACKBUFFER" | "SURFACE" => F::B8G8R8A8_UNORM,
        "R11G11B10F" | "R11G11B10" | "RG11B10F" | "R11G11B10_FLOAT" | "R11FG11FB10F" => {
            F::B10G11R11_UFLOAT_PACK32
        }
        "RGB10A2" | "R10G10B10A2" | "R10G10B10A2_UNORM" => F::A2B10G10R10_UNORM_PACK32,
        "RGB9E5" | "R9G9B9E5" | "R9G9B9E5_SHAREDEXP" => F::E5B9G9R9_UFLOAT_PACK32,
        "RGB565" | "R5G6B5" => F::R5G6B5_UNORM_PACK16,
        "D24S8" | "D24_S8" => F::D24_UNORM_S8_UINT,
        "D24" | "D24X8" | "X8D24" | "D24_UNORM" => F::X8_D24_UNORM_PACK32,
        "D32F" => F::D32_SFLOAT,
        "D32S8" | "D32FS8" | "D32F_S8" | "D32_S8" | "D32_FLOAT_S8X24_UINT" => F::D32_SFLOAT_S8_UINT,
        "D16S8" => F::D16_UNORM_S8_UINT,
        _ => return None,
    })
}

/// The format with a Vulkan name that may lack the numeric type, the last part (`_PACK32`, `_PACK16` or `_BLOCK`), or both.
fn completed(name: &str) -> Option<vk::Format> {
    const NUMERIC_TYPES: [&str; 5] = ["", "_UNORM", "_UFLOAT", "_SFLOAT", "_UINT"];
    const SUFFIXES: [&str; 4] = ["", "_PACK32", "_PACK16", "_BLOCK"];
    if name.is_empty() {
        return None;
    }
    let candidates = NUMERIC_TYPES
        .iter()
        .flat_map(|kind| SUFFIXES.iter().map(move |end| format!("{name}{kind}{end}")));
    candidates.into_iter().find_map(|candidate| full_name(&candidate))
}

fn full_name(name: &str) -> Option<vk::Format> {
    // The only lower-case letter in the registry is the x of `ASTC_4x4`.
    let name = match name.strip_prefix("ASTC_") {
        Some(rest) => format!("VK_FORMAT_ASTC_{}", rest.replacen('X', "x", 1)),
        None => format!("VK_FORMAT_{name}"),
    };
    names::exact(&name)
}

/// The format with a name like `RGBA16F`: channels, bits per channel, and numeric type. Without a numeric type, it is `UNORM`, or `SFLOAT` if no such `UNORM`
/// format exists.
fn shorthand(name: &str) -> Option<vk::Format> {
    let bits_at = name.find(|c: char| c.is_ascii_digit())?;
    let (channels, rest) = name.split_at(bits_at);
    if !["R", "RG", "RGB", "RGBA", "BGR", "BGRA"].contains(&channels) {
        return None;
    }
    let kind_at = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (bits, kind) = rest.split_at(kind_at);
    let kinds: &[&str] = match kind.trim_start_matches('_') {
        "" => &["UNORM", "SFLOAT"],
        "UNORM" | "UN" => &["UNORM"],
        "F" | "FLOAT" | "SFLOAT" => &["SFLOAT"],
        "SRGB" => &["SRGB"],
        "UI" | "U" | "UINT" => &["UINT"],
        "I" | "SI" | "SINT" => &["SINT"],
        "SN" | "SNORM" => &["SNORM"],
        _ => return None,
    };
    let components: String = channels
        .chars()
        .map(|channel| format!("{channel}{bits}"))
        .collect();
    kinds
        .iter()
        .find_map(|kind| full_name(&format!("{components}_{kind}")))
}

fn by_size(bytes: u32, depth: bool) -> Option<vk::Format> {
    use vk::Format as F;
    Some(match (bytes, depth) {
        (1, true) => F::S8_UINT,
        (2, true) => F::D16_UNORM,
        (4, true) => F::D32_SFLOAT,
        (5 | 8, true) => F::D32_SFLOAT_S8_UINT,
        (1, false) => F::R8_UNORM,
        (2, false) => F::R8G8_UNORM,
        (4, false) => F::R8G8B8A8_UNORM,
        (8, false) => F::R16G16B16A16_SFLOAT,
        (12, false) => F::R32G32B32_SFLOAT,
        (16, false) => F::R32G32B32A32_SFLOAT,
        _ => return None,
    })
}
