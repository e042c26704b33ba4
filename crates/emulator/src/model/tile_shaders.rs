//! Rewrites shaders of `SPV_QCOM_tile_shading` for drivers without it.
//!
//! ```text
//! TileAttachmentQCOM variables   ─► UniformConstant: images of the existing descriptors
//! TileOffsetQCOM and the others  ─► Private, set at the beginning of the entry point from a uniform block, the tile's record
//! TileShadingRateQCOM            ─► LocalSize: a dispatch has as many workgroups as are needed to cover the tile
//! ```
//! Source: `SPV_QCOM_tile_shading` revision 1; SPIR-V 1.6, sections 2.4 (logical layout) and 3.

use std::collections::HashMap;

use super::spirv::{TILE_ATTACHMENT, decoration, instructions, op};

/// Size of the tile's record in the uniform block: offset, size and apron, each of [`MEMBER_BYTES`] bytes.
pub(crate) const RECORD_BYTES: u64 = 48;
const MEMBER_BYTES: u32 = 16;

/// The workgroup size of shaders that have a shading rate. Tile sizes are multiples of this size times the largest rate.
pub(crate) const GROUP: [u32; 3] = [8, 4, 1];

/// A rewritten shader.
#[derive(Debug)]
pub(crate) struct TileShader {
    pub(crate) words: Vec<u32>,
    /// Pixels per invocation, for `vkCmdDispatchTileQCOM`.
    pub(crate) rate: Option<[u32; 3]>,
}

const CAPABILITY: u32 = 4495;
const BUILT_INS: [u32; 3] = [4492, 4493, 4494];
const NON_COHERENT_READ: u32 = 4489;
const SHADING_RATE: u32 = 4490;
const SPIRV_1_4: u32 = 0x0001_0400;

mod class {
    pub(super) const UNIFORM_CONSTANT: u32 = 0;
    pub(super) const UNIFORM: u32 = 2;
    pub(super) const PRIVATE: u32 = 6;
}
const LOCAL_SIZE: u32 = 17;

/// A variable that is decorated with a built-in of the extension.
struct BuiltIn {
    variable: u32,
    /// The index of the built-in's member in the record.
    member: u32,
    /// The id of the variable's type.
    kind: u32,
    /// The id of the type of its components.
    component: u32,
    /// The id of a new type: a private pointer to the variable's type.
    pointer: u32,
    /// The id of a new type: a private pointer to a component.
    component_pointer: u32,
    /// The id of a new type: a pointer to the record's member in the uniform block.
    uniform_pointer: u32,
    index: u32,
}

fn instruction(out: &mut Vec<u32>, operation: u32, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | operation);
    out.extend(operands);
}

/// Rewrites a shader with the capability `TileShadingQCOM`; the tile's record is binding 0 of descriptor set `set`. `None` for
/// other shaders, and for malformed ones.
pub(crate) fn rewrite(words: &[u32], set: u32) -> Option<TileShader> {
    // Capabilities come first.
    let mut capabilities = instructions(words).take_while(|(operation, _)| *operation == op::CAPABILITY);
    if !capabilities.any(|(_, operands)| operands == [CAPABILITY]) {
        return None;
    }
    let mut bound = *words.get(3)?;
    let mut fresh = || {
        let id = bound;
        bound = bound.wrapping_add(1);
        id
    };
    let (block, block_pointer, record) = (fresh(), fresh(), fresh());
    let built_ins = find_built_ins(words, &mut fresh)?;
    let entries: Vec<u32> = instructions(words)
        .filter(|(operation, _)| *operation == op::ENTRY_POINT)
        .map(|(_, operands)| operands.get(1).copied())
        .collect::<Option<_>>()?;
    let of = |id: &u32| built_ins.iter().find(|built_in| built_in.variable == *id);
    let hoisted: Vec<u32> = built_ins.iter().flat_map(|it| [it.component, it.kind]).collect();
    let mut rate = None;
    let mut out = words[..5].to_vec();
    let (mut has_annotations, mut has_types, mut in_entry, mut starts) = (false, false, false, false);
    for (operation, operands) in instructions(words) {
        // The first type or constant.
        if !has_annotations && matches!(operation, 19..=53 | op::VARIABLE) {
            has_annotations = true;
            annotate(&mut out, &built_ins, block, record, set);
            let definitions = instructions(words)
                .filter(|(operation, _)| matches!(*operation, op::TYPE_INT | op::TYPE_VECTOR));
            for (operation, operands) in
                definitions.filter(|(_, operands)| operands.first().is_some_and(|id| hoisted.contains(id)))
            {
                instruction(&mut out, operation, operands);
            }
        }
        if !has_types && operation == op::FUNCTION {
            has_types = true;
            declare(&mut out, &built_ins, block, block_pointer, record);
        }
        if starts && !matches!(operation, op::LABEL | op::VARIABLE | op::LINE | op::NO_LINE) {
            (starts, in_entry) = (false, false);
            for built_in in &built_ins {
                let (at, value) = (fresh(), fresh());
                instruction(
                    &mut out,
                    op::ACCESS_CHAIN,
                    &[built_in.uniform_pointer, at, record, built_in.index],
                );
                instruction(&mut out, op::LOAD, &[built_in.kind, value, at]);
                instruction(&mut out, op::STORE, &[built_in.variable, value]);
            }
        }
        match (operation, operands) {
            (op::CAPABILITY, [CAPABILITY]) => {}
            (op::EXTENSION, name) if is_extension(name) => {}
            (op::ENTRY_POINT, [model, entry, rest @ ..]) => {
                let name = rest.iter().position(|word| word.to_ne_bytes().contains(&0))? + 1;
                let mut kept = [&[*model, *entry], &rest[..name]].concat();
                // Before 1.4 the interface only contains inputs and outputs.
                let all = words[1] >= SPIRV_1_4;
                kept.extend(rest[name..].iter().filter(|id| all || of(id).is_none()));
                kept.extend((all && !built_ins.is_empty()).then_some(record));
                instruction(&mut out, operation, &kept);
            }
            (op::EXECUTION_MODE, [_, NON_COHERENT_READ, ..]) => {}
            (op::EXECUTION_MODE, [entry, SHADING_RATE, x, y, z]) => {
                rate = Some([*x, *y, *z]);
                let [x, y, z] = GROUP;
                instruction(&mut out, operation, &[*entry, LOCAL_SIZE, x, y, z]);
            }
            (op::DECORATE, [id, decoration::BUILT_IN, ..]) if of(id).is_some() => {}
            (op::TYPE_INT | op::TYPE_VECTOR, [id, ..]) if hoisted.contains(id) => {}
            (op::TYPE_POINTER, [id, TILE_ATTACHMENT, kind]) => {
                instruction(&mut out, operation, &[*id, class::UNIFORM_CONSTANT, *kind]);
            }
            (op::VARIABLE, [_, id, ..]) if of(id).is_some() => {}
            (op::VARIABLE, [kind, id, TILE_ATTACHMENT]) => {
                instruction(&mut out, operation, &[*kind, *id, class::UNIFORM_CONSTANT]);
            }
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, id, base, rest @ ..])
                if of(base).is_some() =>
            {
                let pointer = of(base)?.component_pointer;
                instruction(&mut out, operation, &[&[pointer, *id, *base], rest].concat());
            }
            _ => {
                in_entry |= operation == op::FUNCTION && entries.contains(operands.get(1)?);
                starts |= in_entry && operation == op::LABEL;
                instruction(&mut out, operation, operands);
            }
        }
    }
    out[3] = bound;
    Some(TileShader { words: out, rate })
}

fn is_extension(name: &[u32]) -> bool {
    let bytes: Vec<u8> = name.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.starts_with(b"SPV_QCOM_tile_shading\0")
}

fn find_built_ins(words: &[u32], fresh: &mut impl FnMut() -> u32) -> Option<Vec<BuiltIn>> {
    let (mut pointees, mut components) = (HashMap::new(), HashMap::new());
    let (mut members, mut found) = (Vec::new(), Vec::new());
    for (operation, operands) in instructions(words) {
        match (operation, operands) {
            (op::DECORATE, [id, decoration::BUILT_IN, built_in]) => {
                let member = BUILT_INS.iter().position(|own| own == built_in);
                members.extend(member.map(|member| (*id, member as u32)));
            }
            (op::TYPE_POINTER, [id, _, kind]) => {
                pointees.insert(*id, *kind);
            }
            (op::TYPE_VECTOR, [id, component, _]) => {
                components.insert(*id, *component);
            }
            (op::VARIABLE, [pointer, id, ..]) => {
                if let Some((variable, member)) = members.iter().find(|(variable, _)| variable == id) {
                    let kind = *pointees.get(pointer)?;
                    found.push(BuiltIn {
                        variable: *variable,
                        member: *member,
                        kind,
                        component: *components.get(&kind)?,
                        pointer: fresh(),
                        component_pointer: fresh(),
                        uniform_pointer: fresh(),
                        index: fresh(),
                    });
                }
            }
            _ => {}
        }
    }
    Some(found)
}

fn annotate(out: &mut Vec<u32>, built_ins: &[BuiltIn], block: u32, record: u32, set: u32) {
    if built_ins.is_empty() {
        return;
    }
    instruction(out, op::DECORATE, &[block, decoration::BLOCK]);
    for (index, built_in) in (0u32..).zip(built_ins) {
        let offset = built_in.member * MEMBER_BYTES;
        instruction(
            out,
            op::MEMBER_DECORATE,
            &[block, index, decoration::OFFSET, offset],
        );
    }
    instruction(out, op::DECORATE, &[record, decoration::DESCRIPTOR_SET, set]);
    instruction(out, op::DECORATE, &[record, decoration::BINDING, 0]);
}

fn declare(out: &mut Vec<u32>, built_ins: &[BuiltIn], block: u32, block_pointer: u32, record: u32) {
    if built_ins.is_empty() {
        return;
    }
    let members: Vec<u32> = std::iter::once(block)
        .chain(built_ins.iter().map(|it| it.kind))
        .collect();
    instruction(out, op::TYPE_STRUCT, &members);
    instruction(out, op::TYPE_POINTER, &[block_pointer, class::UNIFORM, block]);
    instruction(out, op::VARIABLE, &[block_pointer, record, class::UNIFORM]);
    for (index, it) in (0u32..).zip(built_ins) {
        instruction(out, op::TYPE_POINTER, &[it.pointer, class::PRIVATE, it.kind]);
        instruction(
            out,
            op::TYPE_POINTER,
            &[it.component_pointer, class::PRIVATE, it.component],
        );
        instruction(
            out,
            op::TYPE_POINTER,
            &[it.uniform_pointer, class::UNIFORM, it.kind],
        );
        instruction(out, op::CONSTANT, &[it.component, it.index, index]);
        instruction(out, op::VARIABLE, &[it.pointer, it.variable, class::PRIVATE]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<u32> {
        bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    const RATE: &[u8] = include_bytes!("../../tests/layer/tile_shaders/rate.spv");
    const COUNT: &[u8] = include_bytes!("../../tests/layer/tile_shaders/count.spv");

    #[test]
    fn nothing_of_the_extension_is_left() {
        for (shader, rate) in [(RATE, Some([2, 1, 1])), (COUNT, None)] {
            let rewritten = rewrite(&words(shader), 7).expect("it has the capability");
            assert_eq!(rewritten.rate, rate);
            for (operation, operands) in instructions(&rewritten.words) {
                let own = 4489..=4495;
                assert!(
                    !matches!(operation, 10 | 16 | 17 | 32 | 59 | 71)
                        || !operands.iter().any(|word| own.contains(word)),
                    "{operation} {operands:?}"
                );
                assert!(operation != op::EXTENSION || !is_extension(operands));
            }
        }
    }

    #[test]
    fn other_shaders_and_damaged_ones_are_left_alone() {
        let good = words(RATE);
        assert!(rewrite(&[], 7).is_none());
        let plain: Vec<u32> = rewrite(&good, 7).unwrap().words;
        assert!(rewrite(&plain, 7).is_none());
        for end in 0..good.len() {
            rewrite(&good[..end], 7);
        }
        for index in 0..good.len() {
            for word in [0, 1 << 16 | 59, u32::MAX] {
                let mut bad = good.clone();
                bad[index] = word;
                rewrite(&bad, 7);
            }
        }
    }
}
