//! The instructions of SPIR-V modules, as words to rewrite. [`tileheap_spirv`] analyzes shaders.
//!
//! Source: SPIR-V 1.6, sections 2.3 (physical layout), 3.20 (decorations), 3.52 (instructions).

/// Opcodes of the instructions that the rewriting of shaders reads or adds.
pub(super) mod op {
    pub(in crate::model) const LINE: u32 = 8;
    pub(in crate::model) const EXTENSION: u32 = 10;
    pub(in crate::model) const ENTRY_POINT: u32 = 15;
    pub(in crate::model) const EXECUTION_MODE: u32 = 16;
    pub(in crate::model) const CAPABILITY: u32 = 17;
    pub(in crate::model) const TYPE_INT: u32 = 21;
    pub(in crate::model) const TYPE_VECTOR: u32 = 23;
    pub(in crate::model) const TYPE_STRUCT: u32 = 30;
    pub(in crate::model) const TYPE_POINTER: u32 = 32;
    pub(in crate::model) const CONSTANT: u32 = 43;
    pub(in crate::model) const FUNCTION: u32 = 54;
    pub(in crate::model) const VARIABLE: u32 = 59;
    pub(in crate::model) const LOAD: u32 = 61;
    pub(in crate::model) const STORE: u32 = 62;
    pub(in crate::model) const ACCESS_CHAIN: u32 = 65;
    pub(in crate::model) const IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
    pub(in crate::model) const DECORATE: u32 = 71;
    pub(in crate::model) const MEMBER_DECORATE: u32 = 72;
    pub(in crate::model) const LABEL: u32 = 248;
    pub(in crate::model) const NO_LINE: u32 = 317;
}

/// Decorations that the rewriting of shaders reads or adds.
pub(super) mod decoration {
    pub(in crate::model) const BLOCK: u32 = 2;
    pub(in crate::model) const BUILT_IN: u32 = 11;
    pub(in crate::model) const BINDING: u32 = 33;
    pub(in crate::model) const DESCRIPTOR_SET: u32 = 34;
    pub(in crate::model) const OFFSET: u32 = 35;
}

/// The storage class of tile attachments.
///
/// Source: `SPV_QCOM_tile_shading` revision 1.
pub(super) const TILE_ATTACHMENT: u32 = 4491;

/// Iterates over the instructions of a module, as opcodes and operands, up to the first malformed one.
pub(super) fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(5..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let length = (first >> 16) as usize;
        let this = rest.get(1..length)?;
        rest = &rest[length..];
        Some((first & 0xFFFF, this))
    })
}
