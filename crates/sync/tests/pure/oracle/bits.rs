//! Sets of small numbers: of dependencies, and of the cells of a class.

const WORDS: usize = 8;

/// A set of numbers below 512: programs for the oracle are small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Bits([u64; WORDS]);

impl Bits {
    pub(crate) fn insert(&mut self, number: usize) {
        assert!(number < WORDS * 64, "the oracle is for small programs");
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub(crate) fn contains(&self, number: usize) -> bool {
        number < WORDS * 64 && self.0[number / 64] >> (number % 64) & 1 == 1
    }

    pub(crate) fn extend(&mut self, other: &Bits) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    pub(crate) fn intersects(&self, other: &Bits) -> bool {
        self.0.iter().zip(other.0).any(|(word, more)| word & more != 0)
    }

    pub(crate) fn and(&self, other: &Bits) -> Bits {
        let mut both = *self;
        for (word, more) in both.0.iter_mut().zip(other.0) {
            *word &= more;
        }
        both
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let words = self.0;
        words.into_iter().enumerate().flat_map(|(index, word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    index * 64 + bit
                })
            })
        })
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Bits {
        let mut bits = Bits::default();
        for number in numbers {
            bits.insert(number);
        }
        bits
    }
}
