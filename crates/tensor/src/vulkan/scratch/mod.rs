//! Scratch textures (the RFC's A0): a buffer is staged into a texture, a kernel reads the texture, and the texture is freed.
//!
//! ```text
//! x (buffer) ──copy──► t = allocate([32, 32, 4], texture) ──add_one──► y (buffer)     free(t)
//!                      └─ recycled by the next request of its kind, in program order
//! ```
//! Allocation and release follow the order in which commands are recorded, not executed: a freed texture is reused
//! immediately, with a barrier between its last reader and its next writer.

mod create;
mod pool_policy;

use std::collections::BTreeMap;

use ash::vk;
use ash::vk::Handle;

pub use pool_policy::GrowthPolicy;
use pool_policy::{Allocation, choose};

use super::dispatch::{Dispatch, Dispatcher};
use super::hazards::{ObjectId, Space, Tracker};
use super::kernel::KernelSet;
use super::locations::check_size;
use super::measure::format;
use super::objects::StorageObject;
use super::operand::{OperandLayout, OperandShape, OperandStorage, operand_shape};
use super::pipelines::{PipelineKey, arguments_of, local_size};
use crate::error::{Error, Result};
use crate::graph::ElementType;
use crate::layout::{Convention, ConventionForm, ImageExtent, Layout, LayoutRule, Storage};
use tileheap::runtime::objects::OwnedObjects;
use tileheap::runtime::{BoundBuffer, Device};
use tileheap::units::Bytes;

/// The storage of a scratch tensor, with the flattening of its dimensions to an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScratchScope {
    /// A storage buffer of vectors.
    Buffer,
    /// A texel buffer.
    TexelBuffer,
    /// A 2D image.
    Image(Convention),
    /// An image array.
    Array(Convention),
}

/// Parameters of a [`ScratchPool`].
#[derive(Clone, Debug)]
pub struct ScratchDesc {
    /// The maximum number of bytes that the pool may hold, including free textures and buffers.
    pub max_bytes: Bytes,
    /// The rule for enlarging a free texture instead of creating another.
    pub growth: GrowthPolicy,
    /// The kernels that can be dispatched.
    pub kernels: KernelSet,
}

/// A scratch tensor of `[.., 4]` elements, valid until it is freed.
#[derive(Debug)]
pub struct Scratch {
    entry: usize,
    layout: Layout,
    shape: OperandShape,
}

impl Scratch {
    /// The layout of the tensor; the image may be larger.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// A kernel's operand.
#[derive(Clone, Copy, Debug)]
pub enum ScratchOperand<'a> {
    /// A scratch tensor.
    Scratch(&'a Scratch),
    /// A caller's buffer, as vectors of `[.., 4]`.
    Buffer {
        /// The buffer.
        buffer: BoundBuffer,
        /// The buffer's dimensions, of which the last is 4.
        shape: &'a [u64],
        /// True if the buffer already has contents.
        has_contents: bool,
    },
}

/// A kernel to dispatch.
#[derive(Clone, Copy, Debug)]
pub struct KernelCall<'a> {
    /// The kernel's name in the pool's [`KernelSet`].
    pub kernel: &'a str,
    /// The kernel's operands by binding, the output last.
    pub operands: &'a [ScratchOperand<'a>],
    /// The element type of the operands: 32-bit or 16-bit floats.
    pub element: ElementType,
    /// The kernel's parameters, `number` in `shaders/tensor.glsl`: the second half of the push constants.
    pub numbers: [[i32; 4]; 4],
    /// Vectors along the last two axes of the output that one invocation computes: rows, columns.
    pub tile: [u32; 2],
}

/// A texture or buffer of the pool.
struct Entry {
    resource: StorageObject,
    object: ObjectId,
    kind: (Storage, ElementType),
    extent: ImageExtent,
    size: Bytes,
    owned: OwnedObjects,
    free: bool,
}

/// A pool of scratch tensors on a device, with the kernels that use them. One pool serves one queue.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::runtime::{BoundBuffer, Device};
/// # use tileheap_tensor::vulkan::*;
/// # use tileheap_tensor::vulkan::scratch::*;
/// # use tileheap_tensor::ElementType;
/// # use tileheap_tensor::layout::Convention;
/// # use tileheap_tensor::units::Bytes;
/// # fn f(device: &Device, commands: vk::CommandBuffer, x: BoundBuffer) -> tileheap_tensor::Result<()> {
/// let desc = ScratchDesc { max_bytes: Bytes::mib(16), growth: GrowthPolicy::default(), kernels: KernelSet::new() };
/// let mut pool = ScratchPool::new(device, desc);
/// let (shape, element) = ([32, 32, 4], ElementType::Float32);
/// let texture = pool.allocate(&shape, element, ScratchScope::Image(Convention::Texture))?;
/// let operands = [
///     ScratchOperand::Buffer { buffer: x, shape: &shape, has_contents: true },
///     ScratchOperand::Scratch(&texture),
/// ];
/// let call = KernelCall { kernel: "copy", operands: &operands, element, numbers: [[0; 4]; 4], tile: [1, 1] };
/// // SAFETY: recording outside of a render pass; `x` lives until the commands are complete.
/// unsafe { pool.dispatch(commands, &call) }?;
/// pool.free(texture); // the next request of its kind gets it
/// # Ok(()) }
/// ```
pub struct ScratchPool {
    desc: ScratchDesc,
    entries: Vec<Option<Entry>>,
    /// Textures and buffers that larger ones have replaced, and that may still be in use on the device.
    outgrown: Vec<Entry>,
    dispatcher: Dispatcher,
    tracker: Tracker,
    buffers: BTreeMap<(u64, u64, u64), ObjectId>,
    destroyed: bool,
}

impl ScratchPool {
    /// An empty pool.
    pub fn new(device: &Device, desc: ScratchDesc) -> ScratchPool {
        ScratchPool {
            dispatcher: Dispatcher::new(device, desc.kernels.clone()),
            desc,
            entries: Vec::new(),
            outgrown: Vec::new(),
            tracker: Tracker::default(),
            buffers: BTreeMap::new(),
            destroyed: false,
        }
    }

    /// The bytes that the pool holds: allocated, free, and outgrown until [`ScratchPool::trim`].
    pub fn held_bytes(&self) -> Bytes {
        let entries = self.entries.iter().flatten().chain(&self.outgrown);
        entries.map(|entry| entry.size).sum()
    }

    /// The number of textures and buffers that the pool holds, including free ones, but not outgrown ones.
    pub fn len(&self) -> usize {
        self.entries.iter().flatten().count()
    }

    /// Returns true if the pool holds no textures or buffers, other than outgrown ones.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Allocates a scratch tensor of any shape whose last dimension is 4 (the RFC's L0: one call for every scope). Its contents are undefined.
    ///
    /// # Errors
    /// A last dimension that is not 4, more dimensions than kernels support, elements that are not floats, or a pool that would exceed
    /// [`max_bytes`](ScratchDesc::max_bytes).
    pub fn allocate(&mut self, shape: &[u64], element: ElementType, scope: ScratchScope) -> Result<Scratch> {
        let name = format!("scratch {shape:?}");
        let layout = rule(shape.len(), scope).apply(&name, shape, element)?;
        let in_vectors = vectors(&name, &layout, shape)?;
        format(&name, element)?;
        // A buffer has one row.
        let wanted = layout.extent;
        let kind = (layout.rule.storage, element);
        let entries = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| Some((index, entry.as_ref()?)));
        let free = entries.filter(|(_, entry)| entry.free && entry.kind == kind);
        let free: Vec<_> = free.map(|(index, entry)| (index, entry.extent)).collect();
        let entry = match choose(&free, wanted, self.desc.growth) {
            Allocation::Reuse(index) => index,
            Allocation::Grow(index, extent) => {
                let larger = self.make(&name, kind, extent)?;
                let outgrown = self.entries[index].replace(larger);
                self.outgrown.extend(outgrown);
                index
            }
            Allocation::New => {
                let made = self.make(&name, kind, wanted)?;
                self.entries.push(Some(made));
                self.entries.len() - 1
            }
        };
        let taken = self.entries[entry]
            .as_mut()
            .expect("only existing entries are chosen");
        taken.free = false;
        self.tracker.discard(taken.object);
        let shape = in_vectors;
        Ok(Scratch { entry, layout, shape })
    }

    /// Frees a scratch tensor: commands recorded from now on may use its bytes.
    pub fn free(&mut self, scratch: Scratch) {
        if let Some(entry) = self.entries[scratch.entry].as_mut() {
            entry.free = true;
        }
    }

    /// Records a kernel, with the barrier it needs.
    ///
    /// # Errors
    /// No kernel supports these operands or elements, one of the operands is read before it was written, or a buffer is too small.
    ///
    /// # Safety
    /// `commands` is recording outside of a render pass, on the pool's queue; command buffers are submitted in the order in which they were recorded;
    /// buffers are alive until they are [forgotten](ScratchPool::forget), have the usage `STORAGE_BUFFER` and consist of vectors of the call's
    /// elements.
    pub unsafe fn dispatch(&mut self, commands: vk::CommandBuffer, call: &KernelCall<'_>) -> Result<()> {
        let element = call.element;
        if !matches!(element, ElementType::Float32 | ElementType::Float16) {
            let problem =
                format!("kernels support only float32 and float16 elements, but the call's are {element}");
            return Err(Error::kernel(call.kernel, problem));
        }
        let mut operands = Vec::with_capacity(call.operands.len());
        for operand in call.operands {
            operands.push(self.operand(operand, call)?);
        }
        let Some((_, _, last)) = operands.last() else {
            return Err(Error::kernel(call.kernel, "the call has no operands"));
        };
        let ([a, b, c, d], [rows, columns]) = (last.extent, call.tile.map(|side| side.max(1)));
        let work = [a, b, c.div_ceil(rows), d.div_ceil(columns)];
        let key = PipelineKey {
            kernel: call.kernel.to_owned(),
            layouts: operands.iter().map(|(.., shape)| shape.layout).collect(),
            half: call.element == ElementType::Float16,
            function: 0,
            activation: 0,
            local_size: local_size(work),
        };
        let bound = operands.iter().map(|&(resource, object, _)| (resource, object));
        let bound: Vec<_> = bound.collect();
        let dispatch = Dispatch {
            key,
            operands: &bound,
            format: format("", call.element).expect("the element type was checked before the operands"),
            arguments: arguments_of(operands.iter().map(|(.., shape)| shape.extent), &call.numbers),
            work,
        };
        let overwritten = |index: usize| Error::overwritten(call.kernel, &format!("operand {index}"));
        let (dispatcher, tracker) = (&mut self.dispatcher, &mut self.tracker);
        // SAFETY: the caller's duty.
        unsafe { dispatcher.record(commands, tracker, &dispatch, overwritten) }?;
        Ok(())
    }

    fn operand(
        &mut self,
        operand: &ScratchOperand<'_>,
        call: &KernelCall<'_>,
    ) -> Result<(StorageObject, ObjectId, OperandShape)> {
        let (buffer, shape, has_contents) = match *operand {
            ScratchOperand::Scratch(scratch) => {
                let entry = self.entries[scratch.entry]
                    .as_ref()
                    .expect("`trim` keeps the entries of allocated tensors");
                if entry.kind.1 != call.element {
                    let (given, wanted) = (entry.kind.1, call.element);
                    let problem = format!("the call's elements are {wanted}, but an operand's are {given}");
                    return Err(Error::kernel(call.kernel, problem));
                }
                return Ok((entry.resource, entry.object, scratch.shape));
            }
            ScratchOperand::Buffer {
                buffer,
                shape,
                has_contents,
            } => (buffer, shape, has_contents),
        };
        let layout = rule(shape.len(), ScratchScope::Buffer).apply("buffer", shape, call.element)?;
        let needed = layout.bytes();
        check_size(|| format!("buffer {shape:?}"), needed, buffer)?;
        let BoundBuffer { handle, offset, .. } = buffer;
        let key = (handle.as_raw(), offset, needed.0);
        let (space, bytes) = (Space::External(key.0), offset..offset + needed.0);
        let new = || self.tracker.add(space, bytes, None, has_contents);
        let object = *self.buffers.entry(key).or_insert_with(new);
        if has_contents {
            self.tracker.define(object);
        }
        let size = needed.0;
        let resource = StorageObject::Buffer { handle, offset, size };
        Ok((resource, object, vectors("buffer", &layout, shape)?))
    }

    /// Forgets a buffer that was an operand, before the caller destroys it.
    ///
    /// # Safety
    /// Nothing that was recorded with it is in flight, or will be submitted.
    pub unsafe fn forget(&mut self, buffer: vk::Buffer) {
        self.buffers.retain(|(handle, ..), _| *handle != buffer.as_raw());
        // SAFETY: the caller's duty.
        unsafe { self.dispatcher.forget(buffer) };
    }

    /// Destroys free and outgrown textures and buffers.
    ///
    /// # Safety
    /// Nothing that was recorded with the pool is in flight, or will be submitted.
    pub unsafe fn trim(&mut self) {
        // SAFETY: the caller's duty. Sets may refer to what is destroyed next.
        unsafe { self.dispatcher.forget_all() };
        let mut unused: Vec<Entry> = self.outgrown.drain(..).collect();
        for entry in &mut self.entries {
            if entry.as_ref().is_some_and(|entry| entry.free) {
                unused.extend(entry.take());
            }
        }
        for mut entry in unused {
            // SAFETY: the caller's duty.
            unsafe { entry.owned.destroy() };
        }
    }

    /// Destroys the pool and all of its objects.
    ///
    /// # Safety
    /// Nothing that was recorded with the pool is in flight.
    pub unsafe fn destroy(mut self) {
        for entry in self.entries.iter_mut().flatten() {
            entry.free = true;
        }
        // SAFETY: the caller's duty.
        unsafe { self.trim() };
        // SAFETY: the caller's duty.
        unsafe { self.dispatcher.destroy() };
        self.destroyed = true;
    }
}

impl std::fmt::Debug for ScratchPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScratchPool")
            .field("held_bytes", &self.held_bytes())
            .field("max_bytes", &self.desc.max_bytes)
            .finish_non_exhaustive()
    }
}

impl Drop for ScratchPool {
    fn drop(&mut self) {
        if !self.destroyed {
            tracing::warn!("ScratchPool dropped without ScratchPool::destroy: its textures leak");
            std::mem::forget(std::mem::take(&mut self.entries));
            std::mem::forget(std::mem::take(&mut self.outgrown));
        }
    }
}

/// The layout of `[.., 4]` in a scope.
fn rule(rank: usize, scope: ScratchScope) -> LayoutRule {
    let buffer = |storage| LayoutRule {
        storage,
        ..LayoutRule::packed_buffer(rank.saturating_sub(1))
    };
    match scope {
        ScratchScope::Buffer => buffer(Storage::Buffer),
        ScratchScope::TexelBuffer => buffer(Storage::TexelBuffer),
        ScratchScope::Image(convention) => convention.rule(rank, ConventionForm::Flat),
        ScratchScope::Array(convention) => convention.rule(rank, ConventionForm::Layered),
    }
}

/// A tensor of `[.., 4]` as kernels see it: its lanes are the last axis, in any storage.
fn vectors(name: &str, layout: &Layout, shape: &[u64]) -> Result<OperandShape> {
    let storage = match layout.rule.storage {
        Storage::Buffer => OperandStorage::Buffer,
        Storage::TexelBuffer => OperandStorage::Texels,
        _ => return operand_shape(name, layout),
    };
    let fault = |problem: &str| Error::tensor(name, problem);
    let [outer @ .., 4] = shape else {
        return Err(fault("its last dimension must be 4, the lanes of a vector"));
    };
    if outer.len() > 4 {
        return Err(fault("kernels support at most 4 axes of vectors"));
    }
    let mut extent = [1; 4];
    for (axis, &dim) in extent[4 - outer.len()..].iter_mut().zip(outer) {
        *axis = u32::try_from(dim).map_err(|_| fault("a dimension exceeds 32 bits"))?;
    }
    Ok(OperandShape {
        layout: OperandLayout { storage, split: 3 },
        extent,
        lanes: Some((4, 4)),
    })
}
