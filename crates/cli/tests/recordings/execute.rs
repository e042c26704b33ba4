//! Executes recordings: creates their resources, records and submits, and tells which step a command was.

use std::collections::HashMap;
use std::ffi::CString;

use ash::vk::{self, AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
use tileheap_testkit::objects::{Objects, command_buffers};

use crate::device::{Gpu, Message};
use crate::masks;
use crate::pass_objects::PassObjects;
use crate::pipelines::{GraphicsKey, Pipeline, Pipelines};
use crate::recording::*;
use crate::resources::{Form, Resources, range};

/// Where the layer says that a command is: command buffer, action commands so far, and whether it is one of them.
pub(crate) type Position = (usize, u32, bool);

/// An executed recording: what the layers said, and which step each command was.
#[derive(Debug)]
pub(crate) struct Executed {
    pub(crate) messages: Vec<Message>,
    pub(crate) ids: HashMap<Position, u32>,
    /// The first step of the row that each step is in: barriers in a row have one position.
    pub(crate) rows: HashMap<u32, u32>,
    /// The ends of passes in secondary command buffers, which have no labels of their own, by their beginnings.
    pub(crate) ends: HashMap<u32, u32>,
}

struct Executor<'a> {
    gpu: &'a Gpu,
    pipelines: &'a mut Pipelines,
    recording: &'a Recording,
    objects: Objects,
    resources: Resources,
    command_buffers: Vec<vk::CommandBuffer>,
    descriptors: vk::DescriptorPool,
    events: Vec<vk::Event>,
    passes: HashMap<u32, PassObjects>,
    ids: HashMap<Position, u32>,
    rows: HashMap<u32, u32>,
    ends: HashMap<u32, u32>,
    actions: u32,
    /// The pass of the steps that are recorded, and its subpass.
    pass: Option<(u32, u32)>,
}

/// Executes a recording.
///
/// # Panics
/// If a call fails.
pub(crate) fn execute(gpu: &Gpu, pipelines: &mut Pipelines, recording: &Recording, form: Form) -> Executed {
    let objects = Objects::default();
    let resources = Resources::new(gpu, &objects, recording, form);
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(gpu.family);
    let pool = objects.create(&gpu.device, &info);
    let handles = |level| {
        command_buffers(
            &gpu.device,
            pool,
            level,
            recording.command_buffers.len() as u32 + 1,
        )
    };
    let primaries = handles(vk::CommandBufferLevel::PRIMARY);
    let secondaries = handles(vk::CommandBufferLevel::SECONDARY);
    let all = recording
        .command_buffers
        .iter()
        .zip(primaries.iter().zip(&secondaries));
    let command_buffers = all.map(|(one, (primary, secondary))| match one.secondary {
        None => *primary,
        Some(_) => *secondary,
    });
    let kinds = [Use::Uniform, Use::Read, Use::Sample, Use::Store, Use::Input];
    let sizes = kinds.map(|used| {
        vk::DescriptorPoolSize::default()
            .ty(used.descriptor())
            .descriptor_count(512)
    });
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(256)
        .pool_sizes(&sizes);
    let mut executor = Executor {
        gpu,
        pipelines,
        recording,
        descriptors: objects.create(&gpu.device, &info),
        events: Vec::new(),
        resources,
        command_buffers: command_buffers.collect(),
        passes: HashMap::new(),
        ids: HashMap::new(),
        rows: HashMap::new(),
        ends: HashMap::new(),
        actions: 0,
        pass: None,
        objects,
    };
    executor.create();
    executor.initialize(primaries[recording.command_buffers.len()]);
    gpu.take_messages();
    executor.record_all();
    executor.submit_all();
    let messages = gpu.take_messages();
    executor.objects.destroy(&gpu.device);
    Executed {
        messages,
        ids: executor.ids,
        rows: executor.rows,
        ends: executor.ends,
    }
}

impl Executor<'_> {
    fn create(&mut self) {
        for _ in 0..self.recording.events {
            self.events.push(
                self.objects
                    .create(&self.gpu.device, &vk::EventCreateInfo::default()),
            );
        }
        for (index, commands) in self.command_buffers.iter().enumerate() {
            self.gpu.name(*commands, &format!("cb{index}"));
        }
        for (_, step) in self.recording.steps() {
            if let Command::BeginPass(pass) = &step.command {
                let objects = PassObjects::new(self.gpu, &self.objects, pass, &self.resources);
                self.passes.insert(step.id, objects);
            }
        }
    }

    fn begin(&self, commands: vk::CommandBuffer, secondary: Option<Inheritance>) {
        let formats = [ImageKind::Color.format()];
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default();
        let mut inheritance = vk::CommandBufferInheritanceInfo::default();
        let mut flags = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        if let Some(Inheritance::Inside { begin, subpass }) = secondary {
            flags |= vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
            let pass = &self.passes[&begin];
            if pass.pass.is_dynamic {
                rendering = rendering
                    .color_attachment_formats(&formats)
                    .rasterization_samples(pass.pass.attachments[0].kind.samples());
                if pass.pass.subpasses[0].depth.is_some() {
                    rendering = rendering.depth_attachment_format(ImageKind::Depth.format());
                }
                inheritance = inheritance.push_next(&mut rendering);
            } else {
                inheritance = inheritance
                    .render_pass(pass.render_pass)
                    .subpass(subpass)
                    .framebuffer(pass.framebuffer);
            }
        }
        let mut info = vk::CommandBufferBeginInfo::default().flags(flags);
        if secondary.is_some() {
            info = info.inheritance_info(&inheritance);
        }
        // SAFETY: not pending; the inheritance is that of the pass which executes it.
        unsafe { self.gpu.device.begin_command_buffer(commands, &info) }.expect("recording begins");
    }

    fn end(&self, commands: vk::CommandBuffer) {
        // SAFETY: recording.
        unsafe { self.gpu.device.end_command_buffer(commands) }.expect("recording ends");
    }

    /// Brings images into the general layout, writes everything, and waits.
    fn initialize(&self, commands: vk::CommandBuffer) {
        let device = &self.gpu.device;
        self.begin(commands, None);
        let everything = vk::MemoryBarrier2::default()
            .src_stage_mask(S::ALL_COMMANDS)
            .src_access_mask(A::MEMORY_WRITE)
            .dst_stage_mask(S::ALL_COMMANDS)
            .dst_access_mask(A::MEMORY_READ | A::MEMORY_WRITE);
        let barrier = |images: &[vk::ImageMemoryBarrier2<'_>]| {
            let memory = [everything];
            let info = vk::DependencyInfo::default()
                .memory_barriers(&memory)
                .image_memory_barriers(images);
            // SAFETY: recording; images of this device.
            unsafe { device.cmd_pipeline_barrier2(commands, &info) };
        };
        for (index, resource) in self.recording.resources.iter().enumerate() {
            match self.recording.places[resource.place] {
                Place::Texels(kind) => {
                    let all = range(kind, 0, kind.layers());
                    let image = self.resources.images[index];
                    barrier(&[vk::ImageMemoryBarrier2::default()
                        .src_stage_mask(S::ALL_COMMANDS)
                        .dst_stage_mask(S::ALL_COMMANDS)
                        .dst_access_mask(A::MEMORY_READ | A::MEMORY_WRITE)
                        .new_layout(L::GENERAL)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .image(image)
                        .subresource_range(all)]);
                    clear_image(device, commands, kind, image, L::GENERAL, all);
                }
                Place::Cells(_) => {
                    let cells = Cells {
                        buffer: index,
                        first: 0,
                        count: resource.count,
                    };
                    let (buffer, offset, size) = self.resources.bytes(self.recording, cells);
                    // SAFETY: recording; bytes of the buffer.
                    unsafe { device.cmd_fill_buffer(commands, buffer, offset, size, 0) };
                    barrier(&[]);
                }
                Place::Parameters => {
                    let cells = Cells {
                        buffer: index,
                        first: 0,
                        count: 1,
                    };
                    self.update(commands, cells);
                    barrier(&[]);
                }
            }
        }
        barrier(&[]);
        self.end(commands);
        self.submit(
            &Submit {
                command_buffer: 0,
                waits_at: None,
                is_waited_for: true,
            },
            commands,
            None,
            None,
        );
    }

    /// Writes parameters of a dispatch of one workgroup, and of a draw of one triangle.
    fn update(&self, commands: vk::CommandBuffer, cells: Cells) {
        let (buffer, offset, size) = self.resources.bytes(self.recording, cells);
        let mut words = vec![0u8; size as usize];
        for (index, word) in [1u32, 1, 1, 0, 3, 1, 0, 0].into_iter().enumerate() {
            words[index * 4..][..4].copy_from_slice(&word.to_le_bytes());
        }
        // SAFETY: recording; bytes of the buffer, at most 64 KiB.
        unsafe {
            self.gpu
                .device
                .cmd_update_buffer(commands, buffer, offset, &words)
        };
    }

    /// Records secondary command buffers before those that execute them.
    fn record_all(&mut self) {
        let all = self.recording.command_buffers.iter().enumerate();
        let (secondaries, primaries): (Vec<_>, Vec<_>) = all.partition(|(_, one)| one.secondary.is_some());
        for (index, one) in secondaries.into_iter().chain(primaries) {
            let commands = self.command_buffers[index];
            self.begin(commands, one.secondary);
            self.actions = 0;
            self.pass = match one.secondary {
                Some(Inheritance::Inside { begin, subpass }) => Some((begin, subpass)),
                _ => None,
            };
            let mut row = None;
            for step in &one.steps {
                let is_action = !matches!(
                    step.command,
                    Command::Barrier(_)
                        | Command::SetEvent { .. }
                        | Command::WaitEvent { .. }
                        | Command::NextSubpass { .. }
                );
                self.actions += u32::from(is_action);
                let first = if is_action {
                    step.id
                } else {
                    *row.get_or_insert(step.id)
                };
                row = (!is_action).then_some(first);
                self.ids.insert((index, self.actions, is_action), first);
                self.rows.insert(step.id, first);
                self.step(commands, step);
            }
            self.end(commands);
        }
    }

    fn step(&mut self, commands: vk::CommandBuffer, step: &Step) {
        // Between the beginning and the end of a pass in secondary command buffers, only they may be executed.
        let in_secondaries = self.pass.is_some_and(|(begin, subpass)| {
            subpass == 0 && self.passes[&begin].pass.secondaries && !self.is_secondary(commands)
        });
        let begins_label = !in_secondaries;
        let ends_label = match &step.command {
            Command::BeginPass(pass) => !pass.secondaries,
            Command::EndPass | Command::NextSubpass { .. } => true,
            _ => !in_secondaries,
        };
        if in_secondaries {
            let (begin, _) = self.pass.expect("a pass");
            self.ends.entry(begin).or_insert(step.id);
            if matches!(step.command, Command::EndPass | Command::NextSubpass { .. }) {
                self.ends.insert(begin, step.id);
            }
        }
        if begins_label {
            let name = CString::new(format!("s{}", step.id)).expect("no NUL");
            let label = vk::DebugUtilsLabelEXT::default().label_name(&name);
            // SAFETY: recording.
            unsafe { self.gpu.labels.cmd_begin_debug_utils_label(commands, &label) };
        }
        self.command(commands, step);
        if ends_label {
            // SAFETY: recording, after a label began.
            unsafe { self.gpu.labels.cmd_end_debug_utils_label(commands) };
        }
    }

    fn is_secondary(&self, commands: vk::CommandBuffer) -> bool {
        let all = self.recording.command_buffers.iter().zip(&self.command_buffers);
        all.into_iter()
            .any(|(one, handle)| *handle == commands && one.secondary.is_some())
    }

    fn command(&mut self, commands: vk::CommandBuffer, step: &Step) {
        let device = &self.gpu.device;
        let bytes = |cells| self.resources.bytes(self.recording, cells);
        let image = |layer: Layer| self.resources.images[layer.image];
        // SAFETY: recording; objects of this recording, in layouts that it keeps.
        unsafe {
            match &step.command {
                Command::Fill(cells) => {
                    let (buffer, offset, size) = bytes(*cells);
                    device.cmd_fill_buffer(commands, buffer, offset, size, step.id);
                }
                Command::Update(cells) => self.update(commands, *cells),
                Command::CopyBuffer { from, to } => {
                    let ((source, src_offset, size), (target, dst_offset, _)) = (bytes(*from), bytes(*to));
                    let region = vk::BufferCopy {
                        src_offset,
                        dst_offset,
                        size,
                    };
                    device.cmd_copy_buffer(commands, source, target, &[region]);
                }
                Command::CopyToImage { from, to, rows } => {
                    let (buffer, offset, _) = bytes(*from);
                    let region = texels_in_buffer(offset, *to, *rows);
                    device.cmd_copy_buffer_to_image(commands, buffer, image(*to), to.layout, &[region]);
                }
                Command::CopyFromImage { from, to, rows } => {
                    let (buffer, offset, _) = bytes(*to);
                    let region = texels_in_buffer(offset, *from, *rows);
                    device.cmd_copy_image_to_buffer(commands, image(*from), from.layout, buffer, &[region]);
                }
                Command::CopyImage { from, to, rows } => {
                    let origin = vk::Offset3D {
                        x: 0,
                        y: rows.first as i32,
                        z: 0,
                    };
                    let region = vk::ImageCopy::default()
                        .src_subresource(layers(*from))
                        .src_offset(origin)
                        .dst_subresource(layers(*to))
                        .dst_offset(origin)
                        .extent(vk::Extent3D {
                            width: SIDE,
                            height: rows.count,
                            depth: 1,
                        });
                    device.cmd_copy_image(
                        commands,
                        image(*from),
                        from.layout,
                        image(*to),
                        to.layout,
                        &[region],
                    );
                }
                Command::Blit { from, to } => {
                    let end = vk::Offset3D {
                        x: SIDE as i32,
                        y: SIDE as i32,
                        z: 1,
                    };
                    let region = vk::ImageBlit::default()
                        .src_subresource(layers(*from))
                        .src_offsets([vk::Offset3D::default(), end])
                        .dst_subresource(layers(*to))
                        .dst_offsets([vk::Offset3D::default(), end]);
                    let nearest = vk::Filter::NEAREST;
                    device.cmd_blit_image(
                        commands,
                        image(*from),
                        from.layout,
                        image(*to),
                        to.layout,
                        &[region],
                        nearest,
                    );
                }
                Command::ClearImage(layer) => {
                    let kind = self.recording.image_kind(layer.image);
                    let all = range(kind, layer.layer, 1);
                    clear_image(device, commands, kind, image(*layer), layer.layout, all);
                }
                Command::ResolveImage { from, to } => {
                    let region = vk::ImageResolve::default()
                        .src_subresource(layers(*from))
                        .dst_subresource(layers(*to))
                        .extent(vk::Extent3D {
                            width: SIDE,
                            height: SIDE,
                            depth: 1,
                        });
                    device.cmd_resolve_image(
                        commands,
                        image(*from),
                        from.layout,
                        image(*to),
                        to.layout,
                        &[region],
                    );
                }
                Command::Dispatch { bindings, parameters } => {
                    let uses: Vec<Use> = bindings.iter().map(|one| one.used).collect();
                    let pipeline = self.pipelines.compute(self.gpu, &uses);
                    self.bind(commands, vk::PipelineBindPoint::COMPUTE, pipeline, bindings, None);
                    match parameters {
                        None => device.cmd_dispatch(commands, 1, 1, 1),
                        Some(buffer) => {
                            let (buffer, offset, _) = bytes(Cells {
                                buffer: *buffer,
                                first: 0,
                                count: 1,
                            });
                            device.cmd_dispatch_indirect(commands, buffer, offset);
                        }
                    }
                }
                Command::BeginPass(_) => {
                    self.pass = Some((step.id, 0));
                    self.passes[&step.id].begin(device, commands);
                }
                Command::Draw(draw) => self.draw(commands, draw),
                Command::ClearAttachment => {
                    let attachment = vk::ClearAttachment::default().aspect_mask(vk::ImageAspectFlags::COLOR);
                    let rect = vk::ClearRect {
                        rect: tileheap_testkit::objects::area(SIDE, SIDE),
                        base_array_layer: 0,
                        layer_count: 1,
                    };
                    device.cmd_clear_attachments(commands, &[attachment], &[rect]);
                }
                Command::NextSubpass { secondaries } => {
                    let (begin, subpass) = self.pass.expect("a pass");
                    self.pass = Some((begin, subpass + 1));
                    let contents = match secondaries {
                        true => vk::SubpassContents::SECONDARY_COMMAND_BUFFERS,
                        false => vk::SubpassContents::INLINE,
                    };
                    device.cmd_next_subpass(commands, contents);
                }
                Command::EndPass => {
                    let (begin, _) = self.pass.take().expect("a pass");
                    self.passes[&begin].end(device, commands);
                }
                Command::Execute(secondary) => {
                    device.cmd_execute_commands(commands, &[self.command_buffers[*secondary]]);
                }
                Command::Barrier(barrier) => self.barrier(commands, barrier, None),
                Command::WaitEvent { event, barrier } => {
                    self.barrier(commands, barrier, Some(self.events[*event]))
                }
                Command::SetEvent { event, barrier } => {
                    self.set_event(commands, self.events[*event], barrier)
                }
            }
        }
    }

    fn draw(&mut self, commands: vk::CommandBuffer, draw: &Draw) {
        let (begin, subpass) = self.pass.expect("a draw is in a pass");
        let pass = &self.passes[&begin];
        let key = GraphicsKey {
            uses: draw.bindings.iter().map(|one| one.used).collect(),
            has_vertices: draw.vertices.is_some(),
            is_multisampled: pass.pass.attachments[0].kind == ImageKind::Multisampled,
            has_depth: pass.pass.subpasses[subpass as usize].depth.is_some(),
            render_pass: (!pass.pass.is_dynamic).then_some((pass.render_pass, subpass)),
        };
        let input = pass.pass.subpasses[subpass as usize]
            .inputs
            .first()
            .map(|(_, layout)| *layout);
        let pipeline = self.pipelines.graphics(self.gpu, &key, &self.objects);
        self.bind(
            commands,
            vk::PipelineBindPoint::GRAPHICS,
            pipeline,
            &draw.bindings,
            input,
        );
        let device = &self.gpu.device;
        let bytes = |cells| self.resources.bytes(self.recording, cells);
        // SAFETY: recording in a pass that the pipeline was created for; bytes of the buffers.
        unsafe {
            if let Some(cells) = draw.vertices {
                let (buffer, offset, _) = bytes(cells);
                device.cmd_bind_vertex_buffers(commands, 0, &[buffer], &[offset]);
            }
            if let Some(cells) = draw.indices {
                let (buffer, offset, _) = bytes(cells);
                device.cmd_bind_index_buffer(commands, buffer, offset, vk::IndexType::UINT32);
                device.cmd_draw_indexed(commands, 3, 1, 0, 0, 0);
            } else if let Some(parameters) = draw.parameters {
                let (buffer, offset, _) = bytes(Cells {
                    buffer: parameters,
                    first: 0,
                    count: 1,
                });
                device.cmd_draw_indirect(commands, buffer, offset + 16, 1, 16);
            } else {
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
        }
    }

    /// Binds a pipeline and a new set.
    fn bind(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: Pipeline,
        bindings: &[Binding],
        input: Option<L>,
    ) {
        let device = &self.gpu.device;
        let layouts = [pipeline.set_layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.descriptors)
            .set_layouts(&layouts);
        // SAFETY: the pool has room for all draws and dispatches of a recording.
        let set = unsafe { device.allocate_descriptor_sets(&info) }.expect("a descriptor set")[0];
        for (index, binding) in (0..).zip(bindings) {
            let buffers;
            let images;
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(index)
                .descriptor_type(binding.used.descriptor());
            let write = match binding.target {
                Target::Cells(cells) => {
                    let (buffer, offset, range) = self.resources.bytes(self.recording, cells);
                    buffers = [vk::DescriptorBufferInfo {
                        buffer,
                        offset,
                        range,
                    }];
                    write.buffer_info(&buffers)
                }
                Target::Layer(layer) => {
                    let kind = self.recording.image_kind(layer.image);
                    let info = view_info(self.resources.images[layer.image], kind, layer.layer);
                    let view = self.objects.create(device, &info);
                    self.gpu.name(view, &format!("image {}", layer.image));
                    let layout = if binding.used == Use::Input {
                        input.unwrap_or(layer.layout)
                    } else {
                        layer.layout
                    };
                    images = [vk::DescriptorImageInfo::default()
                        .image_view(view)
                        .image_layout(layout)];
                    write.image_info(&images)
                }
            };
            // SAFETY: the set is new and not bound.
            unsafe { device.update_descriptor_sets(&[write], &[]) };
        }
        // SAFETY: recording; the set has the pipeline's layout.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline.handle);
            if !bindings.is_empty() {
                device.cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, &[set], &[]);
            }
        }
    }

    /// A barrier, or a wait for an event.
    fn barrier(&self, commands: vk::CommandBuffer, barrier: &Barrier, event: Option<vk::Event>) {
        let device = &self.gpu.device;
        if barrier.second {
            self.with_dependency(barrier, |info| {
                // SAFETY: recording outside of a pass; resources of this recording.
                unsafe {
                    match event {
                        None => device.cmd_pipeline_barrier2(commands, info),
                        Some(event) => {
                            device.cmd_wait_events2(commands, &[event], std::slice::from_ref(info))
                        }
                    }
                }
            });
            return;
        }
        let (source, destination) = masks::stages(&barrier.members);
        let source = masks::first_stages(source, vk::PipelineStageFlags::TOP_OF_PIPE);
        let destination = masks::first_stages(destination, vk::PipelineStageFlags::BOTTOM_OF_PIPE);
        let (mut memory, mut buffers, mut images) = (Vec::new(), Vec::new(), Vec::new());
        for member in &barrier.members {
            let [from, to] = [member.masks.source.1, member.masks.destination.1].map(masks::first_access);
            match member.scope {
                Scope::Memory => {
                    memory.push(
                        vk::MemoryBarrier::default()
                            .src_access_mask(from)
                            .dst_access_mask(to),
                    );
                }
                Scope::Buffer(cells) => {
                    let (buffer, offset, size) = self.resources.bytes(self.recording, cells);
                    let one = vk::BufferMemoryBarrier::default()
                        .src_access_mask(from)
                        .dst_access_mask(to)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    buffers.push(one.buffer(buffer).offset(offset).size(size));
                }
                Scope::Image {
                    image,
                    first,
                    count,
                    from: old,
                    to: new,
                } => {
                    let one = vk::ImageMemoryBarrier::default()
                        .src_access_mask(from)
                        .dst_access_mask(to)
                        .old_layout(old)
                        .new_layout(new)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    let kind = self.recording.image_kind(image);
                    let one = one.image(self.resources.images[image]);
                    images.push(one.subresource_range(range(kind, first, count)));
                }
            }
        }
        // SAFETY: recording outside of a pass; resources of this recording.
        unsafe {
            match event {
                None => {
                    let flags = vk::DependencyFlags::empty();
                    device.cmd_pipeline_barrier(
                        commands,
                        source,
                        destination,
                        flags,
                        &memory,
                        &buffers,
                        &images,
                    );
                }
                Some(event) => {
                    device.cmd_wait_events(
                        commands,
                        &[event],
                        source,
                        destination,
                        &memory,
                        &buffers,
                        &images,
                    );
                }
            }
        }
    }

    fn set_event(&self, commands: vk::CommandBuffer, event: vk::Event, barrier: &Barrier) {
        let device = &self.gpu.device;
        if barrier.second {
            // SAFETY: recording outside of a pass.
            self.with_dependency(barrier, |info| unsafe {
                device.cmd_set_event2(commands, event, info)
            });
        } else {
            let source = masks::first_stages(
                masks::stages(&barrier.members).0,
                vk::PipelineStageFlags::TOP_OF_PIPE,
            );
            // SAFETY: recording outside of a pass.
            unsafe { device.cmd_set_event(commands, event, source) };
        }
    }

    fn with_dependency(&self, barrier: &Barrier, record: impl FnOnce(&vk::DependencyInfo<'_>)) {
        let (mut memory, mut buffers, mut images) = (Vec::new(), Vec::new(), Vec::new());
        for member in &barrier.members {
            let Masks { source, destination } = member.masks;
            match member.scope {
                Scope::Memory => memory.push(
                    vk::MemoryBarrier2::default()
                        .src_stage_mask(source.0)
                        .src_access_mask(source.1)
                        .dst_stage_mask(destination.0)
                        .dst_access_mask(destination.1),
                ),
                Scope::Buffer(cells) => {
                    let (buffer, offset, size) = self.resources.bytes(self.recording, cells);
                    let one = vk::BufferMemoryBarrier2::default()
                        .src_stage_mask(source.0)
                        .src_access_mask(source.1)
                        .dst_stage_mask(destination.0)
                        .dst_access_mask(destination.1)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    buffers.push(one.buffer(buffer).offset(offset).size(size));
                }
                Scope::Image {
                    image,
                    first,
                    count,
                    from,
                    to,
                } => {
                    let one = vk::ImageMemoryBarrier2::default()
                        .src_stage_mask(source.0)
                        .src_access_mask(source.1)
                        .dst_stage_mask(destination.0)
                        .dst_access_mask(destination.1)
                        .old_layout(from)
                        .new_layout(to)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    let kind = self.recording.image_kind(image);
                    let one = one.image(self.resources.images[image]);
                    images.push(one.subresource_range(range(kind, first, count)));
                }
            }
        }
        let info = vk::DependencyInfo::default()
            .memory_barriers(&memory)
            .buffer_memory_barriers(&buffers)
            .image_memory_barriers(&images);
        record(&info);
    }

    fn submit_all(&self) {
        let submits = &self.recording.submits;
        let mut signaled = None;
        for (index, submit) in submits.iter().enumerate() {
            let waits = signaled.take();
            let next = submits.get(index + 1);
            if next.is_some_and(|next| next.waits_at.is_some()) {
                signaled = Some(
                    self.objects
                        .create(&self.gpu.device, &vk::SemaphoreCreateInfo::default()),
                );
            }
            self.submit(
                submit,
                self.command_buffers[submit.command_buffer],
                waits,
                signaled,
            );
        }
        // SAFETY: no other thread uses the queue.
        unsafe { self.gpu.device.queue_wait_idle(self.gpu.queue) }.expect("the queue is idle");
    }

    fn submit(
        &self,
        submit: &Submit,
        commands: vk::CommandBuffer,
        waits: Option<vk::Semaphore>,
        signals: Option<vk::Semaphore>,
    ) {
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
        let semaphore = |handle: vk::Semaphore, stages| {
            vk::SemaphoreSubmitInfo::default()
                .semaphore(handle)
                .stage_mask(stages)
        };
        let stages = submit.waits_at.unwrap_or_default();
        let waits: Vec<_> = waits
            .map(|handle| semaphore(handle, stages))
            .into_iter()
            .collect();
        let signals: Vec<_> = signals
            .map(|handle| semaphore(handle, S::ALL_COMMANDS))
            .into_iter()
            .collect();
        let batch = vk::SubmitInfo2::default()
            .command_buffer_infos(&commands)
            .wait_semaphore_infos(&waits)
            .signal_semaphore_infos(&signals);
        let device = &self.gpu.device;
        // SAFETY: recorded; no other thread uses the queue.
        unsafe {
            device
                .queue_submit2(self.gpu.queue, &[batch], vk::Fence::null())
                .expect("submitted");
            if submit.is_waited_for {
                device.queue_wait_idle(self.gpu.queue).expect("the queue is idle");
            }
        }
    }
}

pub(crate) fn view_info(image: vk::Image, kind: ImageKind, layer: u32) -> vk::ImageViewCreateInfo<'static> {
    vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(kind.format())
        .subresource_range(range(kind, layer, 1))
}

fn layers(layer: Layer) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: 0,
        base_array_layer: layer.layer,
        layer_count: 1,
    }
}

fn texels_in_buffer(offset: u64, layer: Layer, rows: Rows) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default()
        .buffer_offset(offset)
        .image_subresource(layers(layer))
        .image_offset(vk::Offset3D {
            x: 0,
            y: rows.first as i32,
            z: 0,
        })
        .image_extent(vk::Extent3D {
            width: SIDE,
            height: rows.count,
            depth: 1,
        })
}

fn clear_image(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    kind: ImageKind,
    image: vk::Image,
    layout: L,
    range: vk::ImageSubresourceRange,
) {
    // SAFETY: recording; layers of the image, in this layout.
    unsafe {
        match kind {
            ImageKind::Depth => {
                let value = vk::ClearDepthStencilValue {
                    depth: 1.0,
                    stencil: 0,
                };
                device.cmd_clear_depth_stencil_image(commands, image, layout, &value, &[range]);
            }
            _ => {
                let value = vk::ClearColorValue { float32: [0.5; 4] };
                device.cmd_clear_color_image(commands, image, layout, &value, &[range]);
            }
        }
    }
}
