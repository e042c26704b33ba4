//! What the policy decided becomes what the cache has to do.

use super::cache::{Slot, TextureCache};
use crate::cache::Event;

impl TextureCache {
    /// Goes through the policy's events: images of those that went wait for this frame, those that came are to be uploaded.
    pub(super) fn follow(&mut self) {
        for event in self.levelled.events() {
            match *event {
                Event::Evict { texture, .. } => {
                    let slot: &mut Slot = &mut self.slots[texture.0 as usize];
                    slot.place = None;
                    if let Some(live) = slot.live.take() {
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
                    let slot = &mut self.slots[texture.0 as usize];
                    slot.place = Some((offset.0, level));
                    if !std::mem::replace(&mut slot.listed, true) {
                        self.fresh.push(texture);
                    }
                }
                Event::Move { .. } | Event::Shrink { .. } => {
                    unreachable!("policies that keep places alone are let in")
                }
                Event::Walls { .. } => {}
            }
        }
        self.levelled.forget();
    }
}
