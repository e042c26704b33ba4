//! The cache: what there is, who is asked for, what to draw with.

use std::fmt;
use std::sync::Arc;

use ash::vk;

use super::budget::{self, HeapUse};
use super::image::{Images, Live};
use super::moves::Moves;
use super::shape::{Shape, TextureShape, measure};
use super::staging::Staging;
use super::transfer::{Transfer, TransferQueue};
use super::upload::Scratch;
use crate::Error;
use crate::Result;
use crate::{
    ArenaView, ChainId, FrameUploads, Geometry, Level, Levelled, Policy, PolicyKind, Served, TextureId,
    Textures,
};
use tileheap::runtime::Device;
use tileheap::runtime::RuntimeError;
use tileheap::runtime::objects::{VkResultExt, allocate_memory};
use tileheap::units::Bytes;

/// What a [`TextureCache`] is made of.
#[derive(Clone, Debug)]
pub struct TextureCacheDesc<'a> {
    /// The kinds of textures: the n-th is [`ChainId`] n.
    pub shapes: &'a [TextureShape],
    /// Device memory for all of them.
    pub budget: Bytes,
    /// What the cache never shrinks below when the system is short of memory; at least the largest texture.
    pub least: Bytes,
    /// Bytes of device memory that a frame's uploads fill, or more where a single texture is larger.
    pub uploads: Bytes,
    /// Who goes: one that [uploads textures whole](PolicyKind::uploads_whole).
    pub policy: PolicyKind,
    /// For policies that move textures: the size of a buffer beside the cache that they move through, at least the largest
    /// texture. What a frame moves beyond that is uploaded again.
    pub moves: Bytes,
    /// What policies that draw lots draw them from.
    pub seed: u64,
    /// The most frames that are under way at a time: the staging ring is made for them.
    pub frames_in_flight: u32,
    /// The stages that read textures.
    pub readers: vk::PipelineStageFlags,
    /// The queue family that draws: an index into families, needed beside a transfer queue.
    pub family: u32,
    /// A queue for uploads; without one they are recorded with the frame.
    pub transfer: Option<TransferQueue>,
}

impl<'a> TextureCacheDesc<'a> {
    /// A cache of `budget` bytes for fragment shaders: a 32nd of it in uploads a frame, two frames in flight, our own policy.
    pub fn new(shapes: &'a [TextureShape], budget: Bytes) -> TextureCacheDesc<'a> {
        TextureCacheDesc {
            shapes,
            budget,
            least: Bytes(budget.0 / 8),
            uploads: Bytes(budget.0 / 32),
            policy: PolicyKind::CoherentStill,
            moves: Bytes(budget.0 / 16),
            seed: 0,
            frames_in_flight: 2,
            readers: vk::PipelineStageFlags::FRAGMENT_SHADER,
            family: 0,
            transfer: None,
        }
    }
}

/// A texture to draw with, in this frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Its image, in `SHADER_READ_ONLY_OPTIMAL`.
    pub image: vk::Image,
    /// All its levels.
    pub view: vk::ImageView,
    /// A set of [`TextureCache::set_layout`] that points to it.
    pub set: vk::DescriptorSet,
    /// Its finest level, by the cache's count: it has one Vulkan level more than that.
    pub level: Level,
}

/// What is known of a texture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub(super) chain: ChainId,
    /// Offset and level that the policy gave it.
    pub(super) place: Option<(u64, Level)>,
    /// What is there; nothing until it was uploaded.
    pub(super) live: Option<Live>,
    /// Whether it is in the list of those to be uploaded.
    pub(super) listed: bool,
    /// Whether it is in the list of those that move.
    pub(super) moving: bool,
}

/// Textures in device memory; see the [module](super).
pub struct TextureCache {
    pub(super) inner: Device,
    pub(super) shapes: Vec<Shape>,
    pub(super) textures: Textures,
    pub(super) levelled: Levelled<Box<dyn Policy>>,
    pub(super) slots: Vec<Slot>,
    pub(super) images: Images,
    pub(super) staging: Staging,
    pub(super) transfer: Option<Transfer>,
    pub(super) moves: Moves,
    pub(super) memory: vk::DeviceMemory,
    pub(super) memory_type: u32,
    /// Allocations that the cache moves out of, in the next frame that is recorded.
    pub(super) former: Vec<vk::DeviceMemory>,
    pub(super) budget: Bytes,
    pub(super) limits: (Bytes, Bytes),
    budget_extension: bool,
    pub(super) readers: vk::PipelineStageFlags,
    pub(super) frame: u64,
    pub(super) complete: u64,
    /// Placed, and not uploaded yet.
    pub(super) fresh: Vec<TextureId>,
    pub(super) changed: Vec<TextureId>,
    pub(super) scratch: Scratch,
    destroyed: bool,
}

impl TextureCache {
    /// Measures the shapes, and makes the allocation and the staging ring.
    ///
    /// # Errors
    /// If a shape is not supported or the budget does not hold its largest; if the policy uploads single levels, or moves textures and
    /// there is a transfer queue; if the device is out of memory. Nothing is left behind then.
    pub fn new(device: &Device, desc: &TextureCacheDesc<'_>) -> Result<TextureCache> {
        let policy = desc.policy.name();
        if !desc.policy.uploads_whole() {
            return Err(Error::LevelsPolicy { policy });
        }
        if !desc.policy.keeps_places() && desc.transfer.is_some() {
            return Err(Error::MovingPolicy { policy });
        }
        let inner = device;
        let measured = measure(inner, desc.shapes)?;
        let policy = desc.policy.build(&measured.geometry, desc.budget, desc.seed)?;
        let types = measured.memory_types;
        if types == 0 {
            let (resource, why) = (
                "a texture cache".to_owned(),
                "no memory type holds all shapes".to_owned(),
            );
            return Err(RuntimeError::Unsupported { resource, why }.into());
        }
        let budget_extension = budget::is_there(inner)
            .with_call("vkEnumerateDeviceExtensionProperties", || "the memory budget")?;
        let levelled = Levelled::new(policy, &measured.geometry, desc.uploads);
        let largest = measured.geometry.largest();
        let mut cache = TextureCache {
            inner: inner.clone(),
            shapes: measured.shapes,
            textures: Textures::new(measured.geometry),
            levelled,
            slots: Vec::new(),
            images: Images::none(),
            staging: Staging::none(),
            transfer: desc.transfer.map(|queue| Transfer::new(queue, desc.family)),
            moves: Moves::none(),
            memory: vk::DeviceMemory::null(),
            memory_type: types.trailing_zeros(),
            former: Vec::new(),
            budget: desc.budget,
            limits: (desc.least.max(largest), desc.budget),
            budget_extension,
            readers: desc.readers,
            frame: 0,
            complete: 0,
            fresh: Vec::new(),
            changed: Vec::new(),
            scratch: Scratch::default(),
            destroyed: false,
        };
        match cache.make(desc) {
            Ok(()) => Ok(cache),
            Err(error) => {
                // SAFETY: nothing was submitted.
                unsafe { cache.destroy_all() };
                Err(error)
            }
        }
    }

    fn make(&mut self, desc: &TextureCacheDesc<'_>) -> Result<()> {
        let device = self.inner.raw();
        self.images.make_layout(device, vk::ShaderStageFlags::ALL)?;
        self.memory = self.allocate(desc.budget)?;
        // One upload can be larger than a frame's, and the end of the ring may have to be skipped. Texels are no more than
        // what their image takes, but for padding of rows of copies, which there is none of.
        let frames = u64::from(desc.frames_in_flight) + 1;
        let largest = self.textures.geometry().largest().0;
        let size = Bytes((desc.uploads.0 + desc.uploads.0 / 8) * frames + 2 * largest);
        self.staging.make(&self.inner, size, frames as usize + 1)?;
        if !desc.policy.keeps_places() {
            self.moves
                .make(&self.inner, desc.moves.max(Bytes(largest + 4 * 32)))?;
        }
        match &mut self.transfer {
            Some(transfer) => transfer.make(&self.inner),
            None => Ok(()),
        }
    }

    /// An allocation for the whole cache.
    pub(super) fn allocate(&self, budget: Bytes) -> Result<vk::DeviceMemory> {
        let profile = self.inner.profile();
        let heap = &profile.heaps[profile.memory_types[self.memory_type as usize].heap as usize];
        if budget > heap.size {
            let why = format!("its memory heap has {}", heap.size);
            return Err(RuntimeError::Unsupported {
                resource: format!("a texture cache of {budget}"),
                why,
            }
            .into());
        }
        // SAFETY: a type of the device, and not above its heap.
        Ok(unsafe { allocate_memory(self.inner.raw(), budget, self.memory_type, "a texture cache") }?)
    }

    /// What the driver asks of memory, by shape and level.
    pub fn geometry(&self) -> &Geometry {
        self.textures.geometry()
    }

    /// The layout of [`Texture::set`]: a sampled image at binding 0, for all stages.
    pub fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.images.set_layout
    }

    /// The id that the next new texture gets.
    pub fn next_id(&self) -> TextureId {
        self.textures.next_id()
    }

    /// A texture comes to be, with a shape. Nothing is uploaded before it is asked for.
    ///
    /// # Errors
    /// If the id has another shape and was not released, is not the [next](TextureCache::next_id) nor a released one, or the
    /// shape is unknown.
    pub fn create(&mut self, texture: TextureId, shape: ChainId) -> Result<()> {
        self.textures.create(texture, shape)?;
        let index = texture.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, Slot::default());
            // So that frames allocate nothing.
            let textures = self.slots.len();
            self.fresh.reserve(textures - self.fresh.len());
            self.changed
                .reserve((2 * textures).saturating_sub(self.changed.len()));
            self.moves.reserve(textures);
        }
        self.slots[index].chain = shape;
        Ok(())
    }

    /// A texture gets new contents, perhaps of another shape: what is there of it goes.
    ///
    /// # Errors
    /// If the id does not exist or the shape is unknown.
    pub fn replace(&mut self, texture: TextureId, shape: ChainId) -> Result<()> {
        self.release(texture)?;
        self.create(texture, shape)
    }

    /// A texture ceases to be; its id may be created again.
    ///
    /// # Errors
    /// If the id does not exist.
    pub fn release(&mut self, texture: TextureId) -> Result<()> {
        self.textures.release(texture)?;
        self.levelled.release(texture);
        self.follow();
        Ok(())
    }

    /// A frame starts. `frame` numbers it: 1, 2, 3, …; `complete` is the newest frame that the device is done with, 0 for none.
    ///
    /// # Errors
    /// If the frame is not the next one, or not later than what is complete.
    pub fn begin(&mut self, frame: u64, complete: u64) -> Result<()> {
        if frame != self.frame + 1 || complete >= frame {
            let last = self.frame;
            return Err(Error::FrameOrder {
                frame,
                complete,
                last,
            }
            .into());
        }
        (self.frame, self.complete) = (frame, complete);
        // SAFETY: the caller says that they are complete.
        unsafe { self.images.free(self.inner.raw(), complete) };
        self.staging.free(complete);
        self.changed.clear();
        self.levelled.begin_frame();
        Ok(())
    }

    /// A texture is about to be drawn at `level`; the most urgent ones come first.
    ///
    /// # Errors
    /// If the texture or the level does not exist.
    pub fn request(&mut self, texture: TextureId, level: Level) -> Result<Served> {
        let request = self.textures.request(texture, level)?;
        Ok(self.levelled.request(request))
    }

    /// What to draw a texture with, after [`record`](TextureCache::record) and in the same frame.
    pub fn texture(&self, texture: TextureId) -> Option<Texture> {
        let live = self.slots.get(texture.0 as usize)?.live?;
        let Live {
            image,
            view,
            set,
            level,
        } = live;
        Some(Texture {
            image,
            view,
            set,
            level,
        })
    }

    /// The textures of which [`texture`](TextureCache::texture) says something else than in the frame before: for renderers
    /// with descriptors of their own. Some may be there twice.
    pub fn changed(&self) -> &[TextureId] {
        &self.changed
    }

    /// A frame ends: everything that uses textures is recorded.
    pub fn end(&mut self) {
        self.staging.end_frame(self.frame);
        self.levelled.end_frame();
    }

    /// What this frame's requests came to so far.
    pub fn figures(&self) -> FrameUploads {
        self.levelled.figures()
    }

    /// How many textures are placed and not uploaded yet: 0 after [`record`](TextureCache::record), but where the staging ring is
    /// full.
    pub fn pending(&self) -> usize {
        self.fresh.len()
    }

    /// One of the policy's arenas, from the left: of [`PolicyKind::Arenas`] alone.
    pub fn arena(&self, index: usize) -> Option<ArenaView> {
        self.levelled.arena(index)
    }

    /// Every texture that is there or about to be: who, offset, size of the block, level.
    pub fn blocks(&self) -> impl Iterator<Item = (TextureId, Bytes, Bytes, Level)> {
        let geometry = self.textures.geometry();
        self.slots.iter().enumerate().filter_map(move |(index, slot)| {
            let (offset, level) = slot.place?;
            let block = geometry.size(slot.chain, level)?.align_up(geometry.unit());
            Some((TextureId(index as u32), Bytes(offset), block, level))
        })
    }

    /// The size of the allocation.
    pub fn budget(&self) -> Bytes {
        self.budget
    }

    /// Another number of bytes for uploads, from the next frame on; the staging ring stays as it is.
    pub fn set_uploads(&mut self, uploads: Bytes) {
        self.levelled.set_uploads(uploads);
    }

    /// The cache's heap as the system sees it; `None` where the device lacks `VK_EXT_memory_budget`.
    pub fn heap(&self) -> Option<HeapUse> {
        let kind = self.inner.profile().memory_types[self.memory_type as usize];
        self.budget_extension
            .then(|| budget::ask(&self.inner, kind.heap as usize))
    }

    /// Destroys everything.
    ///
    /// # Safety
    /// No frame that uses it is under way.
    pub unsafe fn destroy(mut self) {
        // SAFETY: the caller's duty.
        unsafe { self.destroy_all() };
    }

    /// # Safety
    /// Nothing of it is in use.
    unsafe fn destroy_all(&mut self) {
        let device = self.inner.raw();
        for slot in &mut self.slots {
            if let Some(live) = slot.live.take() {
                // SAFETY: the caller's duty.
                unsafe { self.images.destroy(device, live) };
            }
        }
        // SAFETY: the caller's duty.
        unsafe { self.images.destroy_all(device) };
        // SAFETY: as above.
        unsafe { self.staging.destroy(device) };
        // SAFETY: as above.
        unsafe { self.moves.destroy(device) };
        if let Some(transfer) = &mut self.transfer {
            // SAFETY: as above.
            unsafe { transfer.destroy(device) };
        }
        for memory in self.former.drain(..).chain([self.memory]) {
            // SAFETY: no image is bound to it any more; null is ignored.
            unsafe { device.free_memory(memory, None) };
        }
        self.destroyed = true;
    }
}

impl fmt::Debug for TextureCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextureCache")
            .field("budget", &self.budget)
            .field("frame", &self.frame)
            .finish_non_exhaustive()
    }
}

impl Drop for TextureCache {
    fn drop(&mut self) {
        if !self.destroyed {
            tracing::warn!(
                "runtime::TextureCache dropped without TextureCache::destroy: its images and memory leak"
            );
        }
    }
}
