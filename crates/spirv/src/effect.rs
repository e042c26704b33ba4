//! The effects of single instructions on memory, and the origins of their results.

use rspirv::spirv::Op;

use crate::code::Instruction;
use crate::module::Module;

/// Kinds of memory access through a handle, as bits.
pub(crate) type Bits = u8;

pub(crate) const READ: Bits = 1 << 0;
pub(crate) const WRITE: Bits = 1 << 1;
/// Contents are read or written as decorations permit, by an instruction that this module does not handle.
pub(crate) const UNKNOWN: Bits = 1 << 2;
/// All kinds of access.
pub(crate) const CONTENTS: Bits = READ | WRITE | UNKNOWN;
/// Number of bits by which [`CONTENTS`] are shifted for accesses to memory whose addresses are in the contents.
pub(crate) const BY_ADDRESS: u32 = 3;

/// Calls `report` with every handle through which an instruction reads or writes memory.
///
/// An instruction that is not known here may access memory through every handle among its operands.
pub(crate) fn effects(module: &Module, instruction: &Instruction, mut report: impl FnMut(u32, Bits)) {
    let code = &module.code;
    let operand = |n| code.operand(instruction, n);
    match instruction.op {
        // Loading a descriptor's handle reads no contents.
        Op::Load if module.is_opaque(code.result_type(instruction)) => {}
        Op::Load
        | Op::AtomicLoad
        | Op::CooperativeMatrixLoadKHR
        | Op::CooperativeMatrixLoadNV
        | Op::CooperativeMatrixLoadTensorNV
        | Op::CooperativeVectorLoadNV => report(operand(0), READ),
        Op::Store
        | Op::AtomicStore
        | Op::AtomicFlagClear
        | Op::CooperativeMatrixStoreKHR
        | Op::CooperativeMatrixStoreNV
        | Op::CooperativeMatrixStoreTensorNV
        | Op::CooperativeVectorStoreNV
        | Op::ImageWrite => report(operand(0), WRITE),
        Op::CopyMemory | Op::CopyMemorySized => {
            report(operand(0), WRITE);
            report(operand(1), READ);
        }
        op if is_atomic_update(op) => report(operand(0), READ | WRITE),
        op if reads_image(op) => report(operand(0), READ),
        _ if accesses_nothing(module, instruction) => {}
        Op::ExtInst if module.inert_sets.contains(&operand(0)) => {}
        Op::FunctionCall if calls_a_defined_function(module, instruction) => {}
        _ => {
            for &id in code.operands(instruction) {
                if module.is_handle(id) {
                    report(id, UNKNOWN);
                }
            }
        }
    }
}

fn calls_a_defined_function(module: &Module, call: &Instruction) -> bool {
    let callee = module.function(module.code.operand(call, 0));
    callee.is_some_and(|callee| module.functions[callee].defined)
}

pub(crate) fn is_atomic_update(op: Op) -> bool {
    matches!(
        op,
        Op::AtomicExchange
            | Op::AtomicCompareExchange
            | Op::AtomicCompareExchangeWeak
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicFlagTestAndSet
            | Op::AtomicFMinEXT
            | Op::AtomicFMaxEXT
            | Op::AtomicFAddEXT
    )
}

pub(crate) fn reads_image(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageFetch
            | Op::ImageGather
            | Op::ImageDrefGather
            | Op::ImageRead
            | Op::ImageSparseSampleImplicitLod
            | Op::ImageSparseSampleExplicitLod
            | Op::ImageSparseSampleDrefImplicitLod
            | Op::ImageSparseSampleDrefExplicitLod
            | Op::ImageSparseSampleProjImplicitLod
            | Op::ImageSparseSampleProjExplicitLod
            | Op::ImageSparseSampleProjDrefImplicitLod
            | Op::ImageSparseSampleProjDrefExplicitLod
            | Op::ImageSparseFetch
            | Op::ImageSparseGather
            | Op::ImageSparseDrefGather
            | Op::ImageSparseRead
            | Op::ImageSampleFootprintNV
            | Op::ColorAttachmentReadEXT
    )
}

/// Returns `true` if an instruction accesses no contents, although handles, or literals that look like ids, are among its operands.
fn accesses_nothing(module: &Module, instruction: &Instruction) -> bool {
    let hands_on = matches!(
        origin(module, instruction),
        Origin::Operands(_) | Origin::PhiOperands(_) | Origin::Parameter
    );
    hands_on
        || matches!(
            instruction.op,
            Op::PtrEqual
                | Op::PtrNotEqual
                | Op::PtrDiff
                | Op::ImageQueryFormat
                | Op::ImageQueryOrder
                | Op::ImageQuerySizeLod
                | Op::ImageQuerySize
                | Op::ImageQueryLod
                | Op::ImageQueryLevels
                | Op::ImageQuerySamples
                | Op::ImageSparseTexelsResident
                | Op::ArrayLength
                | Op::UntypedArrayLengthKHR
                | Op::Variable
                | Op::ReturnValue
                | Op::Label
                | Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::LoopMerge
                | Op::SelectionMerge
                | Op::LifetimeStart
                | Op::LifetimeStop
                | Op::Line
                | Op::NoLine
        )
}

/// The origin of an instruction's result.
pub(crate) enum Origin<'a> {
    /// These operands, whose handles and addresses pass through unchanged.
    Operands(&'a [u32]),
    /// Every second one of these operands, starting with the first: the values of a phi.
    PhiOperands(&'a [u32]),
    /// The memory that the instruction loads from.
    Loaded,
    /// The arguments that callers pass.
    Parameter,
    /// The values that the callee with this id returns.
    Call(u32),
    /// No origin that can be followed.
    Unknown,
}

/// Returns the origin of an instruction's result, as far as handles and addresses can pass through it.
pub(crate) fn origin<'a>(module: &'a Module, instruction: &Instruction) -> Origin<'a> {
    let operands = module.code.operands(instruction);
    let first = |n: usize| Origin::Operands(&operands[..operands.len().min(n)]);
    match instruction.op {
        Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::PtrAccessChain
        | Op::InBoundsPtrAccessChain
        | Op::RawAccessChainNV
        | Op::CopyObject
        | Op::CopyLogical
        | Op::Bitcast
        | Op::ConvertPtrToU
        | Op::ConvertUToPtr
        | Op::PtrCastToGeneric
        | Op::GenericCastToPtr
        | Op::SampledImage
        | Op::Image
        | Op::ImageTexelPointer
        | Op::CompositeExtract
        | Op::VectorExtractDynamic => first(1),
        // The type of the base, or of the image, precedes it.
        Op::UntypedAccessChainKHR
        | Op::UntypedInBoundsAccessChainKHR
        | Op::UntypedPtrAccessChainKHR
        | Op::UntypedInBoundsPtrAccessChainKHR
        | Op::UntypedImageTexelPointerEXT => Origin::Operands(operands.get(1..2).unwrap_or_default()),
        // An address may be a sum, or composed of halves. Multiplied or widened values are indices.
        Op::CompositeInsert | Op::VectorInsertDynamic | Op::VectorShuffle => first(2),
        Op::IAdd | Op::ISub | Op::IAddCarry | Op::BitwiseOr | Op::BitwiseAnd => first(2),
        Op::CompositeConstruct => Origin::Operands(operands),
        Op::Select => Origin::Operands(operands.get(1..).unwrap_or_default()),
        Op::Phi => Origin::PhiOperands(operands),
        Op::Load => Origin::Loaded,
        Op::FunctionParameter => Origin::Parameter,
        Op::FunctionCall => Origin::Call(operands.first().copied().unwrap_or(0)),
        _ => Origin::Unknown,
    }
}
