//! Declarations of a shader, read from its SPIR-V by SPIRV-Reflect.
//!
//! SPIRV-Reflect 0.2.3 trusts its input and aborts on unknown constructs, so it only reads modules compiled by [`crate::Compiler`], up to SPIR-V 1.3.
//! It misses storage buffers in these: they have the storage class `StorageBuffer` since SPIR-V 1.3, and before that the class `Uniform` with the
//! decoration `BufferBlock`. It also does not support specialization constants. Both are rewritten before it reads them ([`rewrite`]). The crate's
//! safe functions make slices of null pointers, which aborts programs with debug assertions, so this module reads the C library's own tables.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

use spirv_reflect::ffi;

/// The declarations of a shader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// The shader's descriptors, by set and binding.
    pub bindings: Vec<Binding>,
    /// Bytes of push constants from offset 0; 0 if there are none.
    pub push_constant_bytes: u32,
    /// The workgroup size of a compute shader, unless it is a specialization constant; 0 for other stages.
    pub local_size: [u32; 3],
    /// The vertex attributes of a vertex shader, by location.
    pub vertex_inputs: Vec<VertexInput>,
}

/// A descriptor binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The descriptor set.
    pub set: u32,
    /// The binding in the set.
    pub binding: u32,
    /// The `VkDescriptorType`.
    pub descriptor_type: u32,
    /// The number of descriptors; 0 for a runtime array.
    pub count: u32,
    /// The variable's name, or its block's if it has none.
    pub name: String,
}

/// An attribute that a vertex shader reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexInput {
    /// The location of the attribute.
    pub location: u32,
    /// The attribute's `VkFormat`, with 32-bit components.
    pub format: u32,
    /// The size of that format in bytes.
    pub size: u32,
}

/// Returns the declarations of a module compiled by this crate.
pub(crate) fn reflect(words: &[u32]) -> Result<Interface, String> {
    let rewritten = rewrite(words);
    let module = Module::new(&rewritten.words)?;
    Ok(Interface {
        bindings: module.bindings(),
        push_constant_bytes: module.push_constant_bytes(),
        local_size: rewritten.local_size,
        vertex_inputs: module.vertex_inputs(),
    })
}

/// A module parsed by SPIRV-Reflect.
struct Module(Box<ffi::SpvReflectShaderModule>);

impl Module {
    fn new(words: &[u32]) -> Result<Module, String> {
        let mut module = Box::new(MaybeUninit::<ffi::SpvReflectShaderModule>::zeroed());
        // SAFETY: the words are a complete module made by a compiler, of a version that the library supports; it copies them, and fills in the
        // structure.
        let result = unsafe {
            ffi::spvReflectCreateShaderModule(size_of_val(words), words.as_ptr().cast(), module.as_mut_ptr())
        };
        if result != ffi::SpvReflectResult_SPV_REFLECT_RESULT_SUCCESS {
            return Err(format!("SpvReflectResult {result}"));
        }
        // SAFETY: zeros are valid for integers and pointers, of which the structure consists.
        Ok(Module(unsafe { module.assume_init() }))
    }

    fn bindings(&self) -> Vec<Binding> {
        // SAFETY: the library's count and array.
        let found = unsafe { slice(self.0.descriptor_bindings, self.0.descriptor_binding_count) };
        let mut bindings: Vec<_> = found.iter().map(binding).collect();
        bindings.sort_by_key(|binding| (binding.set, binding.binding));
        bindings
    }

    /// Returns the end of the push constants' last member in bytes, without padding.
    fn push_constant_bytes(&self) -> u32 {
        // SAFETY: the library's count and array.
        let blocks = unsafe { slice(self.0.push_constant_blocks, self.0.push_constant_block_count) };
        // SAFETY: as above, of each block.
        let members = blocks
            .iter()
            .flat_map(|block| unsafe { slice(block.members, block.member_count) });
        members
            .map(|member| member.offset + member.size)
            .max()
            .unwrap_or(0)
    }

    fn vertex_inputs(&self) -> Vec<VertexInput> {
        let is_vertex =
            self.0.shader_stage == ffi::SpvReflectShaderStageFlagBits_SPV_REFLECT_SHADER_STAGE_VERTEX_BIT;
        let count = if is_vertex { self.0.input_variable_count } else { 0 };
        // SAFETY: the library's count and array.
        let found = unsafe { slice(self.0.input_variables, count) };
        let mut inputs: Vec<_> = found
            .iter()
            // Built-in variables have no location.
            .filter(|input| input.location != u32::MAX)
            .map(|input| VertexInput {
                location: input.location,
                format: input.format as u32,
                size: 4 * input.numeric.vector.component_count.max(1),
            })
            .collect();
        inputs.sort_by_key(|input| input.location);
        inputs
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: created, and not destroyed before.
        unsafe { ffi::spvReflectDestroyShaderModule(&raw mut *self.0) };
    }
}

fn binding(found: &ffi::SpvReflectDescriptorBinding) -> Binding {
    // SAFETY: a string of the module, or null.
    let mut name = unsafe { text(found.name) };
    if name.is_empty() && !found.type_description.is_null() {
        // SAFETY: the library's description of the type, not null.
        let described = unsafe { &*found.type_description };
        // SAFETY: as the variable's name.
        name = unsafe { text(described.type_name) };
    }
    Binding {
        set: found.set,
        binding: found.binding,
        descriptor_type: found.descriptor_type as u32,
        count: found.count,
        name,
    }
}

/// Returns an array of SPIRV-Reflect as a slice.
///
/// # Safety
/// `first` points to `count` elements that outlive the slice, or `count` is 0.
unsafe fn slice<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's duty.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

/// Returns the text of a C string; empty for null.
///
/// # Safety
/// `string` ends with NUL, or is null.
unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller's duty.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

/// A module rewritten for SPIRV-Reflect: storage buffers are declared as in SPIR-V 1.0, and specialization constants are ordinary constants.
struct Rewritten {
    words: Vec<u32>,
    /// The size in the execution mode `LocalSize`; 0 if there is none.
    local_size: [u32; 3],
}

fn rewrite(words: &[u32]) -> Rewritten {
    const EXECUTION_MODE: u32 = 16;
    const LOCAL_SIZE: u32 = 17;
    // `OpSpecConstantTrue` to `OpSpecConstantComposite`; `OpConstantTrue` and so on are 7 less.
    const SPEC_CONSTANTS: std::ops::RangeInclusive<u32> = 48..=51;
    const TYPE_ARRAYS: [u32; 2] = [28, 29];
    const TYPE_POINTER: u32 = 32;
    const VARIABLE: u32 = 59;
    const DECORATE: u32 = 71;
    const STORAGE_BUFFER: u32 = 12;
    const UNIFORM: u32 = 2;
    const BLOCK: u32 = 2;
    const BUFFER_BLOCK: u32 = 3;

    let mut local_size = [0; 3];
    let mut rewritten = words.to_vec();
    // Element types by array type, the types of storage buffers, and the positions at which types are decorated `Block`.
    let mut elements = std::collections::BTreeMap::new();
    let mut buffers = BTreeSet::new();
    let mut blocks = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let (opcode, length) = (words[at] & 0xFFFF, (words[at] >> 16) as usize);
        match (opcode, &words[at + 1..at + length]) {
            (EXECUTION_MODE, &[_, LOCAL_SIZE, x, y, z]) => local_size = [x, y, z],
            (opcode, &[array, element, ..]) if TYPE_ARRAYS.contains(&opcode) => {
                elements.insert(array, element);
            }
            (TYPE_POINTER, &[_, STORAGE_BUFFER, pointee]) => {
                rewritten[at + 2] = UNIFORM;
                buffers.insert(*elements.get(&pointee).unwrap_or(&pointee));
            }
            (opcode, _) if SPEC_CONSTANTS.contains(&opcode) => rewritten[at] -= 7,
            (VARIABLE, &[_, _, STORAGE_BUFFER, ..]) => rewritten[at + 3] = UNIFORM,
            (DECORATE, &[target, BLOCK]) => blocks.push((target, at + 2)),
            _ => {}
        }
        at += length;
    }
    for (_, place) in blocks.into_iter().filter(|(target, _)| buffers.contains(target)) {
        rewritten[place] = BUFFER_BLOCK;
    }
    Rewritten {
        words: rewritten,
        local_size,
    }
}
