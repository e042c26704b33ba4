//! SPIR-V as words: its header, its instructions, and the definition of every id.
//!
//! Replaces `rspirv`'s parser, since reading a hostile file must take time and memory proportional to its length: that parser builds a vector of
//! operands for each instruction, and its loader a tree of them. Only its grammar tables are used.

use std::sync::LazyLock;

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind, OperandQuantifier};
use rspirv::spirv::{self, Op};

use crate::ShaderError;

/// Maximum number of words of a module (64 MiB); the largest known shaders have a hundredth of it.
const MAX_WORDS: usize = 1 << 24;
const HEADER_WORDS: usize = 5;

/// The location of an instruction in the words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) op: Op,
    /// True if a result type follows the first word; `has_result`: true if a result id follows.
    has_type: bool,
    has_result: bool,
    /// The range of words after the first one.
    first: u32,
    end: u32,
}

impl Instruction {
    /// Returns the position of the instruction's first word.
    pub(crate) fn word(&self) -> usize {
        self.first as usize - 1
    }
}

/// A definition's position in [`Code::definitions`], which indexes the tables of analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node(pub(crate) u32);

impl Node {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A module, split into instructions.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) words: Vec<u32>,
    pub(crate) instructions: Vec<Instruction>,
    /// Every result id and the instruction that defines it, sorted by id.
    definitions: Vec<(u32, u32)>,
}

impl Code {
    /// Splits a module into instructions. O(words x log words); the memory is a few times that of the words.
    pub(crate) fn read(mut words: Vec<u32>) -> Result<Code, ShaderError> {
        if words.len() < HEADER_WORDS || words.len() > MAX_WORDS {
            return Err(ShaderError::Size {
                words: words.len(),
                max: MAX_WORDS,
            });
        }
        if words[0] == spirv::MAGIC_NUMBER.swap_bytes() {
            words.iter_mut().for_each(|word| *word = word.swap_bytes());
        }
        if words[0] != spirv::MAGIC_NUMBER {
            return Err(ShaderError::Magic { found: words[0] });
        }
        let version = words[1];
        if !(0x0001_0000..=0x0001_0600).contains(&version) || version & 0xFF != 0 {
            return Err(ShaderError::Version { found: version });
        }
        let mut instructions = Vec::new();
        let mut definitions = Vec::new();
        let mut at = HEADER_WORDS;
        while at < words.len() {
            let instruction = instruction_at(&words, at)?;
            let number = instructions.len() as u32;
            at = instruction.end as usize;
            instructions.push(instruction);
            if instruction.has_result {
                let id = words[instruction.first as usize + usize::from(instruction.has_type)];
                if id == 0 || id >= words[3] {
                    return Err(malformed(
                        instruction.word(),
                        format!("id {id} must be above 0 and below the bound {}", words[3]),
                    ));
                }
                definitions.push((id, number));
            }
        }
        definitions.sort_unstable();
        if let Some(pair) = definitions.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let second: &Instruction = &instructions[pair[1].1 as usize];
            let problem = format!("id {} is defined twice", pair[0].0);
            return Err(malformed(second.word(), problem));
        }
        Ok(Code {
            words,
            instructions,
            definitions,
        })
    }

    /// Returns the major and minor version.
    pub(crate) fn version(&self) -> (u32, u32) {
        (self.words[1] >> 16 & 0xFF, self.words[1] >> 8 & 0xFF)
    }

    /// Returns the number of definitions.
    pub(crate) fn node_count(&self) -> usize {
        self.definitions.len()
    }

    /// Returns the definition of `id`.
    pub(crate) fn node(&self, id: u32) -> Option<Node> {
        let position = self.definitions.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        Some(Node(position as u32))
    }

    pub(crate) fn id(&self, node: Node) -> u32 {
        self.definitions[node.index()].0
    }

    /// Returns the index of the instruction that defines a node.
    pub(crate) fn number(&self, node: Node) -> usize {
        self.definitions[node.index()].1 as usize
    }

    /// Returns the instruction that defines `id`.
    pub(crate) fn definition(&self, id: u32) -> Option<&Instruction> {
        Some(&self.instructions[self.number(self.node(id)?)])
    }

    /// Returns all words of an instruction after the first one: result type and result, if it has them, and operands.
    pub(crate) fn all(&self, instruction: &Instruction) -> &[u32] {
        &self.words[instruction.first as usize..instruction.end as usize]
    }

    pub(crate) fn operands(&self, instruction: &Instruction) -> &[u32] {
        &self.all(instruction)[usize::from(instruction.has_type) + usize::from(instruction.has_result)..]
    }

    /// Returns the n-th operand; 0, which is not an id, if a malformed instruction lacks it.
    pub(crate) fn operand(&self, instruction: &Instruction, n: usize) -> u32 {
        self.operands(instruction).get(n).copied().unwrap_or(0)
    }

    /// Returns the id of the result; 0 if there is none.
    pub(crate) fn result(&self, instruction: &Instruction) -> u32 {
        match instruction.has_result {
            true => self.all(instruction)[usize::from(instruction.has_type)],
            false => 0,
        }
    }

    /// Returns the id of the result's type; 0 if there is none.
    pub(crate) fn result_type(&self, instruction: &Instruction) -> u32 {
        match instruction.has_type {
            true => self.all(instruction)[0],
            false => 0,
        }
    }

    pub(crate) fn type_of(&self, id: u32) -> Option<&Instruction> {
        self.definition(self.result_type(self.definition(id)?))
    }
}

/// Creates the error for an invalid word.
fn malformed(word: usize, problem: String) -> ShaderError {
    ShaderError::Malformed { word, problem }
}

/// Returns the instruction whose first word is at `at`.
fn instruction_at(words: &[u32], at: usize) -> Result<Instruction, ShaderError> {
    let (length, opcode) = ((words[at] >> 16) as usize, words[at] as u16);
    let Some((op, shape)) = Op::from_u32(u32::from(opcode)).zip(GRAMMAR.shape(opcode)) else {
        return Err(malformed(at, format!("unknown opcode {opcode}")));
    };
    let left = words.len() - at;
    if length > left || length < 1 + usize::from(shape.min_words) {
        let min_words = 1 + shape.min_words;
        let problem = format!(
            "Op{op:?} has {length} words, but must have {min_words} to {left} (the rest of the module)"
        );
        return Err(malformed(at, problem));
    }
    Ok(Instruction {
        op,
        has_type: shape.has_type,
        has_result: shape.has_result,
        first: at as u32 + 1,
        end: (at + length) as u32,
    })
}

/// The properties of an opcode needed to split its instruction.
#[derive(Clone, Copy)]
struct InstructionShape {
    has_type: bool,
    has_result: bool,
    /// Minimum number of words after the first.
    min_words: u8,
}

/// The shapes of all instructions. For each opcode, 1 + the position of its shape: opcodes have 16 bits, and `rspirv` searches its table
/// linearly.
struct Grammar {
    shapes: Vec<InstructionShape>,
    positions: Vec<u16>,
}

impl Grammar {
    fn shape(&self, opcode: u16) -> Option<InstructionShape> {
        let position = usize::from(self.positions[usize::from(opcode)]);
        Some(self.shapes[position.checked_sub(1)?])
    }
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let mut grammar = Grammar {
        shapes: Vec::new(),
        positions: vec![0; 1 << 16],
    };
    for instruction in INSTRUCTION_TABLE.iter() {
        let has = |kind| instruction.operands.iter().any(|operand| operand.kind == kind);
        let required = instruction.operands.iter();
        let required = required.filter(|operand| operand.quantifier == OperandQuantifier::One);
        grammar.shapes.push(InstructionShape {
            has_type: has(OperandKind::IdResultType),
            has_result: has(OperandKind::IdResult),
            // Every operand takes at least one word.
            min_words: required.count() as u8,
        });
        grammar.positions[instruction.opcode as usize & 0xFFFF] = grammar.shapes.len() as u16;
    }
    grammar
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_first_in_every_instruction() {
        for instruction in INSTRUCTION_TABLE.iter() {
            let kinds: Vec<_> = instruction.operands.iter().map(|operand| operand.kind).collect();
            let result = kinds.iter().position(|kind| *kind == OperandKind::IdResult);
            let result_type = kinds.iter().position(|kind| *kind == OperandKind::IdResultType);
            let expected = result_type.map_or(0, |position| position + 1);
            assert!(
                result.is_none_or(|position| position == expected),
                "{}",
                instruction.opname
            );
            assert!(
                result_type.is_none_or(|position| position == 0 && result.is_some()),
                "{}",
                instruction.opname
            );
        }
    }
}
