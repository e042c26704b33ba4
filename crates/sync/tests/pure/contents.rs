//! Contents, compared with an array of every byte and texel.

use std::collections::BTreeMap;

use ash::vk;
use tileheap_sync::program::*;
use tileheap_sync::{Loss, LostContents, Model, Verdict};
use tileheap_units::{Run, SplitMix64};

use crate::recordings::*;

/// Pages in which a linear and an optimal neighbour alias.
const PAGE: u64 = 16;

/// Buffers that share bytes with each other and with an image; images in a page of a buffer without any byte of it, and in one of their own.
fn resources() -> Vec<Resource> {
    let image = Texels {
        aspects: vk::ImageAspectFlags::COLOR,
        levels: Run::new(0, 2),
        layers: Run::new(0, 2),
        area: None,
    };
    let resource = |first, end, tiling| Resource {
        memory: MemoryId(0),
        first,
        end,
        tiling,
        alias_of: None,
    };
    let optimal = Tiling::Optimal(image);
    let mut resources = vec![
        resource(0, 24, Tiling::Linear),
        resource(8, 40, Tiling::Linear),
        resource(16, 52, optimal),
        resource(56, 64, optimal),
        resource(42, 48, optimal),
    ];
    // An image that interprets its bytes as another one does.
    resources.push(Resource {
        alias_of: Some(ResourceId(3)),
        ..resources[3]
    });
    resources
}

/// A cell of a resource: a byte, or a level, a layer and a column; the last column stands for the rest of the image, which areas leave out.
type Cell = [u64; 3];

const COLUMNS: u64 = 5;

fn cells(part: &Part) -> Vec<Cell> {
    match part {
        Part::Bytes(first, end) => (*first..*end).map(|byte| [byte, 0, 0]).collect(),
        Part::Texels(texels) => {
            let columns = texels
                .area
                .map_or(0..COLUMNS, |[x, ..]| u64::from(x.first)..u64::from(x.end));
            let levels = texels.levels.first..texels.levels.end;
            levels
                .flat_map(|level| (texels.layers.first..texels.layers.end).map(move |layer| (level, layer)))
                .flat_map(|(level, layer)| {
                    columns
                        .clone()
                        .map(move |column| [level.into(), layer.into(), column])
                })
                .collect()
        }
    }
}

fn whole(resource: &Resource) -> Part {
    match resource.tiling {
        Tiling::Linear | Tiling::Unknown => Part::Bytes(0, resource.end - resource.first),
        Tiling::Optimal(texels) => Part::Texels(texels),
    }
}

/// The last write of a cell, or its loss, with the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Written,
    Through(u64),
    Never,
    Discarded(u64),
    Overwritten(u64),
}

struct Naive {
    resources: Vec<Resource>,
    cells: Vec<BTreeMap<Cell, (State, Verdict)>>,
}

impl Naive {
    fn class(&self, resource: ResourceId) -> usize {
        self.resources[resource.0 as usize].alias_of.unwrap_or(resource).0 as usize
    }

    fn write(&mut self, tag: u64, access: &Access, keeps: bool) {
        let class = self.class(access.resource);
        let state = if access.discards {
            State::Discarded(tag)
        } else {
            State::Written
        };
        let own = self.resources[class];
        let is_linear = own.tiling == Tiling::Linear;
        for cell in cells(&access.part) {
            if !keeps {
                self.cells[class].insert(cell, (state, Verdict::Certain));
            }
        }
        let bytes: Vec<u64> = match access.part {
            Part::Bytes(first, end) => (own.first + first..own.first + end).collect(),
            Part::Texels(_) => (own.first..own.end).collect(),
        };
        for (other, alias) in self.resources.iter().enumerate() {
            if other == class || alias.alias_of.is_some() {
                continue;
            }
            let is_other_linear = alias.tiling == Tiling::Linear;
            let is_in = |byte: &u64| (alias.first..alias.end).contains(byte);
            let is_shared = bytes.iter().any(is_in);
            let pages = |byte: u64| byte / PAGE;
            let is_near = is_linear != is_other_linear
                && bytes
                    .iter()
                    .any(|&byte| (pages(alias.first)..=pages(alias.end - 1)).contains(&pages(byte)));
            let verdict = match (is_shared, access.kind) {
                (true, AccessKind::Partial) => Verdict::Possible,
                (true, _) => Verdict::Certain,
                _ => Verdict::ByTheLetter,
            };
            for (cell, state) in &mut self.cells[other] {
                let is_hit = match (is_other_linear, is_shared) {
                    (true, _) => bytes.contains(&(alias.first + cell[0])),
                    (false, shared) => shared || is_near,
                };
                if !is_hit {
                    continue;
                }
                if is_linear && is_other_linear {
                    if !access.discards {
                        *state = (State::Through(tag), Verdict::Possible);
                    }
                } else {
                    let is_lost = !matches!(state.0, State::Written | State::Through(_));
                    if !is_lost || state.1 < verdict {
                        *state = (State::Overwritten(tag), verdict);
                    }
                }
            }
        }
    }

    /// The losses that a read may report, with their verdict; none if it finds its contents.
    fn read(&self, access: &Access) -> Option<(Vec<State>, Verdict)> {
        let (losses, verdict) = self.read_all(access)?;
        let is_partial = access.kind == AccessKind::Partial;
        Some((losses, if is_partial { Verdict::Possible } else { verdict }))
    }

    /// The same if all of the part is read.
    fn read_all(&self, access: &Access) -> Option<(Vec<State>, Verdict)> {
        let states = &self.cells[self.class(access.resource)];
        let read: Vec<_> = cells(&access.part).iter().map(|cell| states[cell]).collect();
        let is_lost = |state: State| !matches!(state, State::Written | State::Through(_));
        if read.iter().all(|(state, _)| is_lost(*state)) {
            let verdict = read.iter().map(|(_, verdict)| *verdict).min()?;
            let of_verdict = read.iter().filter(|one| one.1 == verdict);
            return Some((of_verdict.map(|one| one.0).collect(), verdict));
        }
        let is_alias = |state: &State| matches!(state, State::Through(_) | State::Overwritten(_));
        let through: Vec<State> = read.iter().map(|one| one.0).filter(is_alias).collect();
        (!through.is_empty()).then_some((through, Verdict::Possible))
    }
}

/// A random part of a resource.
fn part(random: &mut SplitMix64, resource: &Resource) -> Part {
    let mut run = |length: u64| {
        let first = random.below(length);
        (first, first + 1 + random.below(length - first))
    };
    let Tiling::Optimal(texels) = resource.tiling else {
        let (first, end) = run(resource.end - resource.first);
        return Part::Bytes(first, end);
    };
    let [levels, layers, columns] = [2, 2, COLUMNS - 1].map(|length| {
        let (first, end) = run(length);
        Run::new(first as u32, end as u32)
    });
    if random.one_in(3) {
        return whole(resource);
    }
    Part::Texels(Texels {
        levels,
        layers,
        area: Some([columns, Run::new(0, 8), Run::new(0, 1)]),
        ..texels
    })
}

fn state_of(loss: Loss) -> State {
    match loss {
        Loss::NeverWritten => State::Never,
        Loss::Discarded(by) => State::Discarded(by.tag.0),
        Loss::Overwritten(by) => State::Overwritten(by.tag.0),
        Loss::WrittenThrough(by) => State::Through(by.tag.0),
    }
}

#[test]
fn contents_match_an_array_of_every_byte_and_texel() {
    let mut found = [0; 3];
    for seed in 0..3_000 {
        let mut random = SplitMix64::new(seed);
        let resources = resources();
        let never = |resource: &Resource| {
            let lost = (State::Never, Verdict::Certain);
            cells(&whole(resource))
                .into_iter()
                .map(|cell| (cell, lost))
                .collect()
        };
        let mut naive = Naive {
            cells: resources.iter().map(never).collect(),
            resources: resources.clone(),
        };
        let (mut commands, mut expected) = (Vec::new(), BTreeMap::new());
        for tag in 0..30 {
            let resource = ResourceId(random.below(resources.len() as u64) as u32);
            let part = part(&mut random, &resources[resource.0 as usize]);
            let kind = random.pick(&[AccessKind::Whole, AccessKind::Partial]);
            let side = random.pick(&[CS_READ, CS_WRITE]);
            let mut access = access(resource, part, side, kind);
            access.discards = side == CS_WRITE && random.one_in(4);
            let is_image = resources[resource.0 as usize].tiling != Tiling::Linear;
            if is_image && random.one_in(5) {
                access.kind = AccessKind::Whole;
                access.part = whole(&resources[resource.0 as usize]);
                let mut dependency = transition(resource, NOTHING, NOTHING, access.discards);
                dependency.extent = Extent::Part(resource, access.part);
                naive.write(tag, &access, !access.discards);
                commands.push(Command::Barrier(vec![dependency]));
                continue;
            }
            if side == CS_WRITE {
                naive.write(tag, &access, false);
            } else {
                expected.extend(naive.read(&access).map(|losses| (tag, losses)));
            }
            commands.push(Command::Action(vec![access]));
        }
        let program = Program {
            resources,
            granularity: PAGE,
            ..program(&commands)
        };
        let lost = Model::check(&program).lost;
        let tags: Vec<u64> = lost.iter().map(|one| one.reader.tag.0).collect();
        assert_eq!(
            tags,
            expected.keys().copied().collect::<Vec<_>>(),
            "seed {seed}: {commands:?}"
        );
        for LostContents {
            reader,
            loss,
            verdict,
        } in lost
        {
            let (losses, expected) = &expected[&reader.tag.0];
            assert_eq!(
                verdict, *expected,
                "seed {seed}, command {}: {loss:?}",
                reader.tag.0
            );
            assert!(
                losses.contains(&state_of(loss)),
                "seed {seed}, command {}: {loss:?}",
                reader.tag.0
            );
            found[verdict as usize] += 1;
        }
    }
    assert!(found.iter().all(|&count| count > 100), "{found:?}");
}
