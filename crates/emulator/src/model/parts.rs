//! The parts of resources that views, descriptors and transfers refer to.

use std::sync::Arc;

use ash::vk;
use tileheap_device::profile::texel_bytes;
use tileheap_layer::chained;
use tileheap_sync::program::{ResourcePart, Texels, Tiling};
use tileheap_units::Run;

use super::resources::{Resource, View};

impl View {
    /// Creates a view of an image.
    pub(crate) fn of_image(image: Arc<Resource>, info: &vk::ImageViewCreateInfo<'_>) -> View {
        let mut range = info.subresource_range;
        if info.view_type == vk::ImageViewType::TYPE_3D {
            let sliced = chained!(info.p_next => vk::ImageViewSlicedCreateInfoEXT<'_>);
            // All slices: its range has one layer.
            (range.base_array_layer, range.layer_count) = sliced
                .map_or((0, vk::REMAINING_ARRAY_LAYERS), |slices| {
                    (slices.slice_offset, slices.slice_count)
                });
        }
        View {
            part: image.subresources(&range),
            resource: image,
        }
    }

    /// Creates a view of a buffer.
    pub(crate) fn of_buffer(buffer: Arc<Resource>, info: &vk::BufferViewCreateInfo<'_>) -> View {
        let mut part = buffer.bytes(info.offset, info.range);
        if let (ResourcePart::Bytes(first, end), vk::WHOLE_SIZE) = (&mut part, info.range) {
            *end -= (*end - *first) % texel_bytes(info.format).unwrap_or(1).max(1);
        }
        View {
            resource: buffer,
            part,
        }
    }
}

/// The subresources of a range, for an image about which nothing else is known.
pub(crate) fn any_subresources(range: &vk::ImageSubresourceRange) -> ResourcePart {
    // `VK_REMAINING_MIP_LEVELS` and similar constants are the largest numbers.
    let run = |first: u32, count: u32| Run::new(first, first.saturating_add(count.max(1)));
    ResourcePart::Texels(Texels {
        aspects: range.aspect_mask,
        levels: run(range.base_mip_level, range.level_count),
        layers: run(range.base_array_layer, range.layer_count),
        area: None,
    })
}

impl Resource {
    /// The bytes `[offset, offset + size)` of a buffer; with `VK_WHOLE_SIZE`, all bytes from `offset` on.
    pub(crate) fn bytes(&self, offset: u64, size: u64) -> ResourcePart {
        let first = offset.min(self.size);
        ResourcePart::Bytes(first, first.saturating_add(size).min(self.size))
    }

    /// The whole resource.
    pub(crate) fn all(&self) -> ResourcePart {
        match self.tiling {
            Tiling::Optimal(all) => ResourcePart::Texels(all),
            _ => ResourcePart::Bytes(0, self.size),
        }
    }

    /// The subresources of a barrier's range, and `true` if a transition changes exactly these subresources.
    ///
    /// Without maintenance9, a range of one layer of a 3D image is all slices, with it the first slice
    /// (VUID-VkImageMemoryBarrier2-maintenance9-10798); that transition is not tracked.
    pub(crate) fn barrier_part(&self, range: &vk::ImageSubresourceRange) -> (ResourcePart, bool) {
        let is_unclear = self.extent.depth > 1 && (range.base_array_layer, range.layer_count) == (0, 1);
        if !is_unclear {
            return (self.subresources(range), true);
        }
        let layer_count = vk::REMAINING_ARRAY_LAYERS;
        let all = vk::ImageSubresourceRange {
            layer_count,
            ..*range
        };
        (self.subresources(&all), false)
    }

    /// The subresources of a range; the layers of a 3D image are its slices. For an image with linear tiling, all of its
    /// bytes.
    pub(crate) fn subresources(&self, range: &vk::ImageSubresourceRange) -> ResourcePart {
        let Tiling::Optimal(all) = &self.tiling else {
            return self.bytes(0, vk::WHOLE_SIZE);
        };
        // `VK_REMAINING_MIP_LEVELS` and similar constants are the largest numbers.
        let run = |first: u32, count: u32, end: u32| {
            let first = first.min(end - 1);
            Run::new(first, first.saturating_add(count.max(1)).min(end))
        };
        let levels = run(range.base_mip_level, range.level_count, all.levels.end);
        let end = match self.extent.depth {
            0 | 1 => all.layers.end,
            depth => (depth >> levels.first.min(31)).max(1),
        };
        ResourcePart::Texels(Texels {
            aspects: named(range.aspect_mask, all.aspects),
            levels,
            layers: run(range.base_array_layer, range.layer_count, end),
            area: None,
        })
    }
}

/// Names a part's subresources: "aspect STENCIL, mip level 1". Aspects, levels and layers are left out if the image has only one of them; levels and
/// layers also if the part has all of them. `None` if nothing is left, and for buffers and images with linear tiling.
pub(crate) fn named_part(resource: &Resource, part: &ResourcePart) -> Option<String> {
    let (Tiling::Optimal(all), ResourcePart::Texels(part)) = (&resource.tiling, part) else {
        return None;
    };
    let mut names = Vec::new();
    let aspects = part.aspects & all.aspects;
    // Color of a multi-planar image is all of its planes.
    if all.aspects.as_raw().count_ones() > 1 && !aspects.contains(vk::ImageAspectFlags::COLOR) {
        let word = plural("aspect", aspects.as_raw().count_ones());
        names.push(format!(
            "{word} {}",
            format!("{aspects:?}").replace(" | ", " and ")
        ));
    }
    let layer = match resource.extent.depth {
        0 | 1 => "layer",
        _ => "slice",
    };
    for (word, run, all) in [
        ("mip level", part.levels, all.levels),
        (layer, part.layers, all.layers),
    ] {
        let count = run.end.saturating_sub(run.first);
        let (word, last) = (plural(word, count), run.end.saturating_sub(1));
        match count {
            _ if run == all => {}
            1 => names.push(format!("{word} {last}")),
            _ => names.push(format!("{word} {} to {last}", run.first)),
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

fn plural(word: &str, count: u32) -> String {
    match count {
        1 => word.to_owned(),
        _ => format!("{word}s"),
    }
}

/// Adds the aspects of another part, if both have the same levels and layers.
pub(crate) fn with_aspects(part: ResourcePart, other: &ResourcePart) -> ResourcePart {
    match (part, other) {
        (ResourcePart::Texels(one), ResourcePart::Texels(other))
            if (one.levels, one.layers) == (other.levels, other.layers) =>
        {
            ResourcePart::Texels(Texels {
                aspects: one.aspects | other.aspects,
                ..one
            })
        }
        _ => part,
    }
}

/// The aspects of an image that a range specifies; all of them if the range specifies color, which names every plane, or none of them.
fn named(aspects: vk::ImageAspectFlags, all: vk::ImageAspectFlags) -> vk::ImageAspectFlags {
    let own = aspects & all;
    if own.is_empty() || own.contains(vk::ImageAspectFlags::COLOR) {
        all
    } else {
        own
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use ash::vk::ImageAspectFlags as Aspects;

    use super::*;
    use crate::model::objects::Object;
    use crate::model::resources::image_tiling;
    use crate::tables::unseen_writes::UnseenWrites;

    fn resource(tiling: Tiling, format: vk::Format, extent: vk::Extent3D) -> Arc<Resource> {
        Arc::new(Resource {
            object: Object::of(vk::Image::null()),
            number: 1,
            needs: None,
            driver_size: 1024,
            fits_driver_memory: false,
            size: 1000,
            tiling,
            format,
            extent,
            contents: 0,
            unseen_writes: UnseenWrites::NONE,
            unseen_through_others: Default::default(),
            is_fetched: false,
            is_input: false,
            sharing: Default::default(),
            is_followed: false.into(),
            place: OnceLock::new(),
        })
    }

    fn image(kind: vk::ImageType, format: vk::Format, (depth, layers): (u32, u32)) -> Arc<Resource> {
        let extent = vk::Extent3D {
            width: 64,
            height: 64,
            depth,
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(kind)
            .format(format)
            .extent(extent)
            .mip_levels(4)
            .array_layers(layers);
        resource(image_tiling(&info), format, extent)
    }

    fn range(levels: [u32; 2], layers: [u32; 2], aspects: Aspects) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: aspects,
            base_mip_level: levels[0],
            level_count: levels[1],
            base_array_layer: layers[0],
            layer_count: layers[1],
        }
    }

    fn part(
        image: &Arc<Resource>,
        kind: vk::ImageViewType,
        range: vk::ImageSubresourceRange,
    ) -> ([u32; 2], [u32; 2], Aspects) {
        let info = vk::ImageViewCreateInfo::default()
            .view_type(kind)
            .subresource_range(range);
        match View::of_image(image.clone(), &info).part {
            ResourcePart::Texels(texels) => (texels.levels.into(), texels.layers.into(), texels.aspects),
            part => panic!("{part:?}"),
        }
    }

    const REST: u32 = u32::MAX;

    #[test]
    fn ranges_without_an_end_have_the_rest() {
        let (color, format) = (Aspects::COLOR, vk::Format::R8_UNORM);
        let array = image(vk::ImageType::TYPE_2D, format, (1, 6));
        let of = |range| part(&array, vk::ImageViewType::TYPE_2D_ARRAY, range);
        assert_eq!(of(range([1, REST], [2, REST], color)), ([1, 4], [2, 6], color));
        assert_eq!(of(range([1, 2], [2, 3], color)), ([1, 3], [2, 5], color));
    }

    #[test]
    fn slices_of_3d_images_are_layers() {
        let (color, format) = (Aspects::COLOR, vk::Format::R8_UNORM);
        let volume = image(vk::ImageType::TYPE_3D, format, (16, 1));
        let (all, flat) = (vk::ImageViewType::TYPE_3D, vk::ImageViewType::TYPE_2D_ARRAY);
        assert_eq!(part(&volume, all, range([0, 1], [0, 1], color)).1, [0, 16]);
        assert_eq!(part(&volume, all, range([1, 2], [0, 1], color)).1, [0, 8]);
        assert_eq!(part(&volume, flat, range([0, 1], [3, 2], color)).1, [3, 5]);
        assert_eq!(part(&volume, flat, range([1, 1], [3, REST], color)).1, [3, 8]);
        let mut slices = vk::ImageViewSlicedCreateInfoEXT::default()
            .slice_offset(4)
            .slice_count(2);
        let sliced = vk::ImageViewCreateInfo::default()
            .view_type(all)
            .subresource_range(range([0, 1], [0, 1], color))
            .push_next(&mut slices);
        let ResourcePart::Texels(texels) = View::of_image(volume, &sliced).part else {
            panic!("an image with optimal tiling");
        };
        assert_eq!(texels.layers, Run::new(4, 6));
    }

    #[test]
    fn views_keep_their_aspects() {
        let flat = vk::ImageViewType::TYPE_2D;
        let depth = image(vk::ImageType::TYPE_2D, vk::Format::D24_UNORM_S8_UINT, (1, 1));
        for aspects in [
            Aspects::DEPTH,
            Aspects::STENCIL,
            Aspects::DEPTH | Aspects::STENCIL,
        ] {
            assert_eq!(part(&depth, flat, range([0, 1], [0, 1], aspects)).2, aspects);
        }
        let planar = vk::Format::G8_B8R8_2PLANE_420_UNORM;
        let planar = image(vk::ImageType::TYPE_2D, planar, (1, 1));
        let all = Aspects::COLOR | Aspects::PLANE_0 | Aspects::PLANE_1;
        let of = |aspects| part(&planar, flat, range([0, 1], [0, 1], aspects)).2;
        assert_eq!(of(Aspects::COLOR), all);
        assert_eq!(of(Aspects::PLANE_1), Aspects::PLANE_1);
    }

    #[test]
    fn parts_are_named_where_an_image_has_several() {
        use vk::ImageViewType as V;
        let flat = vk::ImageType::TYPE_2D;
        let (depth, stencil) = (Aspects::DEPTH, Aspects::STENCIL);
        let name = |image: &Arc<Resource>, kind, range| {
            let info = vk::ImageViewCreateInfo::default()
                .view_type(kind)
                .subresource_range(range);
            named_part(image, &View::of_image(image.clone(), &info).part).unwrap_or_default()
        };
        let both = image(flat, vk::Format::D24_UNORM_S8_UINT, (1, 6));
        let of = |range| name(&both, V::TYPE_2D_ARRAY, range);
        assert_eq!(of(range([0, REST], [0, REST], stencil)), "aspect STENCIL");
        let all = of(range([0, REST], [0, REST], depth | stencil));
        assert_eq!(all, "aspects DEPTH and STENCIL");
        let some = of(range([1, 1], [2, 3], depth));
        assert_eq!(some, "aspect DEPTH, mip level 1, layers 2 to 4");
        let color = image(vk::ImageType::TYPE_3D, vk::Format::R8_UNORM, (16, 1));
        let of = |kind, range| name(&color, kind, range);
        assert_eq!(of(V::TYPE_3D, range([0, REST], [0, 1], Aspects::COLOR)), "");
        let slice = of(V::TYPE_2D, range([0, 1], [5, 1], Aspects::COLOR));
        assert_eq!(slice, "mip level 0, slice 5");
        let planar = image(flat, vk::Format::G8_B8R8_2PLANE_420_UNORM, (1, 1));
        let of = |aspects| name(&planar, V::TYPE_2D, range([0, REST], [0, 1], aspects));
        assert_eq!([of(Aspects::COLOR), of(Aspects::PLANE_1)], ["", "aspect PLANE_1"]);
        assert_eq!(named_part(&both, &ResourcePart::Bytes(0, 4)), None);
    }

    #[test]
    fn aspects_of_equal_subresources_are_one_part() {
        let part = |aspects, layer| {
            ResourcePart::Texels(Texels {
                aspects,
                levels: Run::new(0, 1),
                layers: Run::new(layer, layer + 1),
                area: None,
            })
        };
        let (depth, stencil) = (Aspects::DEPTH, Aspects::STENCIL);
        let both = with_aspects(part(depth, 0), &part(stencil, 0));
        assert_eq!(both, part(depth | stencil, 0));
        assert_eq!(with_aspects(part(depth, 0), &part(stencil, 1)), part(depth, 0));
    }

    #[test]
    fn bytes_end_with_the_buffer_or_with_its_last_texel() {
        let nothing = vk::Extent3D::default();
        let buffer = resource(Tiling::Linear, vk::Format::UNDEFINED, nothing);
        let bytes = |format, offset, size| {
            let info = vk::BufferViewCreateInfo::default().format(format);
            View::of_buffer(buffer.clone(), &info.offset(offset).range(size)).part
        };
        let rgba = vk::Format::R32G32B32A32_SFLOAT;
        assert_eq!(bytes(rgba, 16, 32), ResourcePart::Bytes(16, 48));
        assert_eq!(bytes(rgba, 16, vk::WHOLE_SIZE), ResourcePart::Bytes(16, 992));
        assert_eq!(
            bytes(vk::Format::R8_UINT, 16, vk::WHOLE_SIZE),
            ResourcePart::Bytes(16, 1000)
        );
        assert_eq!(
            buffer.bytes(2000, vk::WHOLE_SIZE),
            ResourcePart::Bytes(1000, 1000)
        );
    }

    #[test]
    fn linear_images_are_their_bytes() {
        let nothing = vk::Extent3D::default();
        let linear = resource(Tiling::Linear, vk::Format::R8_UNORM, nothing);
        let all = range([0, 1], [0, 1], Aspects::COLOR);
        assert_eq!(linear.subresources(&all), ResourcePart::Bytes(0, 1000));
    }
}
