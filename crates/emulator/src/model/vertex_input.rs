//! The vertex buffers that graphics pipelines read.

use std::collections::{HashMap, HashSet};

use ash::vk;
use tileheap_device::profile::texel_bytes;
use tileheap_layer::{array, chained};

use super::spirv::{instructions, op};

/// The vertex buffers that a graphics pipeline reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VertexInput {
    pub(crate) bindings: Vec<VertexBinding>,
    /// True if the pipeline may read other buffers too, since its vertex input is dynamic state.
    pub(crate) is_dynamic: bool,
}

/// A vertex buffer binding of a pipeline, with at least one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VertexBinding {
    pub(crate) binding: u32,
    pub(crate) stride: u32,
    pub(crate) step: VertexStep,
    /// The range of bytes `[first, end)` of each element that attributes cover, relative to the first byte of the
    /// element.
    pub(crate) bytes: (u32, u32),
    /// True if the vertex shader certainly reads some of these bytes.
    pub(crate) is_read: bool,
    /// True if the vertex shader reads all of these bytes, and there are no gaps between elements.
    pub(crate) is_dense: bool,
}

/// The index that selects the element of a vertex buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VertexStep {
    Vertex,
    Instance,
    /// The instance index, with a divisor other than 1.
    Divided,
}

impl VertexInput {
    /// The vertex input of a new pipeline, whose vertex shader reads the locations `read`; `None` if the pipeline has no vertex shader or, for a
    /// pipeline library, no vertex input state.
    pub(crate) fn of_pipeline(
        info: &vk::GraphicsPipelineCreateInfo<'_>,
        read: &HashSet<u32>,
    ) -> Option<VertexInput> {
        use vk::GraphicsPipelineLibraryFlagsEXT as F;
        let library = chained!(info.p_next => vk::GraphicsPipelineLibraryCreateInfoEXT<'_>);
        let has_input = match library {
            Some(library) => library.flags.contains(F::VERTEX_INPUT_INTERFACE),
            None => array!(info.p_stages, info.stage_count)
                .iter()
                .any(|one| one.stage == vk::ShaderStageFlags::VERTEX),
        };
        if !has_input {
            return None;
        }
        // SAFETY: Valid usage: null or a valid structure.
        let dynamic = unsafe { info.p_dynamic_state.as_ref() };
        let dynamic = dynamic.map_or(&[][..], |one| {
            array!(one.p_dynamic_states, one.dynamic_state_count)
        });
        let is_dynamic = dynamic.contains(&vk::DynamicState::VERTEX_INPUT_EXT);
        if is_dynamic || info.p_vertex_input_state.is_null() {
            return Some(VertexInput {
                bindings: Vec::new(),
                is_dynamic,
            });
        }
        // SAFETY: Valid usage: of a pipeline with vertex input state that is not dynamic.
        let state = unsafe { &*info.p_vertex_input_state };
        Some(VertexInput::new(state, read))
    }

    /// Converts vertex input state, given the locations that the shader certainly reads.
    fn new(state: &vk::PipelineVertexInputStateCreateInfo<'_>, read: &HashSet<u32>) -> VertexInput {
        let divisors = chained!(state.p_next => vk::PipelineVertexInputDivisorStateCreateInfoKHR<'_>);
        let divisors = divisors.map_or(&[][..], |one| {
            array!(one.p_vertex_binding_divisors, one.vertex_binding_divisor_count)
        });
        let attributes = array!(
            state.p_vertex_attribute_descriptions,
            state.vertex_attribute_description_count
        );
        let bindings = array!(
            state.p_vertex_binding_descriptions,
            state.vertex_binding_description_count
        );
        let bindings = bindings.iter().filter_map(|one| {
            let own = attributes
                .iter()
                .filter(|attribute| attribute.binding == one.binding);
            let own: Vec<_> = own.collect();
            let (bytes, has_gaps) = extent(&own)?;
            let is_divided = divisors
                .iter()
                .any(|divisor| (divisor.binding, divisor.divisor != 1) == (one.binding, true));
            let is_read =
                |attribute: &&vk::VertexInputAttributeDescription| read.contains(&attribute.location);
            Some(VertexBinding {
                binding: one.binding,
                stride: one.stride,
                step: match (one.input_rate, is_divided) {
                    (vk::VertexInputRate::INSTANCE, true) => VertexStep::Divided,
                    (vk::VertexInputRate::INSTANCE, false) => VertexStep::Instance,
                    _ => VertexStep::Vertex,
                },
                bytes,
                is_read: own.iter().any(is_read),
                is_dense: own.iter().all(is_read) && !has_gaps && bytes.1 - bytes.0 >= one.stride,
            })
        });
        VertexInput {
            bindings: bindings.collect(),
            is_dynamic: false,
        }
    }
}

/// The bytes of an element that attributes cover, and whether there are gaps between them; `None` without attributes. An attribute of an unknown
/// format may cover any bytes from its offset on.
fn extent(attributes: &[&vk::VertexInputAttributeDescription]) -> Option<((u32, u32), bool)> {
    let range = |one: &&vk::VertexInputAttributeDescription| {
        let size = texel_bytes(one.format).and_then(|bytes| u32::try_from(bytes).ok());
        (one.offset, one.offset.saturating_add(size.unwrap_or(u32::MAX)))
    };
    let mut ranges: Vec<_> = attributes.iter().map(range).collect();
    ranges.sort_unstable();
    let (first, mut end) = *ranges.first()?;
    let mut has_gaps = false;
    for (from, to) in ranges {
        has_gaps |= from > end || to == u32::MAX;
        end = end.max(to);
    }
    Some(((first, end), has_gaps))
}

/// The locations of inputs that the vertex shader of a module loads; none for a module with several entry points. A matrix or an array only counts if
/// it is loaded as a whole.
pub(crate) fn loaded_locations(words: &[u32]) -> HashSet<u32> {
    const INPUT: u32 = 1;
    const LOCATION: u32 = 30;
    let (mut locations, mut inputs) = (HashMap::new(), HashMap::new());
    let (mut vectors, mut pointees) = (HashSet::new(), HashMap::new());
    let mut entry_points = 0;
    let mut loaded = HashSet::new();
    let mut in_function = false;
    for (operation, operands) in instructions(words) {
        match (operation, operands) {
            (op::ENTRY_POINT, _) => entry_points += 1,
            (op::DECORATE, [target, LOCATION, location, ..]) => _ = locations.insert(*target, *location),
            (op::TYPE_VECTOR, [result, ..]) => _ = vectors.insert(*result),
            (op::TYPE_POINTER, [result, INPUT, pointee, ..]) => _ = pointees.insert(*result, *pointee),
            (op::VARIABLE, [kind, result, INPUT, ..]) => _ = inputs.insert(*result, *kind),
            (op::FUNCTION, _) => in_function = true,
            (op::LOAD, [_, _, pointer, ..]) if in_function => _ = loaded.insert(*pointer),
            // A component of a vector.
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, _, base, ..]) => {
                let pointee = inputs.get(base).and_then(|kind| pointees.get(kind));
                if pointee.is_some_and(|pointee| vectors.contains(pointee)) {
                    loaded.insert(*base);
                }
            }
            _ => {}
        }
    }
    if entry_points != 1 {
        return HashSet::new();
    }
    let read = inputs.keys().filter(|variable| loaded.contains(*variable));
    read.filter_map(|variable| locations.get(variable).copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use tileheap_testkit::glsl::{Stage, compile};

    use super::*;

    fn loaded(source: &str) -> Vec<u32> {
        let all = loaded_locations(&compile(Stage::Vertex, source, 3));
        let mut all: Vec<u32> = all.into_iter().collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn shaders_read_the_inputs_that_they_load() {
        let source = "layout(location = 0) in vec4 position;
            layout(location = 1) in vec4 unused;
            layout(location = 2) in vec4 component;
            layout(location = 3) in mat4 column;
            layout(location = 7) in mat4 all;
            void main() { gl_Position = all * position * component.y + column[1]; }";
        assert_eq!(loaded(source), [0, 2, 7]);
        assert!(loaded_locations(&[]).is_empty());
    }

    const RGBA: vk::Format = vk::Format::R32G32B32A32_SFLOAT;

    /// A binding with two attributes of 16 bytes, in elements of `stride` bytes.
    fn binding(offsets: [u32; 2], stride: u32, read: &[u32]) -> VertexBinding {
        let bindings = [vk::VertexInputBindingDescription::default().stride(stride)];
        let attributes = [0, 1].map(|location| {
            vk::VertexInputAttributeDescription::default()
                .location(location)
                .format(RGBA)
                .offset(offsets[location as usize])
        });
        let state = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        VertexInput::new(&state, &read.iter().copied().collect()).bindings[0]
    }

    #[test]
    fn elements_without_gaps_are_dense_if_all_attributes_are_read() {
        let facts = |one: VertexBinding| (one.bytes, one.is_read, one.is_dense);
        assert_eq!(facts(binding([0, 16], 32, &[0, 1])), ((0, 32), true, true));
        assert_eq!(facts(binding([16, 0], 32, &[0])), ((0, 32), true, false));
        assert_eq!(facts(binding([0, 16], 32, &[])), ((0, 32), false, false));
        assert_eq!(facts(binding([4, 20], 48, &[0, 1])), ((4, 36), true, false));
        assert_eq!(facts(binding([0, 24], 40, &[0, 1])), ((0, 40), true, false));
    }

    #[test]
    fn divisors_and_rates_are_kept() {
        let bindings = [0, 1, 2].map(|binding| {
            vk::VertexInputBindingDescription::default()
                .binding(binding)
                .input_rate(vk::VertexInputRate::INSTANCE)
        });
        let attributes = [0, 1].map(|binding| {
            let attribute = vk::VertexInputAttributeDescription::default().binding(binding);
            attribute.location(binding).format(RGBA)
        });
        let divisors = [vk::VertexInputBindingDivisorDescriptionKHR::default()
            .binding(1)
            .divisor(4)];
        let mut divisors =
            vk::PipelineVertexInputDivisorStateCreateInfoKHR::default().vertex_binding_divisors(&divisors);
        let state = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes)
            .push_next(&mut divisors);
        let input = VertexInput::new(&state, &HashSet::new());
        let steps: Vec<_> = input.bindings.iter().map(|one| (one.binding, one.step)).collect();
        assert_eq!(steps, [(0, VertexStep::Instance), (1, VertexStep::Divided)]);
    }
}
