//! Rendering without a window: frames are rendered to images and read back; the last one is written to a file.

use std::hash::{DefaultHasher, Hasher};
use std::time::{Duration, Instant};

use ash::vk;
use tileheap::runtime::Device;

use crate::renderer::{Renderer, RendererDesc};
use crate::scene::Scene;
use crate::support::FRAMES_IN_FLIGHT;
use crate::support::error::Result;
use crate::support::output::Output;
use crate::support::painter::{Painter, Screen};
use crate::support::picture::{Canvas, Rendered};
use crate::support::progress;

/// The results of a sequence of frames.
pub(crate) struct Sequence {
    pub(crate) last: Rendered,
    /// A hash of each frame's texels.
    pub(crate) pictures: Vec<u64>,
    /// Objects of the pool that were created after the first frame was bound.
    pub(crate) created: u64,
    pub(crate) took: Duration,
}

/// Renders `frames` frames, at least one, with a call of `before` before each.
pub(crate) fn render(
    tile: &Device,
    scene: Scene,
    extent: vk::Extent2D,
    frames: u32,
    desc: RendererDesc,
    mut before: impl FnMut(&mut Renderer, u32) -> Result<()>,
) -> Result<Sequence> {
    let mut renderer = Renderer::new(tile, scene, Screen::plain(extent), Output::Buffer, desc)?;
    let created = tile.pool_created();
    let mut canvases = [Canvas::new(tile, extent)?, Canvas::new(tile, extent)?];
    let (mut pictures, mut last) = (Vec::new(), None);
    let mut see = |canvas: &mut Canvas| {
        let (rendered, mut hasher) = (canvas.rendered(), DefaultHasher::new());
        hasher.write(&rendered.texels);
        pictures.push(hasher.finish());
        last = Some(rendered);
    };

    let start = Instant::now();
    let progress = progress::bar("rendering", frames.into());
    for frame in 0..frames {
        let canvas = &mut canvases[renderer.next_slot()?];
        if frame as usize >= FRAMES_IN_FLIGHT {
            see(canvas);
        }
        before(&mut renderer, frame)?;
        let parts = renderer.deferred().parts;
        let read_back = parts.read_back.expect("the frame was described with one");
        // SAFETY: image and buffer are the slot's, whose frame is complete, and are destroyed after the last one.
        canvas.imports(parts.picture, read_back, |imports| unsafe {
            renderer.draw(imports)
        })?;
        progress.inc(1);
    }
    renderer.wait_idle()?;
    for frame in (frames as usize).saturating_sub(FRAMES_IN_FLIGHT)..frames as usize {
        see(&mut canvases[frame % FRAMES_IN_FLIGHT]);
    }
    let took = start.elapsed();
    progress.finish_and_clear();
    renderer.destroy()?;
    for canvas in &canvases {
        // SAFETY: every frame is complete.
        unsafe { canvas.destroy(tile.raw()) };
    }
    Ok(Sequence {
        last: last.expect("one frame at least"),
        pictures,
        created: tile.pool_created() - created,
        took,
    })
}
