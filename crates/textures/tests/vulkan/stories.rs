//! Random sequences of textures that are created, released, changed and moved in a cache that is resized: invariants after every frame,
//! with each policy, with every call failing, and with policies that return invalid results.

use std::collections::BTreeMap;
use std::time::Duration;

use ash::vk;
use tileheap::units::SplitMix64;
use tileheap_baselines::textures::{ALL, HeapCache};
use tileheap_textures::arenas::Arenas;
use tileheap_textures::units::Bytes;
use tileheap_textures::vulkan::{RecordedUploads, Texture, TextureCacheDesc};
use tileheap_textures::{
    CacheEvent, Coherent, CreatePolicy, Error, EvictionReason, Journal, Level, MipChainId, Policy,
    PolicyDesc, Request, RequestOutcome, TextureId, UploadMode,
};

use crate::fake_driver::{BarrierTarget, Call, Command};
use crate::rig::{Rig, asynchronous, desc};

const OUT: vk::Result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
/// Bytes of the pinned texture, which has the first shape, like half of the others.
const SMALL: u64 = 24_576;
const FULL: Bytes = Bytes(18 * SMALL);
const UPLOADS: u64 = 60_000;
const TEXTURES: u32 = 24;

struct Story {
    rig: Rig,
    random: SplitMix64,
    transfer: bool,
    /// True if the policy divides memory by size, and so may lack room for some textures; true if levels are separate images.
    divides: bool,
    apart: bool,
    /// The newest complete frame.
    complete: u64,
    /// Images of the last frame, by texture.
    images: BTreeMap<TextureId, Texture>,
    /// The last image at each offset.
    bound: BTreeMap<Bytes, vk::Image>,
    /// Images with their bytes, and the last frame that read each.
    read: BTreeMap<vk::Image, (u64, u64, u64)>,
    partial: usize,
}

impl Story {
    fn new(policy: PolicyDesc<'_>, transfer: bool, seed: u64) -> Story {
        let desc = TextureCacheDesc {
            policy,
            uploads: Bytes(UPLOADS),
            // No time: one level in each frame.
            upload_time: (seed % 4 == 2).then_some(Duration::ZERO),
            // One, although there will be up to three.
            frames_in_flight: 1,
            move_buffer: Bytes(6 * SMALL),
            ..desc(FULL)
        };
        let mut rig = match transfer {
            true => Rig::with_transfer_queue(asynchronous(), &desc),
            false => Rig::new(asynchronous(), &desc),
        };
        for index in 0..TEXTURES {
            rig.create(1, (index % 2) as u16);
        }
        rig.cache().pin(TextureId(0), Some(Level(6))).expect("it exists");
        Story {
            rig,
            random: SplitMix64::new(seed),
            transfer,
            divides: ["arenas", "first-attempt"].contains(&policy.name) || policy.name.starts_with("slab"),
            apart: policy.uploads == UploadMode::SingleLevels,
            complete: 0,
            bound: BTreeMap::new(),
            images: BTreeMap::new(),
            read: BTreeMap::new(),
            partial: 0,
        }
    }

    /// A step of the sequence; returns the errors.
    fn step(&mut self, frame: u64) -> Vec<Error> {
        let mut faults = Vec::new();
        if self.random.one_in(6) {
            let texture = TextureId(1 + self.random.below(u64::from(TEXTURES) - 1) as u32);
            let shape = MipChainId(self.random.below(2) as u16);
            self.rig.cache().replace(texture, shape).expect("it exists");
            assert_eq!(self.rig.cache().texture(texture), None);
        }
        if self.random.one_in(8) {
            let budget = Bytes(SMALL * (12 + self.random.below(7)));
            faults.extend(self.rig.cache().set_budget(budget).err());
        }
        let first = frame as u32 * 2;
        let shown = (0..7).map(|index| TextureId(1 + (first + index) % (TEXTURES - 1)));
        let shown: Vec<_> = shown
            .map(|texture| (texture, Level(2 + self.random.below(5) as u8)))
            .collect();
        faults.extend(self.draw(&shown).err());
        faults.append(&mut self.rig.faults);
        faults
    }

    /// Draws a frame and checks its results.
    fn draw(&mut self, shown: &[(TextureId, Level)]) -> tileheap_textures::Result<()> {
        if self.rig.frame > self.complete + 3 || self.random.one_in(3) {
            self.rig.driver.complete();
            self.complete = self.rig.frame;
        }
        self.rig.driver.clear_journal();
        let drawn = self.rig.draw_each(shown, self.complete);
        let frame = self.rig.frame;
        let (mut blocks, mut places) = (Vec::new(), BTreeMap::new());
        for &(texture, offset, size, level) in &self.rig.blocks {
            blocks.push((offset, offset + size));
            // With single levels, the finest up to which all are resident.
            let before: Option<&(Bytes, Bytes, Level)> = places.get(&texture);
            if !self.apart || before.map_or(0, |before| before.2.0 + 1) == level.0 {
                places.insert(texture, (offset, offset + size, level));
            }
        }
        blocks.sort_unstable();
        assert!(blocks.is_sorted_by(|a, b| a.1 <= b.0), "{blocks:?}");
        let budget = self.rig.cache().budget();
        assert!(blocks.last().is_none_or(|last| last.1 <= budget));
        let textures = || (0..TEXTURES).map(TextureId);
        let cache = self.rig.cache();
        let images = textures().filter_map(|texture| Some((texture, cache.texture(texture)?)));
        let images: BTreeMap<TextureId, Texture> = images.collect();
        let Ok(recorded) = drawn else {
            self.images = images;
            return drawn.map(drop);
        };
        assert!(recorded.texels <= UPLOADS || recorded.images == 1, "{recorded:?}");
        let (pending, changed) = (cache.pending(), cache.changed().to_vec());
        let mut behind = 0;
        for texture in textures() {
            let (found, place) = (images.get(&texture), places.get(&texture));
            assert!(
                found == self.images.get(&texture) || changed.contains(&texture),
                "{texture} changed in frame {frame}"
            );
            let there = found.map(|found| found.level);
            assert!(
                there <= place.map(|place| place.2),
                "{texture}: {found:?} of {place:?}"
            );
            behind += usize::from(there < place.map(|place| place.2));
            self.partial += usize::from(there.is_some() && there < place.map(|place| place.2));
        }
        assert!(behind == pending || (self.apart && behind < pending));
        self.judge_bytes(&recorded, &images, &places, shown);
        self.images = images;
        Ok(())
    }

    /// Images are bound where their blocks are. The transfer queue does not write bytes that pending frames read, or that this frame
    /// copies elsewhere.
    fn judge_bytes(
        &mut self,
        recorded: &RecordedUploads,
        images: &BTreeMap<TextureId, Texture>,
        places: &BTreeMap<TextureId, (Bytes, Bytes, Level)>,
        shown: &[(TextureId, Level)],
    ) {
        let (frame, journal) = (self.rig.frame, self.rig.driver.journal());
        for call in &journal {
            if let Call::Bind { object, offset, .. } = call {
                let image = <vk::Image as vk::Handle>::from_raw(object.handle);
                let block = self.rig.blocks.iter().find(|block| block.1.0 == *offset);
                let &(_, start, size, _) = block.expect("images are bound where blocks are");
                self.bound.insert(start, image);
                self.read.insert(image, (start.0, (start + size).0, 0));
            }
        }
        let commands = self.rig.driver.recorded(self.rig.commands_of(frame));
        for (image, layout) in touched(&commands) {
            if let (Some(read), vk::ImageLayout::TRANSFER_SRC_OPTIMAL) = (self.read.get_mut(&image), layout) {
                read.2 = frame;
            }
        }
        let sent = journal.iter().filter_map(|call| match call {
            Call::Submit { batches, .. } if self.transfer => Some(batches[0].command_buffers[0]),
            _ => None,
        });
        let sent = sent.filter(|&commands| commands != self.rig.commands_of(frame));
        let sent: Vec<_> = sent
            .flat_map(|sent| touched(&self.rig.driver.recorded(sent)))
            .collect();
        assert_eq!(recorded.wait.is_some(), !sent.is_empty());
        for (image, _) in sent {
            let (start, end, _) = self.read[&image];
            for (&other, &(first, last, read)) in &self.read {
                let apart = last <= start || end <= first || read <= self.complete || other == image;
                assert!(
                    apart,
                    "frame {frame} writes {start} to {end}, which frame {read} reads"
                );
            }
        }
        for (texture, found) in images {
            let image = self.bound.get(&places[texture].0);
            assert!(image == Some(&found.image) || found.level < places[texture].2);
        }
        for (texture, start, ..) in &self.rig.blocks {
            if let (Some(image), true) = (self.bound.get(start), shown.iter().any(|one| one.0 == *texture)) {
                self.read.get_mut(image).expect("it was bound").2 = frame;
            }
        }
        let (complete, bound) = (self.complete, &self.bound);
        self.read
            .retain(|image, read| read.2 > complete || bound.values().any(|one| one == image));
    }

    /// Draws the same textures until all are resident, and ends.
    fn finish(mut self) -> usize {
        self.rig.driver.fail_no_more();
        let shown: Vec<_> = (1..6).map(|texture| (TextureId(texture), Level(4))).collect();
        for frame in 0..200 {
            self.rig.driver.complete();
            self.complete = self.rig.frame;
            self.draw(&shown).expect("nothing fails any more");
            if frame > 12 && self.rig.cache().pending() == 0 {
                break;
            }
        }
        for (texture, level) in shown {
            let found = self.images.get(&texture).map(|found| found.level);
            assert!(found >= Some(level) || self.divides, "{texture}: {found:?}");
        }
        assert_eq!(self.rig.cache().pending(), 0);
        assert_eq!(self.rig.live(vk::ObjectType::IMAGE), self.rig.blocks.len());
        self.partial
    }
}

/// Images in barriers, with their new layouts.
fn touched(commands: &[Command]) -> Vec<(vk::Image, vk::ImageLayout)> {
    let barriers = commands.iter().filter_map(|command| match command {
        Command::Barriers { barriers, .. } => Some(barriers),
        _ => None,
    });
    let images = barriers.flatten().filter_map(|barrier| match barrier.target {
        BarrierTarget::Image(image) => Some((image, barrier.new_layout)),
        _ => None,
    });
    images.collect()
}

#[test]
fn stories_end_well_with_every_policy() {
    let mut partial = 0;
    for policy in ALL {
        for seed in 0..4 {
            let mut story = Story::new(policy, seed % 2 == 1, seed);
            for frame in 0..60 {
                let faults = story.step(frame);
                assert!(faults.is_empty(), "{policy}, seed {seed}: {faults:?}");
            }
            partial += story.finish();
        }
    }
    assert!(partial > 20, "{partial} textures were sampled at a clamped level");
}

/// Each call failing once: the error is returned, nothing is recorded (see `Rig::draw_each`), and the next frames recover.
#[test]
fn stories_with_a_call_that_fails_end_well() {
    for (transfer, policy) in [
        (false, HeapCache::LRU),
        (true, HeapCache::LRU_COMPACTING),
        (true, Coherent::DESC),
        (true, Coherent::KEEPING_LEVELS),
        (true, Arenas::FIRST_ATTEMPT),
    ] {
        for nth in 0.. {
            let mut story = Story::new(policy, transfer, 3);
            story.rig.driver.fail_at(nth, OUT);
            let faults: Vec<Error> = (0..9).flat_map(|frame| story.step(frame)).collect();
            let said = faults
                .iter()
                .all(|fault| fault.to_string().contains("OUT_OF_DEVICE_MEMORY"));
            assert!(faults.len() <= 1 && said, "call {nth}: {faults:?}");
            story.finish();
            if faults.is_empty() {
                assert!(nth > 50, "{nth}");
                break;
            }
        }
    }
}

/// A slot for each texture by its number; its results for some requests are invalid.
struct Slots {
    kind: &'static str,
    /// Every `every`-th upload is invalid.
    every: usize,
    uploads: usize,
    /// Texture, level and last frame.
    slots: Vec<(Option<TextureId>, Level, usize)>,
    frame: usize,
}

const SLOT: u64 = 90_112;

const KINDS: [&str; 13] = [
    "past the budget",
    "over the pinned one",
    "evicts the pinned one",
    "places another",
    "evicts an unknown one",
    "too small",
    "no such level",
    "places nothing",
    "unaligned",
    "places twice",
    "denies it",
    "evicts at the end of the frame",
    "keeps what is released",
];

impl Policy for Slots {
    fn request(&mut self, request: Request, journal: &mut Journal) -> RequestOutcome {
        let at = request.texture.index() % self.slots.len();
        let (owner, there, used) = self.slots[at];
        let (mut offset, mut block) = (Bytes(at as u64 * SLOT), Bytes(SLOT));
        let own = owner == Some(request.texture);
        if own && there >= request.level {
            self.slots[at].2 = self.frame;
            return RequestOutcome::Hit { offset };
        }
        if !own && owner.is_some() && used == self.frame {
            return RequestOutcome::Bypass;
        }
        if let Some(owner) = owner {
            let reason = [EvictionReason::Replaced, EvictionReason::Upgraded][usize::from(own)];
            journal.evict(owner.0, offset.0, SLOT, reason);
        }
        let (mut texture, mut level) = (request.texture, request.level);
        self.slots[at] = (Some(texture), level, self.frame);
        self.uploads += 1;
        let wrong = self.uploads % self.every == 0;
        let kind = if wrong { self.kind } else { "" };
        match kind {
            "past the budget" => offset = Bytes(self.slots.len() as u64 * SLOT),
            "over the pinned one" => offset = Bytes::ZERO,
            "evicts the pinned one" => journal.evict(0, 0, SLOT, EvictionReason::Replaced),
            "places another" => texture = TextureId(u32::MAX - 3),
            "evicts an unknown one" => journal.evict(u32::MAX - 3, 0, SLOT, EvictionReason::Replaced),
            "too small" => block = Bytes(8),
            "no such level" => level = Level(31),
            "unaligned" => offset += Bytes(1),
            _ => {}
        }
        let place = CacheEvent::Place {
            texture,
            part: Level(0),
            level,
            offset,
            block,
            upload: request.size,
        };
        let times =
            [1, 0, 2][usize::from(kind == "places nothing") + 2 * usize::from(kind == "places twice")];
        (0..times).for_each(|_| journal.push(place));
        match kind {
            "denies it" => RequestOutcome::Bypass,
            _ => RequestOutcome::Upload { offset },
        }
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        for (at, slot) in self.slots.iter_mut().enumerate() {
            if slot.0 == Some(texture) {
                slot.0 = None;
                if self.kind != "keeps what is released" {
                    journal.evict(texture.0, at as u64 * SLOT, SLOT, EvictionReason::Released);
                }
            }
        }
    }

    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> tileheap_textures::Result<()> {
        for at in (budget.0 / SLOT) as usize..self.slots.len() {
            if let Some(texture) = self.slots[at].0 {
                journal.evict(texture.0, at as u64 * SLOT, SLOT, EvictionReason::Budget);
            }
        }
        self.slots.resize((budget.0 / SLOT) as usize, (None, Level(0), 0));
        Ok(())
    }

    fn end_frame(&mut self, journal: &mut Journal) {
        self.frame += 1;
        if self.kind == "evicts at the end of the frame" && self.frame % self.every == 0 {
            journal.evict(u32::MAX - 3, 0, SLOT, EvictionReason::Wall);
        }
    }
}

/// Every kind of invalid result, rarely and often: the error names policy, texture and bytes; the frame continues, nothing leaks, and
/// requested textures become resident in the end.
#[test]
fn policies_that_answer_nonsense_are_refused_and_the_frame_goes_on() {
    for (kind, every) in KINDS.into_iter().flat_map(|kind| [(kind, 9), (kind, 2)]) {
        let create: &CreatePolicy = &move |_, budget, _, _| {
            Ok(Box::new(Slots {
                kind,
                every,
                uploads: 0,
                slots: vec![(None, Level(0), 0); (budget.0 / SLOT) as usize],
                frame: 1,
            }))
        };
        let policy = PolicyDesc::new("wrong", "", create);
        let mut story = Story::new(policy, every == 2, 5);
        let mut faults: Vec<Error> = (0..60).flat_map(|frame| story.step(frame)).collect();
        assert!(!faults.is_empty(), "{kind}");
        let wanted = (TextureId(1), Level(3));
        (0..12).for_each(|_| story.draw(&[wanted]).expect("nothing fails"));
        faults.append(&mut story.rig.faults);
        for fault in &faults {
            let text = fault.to_string();
            let named = ["policy `wrong`: ", "texture ", " B"]
                .iter()
                .all(|part| text.contains(part));
            assert!(matches!(fault, Error::Violation(_)) && named, "{kind}: {text}");
        }
        assert!(story.images[&wanted.0].level >= wanted.1, "{kind}");
    }
}
