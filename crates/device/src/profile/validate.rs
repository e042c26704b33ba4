//! Validates a profile: its numbers must be possible for a Vulkan device.

use ash::vk;

use super::device::{DeviceProfile, TILE_HEAP_FLAG, TileHeap};
use crate::error::{Error, Result};
use crate::units::Bytes;

/// `VK_MAX_MEMORY_TYPES`.
const MAX_MEMORY_TYPES: usize = 32;
/// `VK_MAX_MEMORY_HEAPS`.
const MAX_MEMORY_HEAPS: usize = 16;

impl DeviceProfile {
    /// Checks that the numbers are consistent with each other and permitted by Vulkan.
    ///
    /// # Errors
    /// [`Error::Inconsistent`] with the first contradiction, or [`Error::EmptyTileHeap`].
    pub fn validate(&self) -> Result<()> {
        self.first_error().map_or(Ok(()), Err)
    }

    fn first_error(&self) -> Option<Error> {
        let inconsistent = |what| Error::Inconsistent {
            profile: self.name.clone(),
            what,
        };
        let halo = self
            .costs
            .map(|costs| costs.halo)
            .filter(|halo| !(0.0..=1e6).contains(halo));
        let tables = self
            .memory_error()
            .or_else(|| self.limit_error())
            .or_else(|| {
                halo.map(|halo| {
                    format!("the cost of a halo byte is {halo} bytes, but must be from 0 to 1,000,000")
                })
            })
            .map(inconsistent);
        tables.or_else(|| {
            let tile = self.tile.as_ref()?;
            // A heap that does not exist has an error of its own.
            if tile.size == Bytes::ZERO && self.heaps.len() > tile.heap as usize {
                let block = Bytes(tile.block.bytes.get());
                return Some(Error::EmptyTileHeap {
                    profile: self.name.clone(),
                    block,
                });
            }
            self.tile_error(tile).map(inconsistent)
        })
    }

    fn memory_error(&self) -> Option<String> {
        let (heaps, types) = (self.heaps.len(), self.memory_types.len());
        if heaps == 0 || heaps > MAX_MEMORY_HEAPS {
            return Some(format!(
                "the profile has {heaps} memory heaps, but Vulkan allows 1 to {MAX_MEMORY_HEAPS}"
            ));
        }
        if types == 0 || types > MAX_MEMORY_TYPES {
            return Some(format!(
                "the profile has {types} memory types, but Vulkan allows 1 to {MAX_MEMORY_TYPES}"
            ));
        }
        let tile_heap = self.tile.map(|tile| tile.heap as usize);
        for (index, heap) in self.heaps.iter().enumerate() {
            // The tile heap has an error of its own, which says more.
            if heap.size == Bytes::ZERO && tile_heap != Some(index) {
                return Some(format!(
                    "memory heap {index} has 0 B: remove it and its memory types"
                ));
            }
        }
        for (index, kind) in self.memory_types.iter().enumerate() {
            if kind.heap as usize >= heaps {
                return Some(format!(
                    "memory type {index} is on heap {}, which is out of range: the profile has {heaps} heaps",
                    kind.heap
                ));
            }
        }
        if self.ordinary_type_bits() == 0 {
            return Some(
                "no memory type can hold ordinary resources: add one that is DEVICE_LOCAL, not on a tile heap, and not \
                 LAZILY_ALLOCATED, PROTECTED, DEVICE_COHERENT_AMD or DEVICE_UNCACHED_AMD"
                    .to_owned(),
            );
        }
        None
    }

    fn limit_error(&self) -> Option<String> {
        let limits = &self.limits;
        let zero = [
            (limits.max_allocation.0, "maxMemoryAllocationSize"),
            (limits.max_image_dimension_2d.into(), "maxImageDimension2D"),
            (limits.max_color_attachments.into(), "maxColorAttachments"),
            (limits.max_image_dimension_1d.into(), "maxImageDimension1D"),
            (limits.max_image_dimension_3d.into(), "maxImageDimension3D"),
            (limits.max_image_dimension_cube.into(), "maxImageDimensionCube"),
            (limits.max_image_array_layers.into(), "maxImageArrayLayers"),
            (limits.max_framebuffer_width.into(), "maxFramebufferWidth"),
            (limits.max_framebuffer_height.into(), "maxFramebufferHeight"),
            (limits.max_framebuffer_layers.into(), "maxFramebufferLayers"),
            (limits.max_multiview_view_count.into(), "maxMultiviewViewCount"),
            (
                limits.max_per_stage_descriptor_input_attachments.into(),
                "maxPerStageDescriptorInputAttachments",
            ),
            (limits.max_buffer_size.0, "maxBufferSize"),
        ];
        let mut zero = zero.into_iter().filter(|(limit, _)| *limit == 0);
        let no_size = zero
            .next()
            .map(|(_, name)| format!("limit {name} is 0: it must be at least 1"));
        no_size.or_else(|| self.sample_count_error())
    }

    /// Returns an error message if a set of supported sample counts lacks `TYPE_1`.
    fn sample_count_error(&self) -> Option<String> {
        let limits = &self.limits;
        let counts = [
            (
                limits.framebuffer_color_sample_counts,
                "framebufferColorSampleCounts",
            ),
            (
                limits.framebuffer_depth_sample_counts,
                "framebufferDepthSampleCounts",
            ),
            (
                limits.framebuffer_stencil_sample_counts,
                "framebufferStencilSampleCounts",
            ),
            (
                limits.sampled_image_color_sample_counts,
                "sampledImageColorSampleCounts",
            ),
            (
                limits.sampled_image_integer_sample_counts,
                "sampledImageIntegerSampleCounts",
            ),
            (
                limits.sampled_image_depth_sample_counts,
                "sampledImageDepthSampleCounts",
            ),
            (
                limits.sampled_image_stencil_sample_counts,
                "sampledImageStencilSampleCounts",
            ),
            (limits.storage_image_sample_counts, "storageImageSampleCounts"),
        ];
        let one = vk::SampleCountFlags::TYPE_1;
        let (_, name) = counts.into_iter().find(|(counts, _)| !counts.contains(one))?;
        Some(format!(
            "limit {name} lacks VK_SAMPLE_COUNT_1_BIT, which every device must support"
        ))
    }

    fn tile_error(&self, tile: &TileHeap) -> Option<String> {
        let TileHeap {
            heap,
            memory_type,
            size,
            block,
            ..
        } = *tile;
        let Some(memory_heap) = self.heaps.get(heap as usize) else {
            return Some(format!(
                "the tile heap is heap {heap}, which is out of range: the profile has {} heaps",
                self.heaps.len()
            ));
        };
        if !memory_heap.flags.contains(TILE_HEAP_FLAG) {
            return Some(format!(
                "the tile heap is heap {heap}, which lacks VK_MEMORY_HEAP_TILE_MEMORY_BIT_QCOM"
            ));
        }
        if memory_heap.size != size {
            return Some(format!(
                "the tile heap has {size}, but its memory heap, heap {heap}, has {}: make them equal",
                memory_heap.size
            ));
        }
        let on_heap = self.memory_types.get(memory_type as usize).map(|kind| kind.heap);
        if on_heap != Some(heap) {
            return Some(format!(
                "tile memory type {memory_type} does not exist or is not on the tile heap, heap {heap}: choose a memory type of that heap"
            ));
        }
        if self.gmem != Bytes::ZERO && self.gmem < size {
            return Some(format!(
                "the tile heap of {size} exceeds the GMEM of {} that contains it: correct one of them, or set GMEM to 0 if its size is unknown",
                self.gmem
            ));
        }
        if block.rows == 0 {
            return Some("a tile block has 0 texel rows: it must have at least 1".to_owned());
        }
        None
    }

    /// Mask of the memory types that ordinary resources may use: device local, and neither on a tile heap, nor lazily
    /// allocated, nor reserved for protected content or for an AMD feature that is not enabled.
    pub fn ordinary_type_bits(&self) -> u32 {
        use vk::MemoryPropertyFlags as P;
        let restricted = P::LAZILY_ALLOCATED | P::PROTECTED | P::DEVICE_COHERENT_AMD | P::DEVICE_UNCACHED_AMD;
        self.type_bits(|kind| kind.flags.contains(P::DEVICE_LOCAL) && !kind.flags.intersects(restricted))
            & !self.tile_type_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::device::MemoryType;

    fn error_of(damage: impl FnOnce(&mut DeviceProfile)) -> String {
        let mut profile = DeviceProfile::preset("adreno-830").unwrap();
        damage(&mut profile);
        profile.validate().unwrap_err().to_string()
    }

    #[test]
    fn every_contradiction_is_named() {
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        assert!(error_of(|profile| profile.heaps.clear()).contains("0 memory heaps"));
        assert!(error_of(|profile| profile.memory_types.clear()).contains("0 memory types"));
        let many = vec![
            MemoryType {
                flags: local,
                heap: 0
            };
            33
        ];
        assert!(error_of(|profile| profile.memory_types = many).contains("33 memory types"));
        assert!(error_of(|profile| profile.memory_types[3].heap = 9).contains("memory type 3 is on heap 9"));
        assert!(error_of(|profile| profile.heaps[1].size = Bytes::ZERO).contains("memory heap 1 has 0 B"));
        assert!(
            error_of(|profile| profile.memory_types.retain(|kind| kind.heap == 2))
                .contains("ordinary resources")
        );
        assert!(
            error_of(|profile| profile.limits.max_allocation = Bytes::ZERO)
                .contains("maxMemoryAllocationSize")
        );
        assert!(
            error_of(|profile| profile.limits.max_framebuffer_layers = 0).contains("maxFramebufferLayers")
        );
        let four = vk::SampleCountFlags::TYPE_4;
        assert!(
            error_of(|profile| profile.limits.storage_image_sample_counts = four)
                .contains("storageImageSampleCounts lacks VK_SAMPLE_COUNT_1_BIT")
        );
        let none = vk::SampleCountFlags::empty();
        assert!(
            error_of(|profile| profile.limits.framebuffer_color_sample_counts = none)
                .contains("framebufferColorSampleCounts")
        );
        assert!(error_of(|profile| profile.tile.as_mut().unwrap().heap = 7).contains("heap 7"));
        assert!(error_of(|profile| profile.tile.as_mut().unwrap().heap = 0).contains("lacks"));
        assert!(error_of(|profile| profile.tile.as_mut().unwrap().memory_type = 40).contains("type 40"));
        assert!(error_of(|profile| profile.tile.as_mut().unwrap().memory_type = 0).contains("type 0"));
        assert!(error_of(|profile| profile.tile.as_mut().unwrap().size = Bytes(5)).contains("5 B"));
        assert!(error_of(|profile| profile.gmem = Bytes(5)).contains("GMEM of 5 B"));
        assert!(error_of(|profile| profile.tile.as_mut().unwrap().block.rows = 0).contains("0 texel rows"));
    }
}
