//! Turns the policy's events into changes of images.

use ash::vk;

use super::image::Texture;
use super::state::TextureCache;
use crate::{Result, TextureId};

impl TextureCache {
    /// Schedules an image for destruction after this frame, and notes its bytes as in use until the last frame that used it is complete.
    pub(super) fn retire(&mut self, entry: usize, live: Texture) {
        let texture = self.texture_of(entry).0;
        let used = self.uses[texture.index()].used;
        if used > self.complete {
            self.in_use.push((used, live.start, live.end));
        }
        self.images.retire(self.frame, live);
        self.changed.push(texture);
        self.part_with(texture);
    }

    /// Retires the descriptor set with all levels of a texture, and schedules the texture for a new one.
    fn part_with(&mut self, texture: TextureId) {
        if self.parts == 1 {
            return;
        }
        if let Some(joined) = self.uses[texture.index()].joined.take() {
            self.images.retire_view(self.frame, without_view(joined));
        }
        self.joining.push(texture);
    }

    /// For textures with separate levels that need a new descriptor set, creates one with the views of all levels up to the first that is missing.
    pub(super) fn join(&mut self) -> Result<()> {
        for texture in &self.joining {
            let (first, state) = (texture.index() * self.parts, &mut self.uses[texture.index()]);
            let levels = self.cached[first..][..self.parts]
                .iter()
                .map_while(|entry| entry.next.or(entry.live));
            let Some(finest) = levels.clone().last().filter(|_| state.next.is_none()) else {
                continue;
            };
            let set = self
                .images
                .make_set(self.device.raw(), levels.map(|level| level.view))?;
            state.next = Some(Texture { set, ..finest });
        }
        Ok(())
    }

    /// Lists the textures that events affect, and retires the images of those that are no longer resident.
    pub(super) fn follow(&mut self) {
        for event in self.levelled.events() {
            let Some(texture) = event.texture() else { continue };
            let entry = texture.index() * self.parts + usize::from(event.part().0);
            if !std::mem::replace(&mut self.cached[entry].listed, true) {
                self.changing.push(entry);
            }
        }
        self.levelled.clear_events();
        // Separate levels are listed coarsest first, since finer ones are sampled only together with them.
        let parts = self.parts;
        if parts > 1 {
            self.changing
                .sort_unstable_by_key(|entry| (entry % parts, *entry));
        }
        for index in 0..self.changing.len() {
            let entry = self.changing[index];
            if self.place(entry).is_none() {
                if let Some(live) = self.cached[entry].live.take() {
                    self.retire(entry, live);
                }
            }
        }
    }

    /// Destroys objects created for a frame that was not recorded.
    pub(super) fn take_back(&mut self) {
        let device = self.device.raw();
        for texture in &self.joining {
            if let Some(next) = self.uses[texture.index()].next.take() {
                // SAFETY: no commands were submitted that use it.
                unsafe { self.images.destroy_view(device, without_view(next)) };
            }
        }
        for entry in self.making.drain(..) {
            let entry = &mut self.cached[entry];
            let Some(next) = entry.next.take() else { continue };
            match entry.live.is_some_and(|live| live.image == next.image) {
                // SAFETY: it was made for commands that were not submitted.
                true => unsafe { self.images.destroy_view(device, next) },
                // SAFETY: as above.
                false => unsafe { self.images.destroy(device, next) },
            }
        }
    }

    /// Replaces images and views with those created for the recorded frame.
    pub(super) fn commit(&mut self) {
        for index in 0..self.making.len() {
            let (at, texture) = (self.making[index], self.texture_of(self.making[index]).0);
            let entry = &mut self.cached[at];
            self.uses[texture.index()].used = self.frame;
            let next = entry.next.take();
            let former = std::mem::replace(&mut entry.live, next);
            match former {
                Some(former) if next.is_some_and(|next| next.image == former.image) => {
                    self.images.retire_view(self.frame, former);
                    self.changed.push(texture);
                }
                Some(former) => self.retire(at, former),
                None => self.changed.push(texture),
            }
        }
        self.making.clear();
        for texture in self.joining.drain(..) {
            let state = &mut self.uses[texture.index()];
            if let Some(next) = state.next.take() {
                self.changed.push(texture);
                if let Some(former) = state.joined.replace(next) {
                    self.images.retire_view(self.frame, without_view(former));
                }
            }
        }
        for memory in self.former.drain(..) {
            self.images.retire_memory(self.frame, memory);
        }
        let mut changing = std::mem::take(&mut self.changing);
        changing.retain(|&entry| {
            let there = self.cached[entry].live.map(|live| live.level);
            let waits = there != self.place(entry).map(|place| place.1);
            self.cached[entry].listed = waits;
            waits
        });
        self.changing = changing;
    }
}

/// Returns `joined` without its view, to retire only the set of all levels: each view is destroyed with its
/// level.
fn without_view(joined: Texture) -> Texture {
    let view = vk::ImageView::null();
    Texture { view, ..joined }
}
