//! Entry points that bind pipelines and descriptors to command buffers. Untracked replacements (shader objects,
//! descriptor buffers) unbind them, and so are never reported.

use std::ffi::c_void;

use ash::vk;
use ash::vk::Handle;

use tileheap_layer::arrays::elements;

use super::recorder::{Recorder, recorded_commands};

recorded_commands! {
    /// Records the pipeline.
    fn vkCmdBindPipeline(commands, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) => commands |recorder| {
        recorder.lock().sets.bind_pipeline(point, pipeline);
    };

    /// Shader objects replace a pipeline.
    fn vkCmdBindShadersEXT(
        commands,
        count: u32,
        stages: *const vk::ShaderStageFlags,
        shaders: *const vk::ShaderEXT,
    ) => commands |recorder| {
        // SAFETY: Valid usage.
        for stages in unsafe { elements(stages, count) } {
            for point in points_of(*stages) {
                recorder.lock().sets.bind_pipeline(point, vk::Pipeline::null());
            }
        }
    };

    /// Records which sets are bound.
    fn vkCmdBindDescriptorSets(
        commands,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        first: u32,
        count: u32,
        sets: *const vk::DescriptorSet,
        offset_count: u32,
        offsets: *const u32,
    ) => commands |recorder| {
        // SAFETY: Valid usage: so many sets.
        let sets = (0..count as usize).map(|index| unsafe { *sets.wrapping_add(index) });
        recorder.lock().sets.bind_sets(point, first, sets);
    };

    /// As `vkCmdBindDescriptorSets`, by stages.
    fn vkCmdBindDescriptorSets2KHR(commands, info: *const vk::BindDescriptorSetsInfoKHR<'_>) => commands |recorder| {
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above.
        let sets = unsafe { elements(info.p_descriptor_sets, info.descriptor_set_count) };
        for point in points_of(info.stage_flags) {
            recorder.lock().sets.bind_sets(point, info.first_set, sets.iter().copied());
        }
    };

    /// Changes pushed descriptors.
    fn vkCmdPushDescriptorSetKHR(
        commands,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        index: u32,
        count: u32,
        writes: *const vk::WriteDescriptorSet<'_>,
    ) => commands |recorder| {
        // SAFETY: Valid usage.
        let writes = unsafe { elements(writes, count) };
        // SAFETY: As above.
        unsafe { push(recorder, point, index, writes) };
    };

    /// As `vkCmdPushDescriptorSetKHR`, by stages.
    fn vkCmdPushDescriptorSet2KHR(commands, info: *const vk::PushDescriptorSetInfoKHR<'_>) => commands |recorder| {
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above.
        let writes = unsafe { elements(info.p_descriptor_writes, info.descriptor_write_count) };
        for point in points_of(info.stage_flags) {
            // SAFETY: As above.
            unsafe { push(recorder, point, info.set, writes) };
        }
    };

    /// As `vkCmdPushDescriptorSetKHR`, by a template.
    fn vkCmdPushDescriptorSetWithTemplateKHR(
        commands,
        template: vk::DescriptorUpdateTemplate,
        layout: vk::PipelineLayout,
        index: u32,
        data: *const c_void,
    ) => commands |recorder| {
        // SAFETY: Valid usage: data for that template.
        unsafe { push_by_template(recorder, template, index, data) };
    };

    /// As `vkCmdPushDescriptorSetWithTemplateKHR`, in a structure.
    fn vkCmdPushDescriptorSetWithTemplate2KHR(
        commands,
        info: *const vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
    ) => commands |recorder| {
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        // SAFETY: As above.
        unsafe { push_by_template(recorder, info.descriptor_update_template, info.set, info.p_data) };
    };

    /// Descriptor buffers replace sets.
    fn vkCmdSetDescriptorBufferOffsetsEXT(
        commands,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        first: u32,
        count: u32,
        buffers: *const u32,
        offsets: *const vk::DeviceSize,
    ) => commands |recorder| unbind(recorder, point, first, count);

    /// As `vkCmdSetDescriptorBufferOffsetsEXT`, by stages.
    fn vkCmdSetDescriptorBufferOffsets2EXT(
        commands,
        info: *const vk::SetDescriptorBufferOffsetsInfoEXT<'_>,
    ) => commands |recorder| {
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        for point in points_of(info.stage_flags) {
            unbind(recorder, point, info.first_set, info.set_count);
        }
    };
}

/// The bind points of stages.
fn points_of(stages: vk::ShaderStageFlags) -> impl Iterator<Item = vk::PipelineBindPoint> {
    use vk::ShaderStageFlags as S;
    let graphics = S::ALL_GRAPHICS | S::TASK_EXT | S::MESH_EXT;
    let rays = S::RAYGEN_KHR
        | S::ANY_HIT_KHR
        | S::CLOSEST_HIT_KHR
        | S::MISS_KHR
        | S::INTERSECTION_KHR
        | S::CALLABLE_KHR;
    let points = [
        (graphics, vk::PipelineBindPoint::GRAPHICS),
        (S::COMPUTE, vk::PipelineBindPoint::COMPUTE),
        (rays, vk::PipelineBindPoint::RAY_TRACING_KHR),
    ];
    let reached = move |(own, point)| stages.intersects(own).then_some(point);
    points.into_iter().filter_map(reached)
}

/// # Safety
/// `writes` are valid.
unsafe fn push(
    recorder: &Recorder,
    point: vk::PipelineBindPoint,
    index: u32,
    writes: &[vk::WriteDescriptorSet<'_>],
) {
    recorder.lock().sets.push(point, index, |set| {
        for write in writes {
            // SAFETY: The caller's promise.
            unsafe { set.write(&recorder.device.resources, write) };
        }
    });
}

/// # Safety
/// `data` is what the template was made for.
unsafe fn push_by_template(
    recorder: &Recorder,
    template: vk::DescriptorUpdateTemplate,
    index: u32,
    data: *const c_void,
) {
    let Some(template) = recorder.device.descriptors.templates.get(template.as_raw()) else {
        return;
    };
    recorder.lock().sets.push(template.point, index, |set| {
        // SAFETY: The caller's promise.
        unsafe { set.write_by_template(&recorder.device.resources, &template, data) };
    });
}

fn unbind(recorder: &Recorder, point: vk::PipelineBindPoint, first: u32, count: u32) {
    let nothing = std::iter::repeat_n(vk::DescriptorSet::null(), count as usize);
    recorder.lock().sets.bind_sets(point, first, nothing);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_belong_to_bind_points() {
        use vk::PipelineBindPoint as P;
        let of = |stages| points_of(stages).collect::<Vec<_>>();
        assert_eq!(of(vk::ShaderStageFlags::FRAGMENT), [P::GRAPHICS]);
        assert_eq!(
            of(vk::ShaderStageFlags::MESH_EXT | vk::ShaderStageFlags::COMPUTE),
            [P::GRAPHICS, P::COMPUTE]
        );
        assert_eq!(
            of(vk::ShaderStageFlags::ALL),
            [P::GRAPHICS, P::COMPUTE, P::RAY_TRACING_KHR]
        );
        assert_eq!(of(vk::ShaderStageFlags::empty()), []);
    }
}
