//! A second opinion: `spirv-reflect` on what descriptors a module declares.
//!
//! `spirv-reflect` 0.2.3 is C that trusts its input: it aborts on SPIR-V 1.6 and hangs on corrupt words, so it gets to see
//! nothing but modules that our own reader has taken apart, up to version 1.3 and within the capabilities of its day. That
//! is still no validation: cross-check modules of your own compiler, not those of strangers. It does not know reads from
//! writes, nor the storage class `StorageBuffer` at all, so it is asked for the names and types of the rest.

use rspirv::spirv::{Capability, Op, StorageClass};
use spirv_reflect::types::ReflectDescriptorType as Reflected;

use super::ShaderModule;
use super::module::Module;
use crate::frame::AccessKind;
use crate::frame::names::shortened;

/// The result of a cross-check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrossCheck {
    /// Both readers were asked; where they differ, in order of set and binding.
    Compared(Vec<Difference>),
    /// `spirv-reflect` was not asked, and why.
    NotAsked(String),
    /// `spirv-reflect` refused the module, and why.
    Refused(String),
}

/// A descriptor on which the two readers differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("set {set} binding {binding}: this reader says {ours}, spirv-reflect says {theirs}")]
pub struct Difference {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Kind and name as this crate reads it.
    pub ours: String,
    /// Kind and name as `spirv-reflect` reads it.
    pub theirs: String,
}

/// Compares the images and buffers that a module declares with what `spirv-reflect` finds; for modules of a trusted
/// compiler.
pub fn cross_check(module: &ShaderModule) -> CrossCheck {
    let module = &module.module;
    if let Some(reason) = unfit(module) {
        return CrossCheck::NotAsked(reason);
    }
    let found = spirv_reflect::ShaderModule::load_u32_data(&module.code.words)
        .and_then(|reflected| reflected.enumerate_descriptor_bindings(None));
    let found = match found {
        Ok(found) => found,
        Err(reason) => return CrossCheck::Refused(reason.to_owned()),
    };
    let mut theirs: Vec<(u32, u32, String)> = Vec::new();
    for binding in &found {
        if let Some(kind) = kind_of(binding.descriptor_type) {
            theirs.push((binding.set, binding.binding, described(kind, &binding.name)));
        }
    }
    let mut ours = declared(module);
    ours.sort_unstable();
    theirs.sort_unstable();
    CrossCheck::Compared(differences(&ours, &theirs))
}

/// Why a module is not for `spirv-reflect`.
fn unfit(module: &Module) -> Option<String> {
    let (major, minor) = module.code.version();
    if (major, minor) > (1, 3) {
        return Some(format!("SPIR-V {major}.{minor} is later than 1.3"));
    }
    let capabilities = module
        .code
        .instructions
        .iter()
        .filter(|it| it.op == Op::Capability);
    let mut capabilities = capabilities.map(|it| module.code.operand(it, 0));
    let unknown = capabilities.find(|capability| {
        let kernels = [Capability::Addresses, Capability::Linkage, Capability::Kernel];
        // Core of SPIR-V 1.0 to 1.3 and the extensions that went into it, up to variable pointers.
        let known = *capability <= 70 || (4427..=4442).contains(capability);
        !known || kernels.iter().any(|kernel| *kernel as u32 == *capability)
    });
    unknown.map(|capability| match Capability::from_u32(capability) {
        Some(name) => format!("it has the capability {name:?}"),
        None => format!("it has the capability {capability}"),
    })
}

/// The images and buffers that a module declares, used or not, in the storage classes that `spirv-reflect` looks at.
fn declared(module: &Module) -> Vec<(u32, u32, String)> {
    let variables = module.globals.iter().filter_map(|&id| {
        let variable = module.code.definition(id)?;
        let class = module.variable_class(variable)?;
        if !matches!(class, StorageClass::Uniform | StorageClass::UniformConstant) {
            return None;
        }
        let descriptor = module.descriptor(variable)?;
        let decorations = module.decorations(id);
        let name = module.names.get(&id).map_or("", String::as_str);
        let described = described(descriptor.kind, name);
        Some((
            decorations.set.unwrap_or(0),
            decorations.binding.unwrap_or(0),
            described,
        ))
    });
    variables.collect()
}

fn described(kind: AccessKind, name: &str) -> String {
    format!("{kind:?} `{}`", shortened(name))
}

fn kind_of(reflected: Reflected) -> Option<AccessKind> {
    Some(match reflected {
        Reflected::CombinedImageSampler | Reflected::SampledImage => AccessKind::SampledImage,
        Reflected::StorageImage => AccessKind::StorageImage,
        Reflected::UniformTexelBuffer => AccessKind::UniformTexelBuffer,
        Reflected::StorageTexelBuffer => AccessKind::StorageTexelBuffer,
        Reflected::UniformBuffer | Reflected::UniformBufferDynamic => AccessKind::UniformBuffer,
        Reflected::StorageBuffer | Reflected::StorageBufferDynamic => AccessKind::StorageBuffer,
        Reflected::InputAttachment => AccessKind::InputAttachment,
        Reflected::Undefined | Reflected::Sampler | Reflected::AccelerationStructureNV => return None,
    })
}

/// Walks two sorted lists side by side.
fn differences(ours: &[(u32, u32, String)], theirs: &[(u32, u32, String)]) -> Vec<Difference> {
    const NOTHING: &str = "nothing";
    let mut differences = Vec::new();
    let (mut a, mut b) = (ours.iter().peekable(), theirs.iter().peekable());
    loop {
        let (left, right) = (a.peek().copied(), b.peek().copied());
        let place = |it: &(u32, u32, String)| (it.0, it.1);
        let (left, right) = match (left, right) {
            (None, None) => return differences,
            (Some(left), Some(right)) if place(left) < place(right) => (Some(left), None),
            (Some(left), Some(right)) if place(right) < place(left) => (None, Some(right)),
            both => both,
        };
        left.is_some().then(|| a.next());
        right.is_some().then(|| b.next());
        let text = |it: Option<&(u32, u32, String)>| it.map_or(NOTHING, |it| it.2.as_str()).to_owned();
        if text(left) != text(right) {
            let (set, binding) = left.or(right).map_or((0, 0), place);
            differences.push(Difference {
                set,
                binding,
                ours: text(left),
                theirs: text(right),
            });
        }
    }
}
