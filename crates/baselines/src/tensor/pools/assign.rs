//! Assigns tensors to shared objects by the rules of LiteRT and TVM.

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
        for (&index, &object) in kind.iter().zip(&assignment.objects) {
            objects[index] = sizes.len() + object;
        }
        sizes.extend(assignment.sizes.iter().map(|size| Bytes(size.iter().product())));
    }
    set_image_sizes(items, &objects, &mut sizes);
    ObjectPool { objects, sizes }
}

/// Sets the sizes of image objects: the longest row among the images in the object, padded to the device's row pitch, times the greatest height.
fn set_image_sizes(items: &[&SpaceItem], objects: &[usize], sizes: &mut [Bytes]) {
    let mut sides = vec![(0u64, 0u64); sizes.len()];
    for (item, &object) in items.iter().zip(objects) {
        if let Some(image) = &item.image {
            let (row, height) = &mut sides[object];
            *row = (*row).max(item.size.0.div_ceil(image.height.max(1)));
            *height = (*height).max(image.height);
        }
    }
    for (size, (row, height)) in sizes.iter_mut().zip(sides).filter(|(_, sides)| sides.1 > 0) {
        *size = Bytes(row.saturating_mul(height));
    }
}

/// Assigns items to the blocks of TVM's token allocator: a block is requested when an item's lifetime starts, and released after it has ended.
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
    let blocks = pool.blocks().iter();
    let mut sizes: Vec<Bytes> = blocks.map(|block| Bytes(block.size[0])).collect();
    if images {
        set_image_sizes(items, &objects, &mut sizes);
    }
    ObjectPool { objects, sizes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileheap_tensor::ElementType;
    use tileheap_tensor::plan::placement::ItemImage;
    use tileheap_tensor::units::Span;

    /// The size of an image in bytes by TVM's rule: `height` rows of `width * 4` four-byte elements, each row rounded up to the pitch.
    fn tvm_bytes([width, height]: [u64; 2], pitch: u64) -> u64 {
        (width * 4 * 4).next_multiple_of(pitch) * height
    }

    /// Two images that follow each other share a block; its width and its height are each the larger of the two images'.
    #[test]
    fn blocks_have_the_pitch_of_their_widest_image() {
        for pitch in [1, 64, 256] {
            let image = |name: &str, first: u32, size: [u64; 2]| SpaceItem {
                image: Some(ItemImage {
                    width: size[0],
                    height: size[1],
                    element: ElementType::Float32,
                    scope: "global.texture".to_owned(),
                }),
                ..SpaceItem::record(name, Span::new(first, first + 1), Bytes(tvm_bytes(size, pitch)))
            };
            let items = [image("a", 0, [5, 9]), image("b", 1, [7, 6])];
            let items: Vec<&SpaceItem> = items.iter().collect();
            let expected = Bytes(tvm_bytes([7, 9], pitch));
            for rule in [TokenRule::First, TokenRule::Rfc, TokenRule::Later] {
                assert_eq!(tokens(&items, rule, true).sizes, [expected], "{rule:?} {pitch}");
            }
        }
    }
}
