//! The storage that compilers' kernels accept, from their names:
//! `tvmgen_default_fused_nn_contrib_conv2d_NCHWc_add_nn_relu_3`.

use crate::graph::{Node, NodeKind};

/// The prefix of the names of compilers' kernels, whose operands are never converted.
pub(crate) const PREFIX: &str = "tvm.";

/// Returns the name of the compiler-generated kernel that a node calls; `None` for other nodes.
pub(super) fn function(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Operator(operator) => operator.name.strip_prefix(PREFIX),
        _ => None,
    }
}

/// Words in the names of kernels that do not identify an operator.
const IGNORED_WORDS: &str =
    " tvmgen default fused nn contrib image vision te opencl adreno vm relax cuda without weight inplace ";

/// Words that identify operators whose kernels for Adreno read and write images: windows, and operators simpler than reductions.
///
/// Source: TVM's `annotate_texture_storage.cc` at ce22736e: convolutions and pools by name, others up to `kCommReduce`.
const IMAGE_WORDS: &str = " conv2d depthwise winograd transpose pool2d max avg global adaptive pad add subtract multiply divide maximum minimum power \
    mod floor ceil round relu relu6 leaky prelu clip sigmoid hard swish hardswish silu gelu erf tanh exp log sqrt rsqrt abs negative sin cos \
    less greater equal not and or min where cast copy identity concatenate split strided slice layout transform reshape squeeze expand dims \
    broadcast to like flip tile repeat upsampling resize resize2d bias batch norm layer \
    full zeros ones device ";

/// Words that identify reductions.
const REDUCTION_WORDS: &str = " mean sum prod variance argmax argmin ";

/// Returns true if a kernel reduces its operand.
pub(super) fn reduces(function: &str) -> bool {
    let mut words = function
        .split('_')
        .map(|word| word.trim_end_matches(|last: char| last.is_ascii_digit()));
    words.any(|word| REDUCTION_WORDS.contains(&format!(" {word} ")))
}

/// Checks that a kernel reads and writes images; the error names the first word of its name that does not identify an operator known to do so.
pub(super) fn takes_images(function: &str) -> Result<(), String> {
    let says_nothing = |word: &&str| {
        // Words with capitals are layouts; digits and hashes distinguish kernels of the same name.
        let is_hash = word.len() > 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash
            || word.bytes().any(|byte| byte.is_ascii_uppercase())
            || !word.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    let is_known = |word: &&str| {
        let digits = word.bytes().rev().take_while(u8::is_ascii_digit).count();
        let mut words = (0..=digits).map(|cut| format!(" {} ", &word[..word.len() - cut]));
        words.any(|word| {
            [IMAGE_WORDS, REDUCTION_WORDS, IGNORED_WORDS]
                .iter()
                .any(|list| list.contains(&word))
        })
    };
    let mut words = function.split(['_', '.', ':', '#']);
    match words.find(|word| !says_nothing(word) && !is_known(word)) {
        None => Ok(()),
        Some(word) => Err(format!(
            "kernel `{function}` is not known to accept images: `{word}` is unknown"
        )),
    }
}
