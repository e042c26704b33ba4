//! The land's textures in the cache: requests, painting on demand, the trace, statistics.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use ash::vk;
use tileheap::runtime::Device;
use tileheap::units::Bytes;
use tileheap_textures::trace::{TraceRecord, TraceWriter};
use tileheap_textures::vulkan::{RecordedUploads, Texture, TextureCache, TextureCacheDesc, TextureShape};
use tileheap_textures::{Level, MipChainId, TextureId};

use crate::args::{Args, Texels};
use crate::paint::Painter;
use crate::quadtree::{NODES, Node, Seen, TEXELS};
use crate::support::FRAMES_IN_FLIGHT;
use crate::support::error::{Result, create_file, file};

/// Depth of the squares that have four bytes per texel with mixed textures: the smallest ones, near enough for dithering to be visible.
const MIXED_DEPTH: u32 = 7;
/// The two shapes of textures.
pub(crate) const PALETTE: MipChainId = MipChainId(0);
pub(crate) const RGBA: MipChainId = MipChainId(1);

/// Statistics of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameRecord {
    pub(crate) uploaded: u64,
    /// Bytes of texels written by the frame.
    pub(crate) texels: u64,
    /// Textures with pending uploads.
    pub(crate) pending: u32,
    /// Requests: all of them, and those that got a coarser level or none.
    pub(crate) requests: u32,
    pub(crate) coarser: u32,
    /// Squares drawn without a texture: refused, or evicted by requests of the same frame.
    pub(crate) plain: u32,
}

impl FrameRecord {
    /// Returns true if every texture was present, and nothing was uploaded.
    pub(crate) fn is_settled(&self) -> bool {
        self.uploaded == 0 && self.coarser + self.plain + self.pending == 0
    }
}

pub(crate) struct Streamer {
    pub(crate) cache: TextureCache,
    pub(crate) texels: Texels,
    /// By square: its texture, if the square was ever seen.
    ids: Vec<Option<TextureId>>,
    /// By texture: its square, and the frame in which it was last drawn.
    nodes: Vec<(Node, u64)>,
    frame: u64,
    /// Bytes of texels written by the frame.
    written: u64,
    trace: Option<(TraceWriter<BufWriter<File>>, PathBuf)>,
    pub(crate) records: Vec<FrameRecord>,
}

impl Streamer {
    pub(crate) fn new(tile: &Device, args: &Args, budget: Bytes, uploads: Bytes) -> Result<Streamer> {
        let extent = vk::Extent2D {
            width: TEXELS,
            height: TEXELS,
        };
        let shape = |format| TextureShape::new(format, extent);
        let shapes = [shape(vk::Format::R8_UINT), shape(vk::Format::R8G8B8A8_SRGB)];
        let desc = TextureCacheDesc {
            uploads,
            policy: args.policy,
            frames_in_flight: FRAMES_IN_FLIGHT as u32,
            ..TextureCacheDesc::new(&shapes, budget)
        };
        Ok(Streamer {
            cache: TextureCache::new(tile, &desc)?,
            texels: args.texels,
            ids: vec![None; NODES],
            nodes: Vec::new(),
            frame: 0,
            written: 0,
            trace: None,
            records: Vec::new(),
        })
    }

    /// Writes requests to a trace from here on.
    pub(crate) fn write_trace(&mut self, path: &Path) -> Result<()> {
        let to = BufWriter::new(create_file(path)?);
        let writer = TraceWriter::new(to, self.cache.geometry()).map_err(|error| file(path, error))?;
        self.trace = Some((writer, path.to_owned()));
        Ok(())
    }

    fn note(&mut self, record: TraceRecord) -> Result<()> {
        match &mut self.trace {
            Some((writer, path)) => writer.write(record).map_err(|error| file(path, error)),
            None => Ok(()),
        }
    }

    /// Ends the trace.
    pub(crate) fn finish_trace(&mut self) -> Result<()> {
        match self.trace.take() {
            Some((writer, path)) => writer.finish().map(drop).map_err(|error| file(&path, error)),
            None => Ok(()),
        }
    }

    /// Starts a frame, before which all but the last few are complete, and requests textures for the squares in view.
    pub(crate) fn ask(&mut self, seen: &[Seen]) -> Result<()> {
        self.frame += 1;
        let complete = self.frame.saturating_sub(FRAMES_IN_FLIGHT as u64);
        // SAFETY: the renderer has waited for the frame whose command buffer this one takes.
        unsafe { self.cache.begin(self.frame, complete) }?;
        for one in seen {
            let index = one.node.index();
            let texture = match self.ids[index] {
                Some(texture) => texture,
                None => {
                    let (texture, chain) = (self.cache.next_id(), shape_of(self.texels, one.node));
                    self.cache.create(texture, chain)?;
                    self.nodes.push((one.node, 0));
                    self.ids[index] = Some(texture);
                    self.note(TraceRecord::Create { texture, chain })?;
                    texture
                }
            };
            self.cache.request(texture, one.level)?;
            self.nodes[texture.0 as usize].1 = self.frame;
            let level = one.level;
            self.note(TraceRecord::Use { texture, level })?;
        }
        self.note(TraceRecord::EndFrame)
    }

    /// Records the frame's uploads.
    ///
    /// # Safety
    /// Same as [`TextureCache::record`].
    pub(crate) unsafe fn record(
        &mut self,
        commands: vk::CommandBuffer,
        painter: &mut Painter,
    ) -> tileheap_textures::Result<RecordedUploads> {
        let (nodes, texels_of) = (&self.nodes, self.texels);
        let mut paint = |texture: TextureId, level: Level, texels: &mut [u8]| {
            let (node, _) = nodes[texture.0 as usize];
            let side = 1 << level.0;
            let (origin, size) = (node.origin(), node.size());
            if shape_of(texels_of, node) == PALETTE {
                painter.indices(origin, size, side, texels);
            } else {
                painter.rgba(origin, size, side, texels);
            }
        };
        // SAFETY: the caller's duty.
        let recorded = unsafe { self.cache.record(commands, &mut paint) }?;
        self.written = recorded.texels;
        Ok(recorded)
    }

    /// The texture to draw a square with.
    pub(crate) fn texture(&self, node: Node) -> Option<Texture> {
        self.cache.texture(self.ids[node.index()]?)
    }

    /// Ends the frame.
    pub(crate) fn end(&mut self, seen: &[Seen]) -> Result<()> {
        let plain = seen.iter().filter(|one| self.texture(one.node).is_none()).count();
        let (figures, pending) = (self.cache.uploads(), self.cache.pending());
        self.cache.end()?;
        self.records.push(FrameRecord {
            uploaded: figures.uploaded.0,
            texels: self.written,
            pending: pending as u32,
            requests: figures.at_requested_level + figures.coarser + figures.missing,
            coarser: figures.coarser + figures.missing,
            plain: plain as u32,
        });
        Ok(())
    }

    /// The number of textures.
    pub(crate) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of frames since a texture was drawn.
    pub(crate) fn age(&self, texture: TextureId) -> u64 {
        self.frame - self.nodes[texture.index()].1
    }
}

/// The shape of a square's texture: indices, or four bytes per texel.
pub(crate) fn shape_of(texels: Texels, node: Node) -> MipChainId {
    match texels {
        Texels::Palette => PALETTE,
        Texels::Mixed if node.depth < MIXED_DEPTH => PALETTE,
        Texels::Rgba | Texels::Mixed => RGBA,
    }
}
