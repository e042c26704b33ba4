//! `pNext` chains: searches them, and copies the part that must change before it is passed down.
//!
//! ```text
//! the application's   A ─► TILE ─► B ─► C ─► D         TILE is ours, C has our usage bit
//! passed down         A' ───────► B' ─► C' ─► D        copies up to the last change, then the application's own
//! ```
//! A structure of unknown type has unknown size, so copying ends before it: the rest is passed on unchanged, and drivers ignore structures that they
//! do not know.

use std::ffi::c_void;
use std::ptr;

use ash::vk;
use ash::vk::TaggedStructure;

use crate::structure_sizes::size_of_structure;

/// The treatment of a structure in a chain that is passed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructTreatment {
    /// Pass it down as it is.
    Keep,
    /// Remove it: it belongs to the layer.
    Remove,
    /// Pass down a copy, which the caller edits.
    Edit,
}

/// A chain to pass to the next layer.
pub struct Chain {
    head: *const c_void,
    copies: Vec<Box<[u64]>>,
}

impl Chain {
    /// Copies the structures of `p_next` up to the last one that `decide` removes or edits, without the removed ones, and links the rest. Stops
    /// earlier at a structure of unknown size that would have to be copied.
    ///
    /// # Safety
    /// `p_next` is null or a valid chain, which outlives the result.
    pub unsafe fn new(p_next: *const c_void, decide: impl Fn(vk::StructureType) -> StructTreatment) -> Chain {
        // SAFETY: The caller's promise.
        let nodes = unsafe { walk(p_next) };
        let treated = |node: &Node| decide(node.s_type) != StructTreatment::Keep;
        let end = nodes.iter().rposition(treated).map_or(0, |last| last + 1);
        let known = nodes[..end].iter().position(|node| {
            decide(node.s_type) != StructTreatment::Remove && size_of_structure(node.s_type).is_none()
        });
        let end = known.unwrap_or(end);
        let mut chain = Chain {
            head: nodes.get(end).map_or(ptr::null(), |node| node.at.cast()),
            copies: Vec::new(),
        };
        for node in nodes[..end].iter().rev() {
            let size = size_of_structure(node.s_type);
            if let (Some(size), true) = (size, decide(node.s_type) != StructTreatment::Remove) {
                // SAFETY: A structure of this type is alive there and has that size.
                unsafe { chain.push_copy(node.at, size) };
            }
        }
        chain
    }

    /// Inserts a copy of a structure before the others.
    ///
    /// # Safety
    /// A Vulkan structure of `size` bytes is at `at`.
    unsafe fn push_copy(&mut self, at: *const vk::BaseInStructure<'_>, size: usize) {
        let mut copy = vec![0u64; size.div_ceil(8)].into_boxed_slice();
        // SAFETY: Guaranteed by the caller; the copy is new and has at least that many bytes.
        unsafe { ptr::copy_nonoverlapping(at.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), size) };
        let base = copy.as_mut_ptr().cast::<vk::BaseInStructure<'_>>();
        // SAFETY: The copy begins with `sType` and `pNext`, as every Vulkan structure does.
        unsafe { (*base).p_next = self.head.cast() };
        self.head = base.cast();
        self.copies.push(copy);
    }

    /// The head of the chain, which is valid as long as `self` lives.
    pub fn head(&self) -> *const c_void {
        self.head
    }

    /// The copy of the first structure of type `T`, if there is one.
    pub fn copy_of<T: TaggedStructure>(&mut self) -> Option<&mut T> {
        self.copies.iter_mut().rev().find_map(|copy| {
            let at = copy.as_mut_ptr();
            // SAFETY: Every copy begins with `sType` and `pNext`.
            let s_type = unsafe { (*at.cast::<vk::BaseInStructure<'_>>()).s_type };
            // SAFETY: The type says that the copy is a `T`; it is aligned to 8 bytes and borrowed mutably.
            (s_type == T::STRUCTURE_TYPE).then(|| unsafe { &mut *at.cast::<T>() })
        })
    }

    /// Inserts one of the layer's own structures before the others.
    pub fn push<T: TaggedStructure>(&mut self, structure: &mut T) {
        let base = ptr::from_mut(structure).cast::<vk::BaseInStructure<'_>>();
        // SAFETY: A tagged structure begins with `sType` and `pNext`.
        unsafe { (*base).p_next = self.head.cast() };
        self.head = base.cast();
    }
}

struct Node {
    at: *const vk::BaseInStructure<'static>,
    s_type: vk::StructureType,
}

/// Returns the structures of a chain, in order.
///
/// # Safety
/// `p_next` is null or a valid chain.
unsafe fn walk(p_next: *const c_void) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut at = p_next.cast::<vk::BaseInStructure<'static>>();
    while !at.is_null() {
        // SAFETY: Every structure of a chain begins with `sType` and `pNext`.
        let base = unsafe { &*at };
        nodes.push(Node {
            at,
            s_type: base.s_type,
        });
        at = base.p_next;
    }
    nodes
}

/// The first structure of type `T` in an application's input chain.
///
/// # Safety
/// `p_next` is null or a valid chain, which lives for `'a`.
pub unsafe fn find<'a, T: TaggedStructure>(p_next: *const c_void) -> Option<&'a T> {
    // SAFETY: The caller's promise.
    let at = unsafe { find_raw(p_next, T::STRUCTURE_TYPE) };
    // SAFETY: Null, or a live structure of that type.
    unsafe { at.cast::<T>().as_ref() }
}

/// The first structure of type `T` in an application's output chain.
///
/// # Safety
/// `p_next` is null or a valid chain, which lives for `'a` and which is not otherwise accessed.
pub unsafe fn find_mut<'a, T: TaggedStructure>(p_next: *mut c_void) -> Option<&'a mut T> {
    // SAFETY: The caller's promise.
    let at = unsafe { find_raw(p_next, T::STRUCTURE_TYPE) };
    // SAFETY: Null, or a live structure of that type that the application lets Vulkan write.
    unsafe { at.cast::<T>().cast_mut().as_mut() }
}

/// Returns the first structure of a type in a chain; null if there is none.
///
/// # Safety
/// `p_next` is null or a valid chain.
unsafe fn find_raw(p_next: *const c_void, s_type: vk::StructureType) -> *const c_void {
    let mut at = p_next.cast::<vk::BaseInStructure<'_>>();
    while !at.is_null() {
        // SAFETY: Every structure of a chain begins with `sType` and `pNext`.
        let base = unsafe { &*at };
        if base.s_type == s_type {
            return at.cast();
        }
        at = base.p_next;
    }
    ptr::null()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileheap_device::ffi::TileMemorySizeInfoQCOM;

    fn types(head: *const c_void) -> Vec<vk::StructureType> {
        // SAFETY: The tests' chains are valid.
        unsafe { walk(head) }.iter().map(|node| node.s_type).collect()
    }

    fn treat(s_type: vk::StructureType) -> StructTreatment {
        match s_type {
            TileMemorySizeInfoQCOM::STRUCTURE_TYPE => StructTreatment::Remove,
            vk::ImageStencilUsageCreateInfo::STRUCTURE_TYPE => StructTreatment::Edit,
            _ => StructTreatment::Keep,
        }
    }

    #[test]
    fn what_is_ours_goes_and_the_rest_stays_in_order() {
        let mut last = vk::ImageFormatListCreateInfo::default();
        let mut stencil = vk::ImageStencilUsageCreateInfo::default();
        let mut ours = TileMemorySizeInfoQCOM::default();
        stencil.p_next = (&raw mut last).cast();
        ours.p_next = (&raw const stencil).cast();
        // SAFETY: The chain is valid.
        let mut chain = unsafe { Chain::new((&raw const ours).cast(), treat) };
        assert_eq!(types(chain.head()), [stencil.s_type, last.s_type]);
        chain
            .copy_of::<vk::ImageStencilUsageCreateInfo<'_>>()
            .unwrap()
            .stencil_usage = vk::ImageUsageFlags::SAMPLED;
        assert!(
            stencil.stencil_usage.is_empty(),
            "the application's structure is not touched"
        );
        assert!(
            chain.copy_of::<vk::ImageFormatListCreateInfo<'_>>().is_none(),
            "nothing after the last change"
        );
    }

    #[test]
    fn copying_ends_before_an_unknown_structure() {
        let ours = TileMemorySizeInfoQCOM::default();
        let unknown = vk::BaseInStructure {
            s_type: vk::StructureType::from_raw(0x7fff_0000),
            p_next: (&raw const ours).cast(),
            ..Default::default()
        };
        let first = TileMemorySizeInfoQCOM {
            p_next: (&raw const unknown).cast(),
            ..Default::default()
        };
        // SAFETY: The chain is valid.
        let chain = unsafe { Chain::new((&raw const first).cast(), treat) };
        assert_eq!(types(chain.head()), [unknown.s_type, ours.s_type]);
    }
}
