//! The interface of the cache: textures, requests, frames.

use std::time::Duration;

use ash::vk;

use super::budget;
use super::commands::BarrierLists;
use super::image::{Images, Texture};
use super::shape::{TextureShape, measure, unsupported};
use super::staging::Staging;
use super::state::{CachedTexture, Moves, TextureCache, TextureUse};
use super::transfer::Transfer;
use crate::arenas::ArenaView;
use crate::limiter::{FrameUploads, ServedLevel, UploadLimiter};
use crate::{
    Coherent, Error, Geometry, Level, MipChainId, PolicyDesc, Result, TextureId, TextureTable, UploadMode,
};
use tileheap::runtime::objects::VkResultExt;
use tileheap::runtime::{Device, DeviceQueue, RuntimeError};
use tileheap::units::Bytes;

/// Describes a [`TextureCache`].
#[derive(Clone, Debug)]
pub struct TextureCacheDesc<'a> {
    /// The shapes of textures: entry n is [`MipChainId`] n.
    pub shapes: &'a [TextureShape],
    /// Device memory for all textures.
    pub budget: Bytes,
    /// The size below which [`adapt_to_memory_budget`](TextureCache::adapt_to_memory_budget) does not reduce the cache; raised to the size
    /// of the largest texture if it is smaller.
    pub min_budget: Bytes,
    /// Upload budget per frame in bytes of device memory; exceeded only by a single larger level.
    pub uploads: Bytes,
    /// Time per frame for writing texels, after which further uploads wait for the next frame. The first level of a frame is uploaded in any case.
    pub upload_time: Option<Duration>,
    /// The policy. With one that uploads [single levels](crate::UploadMode::SingleLevels), each level is a separate image.
    pub policy: PolicyDesc<'a>,
    /// For policies that relocate: the size of the buffer through which textures are copied, at least that of the largest texture. Textures whose
    /// copies do not fit in the buffer in a frame are uploaded again.
    pub move_buffer: Bytes,
    /// Seed for random choices.
    pub seed: u64,
    /// The maximum number of pending frames, from which the size of the staging ring follows.
    pub frames_in_flight: u32,
    /// Pipeline stages that read textures.
    pub reader_stages: vk::PipelineStageFlags,
    /// The queue family that draws; used with a transfer queue.
    pub graphics_family: u32,
    /// A queue for uploads, of a family other than the graphics queue's: while earlier frames are rendered, it fills images in bytes that
    /// those frames do not use. Other uploads, and all of them without such a queue, are recorded with the frame. No other thread may
    /// use it while the cache records.
    pub transfer: Option<DeviceQueue>,
}

impl<'a> TextureCacheDesc<'a> {
    /// A cache of `budget` bytes for fragment shaders: uploads of 1/32 of it per frame, two frames in flight,
    /// [`Coherent`].
    pub fn new(shapes: &'a [TextureShape], budget: Bytes) -> TextureCacheDesc<'a> {
        TextureCacheDesc {
            shapes,
            budget,
            min_budget: Bytes(budget.0 / 8),
            uploads: Bytes(budget.0 / 32),
            upload_time: None,
            policy: Coherent::DESC,
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
    /// If a shape is not supported, the budget does not hold the largest one, the device has no such queue, or the device is out of
    /// memory. No objects remain in that case.
    pub fn new(device: &Device, desc: &TextureCacheDesc<'_>) -> Result<TextureCache> {
        check_queues(device, desc)?;
        let single_levels = desc.policy.uploads == UploadMode::SingleLevels;
        let measured = measure(device, desc.shapes, single_levels)?;
        let limiter = UploadLimiter::new(
            &desc.policy,
            &measured.geometry,
            desc.budget,
            desc.seed,
            desc.uploads,
        )?;
        let types = measured.memory_types;
        if types == 0 {
            return Err(unsupported(
                "a texture cache".to_owned(),
                "no memory type supports all of its texture shapes",
            ));
        }
        let budget_extension = budget::is_supported(device)
            .with_call("vkEnumerateDeviceExtensionProperties", || "the memory budget")?;
        let (largest, levels) = (measured.geometry.largest(), measured.geometry.levels());
        let transfer = |queue| Transfer::new(queue, desc.graphics_family);
        let transfer = desc.transfer.map(transfer);
        let mut cache = TextureCache {
            device: device.clone(),
            shapes: measured.shapes,
            textures: TextureTable::new(measured.geometry),
            limiter,
            cached: Vec::new(),
            parts: if single_levels { levels } else { 1 },
            uses: Vec::new(),
            images: Images::default(),
            staging: Staging::none(),
            owned: device.owned_objects(),
            transfer,
            moves: Moves::default(),
            memory: vk::DeviceMemory::null(),
            memory_type: types.trailing_zeros(),
            former: Vec::new(),
            budget: desc.budget,
            limits: (desc.min_budget.max(largest), desc.budget),
            budget_extension,
            reader_stages: desc.reader_stages,
            frame: 0,
            complete: 0,
            changing: Vec::new(),
            replaced: Vec::new(),
            outdated_level_sets: Vec::new(),
            changed: Vec::new(),
            reported: 0,
            lists: BarrierLists::default(),
            sent: BarrierLists::default(),
            in_use: Vec::new(),
            uploads: desc.uploads,
            upload_time: desc.upload_time,
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
        self.images.make_layout(device, self.parts)?;
        self.memory = self.allocate(desc.budget)?;
        // One upload can be larger than a frame's, and the end of the ring may have to be skipped. Texels take no more
        // One upload can be larger than a frame's budget, and the end of the ring may have to be skipped. Texels take no more bytes than
        // their image, since copies have no row padding.
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

    /// The layout of [`Texture::set`]: a sampled image at binding 0, for all stages. With single levels, an array of as many images as the
    /// [largest texture](Geometry::levels) has levels, the coarsest first; missing finer levels are replaced by the finest resident one.
    pub fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.images.set_layout
    }

    /// The id of the next new texture.
    pub fn next_id(&self) -> TextureId {
        self.textures.next_id()
    }

    /// Creates a texture of a shape. Nothing is uploaded until it is requested.
    ///
    /// # Errors
    /// If the id has another shape and was not released, is neither the [next](TextureCache::next_id) nor a released one, or
    /// the shape is unknown.
    pub fn create(&mut self, texture: TextureId, shape: MipChainId) -> Result<()> {
        self.textures.create(texture, shape)?;
        let index = texture.index();
        if self.uses.len() <= index {
            self.uses.resize(index + 1, TextureUse::default());
            self.cached
                .resize((index + 1) * self.parts, CachedTexture::default());
            // Reserved here, so that frames do not allocate.
            let most = 2 * self.cached.len();
            for list in [&mut self.changing, &mut self.replaced] {
                list.reserve(most.saturating_sub(list.len()));
            }
            for list in [&mut self.changed, &mut self.outdated_level_sets] {
                list.reserve(most.saturating_sub(list.len()));
            }
            self.in_use.reserve(most.saturating_sub(self.in_use.len()));
        }
        self.uses[index].fallback = None;
        for entry in &mut self.cached[index * self.parts..][..self.parts] {
            entry.chain = shape;
        }
        Ok(())
    }

    /// Replaces the contents of a texture, possibly with another shape; resident levels are evicted.
    ///
    /// # Errors
    /// If the id does not exist or the shape is unknown.
    pub fn replace(&mut self, texture: TextureId, shape: MipChainId) -> Result<()> {
        self.release(texture)?;
        self.create(texture, shape)
    }

    /// Releases a texture; its id may then be reused.
    ///
    /// # Errors
    /// If the id does not exist.
    pub fn release(&mut self, texture: TextureId) -> Result<()> {
        self.textures.release(texture)?;
        self.limiter.release(texture);
        self.apply_events();
        Ok(())
    }

    /// Begins a frame. Frames are numbered 1, 2, 3, …; `complete` is the newest frame that the device has completed, or 0.
    ///
    /// # Errors
    /// If the frame is not the next one, or `complete` is not an earlier frame.
    ///
    /// # Safety
    /// The device has completed frame `complete` and all before it: images that only they used are destroyed.
    pub unsafe fn begin(&mut self, frame: u64, complete: u64) -> Result<()> {
        if frame != self.frame + 1 || complete >= frame {
            return Err(Error::FrameOrder(frame, complete, self.frame));
        }
        (self.frame, self.complete) = (frame, complete);
        // SAFETY: the caller's duty: they are complete.
        unsafe { self.images.free(self.device.raw(), complete) };
        self.staging.free(complete);
        self.in_use.retain(|&(frame, ..)| frame > complete);
        self.changed.drain(..std::mem::take(&mut self.reported));
        self.limiter.begin_frame();
        for pinned in self.limiter.pins() {
            self.uses[pinned.texture.index()].used = frame;
        }
        Ok(())
    }

    /// Requests `level` of a texture for this frame. Call for the most urgent textures first.
    ///
    /// # Errors
    /// If the texture or the level does not exist, or the policy breaks a rule: in that case the textures that it named are evicted at
    /// the end of the frame, and nothing else changes.
    pub fn request(&mut self, texture: TextureId, level: Level) -> Result<ServedLevel> {
        let request = self.textures.request(texture, level)?;
        self.uses[texture.index()].used = self.frame;
        if let Some(fallback) = self.uses[texture.index()].fallback {
            self.uses[fallback.index()].used = self.frame;
        }
        self.limiter.request(request)
    }

    /// Requests a texture at `level` in every frame from the next on, before all others, until it is released or pinned at `None`.
    ///
    /// # Errors
    /// If the texture or the level does not exist.
    pub fn pin(&mut self, texture: TextureId, level: Option<Level>) -> Result<()> {
        let request = self.textures.request(texture, level.unwrap_or_default())?;
        match level {
            Some(_) => self.limiter.pin(request),
            None => self.limiter.unpin(texture),
        }
        Ok(())
    }

    /// Uploads a texture that later frames will request, if this frame's requests left enough of the upload budget and all found a resident level;
    /// returns true if the texture is resident at `level`. Call it after the frame's requests.
    ///
    /// # Errors
    /// Those of [`request`](TextureCache::request).
    pub fn prefetch(&mut self, texture: TextureId, level: Level) -> Result<bool> {
        let request = self.textures.request(texture, level)?;
        self.limiter.prefetch(request)
    }

    /// Sets the texture that [`drawable`](TextureCache::drawable) returns while another is not resident, such as a
    /// [pinned](TextureCache::pin) placeholder.
    ///
    /// # Errors
    /// If one of them does not exist.
    pub fn set_fallback(&mut self, texture: TextureId, fallback: Option<TextureId>) -> Result<()> {
        for texture in [Some(texture), fallback].into_iter().flatten() {
            self.textures.request(texture, Level(0))?;
        }
        self.uses[texture.index()].fallback = fallback;
        Ok(())
    }

    /// The texture if it is resident, otherwise its fallback, as [`texture`](TextureCache::texture) returns them.
    pub fn drawable(&self, texture: TextureId) -> Option<Texture> {
        let fallback = || self.texture(self.uses.get(texture.index())?.fallback?);
        self.texture(texture).or_else(fallback)
    }

    /// The texture if it is resident; call it after [`record`](TextureCache::record), in the same frame. With single levels, image and view are those
    /// of the finest level up to which all levels are resident.
    pub fn texture(&self, texture: TextureId) -> Option<Texture> {
        match self.parts {
            1 => self.cached.get(texture.index())?.live,
            _ => self.uses.get(texture.index())?.level_set,
        }
    }

    /// The textures whose [`texture`](TextureCache::texture) differs from the previous frame, for renderers with their own
    /// descriptors. May contain duplicates.
    pub fn changed(&self) -> &[TextureId] {
        &self.changed
    }

    /// Ends a frame, after all uses of textures have been recorded.
    ///
    /// # Errors
    /// If the policy breaks a rule, or broke one for a pinned or released texture. The frame has ended in any case.
    pub fn end(&mut self) -> Result<()> {
        self.staging.end_frame(self.frame);
        self.reported = self.changed.len();
        self.limiter.end_frame()
    }

    /// Outcome of the requests of this frame so far.
    pub fn uploads(&self) -> FrameUploads {
        self.limiter.uploads()
    }

    /// Number of textures, or of single levels, that are placed but not uploaded yet: 0 after [`record`](TextureCache::record), unless the upload
    /// budget or time is spent or the staging ring is full.
    pub fn pending(&self) -> usize {
        self.changing.len()
    }

    /// An arena of the policy by its index from the left; `None` past the last one, and for policies without arenas.
    pub fn arena(&self, index: usize) -> Option<ArenaView> {
        self.limiter.arena(index)
    }

    /// All placed textures, or their single levels: id, offset, block size and level.
    pub fn blocks(&self) -> impl Iterator<Item = (TextureId, Bytes, Bytes, Level)> {
        let unit = self.textures.geometry().unit();
        self.cached.iter().enumerate().filter_map(move |(index, entry)| {
            let (offset, level) = self.place(index)?;
            let block = self.size(entry.chain, level)?.align_up(unit);
            Some((self.texture_of(index).0, offset, block, level))
        })
    }

    /// The size of the allocation.
    pub fn budget(&self) -> Bytes {
        self.budget
    }

    /// Changes the upload budget from the next frame on; the staging ring keeps its size.
    pub fn set_uploads(&mut self, uploads: Bytes) {
        self.limiter.set_uploads(uploads);
        self.uploads = uploads;
    }

    /// Destroys the cache and all of its objects.
    ///
    /// # Safety
    /// No pending frame uses it.
    pub unsafe fn destroy(mut self) {
        // SAFETY: the caller's duty.
        unsafe { self.destroy_all() };
    }
}

/// If a transfer queue is given, checks that the device has it and a queue of the graphics family.
fn check_queues(device: &Device, desc: &TextureCacheDesc<'_>) -> Result<()> {
    let mut families = device.queues().iter().map(|queue| queue.family);
    let is_known = |transfer: DeviceQueue| {
        device.queues().contains(&transfer) && families.any(|family| family == desc.graphics_family)
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
