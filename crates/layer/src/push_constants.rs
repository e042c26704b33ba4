//! The push constants of a command buffer that compute shaders can read.

use std::sync::Arc;

use ash::vk;
use tileheap_units::{GOLDEN, spread};

/// Bytes per word.
const WORD_BYTES: usize = 4;

/// Maximum number of words that are tracked: more than any driver supports.
const MAX_WORDS: usize = 1 << 12;

/// The push constants as 32-bit words; `None` for those that were not pushed, or were last pushed without the compute
/// stage.
#[derive(Clone, Debug, Default)]
pub struct PushConstants {
    words: Vec<Option<u32>>,
}

impl PushConstants {
    /// Records bytes that are pushed for some stages, starting at an offset.
    pub fn push(&mut self, stages: vk::ShaderStageFlags, offset: u32, bytes: &[u8]) {
        let first = offset as usize / WORD_BYTES;
        let is_known = stages.contains(vk::ShaderStageFlags::COMPUTE) && offset as usize % WORD_BYTES == 0;
        let end = first + bytes.len().div_ceil(WORD_BYTES);
        if end > MAX_WORDS {
            return self.words.clear();
        }
        if self.words.len() < end {
            self.words.resize(end, None);
        }
        for (word, bytes) in self.words[first..].iter_mut().zip(bytes.chunks(WORD_BYTES)) {
            let bytes = <[u8; WORD_BYTES]>::try_from(bytes).ok().filter(|_| is_known);
            *word = bytes.map(u32::from_ne_bytes);
        }
    }

    /// Marks all words as unknown.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// The word at an offset in bytes, if known.
    pub fn word(&self, offset: u32) -> Option<u32> {
        word(&self.words, offset)
    }

    /// A copy of the push constants, which later pushes do not change.
    pub fn words(&self) -> PushedWords {
        PushedWords(self.words.as_slice().into())
    }

    /// A hash of the words at these offsets.
    pub fn key(&self, offsets: &[u32]) -> u64 {
        let words = offsets.iter().map(|offset| self.word(*offset));
        words.fold(GOLDEN, |key, word| {
            let word = word.map_or(u64::MAX, u64::from);
            spread(key.rotate_left(7) ^ word)
        })
    }
}

/// A copy of push constants that is cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct PushedWords(Arc<[Option<u32>]>);

impl PushedWords {
    /// The word at an offset in bytes, if known.
    pub fn word(&self, offset: u32) -> Option<u32> {
        word(&self.0, offset)
    }
}

fn word(words: &[Option<u32>], offset: u32) -> Option<u32> {
    let index = (offset as usize % WORD_BYTES == 0).then_some(offset as usize / WORD_BYTES)?;
    words.get(index).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

    #[test]
    fn words_are_those_pushed_last_for_compute_shaders() {
        let mut all = PushConstants::default();
        let words = |all: &PushConstants| [0, 4, 8, 12].map(|offset| all.word(offset));
        assert_eq!(words(&all), [None; 4]);
        let bytes = [1u32, 2].map(u32::to_ne_bytes).concat();
        all.push(COMPUTE | vk::ShaderStageFlags::VERTEX, 4, &bytes);
        assert_eq!(words(&all), [None, Some(1), Some(2), None]);
        assert_eq!(all.word(6), None);
        let key = all.key(&[4, 8]);
        all.push(COMPUTE, 8, &7u32.to_ne_bytes());
        assert_eq!(words(&all), [None, Some(1), Some(7), None]);
        assert_ne!(all.key(&[4, 8]), key);
        assert_eq!(all.key(&[4]), all.key(&[4]));
        // Pushed for another stage: the compute shader's value is not known.
        all.push(vk::ShaderStageFlags::FRAGMENT, 4, &7u32.to_ne_bytes());
        assert_eq!(words(&all), [None, None, Some(7), None]);
        all.push(COMPUTE, 1 << 20, &7u32.to_ne_bytes());
        assert_eq!(words(&all), [None; 4]);
        all.push(COMPUTE, 0, &bytes);
        let copy = all.words();
        all.clear();
        assert_eq!(words(&all), [None; 4]);
        assert_eq!(
            [0, 4, 8, 6].map(|offset| copy.word(offset)),
            [Some(1), Some(2), None, None]
        );
    }
}
