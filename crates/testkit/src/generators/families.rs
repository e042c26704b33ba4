//! Families of packing problems, from perfect packings to the allocations of compilers and servers, with the optimum where it is known.

use tileheap_pack::Item;
use tileheap_pack::units::{Alignment, Bytes, Span, SplitMix64};

use super::{PerfectDesc, perfect};

/// A family of problems.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The family's name: words in lower case, joined by hyphens.
    pub name: &'static str,
    make: fn(&mut SplitMix64, u64) -> Sample,
}

/// A member of a family.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The items.
    pub items: Vec<Item>,
    /// The height of the lowest packing, if known by construction.
    pub optimum: Option<Bytes>,
}

impl Family {
    /// Generates the family's problem for a seed, with about `items` items; `items` must be at least 20.
    pub fn generate(&self, seed: u64, items: u64) -> Sample {
        (self.make)(&mut SplitMix64::new(seed), items)
    }
}

/// All families of problems.
pub const FAMILIES: [Family; 15] = [
    family("guillotine", |random, items| cuts(random, items, 0, 3).0),
    family("pinwheel", |random, items| cuts(random, items, 2, 3).0),
    family("random-cuts", |random, items| cuts(random, items, 3, 1).0),
    family("near-perfect", near_perfect),
    family("mirrored", |random, items| {
        transformed(
            random,
            items,
            |span| Span::new(STEPS - span.end.0, STEPS - span.first.0),
            1,
        )
    }),
    family("scaled", |random, items| {
        transformed(
            random,
            items,
            |span| Span::new(span.first.0 * 7, span.end.0 * 7),
            12_289,
        )
    }),
    family("mixed-alignments", mixed_alignments),
    family("long-chain", long_chain),
    family("nested", nested),
    family("training-graph", training_graph),
    family("serving-trace", serving_trace),
    family("zipf-sizes", |random, items| {
        drawn(items, || {
            let size = 1 + (1 << 24) / (1 + random.below(items));
            (span(random, items as u32, items as u32 / 8), size)
        })
    }),
    family("heavy-tailed", |random, items| {
        drawn(items, || {
            let reach = (items as u32 * 4) >> random.below(16);
            (span(random, items as u32 * 4, reach), heavy_tailed(random, 20))
        })
    }),
    family("all-overlap", |random, items| {
        let mut sample = drawn(items, || {
            let (size, first) = (1 + random.below(1 << 20), random.below(9) as u32);
            (Span::new(first, 9 + random.below(9) as u32), size)
        });
        sample.optimum = Some(sample.items.iter().map(|item| item.size).sum());
        sample
    }),
    family("none-overlap", |random, items| {
        let mut step = 0;
        let mut sample = drawn(items, || {
            let (first, size) = (step, 1 + random.below(1 << 20));
            step += 1 + random.below(9) as u32;
            (Span::new(first, step), size)
        });
        sample.optimum = sample.items.iter().map(|item| item.size).max();
        sample
    }),
];

/// Length of perfect packings, in steps. With [`HEIGHT`], the area is enough for 2,000 items.
const STEPS: u32 = 1000;
const HEIGHT: u64 = 1 << 20;

const fn family(name: &'static str, make: fn(&mut SplitMix64, u64) -> Sample) -> Family {
    Family { name, make }
}

fn item((span, size): (Span, u64)) -> Item {
    Item::new(span, Bytes(size), Alignment::ONE)
}

/// A sample of `items` lifetimes and sizes from `draw`, whose optimum is unknown.
fn drawn(items: u64, mut draw: impl FnMut() -> (Span, u64)) -> Sample {
    Sample {
        items: (0..items).map(|_| item(draw())).collect(),
        optimum: None,
    }
}

/// A random lifetime of at most `reach` steps that starts within the first `steps` steps.
fn span(random: &mut SplitMix64, steps: u32, reach: u32) -> Span {
    let first = random.below(u64::from(steps)) as u32;
    Span::new(first, first + 1 + random.below(u64::from(reach.max(1))) as u32)
}

/// A heavy-tailed size: each of up to `bits` doublings is half as likely as the previous one.
fn heavy_tailed(random: &mut SplitMix64, bits: u32) -> u64 {
    let bits = random.next_u64().trailing_zeros().min(bits);
    (64 << bits) + random.below(64 << bits)
}

/// A perfect packing, and its offsets.
fn cuts(random: &mut SplitMix64, items: u64, pinwheels: u64, draws: usize) -> (Sample, Vec<Bytes>) {
    let desc = PerfectDesc {
        items: items as usize,
        steps: STEPS,
        height: HEIGHT,
        pinwheels,
        draws,
    };
    let (items, packing) = perfect(random.next_u64(), desc);
    (
        Sample {
            items,
            optimum: Some(packing.height),
        },
        packing.offsets,
    )
}

/// A perfect packing in which some items are 2 % smaller. Those that are live in the middle step keep their sizes, so the optimum stays the same.
fn near_perfect(random: &mut SplitMix64, items: u64) -> Sample {
    let (mut sample, _) = cuts(random, items, 3, 3);
    let full = Span::new(STEPS / 2, STEPS / 2 + 1);
    for item in sample.items.iter_mut().filter(|item| !item.span.overlaps(full)) {
        item.size.0 -= item.size.0 / 50 * random.below(2);
    }
    sample
}

/// A perfect packing with transformed lifetimes and scaled sizes.
fn transformed(random: &mut SplitMix64, items: u64, time: fn(Span) -> Span, scale: u64) -> Sample {
    let (mut sample, _) = cuts(random, items, 4, 3);
    for item in &mut sample.items {
        (item.span, item.size) = (time(item.span), Bytes(item.size.0 * scale));
    }
    sample.optimum = Some(Bytes(HEIGHT * scale));
    sample
}

/// A perfect packing in units of pages, with alignments that divide the offsets, including a real tile alignment.
fn mixed_alignments(random: &mut SplitMix64, items: u64) -> Sample {
    let (mut sample, offsets) = cuts(random, items, 4, 3);
    let page = 4096;
    for (item, offset) in sample.items.iter_mut().zip(offsets) {
        let fits = |alignment: &&u64| offset.0 * page % **alignment == 0;
        let widest = [1 << 16, 12_288, page].iter().find(fits).copied();
        let alignment = if random.one_in(2) {
            page
        } else {
            widest.unwrap_or(page)
        };
        item.size.0 *= page;
        item.alignment = Alignment::new(alignment).expect("it is not 0");
    }
    sample.optimum = Some(Bytes(HEIGHT * page));
    sample
}

/// Each item overlaps the previous one, and the optimum is the largest sum of the sizes of two neighbors: every second item is placed at
/// offset 0, the others at the top.
fn long_chain(random: &mut SplitMix64, items: u64) -> Sample {
    let sizes: Vec<u64> = (0..items).map(|_| heavy_tailed(random, 12)).collect();
    let pairs = sizes.windows(2).map(|pair| pair[0] + pair[1]);
    let optimum = pairs.max().map(Bytes);
    let spans = (0..).map(|first| Span::new(first, first + 2));
    Sample {
        items: spans.zip(sizes).map(item).collect(),
        optimum,
    }
}

/// Nested lifetimes, as on a stack: the stack's maximum height is the optimum.
fn nested(random: &mut SplitMix64, items: u64) -> Sample {
    let (mut stack, mut spans, mut step) = (Vec::new(), Vec::new(), 0);
    let (mut live, mut most) = (0, 0);
    while (spans.len() + stack.len()) < items as usize || !stack.is_empty() {
        step += 1;
        let is_full = spans.len() + stack.len() == items as usize;
        if !is_full && (stack.is_empty() || random.below(9) < 5) {
            let size = heavy_tailed(random, 16);
            stack.push((step, size));
            live += size;
            most = live.max(most);
        } else if let Some((first, size)) = stack.pop() {
            spans.push((Span::new(first, step), size));
            live -= size;
        }
    }
    Sample {
        items: spans.into_iter().map(item).collect(),
        optimum: Some(Bytes(most)),
    }
}

/// Activations that are kept until their backward step, gradients, and scratch memory of one step.
fn training_graph(random: &mut SplitMix64, items: u64) -> Sample {
    let layers = (items / 4) as u32;
    let mut sizes = Vec::new();
    let mut found = Vec::new();
    for layer in 0..layers {
        let size = (256 + 256 * random.below(16)) << random.below(10);
        let back = 2 * layers - layer;
        sizes.push(size);
        let reach = random.below(4) as u32;
        found.push((Span::new(layer, back), size));
        found.push((Span::new(back - 1, back + 1), size));
        found.push((Span::new(layer, layer + 1 + reach), size / 2 + 64));
        let scratch = sizes[random.below(sizes.len() as u64) as usize];
        found.push((Span::new(back, back + 1), scratch));
    }
    Sample {
        items: found.into_iter().map(item).collect(),
        optimum: None,
    }
}

/// Requests of a server: they arrive one after another and hold their blocks for one step per generated token; some are long.
fn serving_trace(random: &mut SplitMix64, items: u64) -> Sample {
    let mut step = 0;
    drawn(items, || {
        step += random.below(4) as u32;
        let tokens = 16 + (random.below(64) << random.below(6)) as u32;
        let blocks = 1 + u64::from(tokens) / 16 + random.below(32);
        (Span::new(step, step + tokens), blocks * 16_384)
    })
}
