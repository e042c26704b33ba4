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
        self.retire_level_set(texture);
    }

    /// Retires the descriptor set with all levels of a texture, and schedules the texture for a new one.
    fn retire_level_set(&mut self, texture: TextureId) {
        if self.parts == 1 {
            return;
        }
        if let Some(level_set) = self.uses[texture.index()].level_set.take() {
            self.images.retire_view(self.frame, without_view(level_set));
        }
        self.outdated_level_sets.push(texture);
    }

    /// For textures with separate levels that need a new descriptor set, creates one with the views of all levels up to the first that is missing.
    pub(super) fn create_level_sets(&mut self) -> Result<()> {
        for texture in &self.outdated_level_sets {
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
    pub(super) fn apply_events(&mut self) {
        for event in self.limiter.events() {
            let Some(texture) = event.texture() else { continue };
            let entry = texture.index() * self.parts + usize::from(event.part().0);
            if !std::mem::replace(&mut self.cached[entry].is_listed, true) {
                self.changing.push(entry);
            }
        }
        self.limiter.clear_events();
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
    pub(super) fn discard_created(&mut self) {
        let device = self.device.raw();
        for texture in &self.outdated_level_sets {
            if let Some(next) = self.uses[texture.index()].next.take() {
                // SAFETY: no commands were submitted that use it.
                unsafe { self.images.destroy_view(device, without_view(next)) };
            }
        }
        for entry in self.replaced.drain(..) {
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
        for index in 0..self.replaced.len() {
            let (at, texture) = (self.replaced[index], self.texture_of(self.replaced[index]).0);
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
        self.replaced.clear();
        for texture in self.outdated_level_sets.drain(..) {
            let state = &mut self.uses[texture.index()];
            if let Some(next) = state.next.take() {
                self.changed.push(texture);
                if let Some(former) = state.level_set.replace(next) {
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
            self.cached[entry].is_listed = waits;
            waits
        });
        self.changing = changing;
    }
}

/// Returns `level_set` without its view, to retire only the set of all levels: each view is destroyed with its
/// level.
fn without_view(level_set: Texture) -> Texture {
    let view = vk::ImageView::null();
    Texture { view, ..level_set }
}
