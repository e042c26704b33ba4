//! Pools with the rules of LiteRT and TVM.

use tileheap_tensor::plan::placement::{ObjectPool, SpaceItem};
use tileheap_tensor::units::Bytes;

use super::litert::{self, LiteRecord, Rule};
use super::share::by_start;
use super::token::{Token, TokenPool, TokenRule};

pub(super) fn lite(items: &[&SpaceItem], rule: Rule) -> ObjectPool {
    let order = by_start(items);
    // Images share with images and buffers with buffers, each kind by its own rules.
    let mut objects = vec![usize::MAX; items.len()];
    let mut sizes = Vec::new();
    for images in [false, true] {
        let mut kind = order.clone();
        kind.retain(|&index| items[index].image.is_some() == images);
        let record = |&index: &usize| {
            let (item, lifetime) = (items[index], items[index].span());
            let size = match &item.image {
                Some(image) => vec![image.width, image.height],
                None => vec![item.size.0],
            };
            // Closed intervals: an empty lifetime counts for its first step.
            let (first, end) = (lifetime.first.0, lifetime.end.0);
            let last = end.saturating_sub(1).max(first);
            LiteRecord { size, first, last }
        };
        let records: Vec<LiteRecord> = kind.iter().map(record).collect();
        let assignment = litert::assign(&records, rule);
        let texel = |index: usize| {
            let image = items[index].image.as_ref();
            image.map_or(1, |image| image.element.bits() / 2)
        };
        let mut widest = vec![1; assignment.sizes.len()];
        for (&index, &object) in kind.iter().zip(&assignment.objects) {
            widest[object] = texel(index).max(widest[object]);
            objects[index] = sizes.len() + object;
        }
        let bytes = assignment.sizes.iter().zip(widest);
        sizes.extend(bytes.map(|(size, texel)| Bytes(size.iter().product::<u64>() * texel)));
    }
    ObjectPool { objects, sizes }
}

/// Assigns tokens, requested at the start of lifetimes and released at their end.
pub(super) fn tokens(items: &[&SpaceItem], rule: TokenRule, images: bool) -> ObjectPool {
    let mut pool = TokenPool::new(rule);
    let mut objects = vec![usize::MAX; items.len()];
    let mut live: Vec<usize> = Vec::new();
    for index in by_start(items) {
        let item = items[index];
        let now = item.span().first;
        live.retain(|&other| {
            let ended = items[other].span().end <= now && !items[other].overlaps(item);
            if ended {
                pool.release(objects[other]);
            }
            !ended
        });
        let image = item.image.as_ref().filter(|_| images);
        let token = match image {
            Some(image) => Token::image(image.width, image.height, image.element, &image.scope),
            None => Token::bytes(item.size.0),
        };
        objects[index] = pool.allocate(&token);
        live.push(index);
    }
    let sizes = pool.block_bytes();
    ObjectPool { objects, sizes }
}
