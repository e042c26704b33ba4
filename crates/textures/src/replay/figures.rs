//! What is measured: per frame, and over a trace.

use crate::arenas::WallStats;
use crate::units::Bytes;

/// One frame in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStats {
    /// Requests.
    pub uses: u64,
    /// Those that found their texture.
    pub hits: u64,
    /// Those that had it uploaded.
    pub uploads: u64,
    /// Those that got no place.
    pub bypasses: u64,
    /// Bytes asked for.
    pub used_bytes: Bytes,
    /// Bytes asked for that were there.
    pub hit_bytes: Bytes,
    /// Bytes uploaded into the cache.
    pub uploaded: Bytes,
    /// Bytes that had to come from elsewhere.
    pub bypassed: Bytes,
    /// Bytes copied within the cache, by policies that compact.
    pub moved: Bytes,
    /// Textures that had to leave in the frame that used them.
    pub wrongful: u64,
    /// Uploads of what left in this frame or the last one.
    pub reloads_1: u64,
    /// Uploads of what left at most 8 frames ago.
    pub reloads_8: u64,
    /// Uploads of what left at most 60 frames ago.
    pub reloads_60: u64,
}

impl FrameStats {
    /// What crosses the bus: uploads and bypasses. What policies are compared by, for otherwise the one that never keeps
    /// anything would win.
    pub fn traffic(&self) -> Bytes {
        self.uploaded + self.bypassed
    }

    pub(super) fn add(&mut self, other: &FrameStats) {
        self.uses += other.uses;
        self.hits += other.hits;
        self.uploads += other.uploads;
        self.bypasses += other.bypasses;
        self.used_bytes += other.used_bytes;
        self.hit_bytes += other.hit_bytes;
        self.uploaded += other.uploaded;
        self.bypassed += other.bypassed;
        self.moved += other.moved;
        self.wrongful += other.wrongful;
        self.reloads_1 += other.reloads_1;
        self.reloads_8 += other.reloads_8;
        self.reloads_60 += other.reloads_60;
    }
}

/// A whole trace in figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Frames.
    pub frames: u64,
    /// Sums over all frames.
    pub total: FrameStats,
    /// Traffic per frame.
    pub traffic: Distribution,
    /// External fragmentation, 1 − largest hole / free bytes, in thousandths: the mean over every 16th frame with free bytes.
    pub fragmentation: u64,
    /// Bytes lost in blocks that are larger than what they hold, mean over frames.
    pub internal: Bytes,
    /// The largest sum of wall gaps at the end of a frame.
    pub worst_gap: Bytes,
    /// The policy's own at the end.
    pub wall_stats: WallStats,
}

impl Summary {
    /// Hits in thousandths of uses.
    pub fn hit_rate(&self) -> u64 {
        self.total.hits * 1000 / self.total.uses.max(1)
    }

    /// Hit bytes in thousandths of bytes asked for.
    pub fn byte_hit_rate(&self) -> u64 {
        (u128::from(self.total.hit_bytes.0) * 1000 / u128::from(self.total.used_bytes.0.max(1))) as u64
    }
}

/// How much and how level: bytes per frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// The sum over frames divided by their number, rounded down.
    pub mean: Bytes,
    /// No more than one frame in a hundred has more.
    pub p99: Bytes,
    /// The most of any frame.
    pub max: Bytes,
}

impl Distribution {
    /// Of the bytes of every frame. O(n log n).
    pub fn of(bytes: &[u64]) -> Distribution {
        let mut sorted = bytes.to_vec();
        sorted.sort_unstable();
        let Some(&max) = sorted.last() else {
            return Distribution::default();
        };
        let rank = (sorted.len() * 99).div_ceil(100).max(1) - 1;
        Distribution {
            mean: Bytes(sorted.iter().sum::<u64>() / sorted.len() as u64),
            p99: Bytes(sorted[rank]),
            max: Bytes(max),
        }
    }

    /// Levelness: the largest frame in thousandths of the mean.
    pub fn max_to_mean(&self) -> u64 {
        self.max.0 * 1000 / self.mean.0.max(1)
    }
}
