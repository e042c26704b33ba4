//! The cache: what there is, who is asked for, what to draw with.

use ash::vk;

use super::budget::{self, HeapUsage};
use super::commands::BarrierLists;
use super::image::{BoundImage, Images};
use super::move_buffer::MoveBuffer;
use super::shape::{TextureShape, measure};
use super::staging::Staging;
use super::state::{CachedTexture, TextureCache};
use super::transfer::{Transfer, TransferQueue};
use crate::arenas::ArenaView;
use crate::{
    ChainId, Coherent, Error, FrameUploads, Geometry, Level, POLICIES, PolicyDesc, Result, Served, TextureId,
    Textures, UploadLimiter,
};
use tileheap::runtime::objects::VkResultExt;
use tileheap::runtime::{Device, RuntimeError};
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
    pub policy: PolicyDesc<'a>,
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
            policy: Coherent::WITHOUT_RELOCATION,
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

impl TextureCache {
    /// Measures the shapes, and makes the allocation and the staging ring.
    ///
    /// # Errors
    /// If a shape is not supported or the budget does not hold its largest; if the policy uploads single levels, or moves textures and
    /// there is a transfer queue; if the device is out of memory. Nothing is left behind then.
    pub fn new(device: &Device, desc: &TextureCacheDesc<'_>) -> Result<TextureCache> {
        check_policy(desc)?;
        let device = device;
        let measured = measure(device, desc.shapes)?;
        let policy = desc.policy.create(&measured.geometry, desc.budget, desc.seed)?;
        let types = measured.memory_types;
        if types == 0 {
            let (resource, why) = (
                "a texture cache".to_owned(),
                "no memory type holds all shapes".to_owned(),
            );
            return Err(RuntimeError::Unsupported { resource, why }.into());
        }
        let budget_extension = budget::is_there(device)
            .with_call("vkEnumerateDeviceExtensionProperties", || "the memory budget")?;
        let levelled = UploadLimiter::new(policy, &measured.geometry, desc.uploads);
        let largest = measured.geometry.largest();
        let mut cache = TextureCache {
            device: device.clone(),
            shapes: measured.shapes,
            textures: Textures::new(measured.geometry),
            levelled,
            cached: Vec::new(),
            images: Images::none(),
            staging: Staging::none(),
            transfer: desc.transfer.map(|queue| Transfer::new(queue, desc.family)),
            moves: MoveBuffer::none(),
            memory: vk::DeviceMemory::null(),
            memory_type: types.trailing_zeros(),
            former: Vec::new(),
            budget: desc.budget,
            limits: (desc.least.max(largest), desc.budget),
            budget_extension,
            readers: desc.readers,
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
        self.staging.make(&self.device, size, frames as usize + 1)?;
        if desc.policy.relocates {
            self.moves
                .make(&self.device, desc.moves.max(Bytes(largest + 4 * 32)))?;
        }
        match &mut self.transfer {
            Some(transfer) => transfer.make(&self.device),
            None => Ok(()),
        }
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
            });
        }
        (self.frame, self.complete) = (frame, complete);
        // SAFETY: the caller says that they are complete.
        unsafe { self.images.free(self.device.raw(), complete) };
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
        let live = self.cached.get(texture.0 as usize)?.live?;
        let BoundImage {
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
    pub fn uploads(&self) -> FrameUploads {
        self.levelled.uploads()
    }

    /// How many textures are placed and not uploaded yet: 0 after [`record`](TextureCache::record), but where the staging ring is
    /// full.
    pub fn pending(&self) -> usize {
        self.pending_uploads.len()
    }

    /// One of the policy's arenas, from the left: of [`Arenas`] alone.
    pub fn arena(&self, index: usize) -> Option<ArenaView> {
        self.levelled.arena(index)
    }

    /// Every texture that is there or about to be: who, offset, size of the block, level.
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

    /// Another number of bytes for uploads, from the next frame on; the staging ring stays as it is.
    pub fn set_uploads(&mut self, uploads: Bytes) {
        self.levelled.set_uploads(uploads);
    }

    /// The cache's heap as the system sees it; `None` where the device lacks `VK_EXT_memory_budget`.
    pub fn heap(&self) -> Option<HeapUsage> {
        let kind = self.device.profile().memory_types[self.memory_type as usize];
        self.budget_extension
            .then(|| budget::ask(&self.device, kind.heap as usize))
    }

    /// Destroys everything.
    ///
    /// # Safety
    /// No frame that uses it is under way.
    pub unsafe fn destroy(mut self) {
        // SAFETY: the caller's duty.
        unsafe { self.destroy_all() };
    }
}

fn check_policy(desc: &TextureCacheDesc<'_>) -> Result<()> {
    let policy = desc.policy;
    let name = || policy.name.to_owned();
    if !policy.uploads_whole {
        let known = PolicyDesc::names(&POLICIES, |policy| policy.uploads_whole);
        return Err(Error::SingleLevelPolicy {
            policy: name(),
            known,
        });
    }
    if policy.relocates && desc.transfer.is_some() {
        let known = PolicyDesc::names(&POLICIES, |policy| policy.uploads_whole && !policy.relocates);
        return Err(Error::RelocatingPolicy {
            policy: name(),
            known,
        });
    }
    Ok(())
}
