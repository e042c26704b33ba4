//! The next use of each texture, for offline policies.

use tileheap_textures::trace::TraceEntry;

/// Returns, for every use in `entries`, the index of the next use of the same texture, counting only uses; `u32::MAX` if there is none, or if the
/// texture is released before it. For [`Order::Belady`](super::Order::Belady). O(entries).
///
/// # Panics
/// If there are 2^32 − 1 uses or more.
pub fn next_uses(entries: &[TraceEntry]) -> Box<[u32]> {
    let is_use = |entry: &&TraceEntry| matches!(entry, TraceEntry::Use(_));
    let uses = entries.iter().filter(is_use).count();
    let mut at = u32::try_from(uses).ok().filter(|&uses| uses < u32::MAX);
    let mut next = vec![u32::MAX; uses].into_boxed_slice();
    let mut seen: Vec<u32> = Vec::new();
    for entry in entries.iter().rev() {
        let (texture, now) = match entry {
            TraceEntry::Use(request) => {
                let now = at.expect("fewer than 2^32 - 1 uses") - 1;
                at = Some(now);
                (request.texture.index(), now)
            }
            TraceEntry::Release(texture) => (texture.index(), u32::MAX),
            TraceEntry::EndFrame => continue,
        };
        if seen.len() <= texture {
            seen.resize(texture + 1, u32::MAX);
        }
        let later = std::mem::replace(&mut seen[texture], now);
        if now != u32::MAX {
            next[now as usize] = later;
        }
    }
    next
}
