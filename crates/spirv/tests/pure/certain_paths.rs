//! Random control flow, compared with a search of all paths.

use super::*;

/// Number of blocks of each random function.
const BLOCKS: usize = 7;

/// The terminator of a block.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Return,
    Kill,
    Unreachable,
    Branch(usize),
    Either(usize, usize),
    Switch(usize, usize, usize),
}

impl Ending {
    fn successors(self) -> Vec<usize> {
        match self {
            Ending::Return | Ending::Kill | Ending::Unreachable => Vec::new(),
            Ending::Branch(a) => vec![a],
            Ending::Either(a, b) => vec![a, b],
            Ending::Switch(a, b, c) => vec![a, b, c],
        }
    }
}

fn random(next: &mut impl FnMut(usize) -> usize) -> Vec<Ending> {
    let mut ending = || {
        // Mostly forward, so that exits are reached.
        let mut to = || next(BLOCKS - 1) + 1;
        let (a, b, c) = (to(), to(), to());
        match next(12) {
            0 => Ending::Return,
            1 => Ending::Kill,
            2 => Ending::Unreachable,
            3..=7 => Ending::Branch(a),
            8..=10 => Ending::Either(a, b),
            _ => Ending::Switch(a, b, c),
        }
    };
    (0..BLOCKS).map(|_| ending()).collect()
}

/// Returns true if a path leads from the first block to an exit without `avoided`; endless loops are exits.
fn can_avoid(blocks: &[Ending], avoided: usize) -> bool {
    let reached_from = |start: usize, avoided: Option<usize>| {
        let mut seen = vec![false; blocks.len()];
        let mut open = vec![start];
        while let Some(block) = open.pop() {
            if Some(block) != avoided && !std::mem::replace(&mut seen[block], true) {
                open.extend(blocks[block].successors());
            }
        }
        seen
    };
    let exits = |block: usize| {
        let reached = reached_from(block, None);
        let leaves = (0..blocks.len()).any(|other| reached[other] && blocks[other].successors().is_empty());
        blocks[block].successors().is_empty() || !leaves
    };
    let reached = reached_from(0, Some(avoided));
    (0..blocks.len()).any(|block| reached[block] && exits(block))
}

/// Returns, for each block, whether the reader finds a certain write to its own buffer; in a function that `main` calls if `called`.
fn found(blocks: &[Ending], called: bool) -> Vec<bool> {
    let mut assembler = Assembler::new();
    let types = Types::new(&mut assembler);
    let buffers: Vec<u32> = (0..=blocks.len() as u32)
        .map(|binding| assembler.storage_buffer(types.pointer_to_block, binding))
        .collect();
    let write = |assembler: &mut Assembler, buffer: usize| {
        let pointer = assembler.value(Op::AccessChain, types.pointer, &[buffers[buffer], types.zero]);
        assembler.push(Op::Store, &[pointer, types.zero]);
    };
    let mut function = Assembler::MAIN;
    if called {
        function = assembler.id();
        assembler.push(Op::Function, &[types.void, Assembler::MAIN, 0, types.function]);
        assembler.declare(Op::Label, &[]);
        assembler.value(Op::FunctionCall, types.void, &[function]);
        write(&mut assembler, blocks.len());
        assembler.push(Op::Return, &[]);
        assembler.push(Op::FunctionEnd, &[]);
    }
    assembler.push(Op::Function, &[types.void, function, 0, types.function]);
    let labels: Vec<u32> = blocks.iter().map(|_| assembler.id()).collect();
    for (block, ending) in blocks.iter().enumerate() {
        assembler.push(Op::Label, &[labels[block]]);
        write(&mut assembler, block);
        match *ending {
            Ending::Return => assembler.push(Op::Return, &[]),
            Ending::Kill => assembler.push(Op::Kill, &[]),
            Ending::Unreachable => assembler.push(Op::Unreachable, &[]),
            Ending::Branch(a) => assembler.push(Op::Branch, &[labels[a]]),
            Ending::Either(a, b) => {
                assembler.push(Op::BranchConditional, &[types.zero, labels[a], labels[b]])
            }
            Ending::Switch(a, b, c) => {
                assembler.push(Op::Switch, &[types.zero, labels[a], 1, labels[b], 2, labels[c]])
            }
        }
    }
    assembler.push(Op::FunctionEnd, &[]);
    let module = ShaderModule::parse(&assembler.finish()).unwrap();
    let entry = module.entry_point("main", vk::ShaderStageFlags::COMPUTE).unwrap();
    entry
        .bindings
        .iter()
        .map(|binding| binding.always_writes)
        .collect()
}

#[test]
fn certain_blocks_are_those_on_all_paths() {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut later = 0;
    for _ in 0..3_000 {
        let blocks = random(&mut next);
        let mut expected: Vec<bool> = (0..BLOCKS).map(|block| !can_avoid(&blocks, block)).collect();
        assert_eq!(found(&blocks, false), expected, "{blocks:?}");
        later += expected[1..].iter().filter(|certain| **certain).count();
        // The caller continues unless the callee may end the invocation; an unreachable block may.
        let ends = |ending: &Ending| matches!(ending, Ending::Kill | Ending::Unreachable);
        expected.push(!blocks.iter().any(ends));
        assert_eq!(found(&blocks, true), expected, "{blocks:?}");
    }
    assert!(later > 1_000, "{later}");
}
