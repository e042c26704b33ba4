//! Descriptor set layouts, the descriptors that an update writes, and those with dynamic offsets.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;

use crate::sharded::Sharded;
use crate::{array, chained};

/// The bindings of a descriptor set layout.
#[derive(Clone, Debug, Default)]
pub struct SetLayout {
    /// The bindings in ascending order, without those that have no descriptors.
    bindings: Vec<SetBinding>,
}

/// A binding of a descriptor set layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetBinding {
    /// The binding number.
    pub binding: u32,
    /// The type of the descriptors.
    pub kind: vk::DescriptorType,
    /// The number of descriptors.
    pub count: u32,
    /// Flags for descriptors that may change after binding or may be missing.
    pub flags: vk::DescriptorBindingFlags,
}

impl SetLayout {
    /// The layout that a create info describes.
    pub fn new(info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> SetLayout {
        let flags = chained!(info.p_next => vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>);
        let flags = flags.map_or(&[][..], |one| array!(one.p_binding_flags, one.binding_count));
        let bindings = array!(info.p_bindings, info.binding_count).iter().enumerate();
        let bindings = bindings.filter(|(_, one)| one.descriptor_count > 0);
        let mut bindings: Vec<_> = bindings
            .map(|(index, one)| SetBinding {
                binding: one.binding,
                kind: one.descriptor_type,
                count: one.descriptor_count,
                flags: flags.get(index).copied().unwrap_or_default(),
            })
            .collect();
        bindings.sort_unstable_by_key(|one| one.binding);
        SetLayout { bindings }
    }

    /// The binding with this number; `None` if it has no descriptors.
    pub fn binding(&self, number: u32) -> Option<&SetBinding> {
        self.bindings.iter().find(|one| one.binding == number)
    }

    /// The descriptors with dynamic offsets, in the order of the offsets: binding and element.
    pub fn dynamic(&self) -> impl Iterator<Item = (u32, u32)> {
        use vk::DescriptorType as T;
        let is_dynamic = |kind| [T::UNIFORM_BUFFER_DYNAMIC, T::STORAGE_BUFFER_DYNAMIC].contains(&kind);
        let all = self.bindings.iter().filter(move |one| is_dynamic(one.kind));
        all.flat_map(|one| (0..one.count).map(move |element| (one.binding, element)))
    }

    /// The number of descriptors of a binding from `element` to the end of the binding.
    fn rest(&self, binding: u32, element: u32) -> u32 {
        let found = self.binding(binding);
        found.map_or(0, |one| one.count.saturating_sub(element))
    }

    fn after(&self, binding: u32) -> Option<u32> {
        let all = self.bindings.iter().map(|one| one.binding);
        all.into_iter().find(|one| *one > binding)
    }
}

/// The bindings and elements of `count` consecutive descriptors, which continue in the next binding when one is full
/// ([consecutive binding updates]). Without a layout, all belong to `binding`.
///
/// [consecutive binding updates]: https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#descriptorsets-updates-consecutive
pub fn consecutive(
    layout: Option<&SetLayout>,
    binding: u32,
    element: u32,
    count: u32,
) -> impl Iterator<Item = (u32, u32)> {
    let mut place = Some((binding, element));
    let mut rest = layout.map_or(u32::MAX, |layout| layout.rest(binding, element));
    (0..count).map_while(move |_| {
        while rest == 0 {
            let next = layout?.after(place?.0)?;
            (place, rest) = (Some((next, 0)), layout?.rest(next, 0));
        }
        let (binding, element) = place?;
        (place, rest) = (Some((binding, element.wrapping_add(1))), rest - 1);
        Some((binding, element))
    })
}

/// The descriptor set layouts of a device by handle, and those of its pipeline layouts.
#[derive(Default)]
pub struct SetLayouts {
    sets: Sharded<Arc<SetLayout>>,
    pipelines: Sharded<Arc<[Option<Arc<SetLayout>>]>>,
}

impl SetLayouts {
    /// Adds a layout.
    pub fn insert(&self, layout: vk::DescriptorSetLayout, info: &vk::DescriptorSetLayoutCreateInfo<'_>) {
        self.sets.insert(layout.as_raw(), Arc::new(SetLayout::new(info)));
    }

    /// Removes a layout; descriptor sets and pipeline layouts that use it keep its bindings.
    pub fn remove(&self, layout: vk::DescriptorSetLayout) {
        self.sets.remove(layout.as_raw());
    }

    /// Adds the set layouts of a pipeline layout.
    pub fn insert_pipeline(&self, layout: vk::PipelineLayout, info: &vk::PipelineLayoutCreateInfo<'_>) {
        let sets = array!(info.p_set_layouts, info.set_layout_count).iter();
        let sets = sets.map(|one| self.get(*one)).collect();
        self.pipelines.insert(layout.as_raw(), sets);
    }

    /// Removes a pipeline layout.
    pub fn remove_pipeline(&self, layout: vk::PipelineLayout) {
        self.pipelines.remove(layout.as_raw());
    }

    /// The layout with this handle.
    pub fn get(&self, layout: vk::DescriptorSetLayout) -> Option<Arc<SetLayout>> {
        self.sets.get(layout.as_raw())
    }

    /// The layout of a set in a pipeline layout.
    pub fn of_pipeline(&self, layout: vk::PipelineLayout, set: u32) -> Option<Arc<SetLayout>> {
        self.pipelines.get(layout.as_raw())?.get(set as usize)?.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bindings: &[(u32, u32)]) -> SetLayout {
        use vk::DescriptorType as T;
        let binding = |&(binding, count): &(u32, u32)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_count(count)
                .descriptor_type(if binding % 2 == 0 {
                    T::UNIFORM_BUFFER_DYNAMIC
                } else {
                    T::STORAGE_BUFFER
                })
        };
        let bindings: Vec<_> = bindings.iter().map(binding).collect();
        SetLayout::new(&vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings))
    }

    fn places(layout: Option<&SetLayout>, place: (u32, u32), count: u32) -> Vec<(u32, u32)> {
        consecutive(layout, place.0, place.1, count).collect()
    }

    #[test]
    fn what_a_binding_has_no_room_for_goes_to_the_bindings_after_it() {
        let layout = layout(&[(6, 1), (1, 2), (2, 0), (4, 3)]);
        let known = Some(&layout);
        assert_eq!(
            places(known, (1, 1), 4),
            [(1, 1), (4, 0), (4, 1), (4, 2)],
            "an empty binding is skipped"
        );
        assert_eq!(
            places(known, (1, 3), 1),
            [(4, 0)],
            "an element beyond the binding"
        );
        assert_eq!(
            places(known, (4, 2), 4),
            [(4, 2), (6, 0)],
            "nothing follows the last"
        );
        assert_eq!(places(None, (1, 1), 3), [(1, 1), (1, 2), (1, 3)]);
    }

    #[test]
    fn dynamic_offsets_are_in_the_order_of_bindings_and_elements() {
        let layout = layout(&[(6, 1), (3, 2), (2, 2)]);
        let dynamic: Vec<_> = layout.dynamic().collect();
        assert_eq!(dynamic, [(2, 0), (2, 1), (6, 0)]);
    }

    #[test]
    fn bindings_keep_their_flags() {
        let bindings = [5, 2, 7].map(|binding| {
            let binding = vk::DescriptorSetLayoutBinding::default().binding(binding);
            binding.descriptor_count(1)
        });
        let none = vk::DescriptorBindingFlags::empty();
        let (late, partly) = (
            vk::DescriptorBindingFlags::UPDATE_AFTER_BIND,
            vk::DescriptorBindingFlags::PARTIALLY_BOUND,
        );
        let flags = [late, partly, none];
        let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layout = SetLayout::new(&info.push_next(&mut flags));
        let found = [2, 5, 7].map(|number| layout.binding(number).map(|one| one.flags));
        assert_eq!(found, [Some(partly), Some(late), Some(none)]);
        let plain = SetLayout::new(&info);
        assert_eq!(plain.binding(5).map(|one| one.flags), Some(none));
        assert_eq!(plain.binding(6), None);
    }

    #[test]
    fn pipeline_layouts_keep_the_layouts_of_their_sets() {
        let all = SetLayouts::default();
        let handles = [1, 2].map(vk::DescriptorSetLayout::from_raw);
        let binding = vk::DescriptorSetLayoutBinding::default().descriptor_count(7);
        let info = vk::DescriptorSetLayoutCreateInfo::default();
        all.insert(handles[0], &info.bindings(&[binding]));
        let pipeline = vk::PipelineLayout::from_raw(3);
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&handles);
        all.insert_pipeline(pipeline, &info);
        all.remove(handles[0]);
        let rest = |set| all.of_pipeline(pipeline, set).map(|layout| layout.rest(0, 0));
        assert_eq!([0, 1, 2].map(rest), [Some(7), None, None]);
    }
}
