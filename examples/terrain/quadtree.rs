//! The squares of land to draw: large ones far away, small ones near, each with its own texture.

use glam::{Vec2, Vec3};
use tileheap_textures::Level;

use crate::camera::Camera;
use crate::ground::{Ground, SIDE, WORLD};

/// Depth of the smallest squares: a 128th of the world, 32 m.
const DEPTH: u32 = 7;
/// Depth of the largest squares, 128 m, which reach to the edge of the world at ever coarser levels.
const LEAST_DEPTH: u32 = 5;
/// A square is split if its distance is below this multiple of its side.
const NEAR: f32 = 4.5;
/// Texels per side of a texture.
pub(crate) const TEXELS: u32 = 256;
/// The finest level of a texture.
pub(crate) const FINEST: Level = Level(TEXELS.ilog2() as u8);

/// A square of land.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// The depth in the tree; 0 is the whole world.
    pub(crate) depth: u32,
    x: u32,
    z: u32,
}

/// The number of squares of all depths.
pub(crate) const NODES: usize = ((1 << (2 * (DEPTH + 1))) - 1) / 3;

impl Node {
    const ROOT: Node = Node { depth: 0, x: 0, z: 0 };

    /// The index of the square among all squares.
    pub(crate) fn index(self) -> usize {
        let above = ((1_usize << (2 * self.depth)) - 1) / 3;
        above + ((self.z as usize) << self.depth) + self.x as usize
    }

    pub(crate) fn size(self) -> f32 {
        WORLD / (1_u32 << self.depth) as f32
    }

    pub(crate) fn origin(self) -> Vec2 {
        Vec2::new(self.x as f32, self.z as f32) * self.size()
    }

    fn children(self) -> [Node; 4] {
        let child = |x, z| Node {
            depth: self.depth + 1,
            x: 2 * self.x + x,
            z: 2 * self.z + z,
        };
        [child(0, 0), child(1, 0), child(0, 1), child(1, 1)]
    }
}

/// A square to draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) node: Node,
    /// The finest level that is read of its texture.
    pub(crate) level: Level,
    pub(crate) distance: f32,
}

/// The lowest and highest points of every square.
pub(crate) struct Quadtree {
    heights: Vec<(f32, f32)>,
}

impl Quadtree {
    pub(crate) fn new(ground: &Ground) -> Quadtree {
        let heights = ground.heights();
        let mut tree = Quadtree {
            heights: vec![(0.0, 0.0); NODES],
        };
        tree.measure(Node::ROOT, &heights);
        tree
    }

    fn measure(&mut self, node: Node, heights: &[f32]) -> (f32, f32) {
        let join = |(low, high): (f32, f32), other: (f32, f32)| (low.min(other.0), high.max(other.1));
        let nothing = (f32::MAX, f32::MIN);
        let range = if node.depth < DEPTH {
            let children = node.children();
            children
                .map(|child| self.measure(child, heights))
                .into_iter()
                .fold(nothing, join)
        } else {
            let cells = (SIDE - 1) >> DEPTH;
            let (x, z) = (node.x as usize * cells, node.z as usize * cells);
            let rows = (z..=z + cells).flat_map(|z| &heights[z * SIDE + x..=z * SIDE + x + cells]);
            rows.fold(nothing, |range, &height| join(range, (height, height)))
        };
        self.heights[node.index()] = range;
        range
    }

    /// The squares in view, nearest first.
    pub(crate) fn see(&self, camera: &Camera, seen: &mut Vec<Seen>) {
        seen.clear();
        self.visit(Node::ROOT, camera, seen);
        seen.sort_unstable_by(|a, b| {
            let nearer = a.distance.total_cmp(&b.distance);
            nearer.then(a.node.index().cmp(&b.node.index()))
        });
    }

    fn visit(&self, node: Node, camera: &Camera, seen: &mut Vec<Seen>) {
        let (low, high) = self.heights[node.index()];
        let (origin, size) = (node.origin(), node.size());
        let from = Vec3::new(origin.x, low, origin.y);
        let to = Vec3::new(origin.x + size, high, origin.y + size);
        if !camera.sees(from, to) {
            return;
        }
        let distance = camera.eye.distance(camera.eye.clamp(from, to));
        if node.depth < LEAST_DEPTH || node.depth < DEPTH && distance < NEAR * size {
            for child in node.children() {
                self.visit(child, camera, seen);
            }
            return;
        }
        // At its nearest point, seen from straight above. The shader gets this level and reads no finer one.
        let texels_per_pixel = TEXELS as f32 / size * distance / camera.pixels_per_radian();
        let coarser = texels_per_pixel.max(1e-6).log2().max(0.0) as u8;
        seen.push(Seen {
            node,
            level: Level(FINEST.0.saturating_sub(coarser)),
            distance,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_a_place_of_its_own() {
        let mut found = vec![false; NODES];
        let mut open = vec![Node::ROOT];
        while let Some(node) = open.pop() {
            assert!(!std::mem::replace(&mut found[node.index()], true));
            if node.depth < DEPTH {
                open.extend(node.children());
            }
        }
        assert!(found.into_iter().all(|found| found));
    }
}
