//! Random frames of renderers: images of their own or from a pool, atlases, levels, compute passes, histories, several batches.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{
    ClearValue, CommandBufferId, Extent, Frame, FrameBuilder, ImageDesc, LoadOp, PassBuilder, Persistence,
    ReadReach, ResourceId,
};
use tileheap::units::{Bytes, SplitMix64};

const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);
const COLORS: [vk::Format; 3] = [
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::R16G16B16A16_SFLOAT,
    vk::Format::R8_UNORM,
];

/// The sizes in texels of a frame, and of its atlas.
const SIZES: [[u32; 2]; 4] = [[640, 360], [960, 540], [1280, 720], [800, 600]];
const ATLAS: u32 = 1024;

struct Generator {
    random: SplitMix64,
    frame: FrameBuilder,
    size: [u32; 2],
    commands: CommandBufferId,
    /// True if passes draw to images of a pool instead of an image of their own.
    is_pooled: bool,
    /// Images written so far, each with its divisor of the frame's size.
    written: Vec<(ResourceId, u32)>,
    pool: Vec<(ResourceId, u32)>,
    histories: Vec<ResourceId>,
    atlas: Option<ResourceId>,
    /// True if passes may run in strips.
    in_strips: bool,
    passes: u32,
}

/// The frame for a seed, `None` if the description breaks a rule. The kind of frame is `seed % 6`.
pub(crate) fn random_frame(seed: u64) -> Option<Frame> {
    let mut random = SplitMix64::new(seed);
    let size = random.pick(&SIZES);
    let [width, height] = size;
    let mut frame = FrameBuilder::new(format!("random {seed}"), vk::Extent2D { width, height });
    let all = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
    let queue = frame.queue("main", all);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let kind = seed % 6;
    let mut generator = Generator {
        in_strips: !random.one_in(3),
        random,
        frame,
        size,
        commands,
        is_pooled: kind == 1,
        written: Vec::new(),
        pool: Vec::new(),
        histories: Vec::new(),
        atlas: None,
        passes: 0,
    };
    if kind == 2 {
        generator.clear_atlas();
    }
    for _ in 0..3 + generator.random.below(9) {
        match kind {
            2 if !generator.random.one_in(3) => generator.shadow(),
            3 if generator.random.one_in(3) => generator.levels(),
            4 if generator.random.one_in(2) => generator.compute(),
            5 if generator.random.one_in(3) => generator.history(),
            _ => generator.draw(),
        }
        if generator.random.one_in(8) {
            generator.next_batch(submit);
        }
    }
    generator.finish()
}

impl Generator {
    fn name(&mut self, what: &str) -> String {
        self.passes += 1;
        format!("{what} {}", self.passes)
    }

    fn next_batch(&mut self, submit: tileheap::frame::SubmitId) {
        let batch = self.frame.batch(submit);
        let name = self.name("commands");
        self.commands = self.frame.command_buffer(batch, name);
    }

    fn extent(&self, divisor: u32) -> Extent {
        let [width, height] = self.size;
        Extent::from(vk::Extent2D {
            width: width / divisor,
            height: height / divisor,
        })
    }

    /// An image to draw to, whose contents do not matter, and its divisor.
    fn target(&mut self, divisor: u32, format: vk::Format) -> ResourceId {
        let read: Vec<ResourceId> = self.written.iter().map(|one| one.0).collect();
        let mut free = self
            .pool
            .iter()
            .filter(|one| one.1 == divisor && !read.contains(&one.0));
        if let Some(&(free, _)) = free.next().filter(|_| self.is_pooled) {
            return free;
        }
        let name = self.name("image");
        let desc = ImageDesc::new(format, self.extent(divisor));
        let persistence = match self.random.one_in(12) {
            true => Persistence::History,
            false => Persistence::Transient,
        };
        let id = self.frame.resource(name, desc, persistence);
        self.pool.push((id, divisor));
        id
    }

    /// Some of the images written so far; in a pool, they are free afterwards.
    fn read(&mut self) -> Vec<(ResourceId, u32, ReadReach)> {
        let count = self.random.below(4).min(self.written.len() as u64);
        let mut read: Vec<(ResourceId, u32, ReadReach)> = Vec::new();
        for _ in 0..count {
            let at = self.random.below(self.written.len() as u64) as usize;
            let (id, divisor) = self.written[at];
            if read.iter().any(|&(other, ..)| other == id) {
                continue;
            }
            if self.is_pooled {
                self.written.remove(at);
            }
            let reach = match self.random.below(8) {
                0 => ReadReach::Anywhere,
                1 => ReadReach::Texels(8),
                2 => ReadReach::Texels(1),
                _ => ReadReach::PIXEL,
            };
            read.push((id, divisor, reach));
        }
        read
    }

    fn draw(&mut self) {
        let divisor = self.random.pick(&[1, 1, 1, 2]);
        let read = self.read();
        let count = 1 + self.random.below(3);
        let mut targets = Vec::new();
        // Over what an earlier pass has drawn, or to other images only.
        let more = self
            .written
            .iter()
            .copied()
            .find(|one| one.1 == divisor && !read.iter().any(|it| it.0 == one.0));
        if let Some((id, _)) = more.filter(|_| self.random.one_in(3)) {
            targets.push((id, LoadOp::Load));
        }
        while targets.len() < count as usize {
            let format = self.random.pick(&COLORS);
            let target = self.target(divisor, format);
            if targets.iter().any(|one| one.0 == target) || read.iter().any(|one| one.0 == target) {
                break;
            }
            let load = if self.random.one_in(2) {
                CLEAR
            } else {
                LoadOp::DontCare
            };
            targets.push((target, load));
            self.written.push((target, divisor));
        }
        if targets.is_empty() {
            return;
        }
        let (strips, inputs) = (self.strips(), self.random.one_in(2));
        let name = self.name("draw");
        let mut pass = self.frame.render_pass(self.commands, name);
        for (id, its, reach) in read {
            pass = match inputs && its == divisor && reach == ReadReach::PIXEL {
                true => pass.input(id),
                false => pass.sampled(id).reaching(reach),
            };
        }
        for (id, load) in targets {
            pass = pass.color(id, load);
        }
        finished(pass, strips);
    }

    fn compute(&mut self) {
        let read = self.read();
        let divisor = self.random.pick(&[1, 2]);
        let format = self.random.pick(&COLORS[..2]);
        let target = self.target(divisor, format);
        if read.iter().any(|one| one.0 == target) {
            return;
        }
        if !self.written.iter().any(|one| one.0 == target) {
            self.written.push((target, divisor));
        }
        let strips = self.strips();
        let name = self.name("compute");
        let mut pass = self.frame.compute_pass(self.commands, name);
        for (id, _, reach) in read {
            pass = pass.sampled(id).reaching(reach);
        }
        finished(pass.storage_write(target), strips);
    }

    fn clear_atlas(&mut self) {
        let extent = vk::Extent2D {
            width: ATLAS,
            height: ATLAS,
        };
        let atlas = self
            .frame
            .image("atlas", ImageDesc::new(vk::Format::D16_UNORM, extent));
        let pass = self.frame.render_pass(self.commands, "clear atlas");
        pass.depth(atlas, LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)));
        self.atlas = Some(atlas);
    }

    /// Draws a quarter of the atlas, and maybe a light that reads it.
    fn shadow(&mut self) {
        let Some(atlas) = self.atlas else { return };
        let side = ATLAS / 2;
        let [x, y] = [0, 1].map(|_| (self.random.below(2) as u32 * side) as i32);
        let area = vk::Rect2D {
            offset: vk::Offset2D { x, y },
            extent: vk::Extent2D {
                width: side,
                height: side,
            },
        };
        let name = self.name("shadow");
        let pass = self.frame.render_pass(self.commands, name);
        pass.depth(atlas, LoadOp::Load).area(area);
        let lit = self.written.iter().find(|one| one.1 == 1).map(|one| one.0);
        if let Some(lit) = lit.filter(|_| self.random.one_in(2)) {
            let strips = self.strips();
            let name = self.name("light");
            let pass = self.frame.render_pass(self.commands, name);
            finished(pass.sampled(atlas).color(lit, LoadOp::Load), strips);
        }
    }

    /// A chain of levels, each drawn from the one before, and a pass that reads one of them.
    fn levels(&mut self) {
        let count = 2 + self.random.below(3) as u32;
        let name = self.name("levels");
        let desc = ImageDesc {
            mip_levels: count,
            separate_levels: !self.random.one_in(3),
            ..ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, self.extent(2))
        };
        let image = self.frame.image(name, desc);
        let source = self.written.last().map(|one| one.0);
        for level in 0..count {
            let strips = self.strips();
            let name = self.name("down");
            let mut pass = self.frame.render_pass(self.commands, name);
            pass = match (level, source) {
                (0, None) => pass,
                (0, Some(source)) => pass.sampled(source).reaching(ReadReach::Texels(2)),
                _ => pass
                    .sampled(image)
                    .level(level - 1)
                    .reaching(ReadReach::Texels(2)),
            };
            finished(pass.color(image, LoadOp::DontCare).level(level), strips);
        }
        let format = COLORS[0];
        let target = self.target(1, format);
        if !self.written.iter().any(|one| one.0 == target) {
            self.written.push((target, 1));
        }
        let strips = self.strips();
        let level = self.random.below(u64::from(count)) as u32;
        let name = self.name("up");
        let pass = self.frame.render_pass(self.commands, name);
        let pass = pass.sampled(image).level(level).reaching(ReadReach::Texels(1));
        finished(pass.color(target, LoadOp::DontCare), strips);
    }

    /// A pass that reads an image of the last frame, and writes it for the next.
    fn history(&mut self) {
        let read = self.read();
        let name = self.name("history");
        let desc = ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, self.extent(1));
        let history = self.frame.resource(name, desc, Persistence::History);
        let strips = self.strips();
        let name = self.name("resolve");
        let mut pass = self.frame.render_pass(self.commands, name);
        for (id, _, reach) in read {
            pass = pass.sampled(id).reaching(reach);
        }
        let pass = pass.sampled_previous(history).reaching(ReadReach::Texels(1));
        finished(pass.color(history, LoadOp::DontCare), strips);
        self.written.push((history, 1));
        self.histories.push(history);
    }

    /// The last pass reads what nothing has read so far.
    fn finish(mut self) -> Option<Frame> {
        let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, self.extent(1));
        let out = Persistence::External(ExternalDesc::SWAPCHAIN);
        let out = self.frame.resource("out", desc, out);
        let strips = self.strips();
        let last: Vec<ResourceId> = self.written.iter().rev().take(3).map(|one| one.0).collect();
        let mut pass = self.frame.render_pass(self.commands, "present");
        for &id in &last {
            pass = pass.sampled(id).reaching(ReadReach::PIXEL);
        }
        finished(pass.color(out, LoadOp::DontCare), strips);
        self.frame.build().ok()
    }

    /// The cost of a repeat, if the pass may run in strips.
    fn strips(&mut self) -> Option<Bytes> {
        (self.in_strips && !self.random.one_in(8)).then(|| Bytes::kib(self.random.below(3) * 256))
    }
}

fn finished(pass: PassBuilder<'_>, strips: Option<Bytes>) {
    if let Some(bytes) = strips {
        pass.in_strips(bytes);
    }
}
