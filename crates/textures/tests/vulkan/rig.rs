//! A texture cache on a fake driver, with frames that use it.

use ash::vk;
use tileheap::runtime::{Context, ContextDesc};
use tileheap_baselines::textures::HeapCache;
use tileheap_testkit::on_fake;
use tileheap_textures::units::Bytes;
use tileheap_textures::vulkan::{RecordedUploads, TextureCache, TextureCacheDesc, TextureShape};
use tileheap_textures::{Error, Level, MipChainId, TextureId};

use crate::fake_driver::{Config, FakeDriver};

const fn square(format: vk::Format, side: u32) -> TextureShape {
    let (width, height) = (side, side);
    let extent = vk::Extent2D { width, height };
    TextureShape::new(format, extent)
}

/// With four bytes per texel, levels 0 to 6, for which the fake driver requires 24,576 bytes; and with one byte: 90,112.
const SHAPES: [TextureShape; 2] = [
    square(vk::Format::R8G8B8A8_UNORM, 64),
    square(vk::Format::R8_UINT, 256),
];

/// A driver that completes submissions only when told to.
pub(crate) fn asynchronous() -> Config {
    Config::modern().asynchronous()
}

pub(crate) fn desc(budget: Bytes) -> TextureCacheDesc<'static> {
    TextureCacheDesc {
        uploads: Bytes::mib(1),
        policy: HeapCache::LRU,
        ..TextureCacheDesc::new(&SHAPES, budget)
    }
}

/// A program that draws frames with a texture cache.
pub(crate) struct Rig {
    pub(crate) driver: FakeDriver,
    context: Option<Context>,
    cache: Option<TextureCache>,
    pool: vk::CommandPool,
    /// The command buffers of frames.
    commands: Vec<vk::CommandBuffer>,
    /// Signaled with the number of each frame.
    pub(crate) frames: vk::Semaphore,
    pub(crate) frame: u64,
    /// The blocks of the last frame, and the violations of policies.
    pub(crate) blocks: Vec<(TextureId, Bytes, Bytes, Level)>,
    pub(crate) faults: Vec<Error>,
}

impl Rig {
    /// Everything except the cache.
    pub(crate) fn bare(config: Config) -> Rig {
        let driver = FakeDriver::new(config);
        let desc = ContextDesc {
            application: "textures".to_owned(),
            ..ContextDesc::default()
        };
        let context = Context::on(driver.entry(), &desc).expect("a context");
        let device = context.device().clone();
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(context.queues()[0].family);
        let pool = on_fake!(device.create_command_pool(&info, None)).expect("a pool");
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(8);
        let commands = on_fake!(device.allocate_command_buffers(&info)).expect("command buffers");
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let frames = on_fake!(device.create_semaphore(&info, None)).expect("a semaphore");
        Rig {
            driver,
            context: Some(context),
            cache: None,
            pool,
            commands,
            frames,
            frame: 0,
            blocks: Vec::new(),
            faults: Vec::new(),
        }
    }

    pub(crate) fn new(config: Config, desc: &TextureCacheDesc<'_>) -> Rig {
        let mut rig = Rig::bare(config);
        rig.cache = Some(TextureCache::new(rig.context().runtime(), desc).expect("a cache"));
        rig
    }

    /// The same with uploads on a second queue.
    pub(crate) fn with_transfer_queue(config: Config, desc: &TextureCacheDesc<'_>) -> Rig {
        let mut rig = Rig::bare(config);
        let desc = rig.on_transfer_queue(desc.clone());
        rig.cache = Some(TextureCache::new(rig.context().runtime(), &desc).expect("a cache"));
        rig
    }

    /// A description with uploads on a second queue.
    pub(crate) fn on_transfer_queue<'a>(&self, desc: TextureCacheDesc<'a>) -> TextureCacheDesc<'a> {
        let queues = self.context().queues();
        TextureCacheDesc {
            graphics_family: queues[0].family,
            transfer: Some(queues[1]),
            ..desc
        }
    }

    pub(crate) fn context(&self) -> &Context {
        self.context.as_ref().expect("not finished")
    }

    pub(crate) fn cache(&mut self) -> &mut TextureCache {
        self.cache.as_mut().expect("not finished")
    }

    /// New textures of a shape.
    pub(crate) fn create(&mut self, count: u32, shape: u16) -> Vec<TextureId> {
        let create = |_| {
            let texture = self.cache().next_id();
            self.cache().create(texture, MipChainId(shape)).expect("a new id");
            texture
        };
        (0..count).map(create).collect()
    }

    /// The command buffer of a frame.
    pub(crate) fn commands_of(&self, frame: u64) -> vk::CommandBuffer {
        self.commands[frame as usize % self.commands.len()]
    }

    /// Draws textures at a level, with all frames up to `complete` done.
    pub(crate) fn draw(
        &mut self,
        textures: &[TextureId],
        level: u8,
        complete: u64,
    ) -> tileheap_textures::Result<RecordedUploads> {
        let shown: Vec<_> = textures.iter().map(|&texture| (texture, Level(level))).collect();
        self.draw_each(&shown, complete)
    }

    /// Draws textures, each at a level.
    pub(crate) fn draw_each(
        &mut self,
        shown: &[(TextureId, Level)],
        complete: u64,
    ) -> tileheap_textures::Result<RecordedUploads> {
        let frame = self.frame + 1;
        on_fake!(self.cache().begin(frame, complete))?;
        self.frame = frame;
        for &(texture, level) in shown {
            let served = self.cache().request(texture, level);
            self.faults.extend(served.err());
        }
        let commands = self.commands_of(frame);
        let device = self.context().device().clone();
        let queue = self.context().queues()[0].handle;
        // The test's own calls must not fail.
        let quiet = |driver: &FakeDriver, call: &dyn Fn() -> ash::prelude::VkResult<()>| {
            driver.without_failures(call).expect("a call of the test's");
        };
        quiet(&self.driver, &|| {
            on_fake!(device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()))
        });
        let cache = self.cache.as_mut().expect("not finished");
        let mut paint = |texture: TextureId, level: Level, texels: &mut [u8]| {
            texels.fill(texture.0 as u8 ^ level.0);
        };
        let recorded = on_fake!(cache.record(commands, &mut paint));
        self.blocks = cache.blocks().collect();
        self.faults.extend(cache.end().err());
        if let Err(error) = &recorded {
            assert_eq!(self.driver.recorded(commands), [], "{error}");
        }
        let wait = recorded.as_ref().map_or(None, |recorded| recorded.wait);
        let (waits, values): (Vec<_>, Vec<_>) = wait.into_iter().unzip();
        let stages = [vk::PipelineStageFlags::FRAGMENT_SHADER];
        let (signals, signaled) = ([self.frames], [frame]);
        quiet(&self.driver, &|| {
            on_fake!(device.end_command_buffer(commands))?;
            let buffers = [commands];
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
                .wait_semaphore_values(&values)
                .signal_semaphore_values(&signaled);
            let info = vk::SubmitInfo::default()
                .wait_semaphores(&waits)
                .wait_dst_stage_mask(&stages[..waits.len()])
                .command_buffers(&buffers)
                .signal_semaphores(&signals)
                .push_next(&mut timeline);
            on_fake!(device.queue_submit(queue, &[info], vk::Fence::null()))
        });
        recorded
    }

    /// The number of live objects of a type.
    pub(crate) fn live(&self, kind: vk::ObjectType) -> usize {
        self.driver.live().get(&kind).copied().unwrap_or(0)
    }
}

/// Destroys everything; the model must balance.
impl Drop for Rig {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.driver.fail_no_more();
        self.driver.complete();
        let context = self.context.take().expect("not finished");
        if let Some(cache) = self.cache.take() {
            on_fake!(cache.destroy());
        }
        on_fake!(context.device().destroy_command_pool(self.pool, None));
        on_fake!(context.device().destroy_semaphore(self.frames, None));
        context.destroy();
        assert_eq!(self.driver.violations(), [""; 0]);
        assert!(self.faults.is_empty(), "{:?}", self.faults);
        assert!(self.driver.live().is_empty(), "{:?}", self.driver.live());
    }
}
