//! Turns events of the policy into changes of images.

use super::image::Texture;
use super::state::TextureCache;
use crate::TextureId;

impl TextureCache {
    /// Destroys an image after this frame: frames up to the last one that used it may still read its bytes.
    pub(super) fn retire(&mut self, texture: TextureId, live: Texture) {
        let used = self.cached[texture.index()].used;
        if used > self.complete {
            self.in_use.push((used, live.start, live.end));
        }
        self.images.retire(self.frame, live);
        self.changed.push(texture);
    }

    /// Lists the textures that events concern, and retires the images of those that are not resident any more.
    pub(super) fn follow(&mut self) {
        for texture in self.levelled.events().iter().filter_map(crate::Event::texture) {
            if !std::mem::replace(&mut self.cached[texture.index()].listed, true) {
                self.changing.push(texture);
            }
        }
        self.levelled.clear_events();
        for index in 0..self.changing.len() {
            let texture = self.changing[index];
            if self.levelled.place(texture).is_none() {
                if let Some(live) = self.cached[texture.index()].live.take() {
                    self.retire(texture, live);
                }
            }
        }
    }

    /// Destroys what was made for a frame that was not recorded.
    pub(super) fn take_back(&mut self) {
        for texture in self.making.drain(..) {
            let entry = &mut self.cached[texture.index()];
            let Some(next) = entry.next.take() else { continue };
            let device = self.device.raw();
            match entry.live.is_some_and(|live| live.image == next.image) {
                // SAFETY: it was made for commands that were not submitted.
                true => unsafe { self.images.destroy_view(device, next) },
                // SAFETY: as above.
                false => unsafe { self.images.destroy(device, next) },
            }
        }
    }

    /// Replaces images and views by those that were made for the recorded frame.
    pub(super) fn commit(&mut self) {
        for index in 0..self.making.len() {
            let texture = self.making[index];
            let entry = &mut self.cached[texture.index()];
            entry.used = self.frame;
            let next = entry.next.take();
            let former = std::mem::replace(&mut entry.live, next);
            match former {
                Some(former) if next.is_some_and(|next| next.image == former.image) => {
                    self.images.retire_view(self.frame, former);
                    self.changed.push(texture);
                }
                Some(former) => self.retire(texture, former),
                None => self.changed.push(texture),
            }
        }
        self.making.clear();
        for memory in self.former.drain(..) {
            self.images.retire_memory(self.frame, memory);
        }
        let (cached, levelled) = (&mut self.cached, &self.levelled);
        self.changing.retain(|&texture| {
            let entry = &mut cached[texture.index()];
            let there = entry.live.map(|live| live.level);
            entry.listed = there != levelled.level(texture);
            entry.listed
        });
    }
}
