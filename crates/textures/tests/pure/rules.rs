//! The rules of every policy under random use, the checker on invalid events, and damaged traces.

use proptest::prelude::*;
use tileheap_baselines::textures::ALL;
use tileheap_textures::replay::{PolicyRule, Replay, lower_bound};
use tileheap_textures::scenario::Scenario;
use tileheap_textures::trace::{TraceEntry, TraceReader, TraceRecord, TraceWriter};
use tileheap_textures::units::{Alignment, Bytes};
use tileheap_textures::{
    CacheEvent, CreatePolicy, Error, EvictionReason, Geometry, Journal, Level, MipChain, MipChainId, Policy,
    PolicyDesc, Request, RequestOutcome, TextureId, TextureTable, UploadMode,
};

/// Irregular sizes of two chains in a unit that is not a power of two.
fn odd_geometry() -> Geometry {
    let chain = |sizes: &[u64]| MipChain::new(sizes.iter().map(|&size| Bytes(size)).collect());
    let chains = vec![chain(&[5, 40, 41, 1000]), chain(&[700, 701]), chain(&[12])];
    Geometry::new(chains, Alignment::new(24).expect("not 0")).expect("they rise")
}

fn thirty(geometry: &Geometry) -> TextureTable {
    let mut textures = TextureTable::new(geometry.clone());
    for texture in 0..30 {
        let chain = MipChainId((texture % 3) as u16);
        textures.create(TextureId(texture), chain).expect("in order");
    }
    textures
}

/// A use at a level, or at the finest one available.
fn use_at(textures: &TextureTable, texture: TextureId, level: u8) -> TraceEntry {
    let mut levels = (0..=level).rev();
    let request = levels.find_map(|level| textures.request(texture, Level(level)).ok());
    TraceEntry::Use(request.expect("every chain has level 0"))
}

fn entry() -> impl Strategy<Value = (u8, u32, u8)> {
    (0..40_u8, 0..30_u32, 0..4_u8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Requests, releases and replacements in any order: no overlap, no false report, nothing past the budget, for
    /// every policy.
    #[test]
    fn every_policy_keeps_the_rules(steps in prop::collection::vec(entry(), 1..400), budget in 1008..6000_u64, seed in 0..9_u64) {
        let geometry = odd_geometry();
        for kind in ALL {
            let mut replay = Replay::new(&kind, &geometry, Bytes(budget), seed).expect("1008 B hold the largest");
            let mut textures = thirty(&geometry);
            let mut entries = Vec::new();
            for &(what, texture, level) in &steps {
                let texture = TextureId(texture);
                entries.push(match what {
                    0..=3 => TraceEntry::EndFrame,
                    4 => {
                        textures.replace(texture, MipChainId(u16::from(level) % 3)).expect("it is there");
                        TraceEntry::Release(texture)
                    }
                    _ => use_at(&textures, texture, level),
                });
            }
            entries.push(TraceEntry::EndFrame);
            for &entry in &entries {
                if let Err(fault) = replay.play(entry) {
                    panic!("{}: {fault}", kind.name);
                }
            }
            let traffic = replay.traffic().iter().sum::<u64>();
            let bound = lower_bound(&entries, Bytes(budget)).iter().sum::<u64>();
            prop_assert!(kind.uploads != UploadMode::Whole || traffic >= bound, "{}: {traffic} below {bound}", kind.name);
        }
    }

    /// Changing budgets: nothing extends past the current one, and only textures that do are evicted.
    #[test]
    fn every_policy_follows_its_budget(steps in prop::collection::vec((entry(), 1008..6000_u64), 1..300), seed in 0..9_u64) {
        let geometry = odd_geometry();
        let textures = thirty(&geometry);
        for kind in ALL {
            let mut replay = Replay::new(&kind, &geometry, Bytes(6000), seed).expect("6000 B hold the largest");
            for &((what, texture, level), budget) in &steps {
                let played = if what > 2 {
                    replay.play(use_at(&textures, TextureId(texture), level))
                } else {
                    replay.play(TraceEntry::EndFrame).and_then(|()| if what == 0 { replay.set_budget(Bytes(budget)) } else { Ok(()) })
                };
                if let Err(fault) = played {
                    panic!("{}: {fault}", kind.name);
                }
            }
            let refused = replay.set_budget(Bytes(1007));
            let refused = matches!(refused, Err(Error::BudgetTooSmall(..)));
            prop_assert!(refused, "{}", kind.name);
        }
    }

    #[test]
    fn traces_come_back_as_they_were(steps in prop::collection::vec(entry(), 0..300)) {
        let records = steps.into_iter().map(|(what, texture, level)| match what {
            0..=3 => TraceRecord::EndFrame,
            4 => TraceRecord::Create { texture: TextureId(texture), chain: MipChainId(u16::from(level)) },
            5 => TraceRecord::Replace { texture: TextureId(texture * 1000), chain: MipChainId(u16::MAX) },
            6 => TraceRecord::Release { texture: TextureId(texture) },
            _ => TraceRecord::Use { texture: TextureId(texture), level: Level(level) },
        });
        let records: Vec<TraceRecord> = records.collect();
        let bytes = written(&records);
        let reader = TraceReader::new(&bytes[..]).expect("a header");
        prop_assert_eq!(reader.geometry(), &odd_geometry());
        prop_assert_eq!(&read(&bytes).expect("it is whole"), &records);
        // Cut at any point, it is truncated or not a trace; never complete, and never a panic.
        for length in 0..bytes.len() {
            let fault = read(&bytes[..length]);
            prop_assert!(matches!(fault, Err(Error::TraceTruncated(..) | Error::NotATrace)), "{length}: {fault:?}");
        }
    }

    /// Arbitrary bytes: a result, not a panic, and no more memory than the bytes can describe.
    #[test]
    fn damage_is_no_panic(mut bytes in Just(written(&[TraceRecord::EndFrame; 3])), at in 15..40_usize, to in any::<u8>()) {
        let at = at % bytes.len();
        bytes[at] = to;
        let _ = entries(&bytes);
    }
}

fn written(records: &[TraceRecord]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &odd_geometry()).expect("a vector takes all");
    for &record in records {
        writer.write(record).expect("a vector takes all");
    }
    writer.finish().expect("a vector takes all")
}

/// All records of a trace.
fn read(bytes: &[u8]) -> tileheap_textures::Result<Vec<TraceRecord>> {
    let mut reader = TraceReader::new(bytes)?;
    std::iter::from_fn(|| reader.read().transpose()).collect()
}

/// All entries of a trace.
fn entries(bytes: &[u8]) -> tileheap_textures::Result<Vec<TraceEntry>> {
    let mut reader = TraceReader::new(bytes)?;
    std::iter::from_fn(|| reader.next_entry().transpose()).collect()
}

#[test]
fn scenarios_survive_their_files() {
    for scenario in Scenario::ALL {
        let mut writer = TraceWriter::new(Vec::new(), &scenario.geometry()).expect("a vector");
        scenario.generate(7, 20, |record| writer.write(record).expect("a vector"));
        let bytes = writer.finish().expect("a vector");
        let entries = entries(&bytes).expect("it is sound");
        assert_eq!(entries, scenario.entries(7, 20), "{}", scenario.name());
        let is_use = |entry: &&TraceEntry| matches!(entry, TraceEntry::Use(_));
        let uses = entries.iter().filter(is_use).count();
        assert!(
            bytes.len() < 4 * uses + 70_000,
            "{}: {} B for {uses} uses",
            scenario.name(),
            bytes.len()
        );
    }
}

#[test]
fn uses_of_textures_that_are_not_there_are_named() {
    let error = |records: &[TraceRecord]| match entries(&written(records)) {
        Err(Error::TraceRecord(_, error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let (texture, chain) = (TextureId(0), MipChainId(0));
    let create = TraceRecord::Create { texture, chain };
    let request = |level| TraceRecord::Use {
        texture,
        level: Level(level),
    };
    let release = TraceRecord::Release { texture };
    let again = |texture, chain| TraceRecord::Create {
        texture: TextureId(texture),
        chain: MipChainId(chain),
    };
    let unknown = "texture 0 does not exist: it was never created, or it was released";
    for (records, text) in [
        (&[request(0)][..], unknown),
        (&[create, release, release], unknown),
        (
            &[create, again(0, 1)],
            "texture 0 has chain 0 and cannot be created again with chain 1",
        ),
        (
            &[create, request(4)],
            "texture 0 is requested at level 4; its chain 0 has levels 0 to 3",
        ),
        (
            &[again(5, 0)],
            "texture 5 is created before texture 0: new ids must be consecutive",
        ),
    ] {
        assert_eq!(error(records), text);
    }
}

#[test]
fn budgets_below_one_texture_are_refused() {
    let geometry = Geometry::wulfram();
    for kind in ALL {
        for (budget, fits) in [(0, false), (87_383, false), (87_384, true), (100_000, true)] {
            let built = kind.create(&geometry, Bytes(budget), 0);
            assert_eq!(built.is_ok(), fits, "{} of {budget}", kind.name);
        }
        let mut policy = kind.create(&geometry, Bytes(87_384), 0).expect("it just fits");
        let mut textures = TextureTable::new(geometry.clone());
        textures.create(TextureId(0), MipChainId(0)).expect("the first");
        let request = textures.request(TextureId(0), Level(8)).expect("the finest");
        let outcome = policy.request(request, &mut Journal::new());
        let alone = matches!(outcome, RequestOutcome::Upload { .. });
        assert!(
            alone || ["arenas", "first-attempt"].contains(&kind.name),
            "{}",
            kind.name
        );
    }
}

/// A policy that places textures 0 and 2, and reports the given events for texture 1.
struct Liar {
    events: Vec<CacheEvent>,
    outcome: RequestOutcome,
}

impl Policy for Liar {
    fn set_budget(&mut self, _: Bytes, _: &mut Journal) -> tileheap_textures::Result<()> {
        Ok(())
    }

    fn request(&mut self, request: Request, journal: &mut Journal) -> RequestOutcome {
        if request.texture != TextureId(1) {
            let offset = Bytes(1008 * u64::from(request.texture.0));
            return journal.place(request, offset, Bytes(1008), request.size);
        }
        self.events.iter().for_each(|&event| journal.push(event));
        self.outcome
    }

    fn release(&mut self, _texture: TextureId, _journal: &mut Journal) {}
}

/// Mutations of valid events: each is refused, for the right reason, with the policy's name and numbers, and changes nothing.
#[test]
fn the_checker_refuses_false_stories() {
    let request = Request {
        texture: TextureId(1),
        level: Level(3),
        chain: MipChainId(0),
        size: Bytes(1000),
    };
    let place = |texture, offset, block| CacheEvent::Place {
        texture: TextureId(texture),
        part: Level(0),
        level: Level(3),
        offset: Bytes(offset),
        block: Bytes(block),
        upload: Bytes(1000),
    };
    let evict = |texture, offset| CacheEvent::Evict {
        texture: TextureId(texture),
        part: Level(0),
        offset: Bytes(offset),
        block: Bytes(1008),
        reason: EvictionReason::Replaced,
    };
    let upload = |offset| RequestOutcome::Upload {
        offset: Bytes(offset),
    };
    let shrink = |level, block| CacheEvent::Shrink {
        texture: TextureId(2),
        level: Level(level),
        offset: Bytes(2016),
        from: Bytes(1008),
        block: Bytes(block),
    };
    let tell = |events: &[CacheEvent], outcome: RequestOutcome| {
        let events = events.to_vec();
        let create: &CreatePolicy = &move |_, _, _, _| {
            let events = events.clone();
            Ok(Box::new(Liar { events, outcome }))
        };
        let (liar, geometry) = (PolicyDesc::new("liar", "Lies.", create), odd_geometry());
        let mut replay = Replay::new(&liar, &geometry, Bytes(4032), 0).expect("any budget");
        let other = |texture| TraceEntry::Use(Request { texture, ..request });
        // Only the second one is in use.
        for entry in [other(TextureId(0)), TraceEntry::EndFrame, other(TextureId(2))] {
            replay.play(entry).expect("they have places");
        }
        replay.play(TraceEntry::Use(request))
    };
    let free = 1008;
    tell(&[place(1, free, 1008)], upload(free)).expect("a true story");
    tell(&[evict(0, 0), place(1, 0, 1008)], upload(0)).expect("another");
    tell(&[shrink(1, 48)], RequestOutcome::Bypass).expect("a third");
    let twice = [place(1, free, 1008), place(1, 3024, 1008)];
    let hit = |offset| RequestOutcome::Hit {
        offset: Bytes(offset),
    };
    for (events, outcome, rule) in [
        (
            &[place(1, free + 1, 1008)][..],
            upload(free + 1),
            PolicyRule::Alignment,
        ),
        (&[place(1, 3048, 1008)], upload(3048), PolicyRule::Budget),
        (&[place(1, u64::MAX - 15, 1008)], upload(0), PolicyRule::Budget),
        (&[place(1, free, 984)], upload(free), PolicyRule::Size),
        (&[place(1, 984, 1008)], upload(984), PolicyRule::Overlap),
        (
            &[place(1, free + 24, 1008)],
            upload(free + 24),
            PolicyRule::Overlap,
        ),
        (
            &[evict(0, 24), place(1, free, 1008)],
            upload(free),
            PolicyRule::Residence,
        ),
        (&[evict(9, 0)], RequestOutcome::Bypass, PolicyRule::Residence),
        (
            &[evict(2, 2016), place(1, 2016, 1008)],
            upload(2016),
            PolicyRule::InUse,
        ),
        (&twice, upload(free), PolicyRule::PlacedOnce),
        (&[place(9, free, 1008)], upload(free), PolicyRule::Requested),
        (&[shrink(3, 1008)], RequestOutcome::Bypass, PolicyRule::Shrink),
        (&[shrink(1, 24)], RequestOutcome::Bypass, PolicyRule::Shrink),
        (&[], upload(free), PolicyRule::Outcome),
        (&[], hit(free), PolicyRule::Outcome),
        (&[place(1, free, 1008)], upload(0), PolicyRule::Outcome),
        (
            &[place(1, free, 1008)],
            RequestOutcome::Bypass,
            PolicyRule::Outcome,
        ),
        (&[place(1, free, 1008)], hit(free), PolicyRule::Outcome),
    ] {
        let found = tell(events, outcome).expect_err("a false story");
        let same = matches!(&found, Error::Violation(violation) if violation.rule == rule);
        assert!(same, "{events:?} {outcome:?}: {found}");
        assert!(
            found.to_string().starts_with("policy `liar`: ") && found.to_string().contains("texture"),
            "{found}"
        );
    }
}

#[test]
fn policies_draw_from_their_seed_alone() {
    let entries = Scenario::Strafe.entries(2, 40);
    let geometry = Geometry::wulfram();
    let traffic = |kind: PolicyDesc<'static>, seed| {
        let mut replay = Replay::new(&kind, &geometry, Bytes::mib(2), seed).expect("2 MiB");
        for &entry in &entries {
            replay.play(entry).expect("right");
        }
        replay.traffic().to_vec()
    };
    for kind in ALL {
        assert_eq!(traffic(kind, 3), traffic(kind, 3));
        let draws = ["arenas", "first-attempt", "random"].contains(&kind.name);
        assert_eq!(traffic(kind, 3) != traffic(kind, 4), draws, "{}", kind.name);
    }
}
