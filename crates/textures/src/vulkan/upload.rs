//! Uploads: texels into the staging ring, copies to images, and barriers.

use ash::vk;

use super::commands::{barrier, copy};
use super::state::{CachedTexture, TextureCache};
use crate::Result;
use crate::{Level, TextureId};

/// A source of texels.
///
/// Implemented for closures.
pub trait TexelSource {
    /// Writes one level of a texture: rows from the top, tightly packed. Called for each level from the finest down to 0.
    fn write(&mut self, texture: TextureId, level: Level, texels: &mut [u8]);
}

impl<F: FnMut(TextureId, Level, &mut [u8])> TexelSource for F {
    fn write(&mut self, texture: TextureId, level: Level, texels: &mut [u8]) {
        self(texture, level, texels);
    }
}

/// What was recorded for a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "the frame must wait for its uploads"]
pub struct RecordedUploads {
    /// Number of uploaded images.
    pub images: u32,
    /// Number of images that were moved or lost levels.
    pub moved: u32,
    /// Bytes written to the staging ring.
    pub texels: u64,
    /// With a transfer queue: timeline semaphore and value that the submission of the frame must wait for in the stages that read
    /// textures.
    pub wait: Option<(vk::Semaphore, u64)>,
}

impl TextureCache {
    /// Records the uploads and moves of this frame. After that, [`texture`](TextureCache::texture) returns what to draw with.
    ///
    /// # Errors
    /// If the device is out of memory or lost. Nothing is recorded then: uploads, moves and copies to a resized cache wait for the next
    /// call.
    ///
    /// # Safety
    /// - `commands` is recording, outside a render pass, and is submitted as part of this frame, after the earlier frames.
    /// - Frames passed to [`begin`](TextureCache::begin) as complete are complete.
    /// - With a transfer queue, no other thread uses it meanwhile, and the frame waits for [`RecordedUploads::wait`].
    pub unsafe fn record(
        &mut self,
        commands: vk::CommandBuffer,
        source: &mut impl TexelSource,
    ) -> Result<RecordedUploads> {
        self.follow();
        let mark = self.staging.mark();
        let mut recorded = RecordedUploads::default();
        self.lists.clear();
        // Everything that can fail precedes the first command.
        let relocated = self.prepare_relocation()?;
        let mut staged = 0;
        // SAFETY: the caller's duty.
        match unsafe { self.stage_and_upload(commands, source, &mut recorded, &mut staged) } {
            Ok(wait) => recorded.wait = wait,
            Err(error) => {
                self.take_back_relocation(relocated);
                self.take_back_moves();
                self.take_back(staged);
                self.staging.take_back(&mark);
                return Err(error);
            }
        }
        // SAFETY: the caller's duty.
        unsafe { self.relocate(commands, relocated) };
        recorded.moved = self.finish_moves();
        for index in 0..staged {
            let texture = self.pending_uploads[index];
            let entry = &mut self.cached[texture.0 as usize];
            entry.listed = false;
            if entry.live.is_some() {
                self.changed.push(texture);
            }
        }
        self.pending_uploads.drain(..staged);
        Ok(recorded)
    }

    /// # Safety
    /// As [`record`](TextureCache::record).
    unsafe fn stage_and_upload(
        &mut self,
        commands: vk::CommandBuffer,
        source: &mut impl TexelSource,
        recorded: &mut RecordedUploads,
        staged: &mut usize,
    ) -> Result<Option<(vk::Semaphore, u64)>> {
        if self.former.is_empty() {
            // Otherwise moves are copies to the new allocation.
            self.prepare_moves()?;
        }
        self.stage(source, recorded, staged)?;
        if *staged == 0 && self.moves.count() == 0 {
            return Ok(None);
        }
        // SAFETY: the caller's duty.
        unsafe { self.upload(commands, *staged) }
    }

    /// Creates images of the first pending textures and writes their texels to the ring, until it is full; counts them.
    fn stage(
        &mut self,
        source: &mut impl TexelSource,
        recorded: &mut RecordedUploads,
        staged: &mut usize,
    ) -> Result<()> {
        for index in 0..self.pending_uploads.len() {
            *staged = index;
            let texture = self.pending_uploads[index];
            let entry = self.cached[texture.0 as usize];
            // It was evicted before it was uploaded.
            let Some((offset, level)) = entry.place else {
                continue;
            };
            let shape = self.shapes[usize::from(entry.chain.0)];
            let mut bytes = 0;
            let alignment = shape.alignment();
            let placed = |bytes: &mut usize, level: Level| {
                let start = bytes.next_multiple_of(alignment as usize);
                *bytes = start + shape.texels_at(level);
                start
            };
            for level in (0..=level.0).rev().map(Level) {
                placed(&mut bytes, level);
            }
            let Some((start, texels)) = self.staging.take(bytes, alignment) else {
                return Ok(());
            };
            let live = self
                .images
                .make(&self.device, &shape, level, self.memory, offset)?;
            self.cached[texture.0 as usize].live = Some(live);
            let mut end = 0;
            for (mip, level) in (0..=level.0).rev().map(Level).enumerate() {
                let first = placed(&mut end, level);
                source.write(texture, level, &mut texels[first..end]);
                self.lists.copies.push(copy(
                    &shape.shape.extent_at(level),
                    mip as u32,
                    start + first as u64,
                ));
            }
            self.lists.add(live.image);
            recorded.images += 1;
            recorded.texels += bytes as u64;
        }
        *staged = self.pending_uploads.len();
        Ok(())
    }

    /// Destroys the images of the first pending textures, which no commands use.
    fn take_back(&mut self, staged: usize) {
        for texture in &self.pending_uploads[..staged] {
            let entry: &mut CachedTexture = &mut self.cached[texture.0 as usize];
            if let Some(live) = entry.live.take() {
                // SAFETY: it was made for commands that were not submitted.
                unsafe { self.images.destroy(self.device.raw(), live) };
            }
        }
    }

    /// Records the copies of what was staged.
    ///
    /// # Safety
    /// As [`record`](TextureCache::record).
    unsafe fn upload(
        &mut self,
        commands: vk::CommandBuffer,
        staged: usize,
    ) -> Result<Option<(vk::Semaphore, u64)>> {
        let device = self.device.raw();
        let (copying, reading) = (vk::PipelineStageFlags::TRANSFER, self.reader_stages);
        let Some(transfer) = &mut self.transfer else {
            self.record_departures(commands);
            let device = self.device.raw();
            // After reads of earlier frames from these bytes, as other images.
            barrier(device, commands, (reading | copying, copying), &self.lists.before);
            self.record_arrivals(commands);
            self.copy_all(commands, staged);
            barrier(self.device.raw(), commands, (copying, reading), &self.lists.after);
            return Ok(None);
        };
        let own = transfer.begin(device, self.frame, self.complete)?;
        let (from, to) = (transfer.queue.queue.family, transfer.family);
        // After the wait for the frames before.
        barrier(device, own, (copying, copying), &self.lists.before);
        for after in &mut self.lists.after {
            (after.src_queue_family_index, after.dst_queue_family_index) = (from, to);
            after.dst_access_mask = vk::AccessFlags::empty();
        }
        self.copy_all(own, staged);
        let device = self.device.raw();
        let bottom = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        barrier(device, own, (copying, bottom), &self.lists.after);
        let transfer = self.transfer.as_ref().expect("it was there above");
        let wait = transfer.submit(&self.device, own, self.frame)?;
        for after in &mut self.lists.after {
            after.src_access_mask = vk::AccessFlags::empty();
            after.dst_access_mask = vk::AccessFlags::SHADER_READ;
        }
        barrier(device, commands, (reading, reading), &self.lists.after);
        Ok(Some(wait))
    }

    fn copy_all(&self, commands: vk::CommandBuffer, staged: usize) {
        let mut copies = &self.lists.copies[..];
        let mut images = self.lists.before.iter().skip(self.moves.count());
        for texture in &self.pending_uploads[..staged] {
            let Some(live) = self.cached[texture.0 as usize].live else {
                continue;
            };
            let Some(before) = images.next() else { return };
            debug_assert_eq!(before.image, live.image, "in the order of the list");
            let (own, others) = copies.split_at(usize::from(live.level.0) + 1);
            copies = others;
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            // SAFETY: recording (the caller's duty); the texels are in the ring, and a barrier brought the image to the layout.
            unsafe {
                self.device.raw().cmd_copy_buffer_to_image(
                    commands,
                    self.staging.buffer,
                    live.image,
                    layout,
                    own,
                )
            };
        }
    }
}
