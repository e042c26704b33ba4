//! Executes recordings: creates their resources, records and submits, and maps commands to steps.

use std::collections::HashMap;
use std::ffi::CString;

use ash::vk::{self, AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
use tileheap_testkit::objects::{Objects, command_buffers};

use crate::commands::clear_image;
use crate::device::{Gpu, Message};

use crate::pass_objects::PassObjects;
use crate::pipelines::Pipelines;
use crate::recording::*;
use crate::resources::{Form, Resources, range};

/// The position of a command in a layer's message: command buffer, number of action commands so far, and `true` if it is an action command.
pub(crate) type Position = (usize, u32, bool);

/// An executed recording: the messages of the layers, and the step of each command.
#[derive(Debug)]
pub(crate) struct Executed {
    pub(crate) messages: Vec<Message>,
    pub(crate) ids: HashMap<Position, u32>,
    /// The first step of the row that each step is in: consecutive barriers have one position.
    pub(crate) rows: HashMap<u32, u32>,
    /// The ends of passes in secondary command buffers, which do not have their own labels, by their begins.
    pub(crate) ends: HashMap<u32, u32>,
}

/// The state of executing a recording.
pub(crate) struct Executor<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) pipelines: &'a mut Pipelines,
    pub(crate) recording: &'a Recording,
    pub(crate) objects: Objects,
    pub(crate) resources: Resources,
    pub(crate) command_buffers: Vec<vk::CommandBuffer>,
    pub(crate) descriptors: vk::DescriptorPool,
    pub(crate) events: Vec<vk::Event>,
    pub(crate) passes: HashMap<u32, PassObjects>,
    pub(crate) ids: HashMap<Position, u32>,
    pub(crate) rows: HashMap<u32, u32>,
    pub(crate) ends: HashMap<u32, u32>,
    pub(crate) actions: u32,
    /// The pass of the steps that are recorded, and its subpass.
    pub(crate) pass: Option<(u32, u32)>,
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

    /// Transitions images to the general layout, writes everything, and waits.
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
        // Between the begin and the end of a pass in secondary command buffers, only they may be executed.
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
