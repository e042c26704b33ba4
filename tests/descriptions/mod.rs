//! Descriptions for the tests of valid usage: those that every device runs, and those that break a rule, each with a similar one that does
//! not.

pub(crate) mod rules;
mod valid;

use ash::vk;
use tileheap::frame::tables::ViewDesc;
use tileheap::frame::{
    BatchId, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassBuilder, QueueId,
    ResourceId,
};

pub(crate) const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 64,
};
pub(crate) const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
pub(crate) const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);
pub(crate) const CLEAR_DEPTH: LoadOp = LoadOp::Clear(ClearValue::DepthStencil(0.0, 0));

/// A description in progress: one graphics queue, one command buffer, and an image to draw into.
pub(crate) struct Scene {
    pub(crate) frame: FrameBuilder,
    pub(crate) queue: QueueId,
    pub(crate) batch: BatchId,
    pub(crate) commands: CommandBufferId,
    pub(crate) out: ResourceId,
    passes: u32,
}

impl Scene {
    fn new(name: &str) -> Scene {
        let mut frame = FrameBuilder::new(name, EXTENT);
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        let out = frame.image("out", ImageDesc::new(FORMAT, EXTENT));
        Scene {
            frame,
            queue,
            batch,
            commands,
            out,
            passes: 0,
        }
    }

    pub(crate) fn render(&mut self) -> PassBuilder<'_> {
        self.passes += 1;
        self.frame
            .render_pass(self.commands, format!("render {}", self.passes))
    }

    pub(crate) fn compute(&mut self) -> PassBuilder<'_> {
        self.passes += 1;
        self.frame
            .compute_pass(self.commands, format!("compute {}", self.passes))
    }

    pub(crate) fn transfer(&mut self) -> PassBuilder<'_> {
        self.passes += 1;
        self.frame
            .transfer_pass(self.commands, format!("transfer {}", self.passes))
    }

    /// An image that is cleared in a separate render pass.
    pub(crate) fn cleared(&mut self, name: &str, desc: ImageDesc) -> ResourceId {
        let image = self.frame.image(name, desc);
        self.render().color(image, CLEAR);
        image
    }

    /// Samples an image through a view in a render pass that draws into `out`.
    pub(crate) fn sample(&mut self, image: ResourceId, view: ViewDesc) {
        let out = self.out;
        self.render().sampled(image).viewed(view).color(out, CLEAR);
    }
}

/// Commands of a test that extend a [`Scene`].
pub(crate) type Describe = fn(&mut Scene);

/// The frame of a description.
pub(crate) fn frame(name: &str, describe: impl FnOnce(&mut Scene)) -> tileheap::Result<Frame> {
    let mut scene = Scene::new(name);
    describe(&mut scene);
    scene.frame.build()
}

/// Every description that breaks no rule and that every driver can run, with a name.
pub(crate) fn valid() -> impl Iterator<Item = (&'static str, Describe)> {
    let neighbors = rules::all()
        .filter(|case| case.runs)
        .map(|case| (case.rule, case.valid));
    valid::VALID.iter().copied().chain(neighbors)
}

pub(crate) fn plain() -> ImageDesc {
    ImageDesc::new(FORMAT, EXTENT)
}

pub(crate) fn of_format(format: vk::Format) -> ImageDesc {
    ImageDesc::new(format, EXTENT)
}

pub(crate) fn of_size(width: u32, height: u32) -> ImageDesc {
    ImageDesc::new(FORMAT, vk::Extent2D { width, height })
}

pub(crate) fn with_layers(array_layers: u32) -> ImageDesc {
    ImageDesc {
        array_layers,
        ..plain()
    }
}

pub(crate) fn with_samples(format: vk::Format) -> ImageDesc {
    ImageDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..of_format(format)
    }
}

/// A 3D image with sides of 16 texels.
pub(crate) fn solid() -> ImageDesc {
    let extent = vk::Extent3D {
        width: 16,
        height: 16,
        depth: 16,
    };
    ImageDesc {
        image_type: vk::ImageType::TYPE_3D,
        ..ImageDesc::new(FORMAT, extent)
    }
}

pub(crate) fn as_type(view_type: vk::ImageViewType) -> ViewDesc {
    ViewDesc {
        view_type: Some(view_type),
        ..ViewDesc::default()
    }
}

pub(crate) fn as_format(format: vk::Format) -> ViewDesc {
    ViewDesc {
        format: Some(format),
        ..ViewDesc::default()
    }
}
