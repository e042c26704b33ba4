//! The renderer: describes the frame when size, requests or switches change; selects, records and submits every frame.

use std::collections::HashMap;
use std::sync::Arc;

use ash::vk;
use egui::{Event, Key};
use tileheap::Checked;
use tileheap::arrange::Arrangement;
use tileheap::frame::tables::PassKind;
use tileheap::frame::{CommandBufferId, FrameBuilder, ResourceId};
use tileheap::plan::{Plan, PlanOptions};
use tileheap::runtime::{BoundFrame, Device, DynamicFrame, FrameNumber, Imports, PassCommands};

use crate::descriptors::{Input, Inputs};
use crate::frame::{Deferred, Switches, declare, describe};
use crate::frame_in_flight::FrameInFlight;
use crate::mesh::Meshes;
use crate::overlay::{Overlay, Request, View};
use crate::pass_recorder::PassRecorder;
use crate::pipelines::Pipelines;
use crate::scene::{Draw, Scene};
use crate::support::FRAMES_IN_FLIGHT;
use crate::support::arrangement::{self, Run};
use crate::support::descriptors::create_pool;
use crate::support::error::Result;
use crate::support::layer::Layer;
use crate::support::memory::{Allocator, HostBuffer};
use crate::support::output::{Output, Semaphores};
use crate::support::painter::{Flow, Painter, Screen};

/// The initial parameters of a renderer.
#[derive(Clone, Debug, Default)]
pub(crate) struct RendererDesc {
    pub(crate) options: PlanOptions,
    /// The arrangement of the frame; `None` for the frame as described.
    pub(crate) arrangement: Option<Arrangement>,
    pub(crate) request: Request,
    /// Renders at another resolution every frame.
    pub(crate) dynamic_resolution: bool,
    pub(crate) overlay: bool,
    /// Prints every plan that is applied, and the reason for every request that is refused, each with the number of the frame.
    pub(crate) prints_plans: bool,
}

pub(crate) struct Renderer {
    tile: Device,
    desc: RendererDesc,
    scene: Scene,
    draws: Vec<Draw>,
    meshes: Meshes,
    vertices: HostBuffer,
    indices: HostBuffer,
    pipelines: Pipelines,
    pub(crate) frames: DynamicFrame,
    /// The description of the frame in use.
    builder: FrameBuilder,
    /// The number of the frame that is bound for `builder`, and its plan.
    selected: u64,
    plan: Arc<Checked<Plan>>,
    /// Objects for each description, by the number of its bound frame.
    topologies: HashMap<u64, Topology>,
    screen: Screen,
    /// The resolution at which each view was last rendered.
    before: [vk::Extent2D; 2],
    queue: vk::Queue,
    /// Number of applied plans, including the first.
    applied: u64,
    overlay: Overlay,
    /// The reason why the last request was refused; `None` if it was not.
    refusal: Option<String>,
    layer: Layer,
    slot_pool: vk::DescriptorPool,
    slots: [FrameInFlight; FRAMES_IN_FLIGHT],
    /// The frame that uses each slot.
    pending: [Option<FrameNumber>; FRAMES_IN_FLIGHT],
    /// Frames drawn so far; all motion depends only on it.
    frame_index: u32,
}

/// The resolution of a frame with `--dynamic-resolution`: each side goes from full size by 64ths down to half, and back.
pub(crate) fn resolution(frame: u32, all: vk::Extent2D) -> vk::Extent2D {
    let share = 64 - (frame % 64).min(64 - frame % 64);
    let [width, height] = [all.width, all.height].map(|side| (side * share).div_ceil(64));
    vk::Extent2D { width, height }
}

/// Objects that depend on a description.
struct Topology {
    deferred: Deferred,
    inputs: Inputs,
    /// The last frame that used the objects.
    last: Option<FrameNumber>,
}

impl Renderer {
    pub(crate) fn new(
        tile: &Device,
        scene: Scene,
        screen: Screen,
        output: Output,
        desc: RendererDesc,
    ) -> Result<Renderer> {
        let device = tile.raw();
        let meshes = Meshes::build();
        let vertices = HostBuffer::holding(tile, &meshes.vertices, vk::BufferUsageFlags::VERTEX_BUFFER)?;
        let indices = HostBuffer::holding(tile, &meshes.indices, vk::BufferUsageFlags::INDEX_BUFFER)?;

        let deferred = describe(screen.extent, output)?.arranged(desc.arrangement.as_ref())?;
        let builder = desc.request.frame(deferred.arranged.frame()).to_builder();
        let mut frames = tile.dynamic_frame(desc.request.options(desc.options))?;
        let bound = frames.select(&builder)?;
        let pipelines = Pipelines::build(device, &deferred, bound.targets())?;
        let inputs = write_inputs(device, &deferred, &bound, &pipelines)?;
        let tone_map = deferred.parts.tone_map;
        let mut runs = deferred.arranged.executed_passes(tone_map);
        let runs_in = runs.next().expect("every described pass runs");
        let subpass = deferred
            .arranged
            .subpass_in(runs_in, tone_map)
            .expect("it runs there");
        let layer = Layer::new(tile, bound.target_in(runs_in, subpass))?;
        drop(runs);
        let sets = 2 * FRAMES_IN_FLIGHT;
        let slot_pool = create_pool(device, sets, &pipelines.shared.pool_sizes(sets))?;
        let queue = bound.queue(deferred.parts.graphics);
        let objects = scene.object_count();
        let memory = (device, Allocator::from(tile));
        let slot = || FrameInFlight::new(memory, queue.family, slot_pool, &pipelines.shared, objects);
        let slots = [slot()?, slot()?];
        let (selected, plan) = (bound.number(), bound.plan().clone());
        let topology = Topology {
            deferred,
            inputs,
            last: None,
        };
        let renderer = Renderer {
            tile: tile.clone(),
            overlay: Overlay::new(&plan, desc.request.clone(), desc.overlay),
            desc,
            draws: scene.draws(),
            scene,
            meshes,
            vertices,
            indices,
            pipelines,
            frames,
            builder,
            selected,
            plan,
            topologies: HashMap::from([(selected, topology)]),
            before: [screen.extent; 2],
            screen,
            queue: queue.handle,
            applied: 1,
            refusal: None,
            layer,
            slot_pool,
            slots,
            pending: [None; FRAMES_IN_FLIGHT],
            frame_index: 0,
        };
        renderer.print_plan();
        Ok(renderer)
    }

    /// The plan in use.
    pub(crate) fn plan(&self) -> &Arc<Checked<Plan>> {
        &self.plan
    }

    pub(crate) fn deferred(&self) -> &Deferred {
        &self.topologies[&self.selected].deferred
    }

    /// From now on, draws the frame with these switches on.
    pub(crate) fn switch(&mut self, on: Switches) -> Result<()> {
        let parts = declare(&mut self.builder, self.screen.extent, Output::Buffer, on);
        self.select(|bound| parts.of(bound.plan().described().clone()))
    }

    /// Selects the description, and creates what its passes need if it is new.
    fn select(&mut self, deferred: impl FnOnce(&BoundFrame) -> tileheap::Result<Deferred>) -> Result<()> {
        let bound = self.frames.select(&self.builder)?;
        (self.selected, self.plan) = (bound.number(), bound.plan().clone());
        if self.topologies.contains_key(&self.selected) {
            return Ok(());
        }
        let (device, deferred) = (self.tile.raw(), deferred(&bound)?);
        self.pipelines.add(device, &deferred, bound.targets())?;
        let inputs = write_inputs(device, &deferred, &bound, &self.pipelines)?;
        let topology = Topology {
            deferred,
            inputs,
            last: None,
        };
        self.topologies.insert(self.selected, topology);
        // Destroys topologies that are neither bound nor in use.
        let completed = self.frames.completed()?;
        let bound: Vec<u64> = self.frames.bound().map(BoundFrame::number).collect();
        self.topologies.retain(|number, topology| {
            let kept = bound.contains(number) || topology.last > completed;
            if !kept {
                // SAFETY: its last frame is complete.
                unsafe { topology.inputs.destroy(device) };
            }
            kept
        });
        Ok(())
    }

    /// Selects the frame with the requested constraints; if that fails, keeps the current one.
    fn apply(&mut self, deferred: Deferred) -> Result<()> {
        let request = &self.overlay.request;
        let builder = request.frame(deferred.arranged.frame()).to_builder();
        self.frames.set_options(request.options(self.desc.options));
        let former = std::mem::replace(&mut self.builder, builder);
        if let Err(fault) = self.select(|_| Ok(deferred)) {
            self.builder = former;
            self.frames
                .set_options(self.desc.request.options(self.desc.options));
            return Err(fault);
        }
        self.desc.request = self.overlay.request.clone();
        self.applied += 1;
        self.print_plan();
        Ok(())
    }

    /// Plans again if the request has changed, while frames are in flight.
    fn replan(&mut self) {
        if self.overlay.request == self.desc.request {
            return;
        }
        let applied = self.apply(self.deferred().clone());
        self.refusal = applied.err().map(|fault| fault.to_string());
        if let Some(fault) = &self.refusal {
            self.overlay.request = self.desc.request.clone();
            if self.desc.prints_plans {
                println!("frame {}: refused: {fault}", self.frame_index);
            }
        }
    }

    fn print_plan(&self) {
        if !self.desc.prints_plans {
            return;
        }
        let (plan, request) = (&self.plan, &self.overlay.request);
        let found = match plan.optimality {
            Some(found) if found.is_proved() => "proved optimal",
            _ => "searched",
        };
        let names = |list: &[ResourceId]| {
            let names = list.iter().map(|&id| plan.frame.resource(id).name.as_str());
            if list.is_empty() {
                "nothing".to_owned()
            } else {
                names.collect::<Vec<_>>().join(" ")
            }
        };
        let heap = plan.options.tile_heap(&plan.profile);
        println!(
            "frame {}: plan {} {found}: {} of {} on chip, {} bound of {}; pinned {}; excluded {}",
            self.frame_index,
            self.applied,
            plan.totals.on_chip_bytes,
            plan.totals.traffic_bytes,
            plan.totals.tile_bytes,
            heap.map_or("no heap".to_owned(), |heap| heap.size.to_string()),
            names(&request.pinned),
            names(&request.excluded),
        );
    }

    fn wait_for(&mut self, index: usize) -> Result<()> {
        if let Some(frame) = self.pending[index].take() {
            self.frames.wait(frame, u64::MAX)?;
        }
        Ok(())
    }
}

/// Writes the descriptor sets of passes, for the resources of the plan.
fn write_inputs(
    device: &ash::Device,
    deferred: &Deferred,
    bound: &BoundFrame,
    pipelines: &Pipelines,
) -> Result<Inputs> {
    Inputs::write(device, deferred, pipelines, |run, access, parity| {
        let resource = deferred.here(run, access.resource);
        let bound_access = bound.access(run.pass, (resource, access.version), parity);
        if deferred.frame.resource(access.resource).is_image() {
            Input::Image(bound_access.view, bound_access.layout)
        } else {
            let buffer = bound_access.buffer();
            Input::Buffer(buffer.handle, (buffer.offset, buffer.size))
        }
    })
}

impl Painter for Renderer {
    // Pipelines stay: their viewports are dynamic, their formats the same.
    fn resize(&mut self, screen: Screen, output: Output) -> Result<()> {
        self.wait_idle()?;
        // Frames bound at another size are not reused, and may refer to images that the swapchain no longer has.
        self.frames = self.tile.dynamic_frame(self.desc.options)?;
        for (_, topology) in self.topologies.drain() {
            // SAFETY: no frame is in flight.
            unsafe { topology.inputs.destroy(self.tile.raw()) };
        }
        let deferred = describe(screen.extent, output)?.arranged(self.desc.arrangement.as_ref())?;
        (self.screen, self.before) = (screen, [screen.extent; 2]);
        if let Err(fault) = self.apply(deferred.clone()) {
            // Resources pinned at another size may not fit at this one.
            self.overlay.request.pinned.clear();
            self.refusal = Some(fault.to_string());
            self.apply(deferred)?;
        }
        Ok(())
    }

    fn key(&mut self, key: Key) -> Result<Flow> {
        self.overlay.key(key, &self.plan);
        self.replan();
        Ok(if key == Key::Escape {
            Flow::Close
        } else {
            Flow::Continue
        })
    }

    fn point(&mut self, event: Event) {
        self.layer.input(event);
    }

    fn next_slot(&mut self) -> Result<usize> {
        let index = self.frame_index as usize % FRAMES_IN_FLIGHT;
        self.wait_for(index)?;
        Ok(index)
    }

    fn declared(&self) -> (ResourceId, Semaphores) {
        let parts = self.deferred().parts;
        let semaphores = parts.semaphores.expect("the frame was described with them");
        (parts.picture, semaphores)
    }

    unsafe fn draw(&mut self, imports: &Imports<'_>) -> Result<()> {
        let index = self.next_slot()?;
        let (plan, refusal) = (&self.plan, self.refusal.as_deref());
        let overlay = |context: &egui::Context| self.overlay.show(context, &View { plan, refusal });
        self.layer.run(index, self.screen, overlay)?;
        self.replan();
        let (device, slot, screen) = (self.tile.raw(), &mut self.slots[index], self.screen);
        let now = match self.desc.dynamic_resolution {
            true => resolution(self.frame_index, screen.extent),
            false => screen.extent,
        };
        slot.begin(device, &self.scene, self.frame_index, now)?;
        let bound = self.frames.select(&self.builder)?;
        let topology = self.topologies.get_mut(&bound.number());
        let Topology {
            deferred,
            inputs,
            last,
        } = topology.expect("it was selected before");
        let other = match deferred.parts.compute {
            Some(queue) => Some(slot.other(device, bound.queue(queue).family)?),
            None => None,
        };

        (deferred.resolution, deferred.before) = (now, self.before);
        self.before[0] = now;
        if deferred.frame.pass_named("temporal_inset").is_some() {
            self.before[1] = now;
        }
        // SAFETY: the caller's duty.
        let mut recorder = unsafe { bound.begin(imports) }?;
        let pass_recorder = PassRecorder {
            device,
            pipelines: &self.pipelines,
            inputs,
            parity: recorder.parity(),
            shared: slot.shared,
            vertices: self.vertices.handle,
            indices: self.indices.handle,
            meshes: &self.meshes,
            draws: &self.draws,
            lights: self.scene.light_count() as u32,
            deferred,
            extent: screen.extent,
        };
        let frame = deferred.arranged.frame();
        let runs: Vec<Run> = deferred.runs().collect();
        let renders = |run: &&Run| frame.pass(run.pass).kind == PassKind::Render;
        for run in runs.iter().filter(renders) {
            recorder.set_area(run.pass, run.strip.scissor())?;
        }
        let mut own = slot.command_buffers.iter().copied();
        let buffer = |declared: CommandBufferId| {
            let is_other = frame.command_buffers()[declared.index()].name == "meter";
            let buffer = other.filter(|_| is_other).or_else(|| own.next());
            buffer.expect("a frame in flight has enough command buffers for every frame")
        };
        let draw = |cmd: &PassCommands<'_>, run: &Run| {
            pass_recorder.record(cmd.command_buffer(), run, |read_back| {
                let picture = cmd.access(deferred.parts.picture).image();
                (picture, cmd.access(read_back.texels).buffer().handle)
            });
            if run.described == deferred.parts.tone_map {
                self.layer
                    .record(pass_recorder.device, cmd.command_buffer(), index, screen);
            }
        };
        // SAFETY: the slot's command buffers were reset, and are used again only after this frame.
        unsafe { arrangement::record(&recorder, &deferred.arranged, &runs, buffer, draw) }?;

        // SAFETY: only this thread uses the queues.
        let frame = unsafe { recorder.submit() }?;
        (self.pending[index], *last) = (Some(frame), Some(frame));
        self.frame_index += 1;
        Ok(())
    }

    fn queue(&self) -> vk::Queue {
        self.queue
    }

    fn wait_idle(&mut self) -> Result<()> {
        (0..FRAMES_IN_FLIGHT).try_for_each(|index| self.wait_for(index))
    }

    fn destroy(mut self) -> Result<()> {
        self.wait_idle()?;
        let device = self.tile.raw();
        // SAFETY: no frame is in flight, and this is the last use of each.
        unsafe {
            for topology in self.topologies.values() {
                topology.inputs.destroy(device);
            }
            self.layer.destroy(device);
            self.pipelines.destroy(device);
            for slot in &self.slots {
                slot.destroy(device);
            }
            device.destroy_descriptor_pool(self.slot_pool, None);
            self.vertices.destroy(device);
            self.indices.destroy(device);
        }
        Ok(())
    }
}
