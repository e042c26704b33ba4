//! Pipelines, cached by kernel and storage scopes (the RFC's L1.3).

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;

use super::kernel::{ARGUMENT_BYTES, Kernel, KernelKey, KernelSet};
use super::operand::OperandLayout;
use crate::error::{Error, Result};
use tileheap::runtime::Device;
use tileheap::runtime::objects::VkResultExt;

/// The key of a pipeline: everything it is specialized for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipelineKey {
    /// The kernel.
    pub kernel: String,
    /// The layout of each operand.
    pub layouts: Vec<OperandLayout>,
    /// True if elements are stored in 16 bits.
    pub half: bool,
    /// The number of the function that the kernel computes, a specialization constant.
    pub function: u32,
    /// The activation function applied to each result, a specialization constant.
    pub activation: u32,
    /// Number of invocations of a workgroup along each axis.
    pub local_size: [u32; 3],
}

/// A kernel that can be dispatched.
pub(super) struct Pipeline {
    pub(super) handle: vk::Pipeline,
    pub(super) layout: vk::PipelineLayout,
    pub(super) set_layout: vk::DescriptorSetLayout,
    pub(super) kernel: Arc<Kernel>,
}

impl Pipeline {
    /// Checks that a call has as many operands as the kernel.
    pub(super) fn check_operands(&self, kernel: &str, count: usize) -> Result<()> {
        match self.kernel.operands.len() {
            own if own == count => Ok(()),
            own => Err(Error::kernel(
                kernel,
                format!("the kernel has {own} operands, but the node has {count}"),
            )),
        }
    }
}

/// The pipelines created on a device so far.
#[derive(Default)]
pub(super) struct Pipelines {
    kernels: KernelSet,
    by_key: BTreeMap<PipelineKey, Arc<Pipeline>>,
    /// The layouts of sets and pipelines, by the operands' descriptor types.
    layouts: BTreeMap<Vec<vk::DescriptorType>, (vk::DescriptorSetLayout, vk::PipelineLayout)>,
}

// Every device supports this many bytes of push constants.
const _: () = assert!(ARGUMENT_BYTES <= 128);

impl Pipelines {
    pub(super) fn new(kernels: KernelSet) -> Pipelines {
        Pipelines {
            kernels,
            ..Pipelines::default()
        }
    }

    /// The number of pipelines.
    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// The pipeline of a key, created on first use.
    pub(super) fn get(&mut self, device: &Device, key: &PipelineKey) -> Result<Arc<Pipeline>> {
        if let Some(pipeline) = self.by_key.get(key) {
            return Ok(pipeline.clone());
        }
        let kernel = self.kernels.get(&KernelKey {
            name: key.kernel.clone(),
            storage: key.layouts.iter().map(|layout| layout.storage).collect(),
            half: key.half,
        })?;
        let (set_layout, layout) = self.layout(device, &kernel)?;
        let handle = create_pipeline(device, key, &kernel, layout)?;
        let pipeline = Arc::new(Pipeline {
            handle,
            layout,
            set_layout,
            kernel,
        });
        self.by_key.insert(key.clone(), pipeline.clone());
        Ok(pipeline)
    }

    fn layout(
        &mut self,
        device: &Device,
        kernel: &Kernel,
    ) -> Result<(vk::DescriptorSetLayout, vk::PipelineLayout)> {
        let types = kernel.operands.iter().map(|operand| operand.descriptor_type());
        let types: Option<Vec<_>> = types.collect();
        let types = types.expect("`Kernel::new` rejects unsupported descriptor types");
        if let Some(layouts) = self.layouts.get(&types) {
            return Ok(*layouts);
        }
        let binding = |(binding, &kind): (u32, &vk::DescriptorType)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings: Vec<_> = (0..).zip(&types).map(binding).collect();
        let what = || "a kernel's operands";
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: one binding per operand.
        let set_layout = unsafe { device.raw().create_descriptor_set_layout(&info, None) }
            .with_call("vkCreateDescriptorSetLayout", what)?;
        let ranges = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: ARGUMENT_BYTES,
        }];
        let set_layouts = [set_layout];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&set_layouts)
            .push_constant_ranges(&ranges);
        // SAFETY: the set layout is alive; every device supports 128 bytes.
        let layout = unsafe { device.raw().create_pipeline_layout(&info, None) };
        if layout.is_err() {
            // SAFETY: just created, and used by nothing.
            unsafe { device.raw().destroy_descriptor_set_layout(set_layout, None) };
        }
        let layout = layout.with_call("vkCreatePipelineLayout", what)?;
        self.layouts.insert(types, (set_layout, layout));
        Ok((set_layout, layout))
    }

    /// Destroys all pipelines and layouts.
    ///
    /// # Safety
    /// Nothing is in use on the device.
    pub(super) unsafe fn destroy(&mut self, device: &Device) {
        for pipeline in std::mem::take(&mut self.by_key).into_values() {
            // SAFETY: the caller's duty.
            unsafe { device.raw().destroy_pipeline(pipeline.handle, None) };
        }
        for (set_layout, layout) in std::mem::take(&mut self.layouts).into_values() {
            // SAFETY: the caller's duty.
            unsafe { device.raw().destroy_pipeline_layout(layout, None) };
            // SAFETY: the caller's duty.
            unsafe { device.raw().destroy_descriptor_set_layout(set_layout, None) };
        }
    }
}

fn create_pipeline(
    device: &Device,
    key: &PipelineKey,
    kernel: &Kernel,
    layout: vk::PipelineLayout,
) -> Result<vk::Pipeline> {
    let what = || format!("kernel `{}` of {:?}", key.kernel, key.layouts);
    // The constant ids of `tensor.glsl`.
    let splits = (0..).zip(key.layouts.iter().map(|layout| layout.split));
    let others = [(4, key.function), (5, key.activation)];
    let local = (16..).zip(key.local_size);
    let constants: Vec<(u32, u32)> = splits.chain(others).chain(local).collect();
    let entry = |(index, &(constant_id, _)): (u32, &(u32, u32))| vk::SpecializationMapEntry {
        constant_id,
        offset: index * 4,
        size: 4,
    };
    let entries: Vec<_> = (0..).zip(&constants).map(entry).collect();
    let data: Vec<u8> = constants
        .iter()
        .flat_map(|(_, value)| value.to_ne_bytes())
        .collect();
    let specialization = vk::SpecializationInfo::default()
        .map_entries(&entries)
        .data(&data);
    let info = vk::ShaderModuleCreateInfo::default().code(&kernel.words);
    // SAFETY: the words were read as a module, with the entry point `main`.
    let module =
        unsafe { device.raw().create_shader_module(&info, None) }.with_call("vkCreateShaderModule", what)?;
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main")
        .specialization_info(&specialization);
    let infos = [vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout)];
    let cache = vk::PipelineCache::null();
    // SAFETY: the layout has the kernel's operands; a workgroup has at most 64 invocations, and every device supports 128.
    let made = unsafe { device.raw().create_compute_pipelines(cache, &infos, None) };
    // SAFETY: pipelines keep nothing of it.
    unsafe { device.raw().destroy_shader_module(module, None) };
    let made = made
        .map_err(|(_, result)| result)
        .with_call("vkCreateComputePipelines", what)?;
    // SAFETY: just created.
    unsafe { device.set_name(made[0], &key.kernel) };
    Ok(made[0])
}

/// Invocations per workgroup for a target of `[a, b, c, d]` vectors: as square as possible over columns and rows, at
/// most 64, so that neighboring texels are fetched together.
pub(super) fn local_size(extent: [u32; 4]) -> [u32; 3] {
    let [a, b, c, d] = extent;
    let fit = |wanted: u32, room: u32| wanted.clamp(1, room).next_power_of_two().min(room);
    let x = fit(d, 8);
    let y = fit(c, 64 / x).min(64 / x);
    let z = fit(a.saturating_mul(b), 64 / (x * y));
    [x, y, z]
}

/// The number of workgroups along each axis that cover a target.
fn groups(extent: [u32; 4], local: [u32; 3]) -> [u32; 3] {
    let [a, b, c, d] = extent;
    let sides = [d, c, a.saturating_mul(b)];
    std::array::from_fn(|axis| sides[axis].div_ceil(local[axis]))
}

/// The number of workgroups along each axis that cover a target, checked against the limits of the device.
///
/// # Errors
/// More workgroups along an axis than the device supports.
pub(super) fn checked_groups(
    device: &Device,
    kernel: &str,
    extent: [u32; 4],
    local: [u32; 3],
) -> Result<[u32; 3]> {
    let groups = groups(extent, local);
    let most = super::measure::limits(device).max_compute_work_group_count;
    if groups.iter().zip(&most).all(|(count, most)| count <= most) {
        return Ok(groups);
    }
    let problem = format!(
        "{groups:?} workgroups for {extent:?} vectors exceed the device's maxComputeWorkGroupCount {most:?}"
    );
    Err(Error::kernel(kernel, problem))
}

/// The push constants: shapes by operand, then parameters.
pub(super) fn arguments_of(shapes: impl Iterator<Item = [u32; 4]>, numbers: &[[i32; 4]; 4]) -> Vec<u8> {
    let shapes = shapes.chain(std::iter::repeat([1; 4])).take(4);
    let shapes = shapes.flatten().flat_map(u32::to_ne_bytes);
    let numbers = numbers
        .as_flattened()
        .iter()
        .flat_map(|number| number.to_ne_bytes());
    shapes.chain(numbers).collect()
}

/// Records a dispatch.
///
/// # Safety
/// `commands` is recording outside of a render pass; the set was created for the pipeline, and everything it refers to
/// is alive.
pub(super) unsafe fn dispatch(
    device: &Device,
    commands: vk::CommandBuffer,
    pipeline: &Pipeline,
    set: vk::DescriptorSet,
    arguments: &[u8],
    [x, y, z]: [u32; 3],
) {
    let (device, point) = (device.raw(), vk::PipelineBindPoint::COMPUTE);
    // SAFETY: recording (the caller's duty); the pipeline is alive.
    unsafe { device.cmd_bind_pipeline(commands, point, pipeline.handle) };
    // SAFETY: recording; the set was made for this layout.
    unsafe { device.cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, &[set], &[]) };
    let stages = vk::ShaderStageFlags::COMPUTE;
    // SAFETY: recording; the layout has a range of 128 bytes.
    unsafe { device.cmd_push_constants(commands, pipeline.layout, stages, 0, arguments) };
    // SAFETY: recording; the counts are within the limits.
    unsafe { device.cmd_dispatch(commands, x, y, z) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workgroups_are_square_where_they_can_be_and_never_above_64() {
        assert_eq!(local_size([1, 8, 40, 40]), [8, 8, 1]);
        assert_eq!(local_size([1, 320, 1, 1]), [1, 1, 64]);
        assert_eq!(local_size([1, 1, 1, 250]), [8, 1, 1]);
        assert_eq!(local_size([1, 8, 3, 3]), [4, 4, 4]);
        assert_eq!(groups([1, 8, 40, 40], [8, 8, 1]), [5, 5, 8]);
        for extent in [[1, 1, 1, 1], [7, 9, 11, 13], [1, 1, 5000, 1]] {
            assert!(local_size(extent).iter().product::<u32>() <= 64);
        }
    }
}
