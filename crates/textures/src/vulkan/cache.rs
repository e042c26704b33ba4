//! The interface of the cache: textures, requests, frames.

use ash::vk;

use super::budget::{self, HeapUsage};
use super::commands::BarrierLists;
use super::image::{Images, Texture};
use super::move_buffer::MoveBuffer;
use super::shape::{TextureShape, measure, unsupported};
use super::staging::Staging;
use super::state::{CachedTexture, TextureCache};
use super::transfer::{Transfer, TransferQueue};
use crate::arenas::ArenaView;
use crate::limiter::{FrameUploads, Served, UploadLimiter};
use crate::{ChainId, Coherent, Error, Geometry, Level, POLICIES, PolicyDesc, Result, TextureId, Textures};
use tileheap::runtime::objects::VkResultExt;
use tileheap::runtime::{Device, RuntimeError};
use tileheap::units::Bytes;

/// Describes a [`TextureCache`].
#[derive(Clone, Debug)]
pub struct TextureCacheDesc<'a> {
    /// The shapes of textures: the n-th is [`ChainId`] n.
    pub shapes: &'a [TextureShape],
    /// Device memory for all textures.
    pub budget: Bytes,
    /// The smallest budget if the system is short of memory; at least the largest texture.
    pub min_budget: Bytes,
    /// Upload budget per frame in bytes of device memory; exceeded only by a single larger texture.
    pub uploads: Bytes,
    /// The policy: one that [uploads textures whole](PolicyDesc::uploads_whole).
    pub policy: PolicyDesc<'a>,
    /// For policies that relocate: size of the buffer through which textures move, at least the largest texture. Moves of a frame
    /// that exceed it become uploads.
    pub move_buffer: Bytes,
    /// Seed of random choices.
    pub seed: u64,
    /// The largest number of pending frames, for the size of the staging ring.
    pub frames_in_flight: u32,
    /// Pipeline stages that read textures.
    pub reader_stages: vk::PipelineStageFlags,
    /// The queue family that draws; used with a transfer queue.
    pub graphics_family: u32,
    /// A queue for uploads; without one, uploads are recorded with the frame.
    pub transfer: Option<TransferQueue>,
}

impl<'a> TextureCacheDesc<'a> {
    /// A cache of `budget` bytes for fragment shaders: uploads of 1/32 of it per frame, two frames in flight,
    /// [`Coherent::WITHOUT_RELOCATION`].
    pub fn new(shapes: &'a [TextureShape], budget: Bytes) -> TextureCacheDesc<'a> {
        TextureCacheDesc {
            shapes,
            budget,
            min_budget: Bytes(budget.0 / 8),
            uploads: Bytes(budget.0 / 32),
            policy: Coherent::WITHOUT_RELOCATION,
            move_buffer: Bytes(budget.0 / 16),
            seed: 0,
            frames_in_flight: 2,
            reader_stages: vk::PipelineStageFlags::FRAGMENT_SHADER,
            graphics_family: 0,
            transfer: None,
        }
    }
}

impl TextureCache {
    /// Measures the shapes, and creates the allocation and the staging ring.
    ///
    /// # Errors
    /// If a shape is not supported, or the budget does not hold the largest one; if the policy uploads single levels, or relocates
    /// and there is a transfer queue; if the device has no such queue; if the device is out of memory. No objects remain in that case.
    pub fn new(device: &Device, desc: &TextureCacheDesc<'_>) -> Result<TextureCache> {
        check_policy(desc)?;
        check_queues(device, desc)?;
        let measured = measure(device, desc.shapes)?;
        let policy = desc.policy.create(&measured.geometry, desc.budget, desc.seed)?;
        let types = measured.memory_types;
        if types == 0 {
            return Err(unsupported(
                "a texture cache".to_owned(),
                "no memory type holds all shapes",
            ));
        }
        let budget_extension = budget::is_supported(device)
            .with_call("vkEnumerateDeviceExtensionProperties", || "the memory budget")?;
        let levelled = UploadLimiter::new(policy, &measured.geometry, desc.uploads);
        let largest = measured.geometry.largest();
        let transfer = |queue| Transfer::new(queue, desc.graphics_family);
        let transfer = desc.transfer.map(transfer);
        let mut cache = TextureCache {
            device: device.clone(),
            shapes: measured.shapes,
            textures: Textures::new(measured.geometry),
            levelled,
            cached: Vec::new(),
            images: Images::none(),
            staging: Staging::none(),
            owned: device.owned_objects(),
            transfer,
            moves: MoveBuffer::default(),
            memory: vk::DeviceMemory::null(),
            memory_type: types.trailing_zeros(),
            former: Vec::new(),
            budget: desc.budget,
            limits: (desc.min_budget.max(largest), desc.budget),
            budget_extension,
            reader_stages: desc.reader_stages,
            frame: 0,
            complete: 0,
            pending_uploads: Vec::new(),
            changed: Vec::new(),
            lists: BarrierLists::default(),
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
        let device = self.device.raw();
        self.images.make_layout(device, vk::ShaderStageFlags::ALL)?;
        self.memory = self.allocate(desc.budget)?;
        // One upload can be larger than a frame's, and the end of the ring may have to be skipped. Texels are no more than
        // what their image takes, but for padding of rows of copies, which there is none of.
        let frames = u64::from(desc.frames_in_flight) + 1;
        let largest = self.textures.geometry().largest().0;
        let size = Bytes((desc.uploads.0 + desc.uploads.0 / 8) * frames + 2 * largest);
        self.staging
            .make(&self.device, &mut self.owned, size, frames as usize + 1)?;
        if desc.policy.relocates {
            let size = desc.move_buffer.max(Bytes(largest + 4 * 32));
            self.moves.make(&self.device, &mut self.owned, size)?;
        }
        match &mut self.transfer {
            Some(transfer) => transfer.make(&self.device),
            None => Ok(()),
        }
    }

    /// Memory requirements by shape and level.
    pub fn geometry(&self) -> &Geometry {
        self.textures.geometry()
    }

    /// The layout of [`Texture::set`]: a sampled image at binding 0, for all stages.
    pub fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.images.set_layout
    }

    /// The id of the next new texture.
    pub fn next_id(&self) -> TextureId {
        self.textures.next_id()
    }

    /// Creates a texture of a shape. Nothing is uploaded before it is requested.
    ///
    /// # Errors
    /// If the id has another shape and was not released, is not the [next](TextureCache::next_id) nor a released one, or the
    /// shape is unknown.
    pub fn create(&mut self, texture: TextureId, shape: ChainId) -> Result<()> {
        self.textures.create(texture, shape)?;
        let index = texture.0 as usize;
        if self.cached.len() <= index {
            self.cached.resize(index + 1, CachedTexture::default());
            // So that frames allocate nothing.
            let textures = self.cached.len();
            self.pending_uploads
                .reserve(textures - self.pending_uploads.len());
            self.changed
                .reserve((2 * textures).saturating_sub(self.changed.len()));
            self.moves.reserve(textures);
        }
        self.cached[index].chain = shape;
        Ok(())
    }

    /// Replaces the contents of a texture, perhaps by some of another shape; resident levels are evicted.
    ///
    /// # Errors
    /// If the id does not exist or the shape is unknown.
    pub fn replace(&mut self, texture: TextureId, shape: ChainId) -> Result<()> {
        self.release(texture)?;
        self.create(texture, shape)
    }

    /// Releases a texture; its id may be created again.
    ///
    /// # Errors
    /// If the id does not exist.
    pub fn release(&mut self, texture: TextureId) -> Result<()> {
        self.textures.release(texture)?;
        self.levelled.release(texture);
        self.follow();
        Ok(())
    }

    /// Begins a frame. Frames are numbered 1, 2, 3, …; `complete` is the newest frame that the device has completed, 0 for none.
    ///
    /// # Errors
    /// If the frame is not the next one, or `complete` is not an earlier one.
    ///
    /// # Safety
    /// The device has completed frame `complete` and all before it: images that only they used are destroyed.
    pub unsafe fn begin(&mut self, frame: u64, complete: u64) -> Result<()> {
        if frame != self.frame + 1 || complete >= frame {
            let last = self.frame;
            return Err(Error::FrameOrder {
                frame,
                complete,
                last,
            });
        }
        (self.frame, self.complete) = (frame, complete);
        // SAFETY: the caller's duty: they are complete.
        unsafe { self.images.free(self.device.raw(), complete) };
        self.staging.free(complete);
        self.changed.clear();
        self.levelled.begin_frame();
        Ok(())
    }

    /// Requests a texture at `level` for this frame; the most urgent ones first.
    ///
    /// # Errors
    /// If the texture or the level does not exist.
    pub fn request(&mut self, texture: TextureId, level: Level) -> Result<Served> {
        let request = self.textures.request(texture, level)?;
        Ok(self.levelled.request(request))
    }

    /// The resident texture, after [`record`](TextureCache::record) and in the same frame.
    pub fn texture(&self, texture: TextureId) -> Option<Texture> {
        self.cached.get(texture.0 as usize)?.live
    }

    /// The textures whose [`texture`](TextureCache::texture) differs from the frame before, for renderers with descriptors of their
    /// own. May contain duplicates.
    pub fn changed(&self) -> &[TextureId] {
        &self.changed
    }

    /// Ends a frame, after all uses of textures are recorded.
    pub fn end(&mut self) {
        self.staging.end_frame(self.frame);
        self.levelled.end_frame();
    }

    /// Outcome of the requests of this frame so far.
    pub fn uploads(&self) -> FrameUploads {
        self.levelled.uploads()
    }

    /// Number of textures that are placed and not uploaded yet: 0 after [`record`](TextureCache::record), unless the staging ring is
    /// full.
    pub fn pending(&self) -> usize {
        self.pending_uploads.len()
    }

    /// An arena of the policy by its index from the left; `None` for policies without arenas.
    pub fn arena(&self, index: usize) -> Option<ArenaView> {
        self.levelled.arena(index)
    }

    /// All placed textures: id, offset, block size and level.
    pub fn blocks(&self) -> impl Iterator<Item = (TextureId, Bytes, Bytes, Level)> {
        let geometry = self.textures.geometry();
        self.cached.iter().enumerate().filter_map(move |(index, entry)| {
            let (offset, level) = entry.place?;
            let block = geometry.size(entry.chain, level)?.align_up(geometry.unit());
            Some((TextureId(index as u32), Bytes(offset), block, level))
        })
    }

    /// The size of the allocation.
    pub fn budget(&self) -> Bytes {
        self.budget
    }

    /// Changes the upload budget from the next frame on; the staging ring keeps its size.
    pub fn set_uploads(&mut self, uploads: Bytes) {
        self.levelled.set_uploads(uploads);
    }

    /// Budget and usage of the cache's heap; `None` if the device lacks `VK_EXT_memory_budget`.
    pub fn heap_usage(&self) -> Option<HeapUsage> {
        let kind = self.device.profile().memory_types[self.memory_type as usize];
        self.budget_extension
            .then(|| budget::heap_usage(&self.device, kind.heap as usize))
    }

    /// Destroys everything.
    ///
    /// # Safety
    /// No pending frame uses it.
    pub unsafe fn destroy(mut self) {
        // SAFETY: the caller's duty.
        unsafe { self.destroy_all() };
    }
}

/// The queues named are the device's own.
fn check_queues(device: &Device, desc: &TextureCacheDesc<'_>) -> Result<()> {
    let mut families = device.queues().iter().map(|queue| queue.family);
    let is_known = |transfer: TransferQueue| {
        device.queues().contains(&transfer.queue) && families.any(|family| family == desc.graphics_family)
    };
    if desc.transfer.is_none_or(is_known) {
        return Ok(());
    }
    Err(RuntimeError::NoQueue {
        queue: "texture uploads".to_owned(),
        needs: vk::QueueFlags::TRANSFER,
    }
    .into())
}

fn check_policy(desc: &TextureCacheDesc<'_>) -> Result<()> {
    let policy = desc.policy;
    let name = policy.name.to_owned();
    if !policy.uploads_whole {
        let known = PolicyDesc::names(&POLICIES, |policy| policy.uploads_whole);
        return Err(Error::SingleLevelPolicy(name, known));
    }
    if policy.relocates && desc.transfer.is_some() {
        let known = PolicyDesc::names(&POLICIES, |policy| policy.uploads_whole && !policy.relocates);
        return Err(Error::RelocatingPolicy(name, known));
    }
    Ok(())
}
