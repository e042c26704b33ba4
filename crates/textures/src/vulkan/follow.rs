//! Turns events of the policy into uploads, moves and retired images.

use super::state::{CachedTexture, TextureCache};
use crate::{Event, Level, TextureId};

impl CachedTexture {
    /// Changes offset or level; lists the texture as a move if it has an image.
    fn go_to(&mut self, place: (u64, Level), texture: TextureId, moving: &mut Vec<TextureId>) {
        self.place = Some(place);
        if self.live.is_some() && !std::mem::replace(&mut self.moving, true) {
            moving.push(texture);
        }
    }
}

impl TextureCache {
    /// Processes events: retires images of evicted textures after this frame, and lists placed ones for upload.
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
                    let (_, level) = entry.place.expect("a texture that moves is placed");
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
        self.levelled.clear_events();
    }
}
