//! Uploads: texels into the staging ring, copies to images, and barriers.

use std::time::Instant;

use ash::vk;

use super::commands::{BarrierLists, barrier, copy};
use super::image::Texture;
use super::state::TextureCache;
use crate::Result;
use crate::{Level, TextureId};

/// Supplies the texels of the levels that are uploaded.
///
/// Implemented for closures.
pub trait TexelSource {
    /// Writes one level of a texture: layer by layer, rows from the top, tightly packed. Called for each missing level, coarsest first.
    fn write(&mut self, texture: TextureId, level: Level, texels: &mut [u8]);
}

impl<F: FnMut(TextureId, Level, &mut [u8])> TexelSource for F {
    fn write(&mut self, texture: TextureId, level: Level, texels: &mut [u8]) {
        self(texture, level, texels);
    }
}

/// Counts of the uploads recorded for a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "the frame must wait for its uploads"]
pub struct RecordedUploads {
    /// Number of images to which levels were uploaded.
    pub images: u32,
    /// Number of textures that kept levels but got another image: they moved in memory, lost levels, or are getting finer ones.
    pub moved: u32,
    /// Number of images filled by the transfer queue, while earlier frames may still be rendered.
    pub transferred: u32,
    /// Bytes written to the staging ring: at most [`uploads`](super::TextureCacheDesc::uploads), unless a single level is larger.
    pub texels: u64,
    /// With a transfer queue: timeline semaphore and value that the submission of the frame must wait for in the stages that read
    /// textures.
    pub wait: Option<(vk::Semaphore, u64)>,
}

impl TextureCache {
    /// Records the uploads and moves of this frame. Afterwards, [`texture`](TextureCache::texture) returns the textures to
    /// draw with.
    ///
    /// # Errors
    /// If the device is out of memory or lost. Nothing is then recorded: uploads, moves and copies to a resized cache wait for the next
    /// call.
    ///
    /// # Safety
    /// - `commands` is recording, outside a render pass, and is submitted as part of this frame, after the earlier frames.
    /// - Frames passed to [`begin`](TextureCache::begin) as complete are complete.
    /// - With a transfer queue, no other thread uses it meanwhile, the frame waits for [`RecordedUploads::wait`], and frames read
    ///   only textures that they requested, and fallbacks of those.
    pub unsafe fn record(
        &mut self,
        commands: vk::CommandBuffer,
        source: &mut impl TexelSource,
    ) -> Result<RecordedUploads> {
        self.apply_events();
        let mark = self.staging.mark();
        self.lists.clear();
        self.sent.clear();
        self.moves.clear();
        // Everything that can fail comes before the first command.
        let recorded = self.prepare(source).inspect_err(|_| {
            self.discard_created();
            self.staging.take_back(mark);
        })?;
        // SAFETY: the caller's duty.
        unsafe { self.upload(commands) };
        self.commit();
        Ok(recorded)
    }

    fn prepare(&mut self, source: &mut impl TexelSource) -> Result<RecordedUploads> {
        let mut recorded = RecordedUploads::default();
        self.prepare_moves()?;
        if self.former.is_empty() {
            recorded.moved = self.moves.count() as u32;
        }
        self.stage(source, &mut recorded)?;
        for &at in &self.replaced {
            let entry = &mut self.cached[at];
            let shape = &self.shapes[usize::from(entry.chain.0)];
            let next = entry
                .next
                .as_mut()
                .expect("every entry of `replaced` has a next image");
            self.images.make_view(self.device.raw(), shape, next)?;
            if shape.has_single_levels {
                self.outdated_level_sets.push(TextureId((at / self.parts) as u32));
            }
        }
        self.create_level_sets()?;
        recorded.transferred = self.sent.uploads.len() as u32;
        recorded.wait = self.send()?;
        Ok(recorded)
    }

    /// Creates images of placed textures and writes their missing levels to the ring, until it is full or the budget of bytes or time is spent: of
    /// the last texture as many as fit, coarsest first. Uploads to bytes that no pending frame uses go to the transfer queue.
    fn stage(&mut self, source: &mut impl TexelSource, recorded: &mut RecordedUploads) -> Result<()> {
        let start_time = self.upload_time.map(|most| (Instant::now(), most));
        for index in 0..self.changing.len() {
            let at = self.changing[index];
            let (texture, entry) = (self.texture_of(at).0, self.cached[at]);
            let Some(place) = self.place(at) else {
                continue;
            };
            let shape = self.shapes[usize::from(entry.chain.0)];
            let there = entry.next.or(entry.live);
            let first = there.map_or(shape.first(place.1).0, |there| there.level.0 + 1);
            if first > place.1.0 {
                continue;
            }
            let late = start_time.is_some_and(|(start, most)| start.elapsed() >= most);
            let room = if late {
                0
            } else {
                self.uploads.0.saturating_sub(recorded.texels)
            };
            let alignment = shape.alignment();
            // The start and end of each level.
            let ends = (first..=place.1.0).scan(0, |end, level| {
                let start = u64::next_multiple_of(*end, alignment);
                *end = start + shape.texels_at(Level(level)) as u64;
                Some((Level(level), start, *end))
            });
            let alone = |level: Level| recorded.images == 0 && level.0 == first;
            let levels = ends.take_while(|&(level, _, end)| end <= room || alone(level));
            let Some((last, _, bytes)) = levels.clone().last() else {
                return Ok(());
            };
            let Some(start) = self.staging.take(bytes, alignment) else {
                return Ok(());
            };
            let next = match there {
                Some(there) => there,
                None => self.make_image(entry.chain, place)?,
            };
            if entry.next.is_none() {
                self.replaced.push(at);
            }
            let (view, set) = Default::default();
            let next = Texture {
                level: last,
                view,
                set,
                ..next
            };
            self.cached[at].next = Some(next);
            let overlaps = |&(frame, first, end): &(u64, u64, u64)| {
                frame > self.complete && first < next.end && next.start < end
            };
            let lists = match self.transfer.is_some() && !self.in_use.iter().any(overlaps) {
                true => &mut self.sent,
                false => &mut self.lists,
            };
            for (level, from, to) in levels {
                source.write(texture, level, self.staging.texels(start + from..start + to));
                let mip = u32::from(next.finest.0 - level.0);
                lists.copies.push(copy(&shape.shape, level, mip, start + from));
            }
            lists.uploads.push((next.image, usize::from(last.0 - first) + 1));
            lists.add(next.image, next.mips(Level(first), last));
            recorded.images += 1;
            recorded.texels += bytes;
            if last < place.1 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Submits the uploads on the transfer queue; returns the semaphore and value that the frame must wait for, or `None` if there are no such
    /// uploads.
    fn send(&mut self) -> Result<Option<(vk::Semaphore, u64)>> {
        let Some(transfer) = self.transfer.as_mut().filter(|_| !self.sent.uploads.is_empty()) else {
            return Ok(None);
        };
        let device = self.device.raw();
        let own = transfer.begin(device, self.frame, self.complete)?;
        let (from, to) = (transfer.queue.family, transfer.family);
        let (top, copying) = (
            vk::PipelineStageFlags::TOP_OF_PIPE,
            vk::PipelineStageFlags::TRANSFER,
        );
        // Frames that used these bytes are complete, so no earlier stage has to be waited for.
        barrier(device, own, (top, copying), &self.sent.before);
        for after in &mut self.sent.after {
            (after.src_queue_family_index, after.dst_queue_family_index) = (from, to);
            after.dst_access_mask = vk::AccessFlags::empty();
        }
        copy_all(device, own, self.staging.buffer, &self.sent);
        let bottom = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        barrier(device, own, (copying, bottom), &self.sent.after);
        for after in &mut self.sent.after {
            after.src_access_mask = vk::AccessFlags::empty();
            after.dst_access_mask = vk::AccessFlags::SHADER_READ;
        }
        transfer.submit(&self.device, own, self.frame).map(Some)
    }

    /// Records moves, uploads, and the barriers for uploads on the transfer queue.
    ///
    /// # Safety
    /// Those of [`record`](TextureCache::record).
    unsafe fn upload(&self, commands: vk::CommandBuffer) {
        let device = self.device.raw();
        let (copying, reading) = (vk::PipelineStageFlags::TRANSFER, self.reader_stages);
        if !self.lists.before.is_empty() {
            self.record_departures(commands);
            // After earlier frames have read these bytes through other images.
            barrier(device, commands, (reading | copying, copying), &self.lists.before);
            self.record_arrivals(commands);
            copy_all(device, commands, self.staging.buffer, &self.lists);
            barrier(device, commands, (copying, reading), &self.lists.after);
        }
        if !self.sent.after.is_empty() {
            barrier(device, commands, (reading, reading), &self.sent.after);
        }
    }
}

fn copy_all(device: &ash::Device, commands: vk::CommandBuffer, from: vk::Buffer, lists: &BarrierLists) {
    let mut copies = &lists.copies[..];
    for &(image, regions) in &lists.uploads {
        let (own, others) = copies.split_at(regions);
        copies = others;
        let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        // SAFETY: recording (the caller's duty); the texels are in the ring, and a barrier transitioned the image to the layout.
        unsafe { device.cmd_copy_buffer_to_image(commands, from, image, layout, own) };
    }
}
