//! Without a window: frames are rendered to an image and read back; the last one becomes a file.

use std::time::{Duration, Instant};

use ash::vk;
use tileheap::plan::Plan;
use tileheap::runtime::Device;

use crate::renderer::{Renderer, RendererDesc};
use crate::scene::Scene;
use crate::support::error::Result;
use crate::support::output::Output;
use crate::support::painter::Painter;
use crate::support::picture::{Canvas, Rendered};
use crate::support::progress;
use crate::support::sheet::Screen;

/// Renders so many frames; gives the last one, and the time that all took. `planned` sees the plan before anything is rendered.
pub(crate) fn render(
    tile: &Device,
    scene: Scene,
    extent: vk::Extent2D,
    frames: u32,
    desc: RendererDesc,
    planned: impl FnOnce(&Plan),
) -> Result<(Rendered, Duration)> {
    let mut renderer = Renderer::new(tile, scene, Screen::plain(extent), Output::Buffer, desc)?;
    planned(renderer.plan());
    let mut canvas = Canvas::new(tile, extent)?;
    let deferred = renderer.deferred();
    let read_back = deferred.read_back.expect("the frame was described with one");
    let picture = deferred.picture;

    let start = Instant::now();
    let progress = progress::bar("rendering", frames.into());
    for _ in 0..frames {
        // SAFETY: image and buffer are the frame's alone, and are destroyed after the last one.
        canvas.imports(picture, read_back, |imports| unsafe { renderer.draw(imports) })?;
        progress.inc(1);
    }
    renderer.wait_idle()?;
    let took = start.elapsed();
    progress.finish_and_clear();
    let rendered = canvas.rendered();
    renderer.destroy()?;
    // SAFETY: every frame was waited for.
    unsafe { canvas.destroy(tile.raw()) };
    Ok((rendered, took))
}
