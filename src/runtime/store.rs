//! Stores: the passes that copy split lifetimes out of tile memory, recorded by the runtime itself.
//!
//! ```text
//! pass 2 blur (the caller's) ──► store hdr: bind, barriers, begin, draw one triangle, end ──► pass 3 (the caller's)
//! ```
//! An image, or the part of it at the border of a strip, is drawn by a triangle that covers it: each texel is fetched and written as it is,
//! depth as `gl_FragDepth`. A buffer is copied word by word by a dispatch. The shaders are in `shaders/store`, with their SPIR-V in `compiled.rs`;
//! the feature `shaders` compiles them from source instead.

use ash::vk;

use super::device_state::DeviceState;
use super::encoded_frame::EncodedFrame;
use super::error::VkResultExt;
use super::owned::OwnedObjects;
use super::resources::Handles;
use super::swapped_copies::SwappedCopies;
use crate::Result;
use crate::frame::viewport;
use crate::lower::tables::ImageOrBuffer;
use crate::lower::tables::commands::{StoreRow, StoreShader};
use crate::lower::{Parity, PipelineTarget, PipelineTargets, STORE_GROUP};
use crate::plan::Plan;

#[allow(dead_code, unreachable_pub)]
mod shaders {
    #[cfg(feature = "shaders")]
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
    #[cfg(not(feature = "shaders"))]
    include!("../../shaders/store/compiled.rs");
}
use shaders::{STORE_COMP, STORE_FLOAT_FRAG, STORE_VERT, Shader, pool_sizes, set_layout_bindings};

impl StoreShader {
    /// The SPIR-V of each stage of the store's pipeline; the entry point of each is `main`.
    pub fn spirv(self) -> Vec<(vk::ShaderStageFlags, &'static [u32])> {
        let draw = [&STORE_VERT, self.reader()];
        let stages = if self == StoreShader::Buffer {
            &draw[1..]
        } else {
            &draw
        };
        stages.iter().map(|shader| (shader.stage, shader.words)).collect()
    }

    /// The shader that reads the resource to store.
    fn reader(self) -> &'static Shader {
        match self {
            StoreShader::Float => &STORE_FLOAT_FRAG,
            StoreShader::Int => &shaders::STORE_INT_FRAG,
            StoreShader::Uint => &shaders::STORE_UINT_FRAG,
            StoreShader::Depth => &shaders::STORE_DEPTH_FRAG,
            StoreShader::Buffer => &STORE_COMP,
        }
    }
}

const _: () = assert!(STORE_COMP.local_size[0] as u64 == STORE_GROUP);

/// The objects with which the commands of a store pass are recorded.
pub(super) struct StorePass {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    /// The descriptor set of each parity.
    sets: Vec<vk::DescriptorSet>,
    /// Number of workgroups that store a buffer; 0 for images, which are drawn.
    groups: u32,
}

/// Creates everything that is needed to record a plan's stores, per row of stores.
pub(super) fn create(
    state: &DeviceState,
    plan: &Plan,
    owned: &mut OwnedObjects,
    targets: &PipelineTargets,
    (first, copies, parities): (&EncodedFrame, &SwappedCopies, usize),
    handles: &Handles,
) -> Result<Vec<StorePass>> {
    let tables = &first.tables;
    if tables.stores.is_empty() {
        return Ok(Vec::new());
    }
    let pool = create_pool(state, owned, (tables.stores.len() * parities) as u32)?;
    let mut made = Vec::with_capacity(tables.stores.len());
    for row in &tables.stores {
        let pass = tables.accesses[row.source as usize].pass;
        let name = || plan.frame.pass(pass).name.clone();
        let reader = row.shader.reader();
        let (set_layout, layout) = create_layouts(state, owned, reader, name)?;
        let pipeline = match row.shader {
            StoreShader::Buffer => dispatch_pipeline(state, owned, layout, name)?,
            shader => {
                let target = targets.in_plan(pass, 0);
                let target = target.expect("images are stored in render passes");
                let area = plan.frame.pass(pass).area;
                draw_pipeline(
                    state,
                    owned,
                    (shader, [row.x, row.y]),
                    (target, area),
                    layout,
                    name,
                )?
            }
        };
        state.set_name(pipeline, &plan.frame.pass(pass).name);
        let set = |parity| {
            let used = |access: u32| {
                let row = &tables.accesses[access as usize];
                let even = (row.object.get(), first.view_of(access as usize));
                let (object, view) = copies.used_in(parity, access as usize, even);
                (object, view, row.layout)
            };
            write_set(state, row, used, pool, set_layout, handles)
        };
        let parities = [Parity::Even, Parity::Odd].into_iter().take(parities);
        made.push(StorePass {
            pipeline,
            layout,
            sets: parities.map(set).collect::<Result<_>>()?,
            groups: row.groups,
        });
    }
    Ok(made)
}

impl StorePass {
    /// Records the store's draw, restricted to `area`, or its dispatch. Records nothing if a draw has no area.
    ///
    /// # Safety
    /// `commands` is recording in the store's pass, begun with its barriers recorded, in this area if it draws.
    pub(super) unsafe fn record(
        &self,
        state: &DeviceState,
        commands: vk::CommandBuffer,
        parity: usize,
        area: Option<vk::Rect2D>,
    ) {
        if self.groups == 0 && area.is_none() {
            return;
        }
        let device = &state.device;
        let set = self.sets[parity % self.sets.len()];
        let point = match self.groups {
            0 => vk::PipelineBindPoint::GRAPHICS,
            _ => vk::PipelineBindPoint::COMPUTE,
        };
        // SAFETY: the pipeline is of this kind, made for this pass's target.
        unsafe { device.cmd_bind_pipeline(commands, point, self.pipeline) };
        // SAFETY: the set is of the layout's only set layout.
        unsafe { device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[set], &[]) };
        if let Some(area) = area {
            // SAFETY: inside the render pass; the scissor is dynamic state of the pipeline.
            unsafe { device.cmd_set_scissor(commands, 0, &[area]) };
        }
        match self.groups {
            // SAFETY: inside the render pass; the viewport is the pipeline's own.
            0 => unsafe { device.cmd_draw(commands, 3, 1, 0, 0) },
            // SAFETY: within every device's limit; the set's buffers are the plan's.
            groups => unsafe { device.cmd_dispatch(commands, groups, 1, 1) },
        }
    }
}

fn create_pool(state: &DeviceState, owned: &mut OwnedObjects, sets: u32) -> Result<vk::DescriptorPool> {
    // Enough descriptors of each kind, as if all stores were of that kind.
    let of = |shader: &'static Shader| pool_sizes(&set_layout_bindings(&[shader], 0), sets);
    let sizes = [of(&STORE_FLOAT_FRAG), of(&STORE_COMP)].concat();
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(sets)
        .pool_sizes(&sizes);
    // SAFETY: no size is 0.
    let pool = unsafe { state.device.create_descriptor_pool(&info, None) };
    let pool = pool.with_call("vkCreateDescriptorPool", || "stores")?;
    owned.descriptor_pools.push(pool);
    Ok(pool)
}

fn create_layouts(
    state: &DeviceState,
    owned: &mut OwnedObjects,
    reader: &'static Shader,
    name: impl Fn() -> String,
) -> Result<(vk::DescriptorSetLayout, vk::PipelineLayout)> {
    let bindings = set_layout_bindings(&[reader], 0);
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the bindings are the shader's.
    let set_layout = unsafe { state.device.create_descriptor_set_layout(&info, None) }
        .with_call("vkCreateDescriptorSetLayout", &name)?;
    owned.set_layouts.push(set_layout);
    let set_layouts = [set_layout];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
    // SAFETY: the set layout is alive.
    let layout = unsafe { state.device.create_pipeline_layout(&info, None) }
        .with_call("vkCreatePipelineLayout", &name)?;
    owned.pipeline_layouts.push(layout);
    Ok((set_layout, layout))
}

/// Allocates and writes a descriptor set with the source of a store and, for buffers, its target; `used` returns the object that an access uses, its view and
/// its layout.
fn write_set(
    state: &DeviceState,
    row: &StoreRow,
    used: impl Fn(u32) -> (ImageOrBuffer, vk::ImageView, vk::ImageLayout),
    pool: vk::DescriptorPool,
    set_layout: vk::DescriptorSetLayout,
    handles: &Handles,
) -> Result<vk::DescriptorSet> {
    let set_layouts = [set_layout];
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&set_layouts);
    // SAFETY: pool and layout are alive, and the pool has room for all sets.
    let sets = unsafe { state.device.allocate_descriptor_sets(&info) };
    let set = sets.with_call("vkAllocateDescriptorSets", || "a store")?[0];
    // The second access of an image is the attachment, which has no descriptor.
    for (binding, access) in row.shader.reader().bindings.iter().zip([row.source, row.target]) {
        let (object, view, layout) = used(access);
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding.binding)
            .descriptor_type(binding.descriptor_type);
        let (images, buffers);
        let write = match object {
            ImageOrBuffer::Image(_) => {
                images = [vk::DescriptorImageInfo::default()
                    .image_view(view)
                    .image_layout(layout)];
                write.image_info(&images)
            }
            ImageOrBuffer::Buffer(buffer) => {
                let buffer = handles.buffers[buffer as usize];
                buffers = [vk::DescriptorBufferInfo {
                    buffer: buffer.handle,
                    offset: buffer.offset,
                    range: buffer.size,
                }];
                write.buffer_info(&buffers)
            }
        };
        // SAFETY: the set is new, of a layout with this binding; views and buffers are the plan's.
        unsafe { state.device.update_descriptor_sets(&[write], &[]) };
    }
    Ok(set)
}

fn draw_pipeline(
    state: &DeviceState,
    owned: &mut OwnedObjects,
    (shader, moved): (StoreShader, [i32; 2]),
    (target, area): (&PipelineTarget, vk::Rect2D),
    layout: vk::PipelineLayout,
    name: impl Fn() -> String,
) -> Result<vk::Pipeline> {
    let vertex = Module::new(state, &STORE_VERT, &name)?;
    let fragment = Module::new(state, shader.reader(), &name)?;
    let entry = |constant_id| vk::SpecializationMapEntry {
        constant_id,
        offset: 4 * constant_id,
        size: 4,
    };
    let (entries, data) = ([entry(0), entry(1)], moved.map(i32::to_ne_bytes).concat());
    let constants = vk::SpecializationInfo::default()
        .map_entries(&entries)
        .data(&data);
    let stages = [vertex.stage(), fragment.stage().specialization_info(&constants)];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewports = [viewport(area)];
    let drawn = vk::PipelineViewportStateCreateInfo::default()
        .viewports(&viewports)
        .scissor_count(1);
    // A frame may copy less than all of the area.
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&[vk::DynamicState::SCISSOR]);
    let rasterization = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(target.samples);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(shader == StoreShader::Depth)
        .depth_write_enable(shader == StoreShader::Depth)
        .depth_compare_op(vk::CompareOp::ALWAYS);
    let written =
        [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend =
        vk::PipelineColorBlendStateCreateInfo::default().attachments(&written[..target.color_formats.len()]);
    let mut rendering = target.rendering();
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&drawn)
        .rasterization_state(&rasterization)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout);
    let info = target.attach(info, &mut rendering);
    // SAFETY: the shaders are the crate's own, with the layout's one binding; the target is the pass's.
    let made = unsafe {
        state
            .device
            .create_graphics_pipelines(vk::PipelineCache::null(), &[info], None)
    };
    keep(owned, made, "vkCreateGraphicsPipelines", name)
}

fn dispatch_pipeline(
    state: &DeviceState,
    owned: &mut OwnedObjects,
    layout: vk::PipelineLayout,
    name: impl Fn() -> String,
) -> Result<vk::Pipeline> {
    let module = Module::new(state, &STORE_COMP, &name)?;
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(module.stage())
        .layout(layout);
    // SAFETY: the shader is the crate's own, with the layout's two bindings.
    let made = unsafe {
        state
            .device
            .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
    };
    keep(owned, made, "vkCreateComputePipelines", name)
}

type CreatedPipelines = std::result::Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>;

fn keep(
    owned: &mut OwnedObjects,
    made: CreatedPipelines,
    call: &'static str,
    name: impl Fn() -> String,
) -> Result<vk::Pipeline> {
    let made = made.map_err(|(_, result)| result).with_call(call, name)?;
    owned.pipelines.push(made[0]);
    Ok(made[0])
}

/// A shader module, destroyed once its pipeline has been created.
struct Module<'a> {
    state: &'a DeviceState,
    stage: vk::ShaderStageFlags,
    handle: vk::ShaderModule,
}

impl<'a> Module<'a> {
    fn new(state: &'a DeviceState, shader: &Shader, name: impl Fn() -> String) -> Result<Module<'a>> {
        let info = vk::ShaderModuleCreateInfo::default().code(shader.words);
        // SAFETY: the words are the crate's own, valid for Vulkan 1.1.
        let handle = unsafe { state.device.create_shader_module(&info, None) }
            .with_call("vkCreateShaderModule", name)?;
        Ok(Module {
            state,
            stage: shader.stage,
            handle,
        })
    }

    fn stage<'i>(&self) -> vk::PipelineShaderStageCreateInfo<'i> {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(self.stage)
            .module(self.handle)
            .name(c"main")
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: pipelines do not need it once they are created.
        unsafe { self.state.device.destroy_shader_module(self.handle, None) };
    }
}

#[cfg(all(test, feature = "shaders"))]
mod tests {
    #[allow(dead_code, unreachable_pub)]
    mod shipped {
        include!("../../shaders/store/compiled.rs");
    }

    /// With `TILEHEAP_REWRITE=1`, writes `shaders/store/compiled.rs`. A compiler of another version may write other words.
    #[test]
    fn the_compiled_shaders_match_their_sources() {
        let compiled = include_str!(concat!(env!("OUT_DIR"), "/shaders.rs"));
        if std::env::var_os("TILEHEAP_REWRITE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/store/compiled.rs");
            std::fs::write(path, compiled).unwrap();
            return;
        }
        let [ours, theirs] = [&shipped::STORE_VERT.words, &super::STORE_VERT.words].map(|words| words[2]);
        if ours == theirs {
            let shipped = include_str!("../../shaders/store/compiled.rs");
            assert!(compiled == shipped, "run this test with TILEHEAP_REWRITE=1");
        }
        let bindings = |text: &str| text.lines().filter(|line| line.contains("Binding {")).count();
        assert_eq!(
            bindings(compiled),
            bindings(include_str!("../../shaders/store/compiled.rs"))
        );
    }
}
