//! Kernels: SPIR-V for each combination of operand storages, and the accesses to the operands.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;

use super::operand::OperandStorage;
use crate::error::{Error, Result};
use tileheap::frame::AccessKind;
use tileheap::frame::shaders::ShaderModule;

/// A kernel of `shaders/`, compiled and reflected at build time.
struct BuiltIn {
    name: &'static str,
    /// The storage of each operand, one letter each.
    letters: &'static str,
    /// True if elements are stored in 16 bits.
    half: bool,
    /// The range of the kernel's SPIR-V in [`BUILT_IN_WORDS`], in bytes.
    bytes: std::ops::Range<usize>,
    operands: &'static [OperandAccess],
}

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
static BUILT_IN_WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernels.spv"));

/// Identifies a variant of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelKey {
    /// The kernel's name.
    pub name: String,
    /// The storage of each operand, by binding.
    pub storage: Vec<OperandStorage>,
    /// True if elements are stored in 16 bits (`rgba16f`) instead of 32.
    pub half: bool,
}

/// A kernel's access to an operand, reflected from the kernel's SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperandAccess {
    /// The kind of descriptor: an image that is only read is a sampled image, one that is written a storage image.
    pub kind: AccessKind,
    /// True if contents are read.
    pub reads: bool,
    /// True if contents are written.
    pub writes: bool,
}

impl OperandAccess {
    /// The descriptor's type; `None` if kernels do not support it.
    pub fn descriptor_type(&self) -> Option<vk::DescriptorType> {
        Some(match self.kind {
            AccessKind::SampledImage => vk::DescriptorType::SAMPLED_IMAGE,
            AccessKind::StorageImage => vk::DescriptorType::STORAGE_IMAGE,
            AccessKind::StorageBuffer => vk::DescriptorType::STORAGE_BUFFER,
            AccessKind::UniformBuffer => vk::DescriptorType::UNIFORM_BUFFER,
            AccessKind::UniformTexelBuffer => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
            AccessKind::StorageTexelBuffer => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
            _ => return None,
        })
    }
}

/// A variant of a kernel: its words, and its operands by binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The SPIR-V words.
    pub words: Vec<u32>,
    /// The access to the operand at each binding of set 0.
    pub operands: Vec<OperandAccess>,
}

impl Kernel {
    /// Reflects the entry point `main` of a compute shader. Its bindings must be 0, 1, … of set 0, with one descriptor each;
    /// its parameters are push constants.
    ///
    /// # Errors
    /// The words are not SPIR-V, have no such entry point, or have other bindings.
    pub fn new(name: &str, words: Vec<u32>) -> Result<Kernel> {
        let entry = ShaderModule::parse(&words)?.entry_point("main", vk::ShaderStageFlags::COMPUTE)?;
        let mut operands = Vec::new();
        for (index, binding) in entry.bindings.iter().enumerate() {
            let operand = OperandAccess {
                kind: binding.kind,
                reads: binding.reads,
                writes: binding.writes,
            };
            let expected = binding.set == 0 && binding.binding as usize == index && binding.count == Some(1);
            if !expected || operand.descriptor_type().is_none() {
                let problem = format!(
                    "expected one descriptor of a supported kind at set 0 binding {index}, but found {} {:?} `{}` at set {} binding {}",
                    binding
                        .count
                        .map_or_else(|| "an array of".to_owned(), |count| count.to_string()),
                    binding.kind,
                    binding.name,
                    binding.set,
                    binding.binding
                );
                return Err(Error::kernel(name, problem));
            }
            operands.push(operand);
        }
        Ok(Kernel { words, operands })
    }
}

/// The kernels available to a network. Variants are reflected on first use.
#[derive(Clone, Debug, Default)]
pub struct KernelSet {
    added: BTreeMap<KernelKey, Arc<Kernel>>,
    reflected: BTreeMap<KernelKey, Arc<Kernel>>,
}

impl KernelSet {
    /// The built-in kernels (with the crate's feature `shaders`; otherwise none): `activate`, `binary`, `concat`, `conv2d`,
    /// `conv2d_transpose`, `copy`, `dense`, `depthwise`, `gather`, `layer_norm`, `matmul`, `pool`, `reshape`, `softmax`, and `add_one`
    /// of the RFC's example.
    pub fn new() -> KernelSet {
        KernelSet::default()
    }

    /// Adds a variant of a kernel, replacing an existing one.
    ///
    /// # Errors
    /// Those of [`Kernel::new`].
    ///
    /// # Safety
    /// The words are a valid SPIR-V module (`spirv-val`) that uses no capability the device lacks and accesses its operands within bounds.
    pub unsafe fn add(&mut self, key: KernelKey, words: Vec<u32>) -> Result<()> {
        let kernel = Arc::new(Kernel::new(&key.name, words)?);
        self.added.insert(key, kernel);
        Ok(())
    }

    /// Looks up a variant of a kernel, and reflects it on first use.
    ///
    /// # Errors
    /// No variant exists for these storages and elements; the error names them.
    pub fn get(&mut self, key: &KernelKey) -> Result<Arc<Kernel>> {
        if let Some(kernel) = self.added.get(key).or_else(|| self.reflected.get(key)) {
            return Ok(kernel.clone());
        }
        let Some(kernel) = built_in(key) else {
            let (storage, bits) = (&key.storage, if key.half { 16 } else { 32 });
            let problem = format!("no variant exists for operands in {storage:?} with {bits}-bit elements");
            return Err(Error::kernel(&key.name, problem));
        };
        let kernel = Arc::new(kernel);
        self.reflected.insert(key.clone(), kernel.clone());
        Ok(kernel)
    }
}

fn built_in(key: &KernelKey) -> Option<Kernel> {
    let letters: String = key.storage.iter().map(|storage| storage.letter()).collect();
    let is_asked = |of: &&BuiltIn| of.name == key.name && of.letters == letters && of.half == key.half;
    let found = BUILT_IN.iter().find(is_asked)?;
    let words = BUILT_IN_WORDS[found.bytes.clone()].chunks_exact(4);
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
    Some(Kernel {
        words: words.map(word).collect(),
        operands: found.operands.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_only_read_is_sampled_and_what_is_only_written_is_a_write_only_storage_image() {
        for BuiltIn {
            name, letters, half, ..
        } in BUILT_IN
        {
            let storage = letters
                .chars()
                .map(|letter| OperandStorage::of_letter(letter).expect("a known letter"));
            let key = KernelKey {
                name: (*name).to_owned(),
                storage: storage.collect(),
                half: *half,
            };
            let kernel = KernelSet::new()
                .get(&key)
                .unwrap_or_else(|error| panic!("{error}"));
            let read = Kernel::new(name, kernel.words.clone()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                read, *kernel,
                "{name} {letters}: the two readers of SPIR-V disagree"
            );
            let count = letters.len();
            let expected = letters.chars().enumerate().map(|(index, letter)| {
                let writes = index + 1 == count;
                let kind = match (letter, writes) {
                    ('i' | 'a', false) => AccessKind::SampledImage,
                    ('i' | 'a', true) => AccessKind::StorageImage,
                    ('t', false) => AccessKind::UniformTexelBuffer,
                    ('t', true) => AccessKind::StorageTexelBuffer,
                    _ => AccessKind::StorageBuffer,
                };
                let reads = !writes;
                OperandAccess { kind, reads, writes }
            });
            assert_eq!(kernel.operands, Vec::from_iter(expected), "{name} {letters}");
        }
    }

    #[test]
    fn a_variant_that_is_not_there_is_named() {
        let key = KernelKey {
            name: "conv2d".to_owned(),
            storage: vec![OperandStorage::Plain; 4],
            half: false,
        };
        let error = KernelSet::new()
            .get(&key)
            .expect_err("no such variant")
            .to_string();
        assert!(error.contains("conv2d") && error.contains("Plain"), "{error}");
    }
}
