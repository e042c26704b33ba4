//! The descriptors that the shaders of pipelines access, read from SPIR-V.
//!
//! Code is read when a pipeline is created from it, since programs create modules that they never use.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ash::vk;
/// A descriptor that a shader accesses, with its possible and certain accesses.
pub(crate) use tileheap_spirv::Binding as DescriptorAccess;
use tileheap_spirv::{Guard, GuardValue, ShaderModule};

use super::vertex_input::loaded_locations;
use crate::tables::unseen_writes::UnseenWrites;

/// Maximum total size, in words, of the code that a device keeps in case its modules are created again: 4 MiB.
const MAX_KEPT_WORDS: usize = 1 << 20;

/// The code of a shader module.
#[derive(Debug)]
pub(crate) struct Code {
    words: Arc<[u32]>,
    /// The entry points that have been analyzed so far.
    entry_points: Mutex<Vec<EntryPoint>>,
    /// The locations of inputs that the module's vertex shader certainly reads, computed when they are first needed.
    locations: OnceLock<HashSet<u32>>,
}

/// The code of a device's shader modules, each kept once: programs create the same modules repeatedly.
#[derive(Debug, Default)]
pub(crate) struct ShaderCodes {
    kept: Mutex<KeptCodes>,
}

#[derive(Debug, Default)]
struct KeptCodes {
    by_words: HashMap<Arc<[u32]>, Arc<Code>>,
    /// The total number of words in `by_words`.
    words: usize,
}

impl ShaderCodes {
    /// Returns the code with these words. Modules with equal words share one analysis as long as the code is kept.
    pub(crate) fn get(&self, words: &[u32]) -> Arc<Code> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.by_words.get(words) {
            return known.clone();
        }
        let code = Arc::new(Code::new(words));
        if kept.words + words.len() > MAX_KEPT_WORDS {
            *kept = KeptCodes::default();
        }
        if words.len() <= MAX_KEPT_WORDS {
            kept.words += words.len();
            kept.by_words.insert(code.words.clone(), code.clone());
        }
        code
    }
}

#[derive(Debug)]
struct EntryPoint {
    name: String,
    stage: vk::ShaderStageFlags,
    accesses: Option<ShaderAccesses>,
}

/// The memory that a shader accesses.
#[derive(Clone, Debug)]
pub(crate) struct ShaderAccesses {
    pub(crate) descriptors: Arc<[DescriptorAccess]>,
    /// True if the shader writes memory through device addresses.
    writes_by_address: bool,
}

impl Code {
    pub(crate) fn new(words: &[u32]) -> Code {
        Code {
            words: words.into(),
            entry_points: Mutex::default(),
            locations: OnceLock::new(),
        }
    }

    /// The locations of inputs that the module's vertex shader certainly reads.
    pub(crate) fn loaded_locations(&self) -> &HashSet<u32> {
        self.locations.get_or_init(|| loaded_locations(&self.words))
    }

    /// The accesses of an entry point; `None` if it cannot be read. Each entry point is read once.
    pub(crate) fn accesses(&self, stage: vk::ShaderStageFlags, name: &str) -> Option<ShaderAccesses> {
        let mut known = self.entry_points.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.iter().find(|one| one.stage == stage && one.name == name) {
            return found.accesses.clone();
        }
        let accesses = accesses_of(&self.words, stage, name);
        known.push(EntryPoint {
            name: name.to_owned(),
            stage,
            accesses: accesses.clone(),
        });
        accesses
    }
}

fn accesses_of(words: &[u32], stage: vk::ShaderStageFlags, name: &str) -> Option<ShaderAccesses> {
    let entry = ShaderModule::parse(words).ok()?.entry_point(name, stage).ok()?;
    // A size query is not an access.
    let accessed = entry.bindings.into_iter().filter(|one| one.reads || one.writes);
    Some(ShaderAccesses {
        descriptors: accessed.collect(),
        writes_by_address: entry.addresses.iter().any(|one| one.writes),
    })
}

/// The writes that a shader may perform if its code could not be read.
pub(crate) const UNKNOWN_SHADER: UnseenWrites = UnseenWrites::ADDRESSES.or(UnseenWrites::DESCRIPTORS);

/// The shaders of a pipeline.
#[derive(Clone, Debug, Default)]
pub(crate) struct PipelineShaders {
    /// The accesses by stage, then those of the libraries that the pipeline is linked from.
    descriptors: Vec<Arc<[DescriptorAccess]>>,
    /// The writes that the shaders may perform in addition to those through `descriptors`: by address, and through any descriptor if a shader could
    /// not be read or a library is not known.
    pub(crate) unseen_writes: UnseenWrites,
    /// The values that the shaders' guards compare and that are known at a dispatch: push constants, image sizes, array lengths.
    pub(crate) guard_values: Vec<GuardValue>,
}

impl PipelineShaders {
    /// Adds a shader; `None` stands for one that could not be read.
    pub(crate) fn add(&mut self, accesses: Option<ShaderAccesses>) {
        self.unseen_writes |= accesses.as_ref().map_or(UNKNOWN_SHADER, |one| {
            UnseenWrites::ADDRESSES.only_if(one.writes_by_address)
        });
        let descriptors = accesses.iter().flat_map(|one| one.descriptors.iter());
        let guards = descriptors.flat_map(|one| one.certain.iter().flat_map(|access| &access.guards));
        let values = guards
            .flat_map(Guard::values)
            .filter(|value| !matches!(value, GuardValue::Constant(_) | GuardValue::Invocation(_)));
        self.guard_values.extend(values);
        self.guard_values.sort_unstable();
        self.guard_values.dedup();
        self.descriptors.extend(accesses.map(|one| one.descriptors));
    }

    /// Adds the shaders of a library; `None` stands for a library that is not known.
    pub(crate) fn link(&mut self, library: Option<&PipelineShaders>) {
        self.unseen_writes |= library.map_or(UNKNOWN_SHADER, |library| library.unseen_writes);
        self.guard_values
            .extend(library.iter().flat_map(|library| &library.guard_values));
        self.descriptors.extend(
            library
                .iter()
                .flat_map(|library| library.descriptors.iter().cloned()),
        );
    }

    /// The offsets of push constants that guards compare.
    pub(crate) fn push_constants(&self) -> impl Iterator<Item = u32> {
        self.guard_values.iter().filter_map(|value| match value {
            GuardValue::PushConstant { offset } => Some(*offset),
            _ => None,
        })
    }

    /// Records that dispatches may begin at any workgroup: the parts that the invocations access, and the invocations that pass guards, are unknown.
    pub(crate) fn dispatch_from_anywhere(&mut self) {
        for shader in &mut self.descriptors {
            let mut accesses = shader.to_vec();
            for access in &mut accesses {
                access.certain.retain(|one| !one.depends_on_base());
            }
            *shader = accesses.into();
        }
    }

    /// The accesses of all shaders that were read.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &DescriptorAccess> {
        self.descriptors.iter().flat_map(|shader| shader.iter())
    }
}

#[cfg(test)]
mod tests {
    use tileheap_device::AccessKind;
    use tileheap_spirv::AccessRange;
    use tileheap_testkit::glsl::{Stage, compile};

    use super::*;

    const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

    fn rate() -> Vec<u32> {
        let bytes = include_bytes!("../../tests/layer/tile_shaders/rate.spv").chunks_exact(4);
        bytes
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    #[test]
    fn tile_attachments_are_told_apart() {
        let kinds = |words: &[u32]| -> Vec<AccessKind> {
            let accesses = Code::new(words).accesses(COMPUTE, "main").expect("SPIR-V");
            accesses.descriptors.iter().map(|one| one.kind).collect()
        };
        let shader = rate();
        let is_tile = |kind: &AccessKind| *kind == AccessKind::TileAttachment;
        let of_tile = kinds(&shader);
        assert!(of_tile.iter().any(is_tile), "{of_tile:?}");
        // The same shader with ordinary images, and the block of the tile's record.
        let rewritten = crate::model::tile_shaders::rewrite(&shader, 7).expect("it has the capability");
        let images = kinds(&rewritten.words);
        assert!(!images.iter().any(is_tile), "{images:?}");
        let count = images.iter().filter(|kind| kind.fits_images()).count();
        assert_eq!(count, of_tile.len());
    }

    #[test]
    fn equal_code_is_kept_once_up_to_a_limit() {
        let codes = ShaderCodes::default();
        let words = rate();
        let first = codes.get(&words);
        assert!(Arc::ptr_eq(&first, &codes.get(&words)));
        let mut other = words.clone();
        *other.last_mut().expect("not empty") += 1;
        assert!(!Arc::ptr_eq(&first, &codes.get(&other)));
        // Too large to be kept together with others, and too large to be kept at all.
        let large = codes.get(&vec![0; MAX_KEPT_WORDS]);
        assert!(Arc::ptr_eq(&large, &codes.get(&vec![0; MAX_KEPT_WORDS])));
        assert!(!Arc::ptr_eq(&first, &codes.get(&words)));
        let too_large = codes.get(&vec![0; MAX_KEPT_WORDS + 1]);
        assert!(!Arc::ptr_eq(&too_large, &codes.get(&vec![0; MAX_KEPT_WORDS + 1])));
    }

    #[test]
    fn parts_depend_on_the_first_workgroup() {
        let source =
            "layout(local_size_x = 64) in; layout(binding = 0) buffer Data { uint first; uint data[]; };
            void main() { first = 1; data[gl_GlobalInvocationID.x] = 1; }";
        let mut shaders = PipelineShaders::default();
        shaders.add(Code::new(&compile(Stage::Compute, source, 3)).accesses(COMPUTE, "main"));
        let written = |shaders: &PipelineShaders| {
            let extents = shaders.iter().map(|one| one.written_extent([1; 3], 1024));
            extents.collect::<Vec<_>>()
        };
        assert_eq!(written(&shaders), [Some(AccessRange::Bytes(0..260))]);
        shaders.dispatch_from_anywhere();
        assert_eq!(written(&shaders), [Some(AccessRange::Bytes(0..4))]);
        assert!(shaders.iter().all(|one| one.always_writes));
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        let good = Code::new(&rate());
        assert!(good.accesses(COMPUTE, "main").is_some());
        assert!(good.accesses(COMPUTE, "other").is_none());
        assert!(good.accesses(vk::ShaderStageFlags::VERTEX, "main").is_none());
        assert!(Code::new(&[]).accesses(COMPUTE, "main").is_none());
        let mut known = PipelineShaders::default();
        known.add(good.accesses(COMPUTE, "main"));
        assert!(known.unseen_writes.is_empty() && known.iter().next().is_some());
        let mut linked = PipelineShaders::default();
        linked.link(Some(&known));
        assert!(linked.unseen_writes.is_empty() && linked.iter().count() == known.iter().count());
        linked.link(None);
        assert_eq!(linked.unseen_writes, UNKNOWN_SHADER);
        known.add(None);
        assert_eq!(known.unseen_writes, UNKNOWN_SHADER);
        let mut of_unknown = PipelineShaders::default();
        of_unknown.link(Some(&known));
        assert_eq!(of_unknown.unseen_writes, UNKNOWN_SHADER);
    }
}
