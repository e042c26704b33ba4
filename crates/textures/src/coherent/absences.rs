//! Statistics on how soon absent textures return, and the value of keeping them until then.

/// The probability that a texture returns, by its age, learned from all textures, and the value of keeping it: see [`Coherent`](super::Coherent).
#[derive(Clone, Debug)]
pub(super) struct Absences {
    /// For each of the last frames, the number of textures whose last request was in that frame.
    last: [u32; FRAMES],
    /// Per bin, with older counts decaying, in 1024ths: textures that could have returned, and those that did.
    exposed: [u64; BINS],
    returned: [u64; BINS],
    /// Per bin: expected returns up to and including its ages, in 1024ths, and the value of keeping a texture, in units of 1 / [`ONE`].
    expected: [u64; BINS],
    value: [u64; BINS],
}

/// The largest age in frames; larger ages are not distinguished.
const FRAMES: usize = 512;
/// Number of bins of ages: four for each power of two.
const BINS: usize = 33;
/// Probabilities and values are multiples of 1 / ONE.
pub(super) const ONE: u64 = 1 << 20;

fn bin(age: u32) -> usize {
    let power = age.max(1).ilog2().max(2) - 2;
    (power as usize * 4 + (age >> power) as usize).min(BINS - 1)
}

impl Absences {
    pub(super) fn new() -> Absences {
        let (counts, nothing) = ([0; FRAMES], [0; BINS]);
        let mut absences = Absences {
            last: counts,
            exposed: nothing,
            returned: nothing,
            expected: nothing,
            value: nothing,
        };
        absences.derive();
        absences
    }

    /// Counts the first request of a texture in `frame`, after its last one in frame `before`, which is 0 if there was none.
    pub(super) fn request(&mut self, before: u32, frame: u32) {
        self.last[frame as usize % FRAMES] += 1;
        if before == 0 {
            return;
        }
        let age = frame - before;
        self.exposed[bin(age)] += 1024;
        self.returned[bin(age)] += 1024;
        if age < FRAMES as u32 {
            self.last[before as usize % FRAMES] -= 1;
        }
    }

    /// Ends a frame. O(1).
    pub(super) fn end_frame(&mut self, frame: u32) {
        for counts in [&mut self.exposed, &mut self.returned] {
            counts.iter_mut().for_each(|count| *count -= *count / 64);
        }
        for age in 1..FRAMES as u32 {
            self.exposed[bin(age)] += 1024 * u64::from(self.last[frame.wrapping_sub(age) as usize % FRAMES]);
        }
        self.last[(frame as usize + 1) % FRAMES] = 0;
        self.derive();
    }

    /// Derives values from probabilities: from the largest age down, a bin is pooled with later ones while they have a higher value.
    fn derive(&mut self) {
        let (mut pools, mut top) = ([(0, 0); BINS + 1], BINS);
        for bin in (1..BINS).rev() {
            let power = (bin / 4).max(1) - 1;
            let (width, age) = (1 << power, ((bin - 4 * power) << power) as u64);
            let returns = (self.returned[bin] + 1024) * width * ONE / (self.exposed[bin] + 2048 * (age + 1));
            let returns = returns.min(ONE);
            self.expected[bin] = returns;
            let mut pool = (returns, width * (ONE - returns / 2));
            while top < BINS && pools[top].0 * pool.1 > pool.0 * pools[top].1 {
                let rest = ONE - pool.0;
                pool = (
                    pool.0 + rest * pools[top].0 / ONE,
                    pool.1 + rest * pools[top].1 / ONE,
                );
                top += 1;
            }
            top -= 1;
            pools[top] = pool;
            self.value[bin] = pool.0 * ONE / pool.1;
        }
        // A repetition in the next frame is not an absence.
        let mut sum = 0;
        self.expected[1] = 0;
        for expected in &mut self.expected {
            sum += *expected * 1024 / ONE;
            *expected = sum;
        }
    }

    /// The value of keeping a texture of this age, and the expected returns up to it, in 1024ths.
    pub(super) fn at(&self, age: u32) -> (u64, u64) {
        let bin = bin(age);
        (self.value[bin], self.expected[bin - 1])
    }
}
