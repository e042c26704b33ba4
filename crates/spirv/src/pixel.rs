//! Distances from its own pixel at which a fragment shader fetches, if coordinates consist of `gl_FragCoord` and constants.

use std::collections::BTreeMap;

use rspirv::spirv::{BuiltIn, ImageOperands, Op, StorageClass};

use crate::code::Instruction;
use crate::effect::reads_image;
use crate::module::Module;
use crate::private::{PrivateMemory, StoredValue};
use crate::reach::ReachableCode;
use tileheap_units::ReadReach;

/// A component of a coordinate.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    /// The pixel's coordinate on this axis, plus an offset.
    Pixel(u32, i64),
    Constant(i64),
}

struct Coordinates<'a> {
    module: &'a Module,
    private: PrivateMemory,
    /// Steps left for all coordinates in total: a hostile module may use every value many times.
    steps: u32,
}

/// Returns the reach of an entry point's fetches from images, by variable; variables that are not listed are read anywhere.
pub(crate) fn reaches(module: &Module, reach: &ReachableCode) -> BTreeMap<u32, ReadReach> {
    let mut reaches: BTreeMap<u32, ReadReach> = BTreeMap::new();
    let instructions = || {
        reach
            .instructions
            .iter()
            .map(|&number| &module.code.instructions[number])
    };
    let mut coordinates = Coordinates {
        module,
        private: PrivateMemory::new(module, reach),
        steps: 1 << 16,
    };
    for one in instructions() {
        let texels = match one.op {
            Op::ImageFetch | Op::ImageRead | Op::ImageSparseFetch | Op::ImageSparseRead => {
                coordinates.fetch_reach(one)
            }
            Op::ImageTexelPointer => None,
            op if reads_image(op) => None,
            _ => continue,
        };
        let Some(variable) = image_variable(module, module.code.operand(one, 0)) else {
            return BTreeMap::new(); // It may be any image.
        };
        let fetch = texels.map_or(ReadReach::Anywhere, ReadReach::Texels);
        let known = reaches.entry(variable).or_insert(fetch);
        *known = fetch.max(*known);
    }
    reaches
}

/// Returns the variable of a descriptor, or of an array of descriptors.
fn image_variable(module: &Module, mut id: u32) -> Option<u32> {
    for _ in 0..8 {
        let one = module.code.definition(id)?;
        match one.op {
            Op::Variable => return Some(id),
            Op::Load
            | Op::Image
            | Op::SampledImage
            | Op::CopyObject
            | Op::AccessChain
            | Op::InBoundsAccessChain => {
                id = module.code.operand(one, 0);
            }
            _ => return None,
        }
    }
    None
}

impl Coordinates<'_> {
    /// Returns the reach of a fetch, in texels; `None` if the fetch does not read level 0 at a constant offset from the pixel.
    fn fetch_reach(&mut self, fetch: &Instruction) -> Option<u32> {
        let operands = self.module.code.operands(fetch);
        let (&coordinate, mut rest) = (operands.get(1)?, operands.get(2..)?);
        let mut more = [0, 0];
        if let [bits, ids @ ..] = rest {
            let bits = ImageOperands::from_bits_truncate(*bits);
            rest = ids;
            if bits.intersects(ImageOperands::BIAS | ImageOperands::GRAD | ImageOperands::CONST_OFFSETS) {
                return None;
            }
            for bit in [
                ImageOperands::LOD,
                ImageOperands::CONST_OFFSET,
                ImageOperands::OFFSET,
            ] {
                if !bits.contains(bit) {
                    continue;
                }
                let (&id, left) = rest.split_first()?;
                rest = left;
                if bit == ImageOperands::LOD && self.part(id, 0, 0)? != Value::Constant(0) {
                    return None;
                } else if bit != ImageOperands::LOD {
                    for (axis, more) in (0..).zip(&mut more) {
                        let Value::Constant(offset) = self.part(id, axis, 0)? else {
                            return None;
                        };
                        *more = offset;
                    }
                }
            }
        }
        let mut farthest = 0;
        for (axis, more) in (0..).zip(more) {
            match self.part(coordinate, axis, 0)? {
                Value::Pixel(of, offset) if of == axis => {
                    farthest = (offset + more).unsigned_abs().max(farthest)
                }
                _ => return None,
            }
        }
        u32::try_from(farthest).ok()
    }

    /// Returns a component of a value; of a scalar, component 0.
    fn part(&mut self, id: u32, index: u32, depth: u32) -> Option<Value> {
        self.steps = self.steps.checked_sub(1)?;
        let module = self.module;
        let one = module.code.definition(id).filter(|_| depth < 64)?;
        let operand = |n| module.code.operand(one, n);
        let mut part = |id, index| self.part(id, index, depth + 1);
        match one.op {
            Op::ConvertFToS
            | Op::ConvertFToU
            | Op::Bitcast
            | Op::UConvert
            | Op::SConvert
            | Op::CopyObject => part(operand(0), index),
            Op::CompositeExtract if module.code.operands(one).len() == 2 => part(operand(0), operand(1)),
            Op::VectorShuffle => {
                let (width, chosen) = (width(module, operand(0)), operand(2 + index as usize));
                match chosen.checked_sub(width) {
                    None => part(operand(0), chosen),
                    Some(of_second) => part(operand(1), of_second),
                }
            }
            Op::CompositeConstruct | Op::ConstantComposite => {
                let mut left = index;
                for &id in module.code.operands(one) {
                    match left.checked_sub(width(module, id)) {
                        None => return part(id, left),
                        Some(less) => left = less,
                    }
                }
                None
            }
            Op::IAdd | Op::FAdd => match (part(operand(0), index)?, part(operand(1), index)?) {
                (Value::Constant(a), Value::Constant(b)) => Some(Value::Constant(a.checked_add(b)?)),
                (Value::Pixel(axis, a), Value::Constant(b)) | (Value::Constant(a), Value::Pixel(axis, b)) => {
                    Some(Value::Pixel(axis, a.checked_add(b)?))
                }
                _ => None,
            },
            Op::ISub | Op::FSub => match (part(operand(0), index)?, part(operand(1), index)?) {
                (Value::Constant(a), Value::Constant(b)) => Some(Value::Constant(a.checked_sub(b)?)),
                (Value::Pixel(axis, a), Value::Constant(b)) => Some(Value::Pixel(axis, a.checked_sub(b)?)),
                _ => None,
            },
            Op::ConstantNull => Some(Value::Constant(0)),
            Op::Constant if module.code.type_of(id)?.op == Op::TypeFloat => {
                let float = f32::from_bits(operand(0));
                (float.fract() == 0.0 && float.abs() < 65536.0).then_some(Value::Constant(float as i64))
            }
            Op::Constant => Some(Value::Constant(i64::from(operand(0) as i32))),
            Op::Load => {
                let pointer = module.code.definition(operand(0))?;
                let (variable, index) = match pointer.op {
                    Op::AccessChain | Op::InBoundsAccessChain if module.code.operands(pointer).len() == 2 => {
                        (
                            module.code.operand(pointer, 0),
                            module.constant(module.code.operand(pointer, 1))?,
                        )
                    }
                    _ => (operand(0), index),
                };
                let definition = module
                    .code
                    .definition(variable)
                    .filter(|one| one.op == Op::Variable)?;
                match module.variable_class(definition)? {
                    StorageClass::Input => {
                        let pixel = module.decorations(variable).built_in == Some(BuiltIn::FragCoord as u32);
                        (pixel && index < 2).then_some(Value::Pixel(index, 0))
                    }
                    StorageClass::Function => {
                        let (class, _) = self.private.add_demand(module.code.node(variable)?, 0);
                        let stores = self.private.stores_in(class);
                        // Values stored more than once, or in part, are not known.
                        let &[(_, StoredValue::Value(value))] = &self.private.stores[stores] else {
                            return None;
                        };
                        let whole = module.code.result_type(module.code.definition(value)?)
                            == module.variable_type(definition);
                        whole.then(|| self.part(value, index, depth + 1))?
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Returns the number of components of a value; 1 for a scalar.
fn width(module: &Module, id: u32) -> u32 {
    let vector = module.code.type_of(id).filter(|one| one.op == Op::TypeVector);
    vector.map_or(1, |one| module.code.operand(one, 1))
}
