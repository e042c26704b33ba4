//! The rules of every policy under random use, the checker against false stories, traces against damage.

use proptest::prelude::*;
use tileheap_baselines::textures::ALL;
use tileheap_textures::replay::{Replay, Rule, lower_bound};
use tileheap_textures::scenario::Scenario;
use tileheap_textures::trace::{Entry, Record, TraceReader, TraceWriter};
use tileheap_textures::units::{Alignment, Bytes};
use tileheap_textures::{
    Chain, ChainId, Error, Event, EvictionReason, Geometry, Journal, Level, Outcome, Policy, PolicyDesc,
    Request, TextureId, Textures,
};

/// Odd sizes of two chains in a unit that is no power of two.
fn odd_geometry() -> Geometry {
    let chain = |sizes: &[u64]| Chain::new(sizes.iter().map(|&size| Bytes(size)).collect());
    let chains = vec![chain(&[5, 40, 41, 1000]), chain(&[700, 701]), chain(&[12])];
    Geometry::new(chains, Alignment::new(24).expect("not 0")).expect("they rise")
}

fn thirty(geometry: &Geometry) -> Textures {
    let mut textures = Textures::new(geometry.clone());
    for texture in 0..30 {
        let chain = ChainId((texture % 3) as u16);
        textures.create(TextureId(texture), chain).expect("in order");
    }
    textures
}

/// A use at a level, or at the finest that there is.
fn use_at(textures: &Textures, texture: TextureId, level: u8) -> Entry {
    let mut levels = (0..=level).rev();
    let request = levels.find_map(|level| textures.request(texture, Level(level)).ok());
    Entry::Use(request.expect("every chain has level 0"))
}

fn entry() -> impl Strategy<Value = (u8, u32, u8)> {
    (0..40_u8, 0..30_u32, 0..4_u8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Requests, releases and replacements in any order: no overlap, no lie, nothing past the budget, for every policy.
    #[test]
    fn every_policy_keeps_the_rules(steps in prop::collection::vec(entry(), 1..400), budget in 1008..6000_u64, seed in 0..9_u64) {
        let geometry = odd_geometry();
        for kind in ALL {
            let policy = kind.create(&geometry, Bytes(budget), seed).expect("1008 B hold the largest");
            let mut replay = Replay::new(policy, &geometry, Bytes(budget));
            let mut textures = thirty(&geometry);
            let mut entries = Vec::new();
            for &(what, texture, level) in &steps {
                let texture = TextureId(texture);
                entries.push(match what {
                    0..=3 => Entry::EndFrame,
                    4 => {
                        textures.replace(texture, ChainId(u16::from(level) % 3)).expect("it is there");
                        Entry::Release(texture)
                    }
                    _ => use_at(&textures, texture, level),
                });
            }
            entries.push(Entry::EndFrame);
            for &entry in &entries {
                if let Err(fault) = replay.play(entry) {
                    panic!("{}: {fault}", kind.name);
                }
            }
            let traffic = replay.traffic().iter().sum::<u64>();
            let bound = lower_bound(&entries, Bytes(budget)).iter().sum::<u64>();
            prop_assert!(!kind.uploads_whole || traffic >= bound, "{}: {traffic} below {bound}", kind.name);
        }
    }

    /// Budgets that come and go: nothing past the one that holds, and nobody goes who does not reach past it.
    #[test]
    fn every_policy_follows_its_budget(steps in prop::collection::vec((entry(), 1008..6000_u64), 1..300), seed in 0..9_u64) {
        let geometry = odd_geometry();
        let textures = thirty(&geometry);
        for kind in ALL {
            let policy = kind.create(&geometry, Bytes(6000), seed).expect("6000 B hold the largest");
            let mut replay = Replay::new(policy, &geometry, Bytes(6000));
            for &((what, texture, level), budget) in &steps {
                let played = if what > 2 {
                    replay.play(use_at(&textures, TextureId(texture), level))
                } else {
                    replay.play(Entry::EndFrame).and_then(|()| if what == 0 { replay.set_budget(Bytes(budget)) } else { Ok(()) })
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
            0..=3 => Record::EndFrame,
            4 => Record::Create { texture: TextureId(texture), chain: ChainId(u16::from(level)) },
            5 => Record::Replace { texture: TextureId(texture * 1000), chain: ChainId(u16::MAX) },
            6 => Record::Release { texture: TextureId(texture) },
            _ => Record::Use { texture: TextureId(texture), level: Level(level) },
        });
        let records: Vec<Record> = records.collect();
        let bytes = written(&records);
        let mut reader = TraceReader::new(&bytes[..]).expect("a header");
        prop_assert_eq!(reader.geometry(), &odd_geometry());
        let mut read = Vec::new();
        while let Some(record) = reader.read().expect("it is whole") {
            read.push(record);
        }
        prop_assert_eq!(&read, &records);
        // Cut anywhere, it is truncated, or no trace; never whole, never a panic.
        for length in 0..bytes.len() {
            let mut fault = None;
            match TraceReader::new(&bytes[..length]) {
                Err(early) => fault = Some(early),
                Ok(mut reader) => loop {
                    match reader.read() {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(late) => {
                            fault = Some(late);
                            break;
                        }
                    }
                },
            }
            prop_assert!(matches!(fault, Some(Error::TraceTruncated { .. } | Error::NotATrace)), "{length}: {fault:?}");
        }
    }

    /// Any bytes at all: an answer, not a panic, and no memory beyond what the bytes can name.
    #[test]
    fn damage_is_no_panic(mut bytes in Just(written(&[Record::EndFrame; 3])), at in 15..40_usize, to in any::<u8>()) {
        let at = at % bytes.len();
        bytes[at] = to;
        if let Ok(mut reader) = TraceReader::new(&bytes[..]) {
            while let Ok(Some(_)) = reader.next_entry() {}
        }
    }
}

fn written(records: &[Record]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &odd_geometry()).expect("a vector takes all");
    for &record in records {
        writer.write(record).expect("a vector takes all");
    }
    writer.finish().expect("a vector takes all")
}

#[test]
fn scenarios_survive_their_files() {
    for scenario in Scenario::ALL {
        let mut writer = TraceWriter::new(Vec::new(), &scenario.geometry()).expect("a vector");
        scenario.generate(7, 20, |record| writer.write(record).expect("a vector"));
        let bytes = writer.finish().expect("a vector");
        let mut reader = TraceReader::new(&bytes[..]).expect("a header");
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry().expect("it is sound") {
            entries.push(entry);
        }
        assert_eq!(entries, scenario.entries(7, 20), "{}", scenario.name());
        let uses = entries
            .iter()
            .filter(|entry| matches!(entry, Entry::Use(_)))
            .count();
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
    let error = |records: &[Record]| {
        let bytes = written(records);
        let mut reader = TraceReader::new(&bytes[..]).expect("a header");
        loop {
            match reader.next_entry() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it is wrong"),
                Err(Error::TraceRecord(_, error)) => return error.to_string(),
                Err(other) => panic!("{other}"),
            }
        }
    };
    let (texture, chain) = (TextureId(0), ChainId(0));
    let create = Record::Create { texture, chain };
    let request = |level| Record::Use {
        texture,
        level: Level(level),
    };
    let release = Record::Release { texture };
    let unknown = "texture 0 does not exist: it was never created, or it was released";
    assert_eq!(error(&[request(0)]), unknown);
    assert_eq!(error(&[create, release, release]), unknown);
    let second = Record::Create {
        texture,
        chain: ChainId(1),
    };
    let twice = "texture 0 has chain 0 and cannot be created again with chain 1";
    assert_eq!(error(&[create, second]), twice);
    let finer = "texture 0 is requested at level 4; its chain 0 has levels 0 to 3";
    assert_eq!(error(&[create, request(4)]), finer);
    let far = Record::Create {
        texture: TextureId(5),
        chain,
    };
    let order = "texture 5 is created before texture 0: new ids are consecutive";
    assert_eq!(error(&[far]), order);
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
        let mut textures = Textures::new(geometry.clone());
        textures.create(TextureId(0), ChainId(0)).expect("the first");
        let request = textures.request(TextureId(0), Level(8)).expect("the finest");
        let outcome = policy.request(request, &mut Journal::new());
        let alone = matches!(outcome, Outcome::Upload { .. });
        assert!(
            alone || ["arenas", "first-attempt"].contains(&kind.name),
            "{}",
            kind.name
        );
    }
}

/// A policy that tells a story of texture 1.
struct Liar {
    events: Vec<Event>,
    outcome: Outcome,
}

impl Policy for Liar {
    fn set_budget(&mut self, _: Bytes, _: &mut Journal) -> tileheap_textures::Result<()> {
        Ok(())
    }

    fn request(&mut self, request: Request, journal: &mut Journal) -> Outcome {
        if request.texture != TextureId(1) {
            return Outcome::Bypass;
        }
        self.events.iter().for_each(|&event| journal.push(event));
        self.outcome
    }

    fn release(&mut self, _texture: TextureId, _journal: &mut Journal) {}
}

/// Mutations of a right story: each is refused, for the right reason.
#[test]
fn the_checker_refuses_false_stories() {
    let request = Request {
        texture: TextureId(1),
        level: Level(3),
        chain: ChainId(0),
        size: Bytes(1000),
    };
    let place = |texture, offset, block| Event::Place {
        texture: TextureId(texture),
        part: Level(0),
        level: Level(3),
        offset: Bytes(offset),
        block: Bytes(block),
        upload: Bytes(1000),
    };
    let evict = |texture, offset| Event::Evict {
        texture: TextureId(texture),
        part: Level(0),
        offset: Bytes(offset),
        block: Bytes(1008),
        reason: EvictionReason::Replaced,
    };
    let upload = |offset| Outcome::Upload {
        offset: Bytes(offset),
    };
    let tell = |events: &[Event], outcome| {
        let liar = Liar {
            events: events.to_vec(),
            outcome,
        };
        let mut replay = Replay::new(Box::new(liar), &odd_geometry(), Bytes(4032));
        for texture in [0, 2].map(TextureId) {
            // So that both were seen before.
            let request = Request { texture, ..request };
            replay.play(Entry::Use(request)).expect("nothing is there");
        }
        replay.play(Entry::Use(request))
    };
    tell(&[place(1, 24, 1008)], upload(24)).expect("a true story");
    let both = [place(2, 0, 1008), place(1, 984, 1008)];
    let twice = [place(1, 0, 1008), place(1, 1008, 1008)];
    for (events, outcome, rule) in [
        (&[place(1, 25, 1008)][..], upload(25), Rule::Alignment),
        (&[place(1, 3048, 1008)], upload(3048), Rule::Budget),
        (&[place(1, 24, 984)], upload(24), Rule::Size),
        (&both, upload(984), Rule::Overlap),
        (&[evict(2, 0), place(1, 24, 1008)], upload(24), Rule::Residence),
        (&twice, upload(0), Rule::PlacedOnce),
        (&[], upload(24), Rule::Outcome),
        (&[], Outcome::Hit { offset: Bytes(24) }, Rule::Outcome),
        (&[place(1, 24, 1008)], upload(48), Rule::Outcome),
        (&[place(1, 24, 1008)], Outcome::Bypass, Rule::Outcome),
        (
            &[place(1, 24, 1008)],
            Outcome::Hit { offset: Bytes(24) },
            Rule::Outcome,
        ),
        (&[place(2, 24, 1008)], upload(24), Rule::Outcome),
    ] {
        let found = tell(events, outcome).expect_err("a false story");
        let same = matches!(&found, Error::Violation(violation) if violation.rule == rule);
        assert!(same, "{events:?} {outcome:?}: {found}");
    }
}

#[test]
fn policies_draw_from_their_seed_alone() {
    let entries = Scenario::Strafe.entries(2, 40);
    let geometry = Geometry::wulfram();
    let traffic = |kind: PolicyDesc<'static>, seed| {
        let mut replay = Replay::new(
            kind.create(&geometry, Bytes::mib(2), seed).expect("2 MiB"),
            &geometry,
            Bytes::mib(2),
        );
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

/// A budget that shrinks takes those past it alone; one that grows back is used in full.
#[test]
fn what_a_smaller_budget_frees_comes_back_with_a_larger_one() {
    let geometry = Geometry::new(vec![Chain::new(vec![Bytes(100)])], Alignment::ONE).expect("a chain");
    for kind in ALL {
        let mut policy = kind.create(&geometry, Bytes(1000), 1).expect("1000 B");
        let mut journal = Journal::new();
        let frame = |policy: &mut dyn Policy, journal: &mut Journal| {
            journal.clear();
            for texture in 0..10 {
                let request = Request {
                    texture: TextureId(texture),
                    level: Level(0),
                    chain: ChainId(0),
                    size: Bytes(100),
                };
                policy.request(request, journal);
            }
            policy.end_frame(journal);
            let placed = |event: &&Event| matches!(event, Event::Place { .. });
            journal.events().iter().filter(placed).count()
        };
        assert_eq!(frame(&mut *policy, &mut journal), 10, "{}", kind.name);
        journal.clear();
        policy.set_budget(Bytes(450), &mut journal).expect("450 B");
        let gone: Vec<Bytes> = (journal.events().iter())
            .filter_map(|event| match *event {
                Event::Evict {
                    offset,
                    reason: EvictionReason::Budget,
                    ..
                } => Some(offset),
                _ => None,
            })
            .collect();
        assert!(
            gone.len() == 6 && gone.iter().all(|&offset| offset >= Bytes(400)),
            "{}: {gone:?}",
            kind.name
        );
        policy.set_budget(Bytes(1000), &mut journal).expect("1000 B");
        assert_eq!(frame(&mut *policy, &mut journal), 6, "{}", kind.name);
        // The ring's cursor goes over whoever is in its way, room or not.
        let again = if kind.name == "ring" { 4 } else { 0 };
        assert_eq!(frame(&mut *policy, &mut journal), again, "{}", kind.name);
    }
}
