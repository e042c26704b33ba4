//! The judge of other planners' output: the overlap finder against a brute-force oracle, tables.

use tileheap_tensor::judge::{
    Allocations, Arena, Buffer, BufferFault, InPlace, Overlap, SharedData, SpanEnds, judge, read_table,
};
use tileheap_tensor::units::{Alignment, Bytes, Span, SplitMix64, Step};

fn random(chances: &mut SplitMix64) -> Allocations {
    let arenas = 1 + chances.below(2) as u32;
    let mut allocations = Allocations {
        format: "test",
        ..Allocations::default()
    };
    allocations.arenas = (0..arenas)
        .map(|arena| Arena {
            name: arena.to_string(),
            size: (chances.below(3) == 0).then(|| Bytes(chances.below(40))),
        })
        .collect();
    for index in 0..1 + chances.below(9) {
        let mut lifetimes = Vec::new();
        let mut at = 0;
        for _ in 0..1 + chances.below(2) {
            let first = at + chances.below(5) as u32;
            at = first + chances.below(4) as u32;
            lifetimes.push(Span::new(first, at));
        }
        let is_view = chances.below(3) == 0;
        let view = is_view.then(|| SharedData {
            data: chances.below(2) as u32,
            offset: chances.below(2) * 4,
        });
        allocations.buffers.push(Buffer {
            name: format!("b{index}"),
            index,
            arena: chances.below(u64::from(arenas)) as u32,
            offset: Bytes(chances.below(8) * 4),
            size: Bytes(chances.below(13)),
            alignment: Alignment::new(1 + chances.below(8)).unwrap(),
            lifetimes,
            view,
        });
    }
    let count = allocations.buffers.len() as u64;
    for _ in 0..chances.below(4) {
        allocations.in_place.push(InPlace {
            step: Step(chances.below(8) as u32),
            output: chances.below(count) as u32,
            input: chances.below(count) as u32,
            same_offset: chances.below(2) == 0,
        });
    }
    allocations
}

/// Compares every pair at every step and byte.
fn by_brute_force(of: &Allocations) -> Vec<(u32, u32, Vec<u32>, Vec<u64>)> {
    let live = |buffer: &Buffer, step| buffer.lifetimes.iter().any(|span| span.contains(Step(step)));
    let has = |buffer: &Buffer, byte| (buffer.offset.0..buffer.offset.0 + buffer.size.0).contains(&byte);
    let same = |one: u32, two: u32| {
        let [one_view, two_view] =
            [one, two].map(|index| of.buffers[index as usize].view.map(|view| view.data));
        one == two || (one_view.is_some() && one_view == two_view)
    };
    let count = of.buffers.len() as u32;
    let dies_in = |input: u32, step: u32| {
        let all = (0..count).filter(|&other| same(other, input));
        let later = |other: u32| (step + 1..40).any(|later| live(&of.buffers[other as usize], later));
        !all.into_iter().any(later)
    };
    let mut found = Vec::new();
    for a in 0..of.buffers.len() as u32 {
        for b in a + 1..of.buffers.len() as u32 {
            let (one, two) = (&of.buffers[a as usize], &of.buffers[b as usize]);
            let steps: Vec<u32> = (0..40)
                .filter(|&step| live(one, step) && live(two, step))
                .collect();
            let bytes: Vec<u64> = (0..80).filter(|&byte| has(one, byte) && has(two, byte)).collect();
            if one.arena != two.arena || steps.is_empty() || bytes.is_empty() {
                continue;
            }
            let is_view = matches!((one.view, two.view), (Some(x), Some(y))
                if x.data == y.data && one.offset.0 + y.offset == two.offset.0 + x.offset);
            let is_in_place = of.in_place.iter().any(|pair| {
                let fits = (same(pair.output, a) && same(pair.input, b))
                    || (same(pair.output, b) && same(pair.input, a));
                let fits = fits && dies_in(pair.input, pair.step.0);
                fits && steps == [pair.step.0] && (!pair.same_offset || one.offset == two.offset)
            });
            if !is_view && !is_in_place {
                found.push((a, b, steps, bytes));
            }
        }
    }
    found
}

#[test]
fn overlaps_are_those_of_every_step_and_byte() {
    let mut chances = SplitMix64::new(11);
    let (mut bad, mut sound) = (0, 0);
    for round in 0..60_000 {
        let allocations = random(&mut chances);
        let expected = by_brute_force(&allocations);
        let judged = judge(allocations.clone()).unwrap();
        let mut found: Vec<_> = judged.overlaps.iter().map(listed).collect();
        found.sort();
        assert_eq!(found, expected, "round {round}: {allocations:?}");
        assert!(!judged.has_more);
        for fault in &judged.faults {
            let buffer = &allocations.buffers[fault.buffer as usize];
            match fault.fault {
                BufferFault::OutsideArena { end, size } => assert!(end > size),
                BufferFault::Misaligned { alignment } => assert!(buffer.offset.0 % alignment.get() > 0),
                _ => panic!("{fault:?}"),
            }
        }
        let misplaced = allocations.buffers.iter().filter(|buffer| {
            let arena = &allocations.arenas[buffer.arena as usize];
            let is_aligned = buffer.size.0 == 0 || buffer.offset.is_aligned(buffer.alignment);
            !is_aligned || arena.size.is_some_and(|size| buffer.end() > size)
        });
        let mut faulty: Vec<u32> = judged.faults.iter().map(|fault| fault.buffer).collect();
        faulty.dedup();
        assert_eq!(faulty.len(), misplaced.count(), "round {round}");
        for (arena, bytes) in judged.arenas.iter().enumerate() {
            assert!(bytes.bound <= bytes.packed);
            if judged.is_sound() {
                assert!(
                    bytes.bound <= bytes.used,
                    "round {round}, arena {arena}: {bytes:?}"
                );
            }
        }
        *if expected.is_empty() { &mut sound } else { &mut bad } += 1;
    }
    assert!(bad > 5000 && sound > 5000, "{bad} {sound}");
}

/// A pair with its steps and bytes listed individually.
fn listed(overlap: &Overlap) -> (u32, u32, Vec<u32>, Vec<u64>) {
    let steps = overlap.steps.iter().flat_map(|span| span.first.0..span.end.0);
    let bytes = overlap.offset.0..overlap.offset.0 + overlap.bytes.0;
    let (a, b) = (overlap.a.min(overlap.b), overlap.a.max(overlap.b));
    (a, b, steps.collect(), bytes.collect())
}

#[test]
fn a_hundred_thousand_buffers_take_a_moment() {
    let mut chances = SplitMix64::new(3);
    let mut text = "id,lower,upper,size,offset\n".to_owned();
    for index in 0..100_000u64 {
        let (first, slot) = (index / 50 * 2, index % 50);
        text += &format!(
            "b{index},{first},{},{},{}\n",
            first + 2,
            1 + chances.below(64),
            slot * 64
        );
    }
    text += "last,199,4000,1,5\n";
    let judged = judge(read_table(&text, SpanEnds::ByColumn).unwrap()).unwrap();
    assert!(!judged.overlaps.is_empty());
    let last = (judged.allocations.buffers.len() - 1) as u32;
    assert!(
        judged
            .overlaps
            .iter()
            .all(|overlap| overlap.b == last || overlap.a == last)
    );
}

#[test]
fn everything_on_everything_is_cut_short() {
    let mut text = "id,lower,upper,size,offset\n".to_owned();
    (0..5000).for_each(|index| text += &format!("b{index},0,9,8,0\n"));
    let judged = judge(read_table(&text, SpanEnds::ByColumn).unwrap()).unwrap();
    assert!(judged.has_more && judged.overlaps.len() > 100_000);
}

#[test]
fn ends_follow_the_column_unless_told() {
    let found = |header: &str, ends| {
        let table = format!("{header}\na,0,3,8,0\nb,3,5,8,0\n");
        judge(read_table(&table, ends).unwrap()).unwrap().overlaps.len()
    };
    assert_eq!(found("id,lower,upper,size,offset", SpanEnds::ByColumn), 0);
    assert_eq!(found("buffer_id,start,end,size,offset", SpanEnds::ByColumn), 1);
    assert_eq!(found("id,begin,end,size,offset", SpanEnds::Exclusive), 0);
    assert_eq!(found("id,lower,upper,size,offset", SpanEnds::Inclusive), 1);
}

/// Columns in other orders and under other names, without ids, with empty buffers and ones that end at the last byte of 64 bits.
#[test]
fn tables_of_other_planners_are_read() {
    let found = |table: &str| {
        let judged = judge(read_table(table, SpanEnds::ByColumn).unwrap()).unwrap();
        assert!(judged.faults.is_empty(), "{table}");
        let steps = judged.overlaps.iter().map(|overlap| overlap.steps.clone());
        steps.collect::<Vec<_>>()
    };
    let at = |first: u32, end: u32| vec![vec![Span::new(first, end)]];
    assert_eq!(found("size,offset,begin,end\n8,0,0,3\n8,4,3,5\n"), at(3, 4));
    assert_eq!(
        found("offset,note,upper,Start,SIZE\n0,x,3,0,8\n0,y,5,3,8\n"),
        at(0, 0)[1..]
    );
    assert_eq!(
        found("buffer,lower,upper,size,gap,offset\na,0,9,8,2-4,0\nb,1,5,8,,4\n"),
        vec![vec![Span::new(1, 2), Span::new(4, 5)]]
    );
    // Nothing is shared with an empty buffer, nor in an empty lifetime.
    assert_eq!(
        found("lower,upper,size,offset\n0,9,8,0\n0,9,0,4\n3,3,8,0\n"),
        at(0, 0)[1..]
    );
    let end = u64::MAX - 8;
    assert_eq!(
        found(&format!("lower,upper,size,offset\n0,2,8,{end}\n1,3,4,{end}\n")),
        at(1, 2)
    );
}

#[test]
fn gaps_are_free_but_for_their_windows() {
    let found = |gaps: &str, offset: u64| {
        let table = format!("id,lower,upper,size,gaps,offset\na,0,9,8,{gaps},0\nb,3,5,4,,{offset}\n");
        judge(read_table(&table, SpanEnds::ByColumn).unwrap())
            .unwrap()
            .overlaps
            .len()
    };
    assert_eq!(found("", 0), 1);
    assert_eq!(found("3-5", 0), 0);
    assert_eq!(found("3-4", 0), 1);
    assert_eq!(found("3-5@4:8", 0), 0);
    assert_eq!(found("3-5@4:8", 4), 1);
    let table = "id,lower,upper,size,gaps,offset\na,0,9,8,3-5@4:8,0\nb,3,5,4,,0\n";
    let judged = judge(read_table(table, SpanEnds::ByColumn).unwrap()).unwrap();
    assert_eq!(
        (judged.arenas[0].used, judged.arenas[0].bound),
        (Bytes(8), Bytes(8))
    );
}

/// A view of the first bytes outlives its base, and another buffer takes the rest.
#[test]
fn the_bound_counts_the_bytes_of_views_that_are_alive() {
    let buffer = |name: &str, offset, size, (first, end), view: Option<u32>| Buffer {
        name: name.to_owned(),
        index: 0,
        arena: 0,
        offset: Bytes(offset),
        size: Bytes(size),
        alignment: Alignment::ONE,
        lifetimes: vec![Span::new(first, end)],
        view: view.map(|data| SharedData { data, offset: 0 }),
    };
    let judged = judge(Allocations {
        format: "test",
        arenas: vec![Arena {
            name: "0".to_owned(),
            size: None,
        }],
        buffers: vec![
            buffer("base", 0, 12, (0, 3), Some(7)),
            buffer("view", 0, 4, (2, 8), Some(7)),
            buffer("other", 4, 8, (5, 7), None),
        ],
        ..Allocations::default()
    })
    .unwrap();
    assert!(judged.is_sound());
    assert_eq!(
        (judged.arenas[0].used, judged.arenas[0].bound),
        (Bytes(12), Bytes(12))
    );
}

#[test]
fn arenas_of_a_table_are_apart() {
    let table = "id,lower,upper,size,offset,arena\na,0,3,8,0,sram\nb,0,3,8,0,dram\n";
    let judged = judge(read_table(table, SpanEnds::ByColumn).unwrap()).unwrap();
    assert!(judged.is_sound());
    assert_eq!(judged.arenas.len(), 2);
}

#[test]
fn errors_of_tables_name_the_line() {
    for (table, problem) in [
        ("", "line 1: the header is missing"),
        (
            "id,lower,upper,size\n",
            "line 1: the header has no column `offset`",
        ),
        (
            "id,lower,upper,size,offset\na,0,3,8,-1\n",
            "line 2: offset `-1` is not a whole number",
        ),
        (
            "id,lower,upper,size,offset\na,5,3,8,0\n",
            "line 2: lower 5 is above upper 3",
        ),
        (
            "id,lower,upper,size,offset\na,0,3,8,0\na,0,3,8,0\n",
            "line 3: id `a` is also on line 2",
        ),
        (
            "id,lower,upper,size,offset\na,0,9999999999,8,0\n",
            "line 2: step 9999999999 is above",
        ),
        (
            "id,lower,start,upper,size,offset\n",
            "line 1: the header has two columns for `lower`",
        ),
        (
            "id,lower,upper,size,offset\na,0,9,8,18446744073709551615\n",
            "line 2: offset 18446744073709551615 + size 8 overflows 64 bits",
        ),
        (
            "id,first,last,size,offset\na,0,9,8,0\n",
            "line 1: the header has no column `lower`, only `id`, `first`, `last`, `size`, `offset`; the columns, separated by commas, can be id (or buffer",
        ),
        (
            "id,lower,upper,size,offset,gaps\na,0,9,8,0,6-3\n",
            "line 2: gap `6-3` ends before it begins",
        ),
        (
            "id,lower,upper,size,offset,gaps\na,0,9,8,0,7-12\n",
            "line 2: gap `7-12`",
        ),
    ] {
        let error = read_table(table, SpanEnds::ByColumn).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}
