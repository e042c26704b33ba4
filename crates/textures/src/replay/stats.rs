//! Statistics of a frame and of a trace.

use crate::arenas::WallStats;
use crate::units::Bytes;

/// Statistics of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStats {
    /// Number of requests.
    pub uses: u64,
    /// Requests that were hits.
    pub hits: u64,
    /// Requests that were uploads.
    pub uploads: u64,
    /// Requests that were bypasses.
    pub bypasses: u64,
    /// Requested bytes.
    pub used_bytes: Bytes,
    /// Requested bytes that were hits.
    pub hit_bytes: Bytes,
    /// Bytes uploaded into the cache.
    pub uploaded: Bytes,
    /// Bypassed bytes.
    pub bypassed: Bytes,
    /// Bytes copied within the cache, by policies that relocate.
    pub moved: Bytes,
    /// Textures that the policy evicted in the frame that used them.
    pub wrongful: u64,
    /// Uploads of textures that the policy evicted in this frame or the last one.
    pub reloads_1: u64,
    /// Uploads of textures that the policy evicted at most 8 frames ago.
    pub reloads_8: u64,
    /// Uploads of textures that the policy evicted at most 60 frames ago.
    pub reloads_60: u64,
}

impl FrameStats {
    /// Bytes that cross the bus: uploads and bypasses. If bypasses did not count, a policy that keeps nothing would have the least traffic.
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

/// Statistics of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSummary {
    /// The number of frames.
    pub frames: u64,
    /// Sums over all frames.
    pub total: FrameStats,
    /// Traffic per frame.
    pub traffic: Distribution,
    /// External fragmentation, 1 − largest free range / free bytes, in thousandths: mean over every 16th frame with free bytes.
    pub fragmentation: u64,
    /// Unused bytes in blocks, mean over frames.
    pub internal: Bytes,
    /// The largest sum of the gaps at walls at the end of any frame.
    pub worst_gap: Bytes,
    /// Statistics of the walls at the end.
    pub wall_stats: WallStats,
}

impl TraceSummary {
    /// Hits in thousandths of requests.
    pub fn hit_rate(&self) -> u64 {
        self.total.hits * 1000 / self.total.uses.max(1)
    }

    /// Hit bytes in thousandths of requested bytes.
    pub fn byte_hit_rate(&self) -> u64 {
        (u128::from(self.total.hit_bytes.0) * 1000 / u128::from(self.total.used_bytes.0.max(1))) as u64
    }
}

/// Distribution of bytes per frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// The mean, rounded down.
    pub mean: Bytes,
    /// The 99th percentile.
    pub p99: Bytes,
    /// The maximum.
    pub max: Bytes,
}

impl Distribution {
    /// The distribution of bytes per frame; `bytes` has one value for each frame. O(n log n).
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

    /// The maximum in thousandths of the mean.
    pub fn max_to_mean(&self) -> u64 {
        self.max.0 * 1000 / self.mean.0.max(1)
    }
}
