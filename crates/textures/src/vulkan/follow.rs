//! What the policy decided becomes what the cache has to do.

use super::state::{CachedTexture, TextureCache};
use crate::{Event, Level, TextureId};

impl CachedTexture {
    /// Another place or fewer levels. What is not there yet just comes there.
    fn go_to(&mut self, place: (u64, Level), texture: TextureId, moving: &mut Vec<TextureId>) {
        self.place = Some(place);
        if self.live.is_some() && !std::mem::replace(&mut self.moving, true) {
            moving.push(texture);
        }
    }
}

impl TextureCache {
    /// Goes through the policy's events: images of those that went wait for this frame, those that came are to be uploaded.
    pub(super) fn follow(&mut self) {
        for event in self.levelled.events() {
            match *event {
                Event::Evict { texture, .. } => {
                    let entry: &mut CachedTexture = &mut self.cached[texture.0 as usize];
                    entry.place = None;
                    if let Some(live) = entry.live.take() {
                        self.images.retire(self.frame, live);
                        self.changed.push(texture);
                    }
                }
                Event::Place {
                    texture,
                    offset,
                    level,
                    ..
                } => {
                    let entry = &mut self.cached[texture.0 as usize];
                    entry.place = Some((offset.0, level));
                    if !std::mem::replace(&mut entry.listed, true) {
                        self.pending_uploads.push(texture);
                    }
                }
                Event::Move { texture, to, .. } => {
                    let entry = &mut self.cached[texture.0 as usize];
                    let (_, level) = entry.place.expect("who moves is there");
                    entry.go_to((to.0, level), texture, &mut self.moves.listed);
                }
                Event::Shrink {
                    texture,
                    level,
                    offset,
                    ..
                } => {
                    let entry = &mut self.cached[texture.0 as usize];
                    entry.go_to((offset.0, level), texture, &mut self.moves.listed);
                }
                Event::Walls { .. } => {}
            }
        }
        self.levelled.forget();
    }
}
