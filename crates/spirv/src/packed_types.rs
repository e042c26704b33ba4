//! Sizes of types without padding: a load or store of such a type accesses every byte.

use std::collections::BTreeMap;

use rspirv::spirv::Op;

use crate::module::Module;

/// Maximum nesting depth of types: malformed modules may have cyclic types.
const MAX_DEPTH: usize = 16;

/// Sizes of types without padding, each computed once.
pub(crate) struct PackedTypes<'a> {
    module: &'a Module,
    known: BTreeMap<u32, Option<u32>>,
}

impl PackedTypes<'_> {
    pub(crate) fn new(module: &Module) -> PackedTypes<'_> {
        PackedTypes {
            module,
            known: BTreeMap::new(),
        }
    }

    /// Returns the size of a type in bytes, if a load or store of the type accesses all of its bytes. O(members), once for each type.
    pub(crate) fn size(&mut self, id: u32) -> Option<u32> {
        self.size_within(id, 0)
    }

    /// Returns the size of an integer or floating-point number in bytes.
    pub(crate) fn scalar(&self, id: u32) -> Option<u32> {
        let kind = self.module.code.definition(id)?;
        let width = self.module.code.operand(kind, 0);
        let number = matches!(kind.op, Op::TypeInt | Op::TypeFloat);
        (number && [8, 16, 32, 64].contains(&width)).then_some(width / 8)
    }

    fn size_within(&mut self, id: u32, depth: usize) -> Option<u32> {
        if depth == MAX_DEPTH {
            return None;
        }
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let size = self.compute(id, depth);
        self.known.insert(id, size);
        size
    }

    fn compute(&mut self, id: u32, depth: usize) -> Option<u32> {
        let module = self.module;
        let kind = module.code.definition(id)?;
        let operands = module.code.operands(kind);
        match kind.op {
            Op::TypeInt | Op::TypeFloat => self.scalar(id),
            Op::TypeVector => self.scalar(operands[0])?.checked_mul(operands[1]),
            Op::TypeArray => {
                let (size, length) = (
                    self.size_within(operands[0], depth + 1)?,
                    module.constant(operands[1])?,
                );
                let gapless = module.decorations(id).array_stride == Some(size);
                gapless.then(|| size.checked_mul(length))?
            }
            Op::TypeStruct => {
                let mut end = 0u32;
                for (member, &inner) in (0..).zip(operands) {
                    if module.member(id, member).offset != Some(end) {
                        return None;
                    }
                    end = end.checked_add(self.size_within(inner, depth + 1)?)?;
                }
                Some(end)
            }
            _ => None,
        }
    }
}
