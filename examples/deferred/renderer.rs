//! The renderer: describe, plan and bind when the size or the requests change; record and submit every frame.

use std::sync::Arc;

use ash::vk;
use tileheap::arrange::Arrangement;
use tileheap::frame::ResourceId;
use tileheap::plan::{Plan, PlanOptions};
use tileheap::runtime::{BoundFrame, Device, Imports};

use crate::arrangement::Run;
use crate::descriptors::Inputs;
use crate::frame::{Deferred, describe};
use crate::frame_in_flight::{FrameInFlight, Pending};
use crate::mesh::Meshes;
use crate::overlay::{Overlay, Reaction, Request, View};
use crate::pass_recorder::PassRecorder;
use crate::pipelines::Pipelines;
use crate::replan::{Replanner, are_alike};
use crate::scene::{Draw, Scene};
use crate::support::FRAMES_IN_FLIGHT;
use crate::support::descriptors::create_pool;
use crate::support::error::Result;
use crate::support::input::{Flow, Input, Key};
use crate::support::layer::Layer;
use crate::support::memory::HostBuffer;
use crate::support::output::{Output, Semaphores};
use crate::support::painter::Painter;
use crate::support::sheet::{Screen, Sheet};

/// How a renderer starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct RendererDesc {
    pub(crate) options: PlanOptions,
    /// How the frame runs; `None` for as described.
    pub(crate) arrangement: Option<Arrangement>,
    pub(crate) request: Request,
    pub(crate) overlay: bool,
    /// Prints every plan that is applied or given up, and its last frame.
    pub(crate) prints_plans: bool,
    /// Prints what the overlay's places are, and what is pointed at.
    pub(crate) prints_places: bool,
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
    planned: Planned,
    /// Given up, with frames still under way.
    former: Vec<Planned>,
    replanner: Replanner,
    /// The plan as the overlay shows it: as searched for, where that is what is bound already.
    shown_plan: Arc<Plan>,
    overlay: Overlay,
    /// Why a request was refused.
    refusal: Option<String>,
    sheet: Sheet,
    layer: Layer,
    slot_pool: vk::DescriptorPool,
    slots: [FrameInFlight; FRAMES_IN_FLIGHT],
    /// Frames drawn so far: what moves follows from it, and from nothing else.
    frame_index: u32,
}

/// What follows from the plan.
struct Planned {
    /// From 1 on, in the order in which plans were applied.
    number: u64,
    deferred: Deferred,
    screen: Screen,
    bound: BoundFrame,
    inputs: Inputs,
}

impl Planned {
    /// # Safety
    /// None of its frames is under way.
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's duty.
        unsafe { self.inputs.destroy(device) };
        // SAFETY: as above.
        unsafe { self.bound.destroy() };
    }
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
        let plan = tile.plan(
            &desc.request.frame(&deferred.arranged.frame),
            &desc.request.options(desc.options),
        )?;
        let bound = tile.bind(&plan)?;
        let pipelines = Pipelines::build(device, &deferred, &bound)?;
        let inputs = Inputs::write(device, &deferred, &bound, &pipelines)?;
        let tone_map = deferred.arranged.passes_of(deferred.tone_map).next();
        let layer = Layer::new(tile, bound.target(tone_map.expect("every described pass runs")))?;
        let slot_pool = create_pool(
            device,
            FRAMES_IN_FLIGHT,
            &pipelines.shared.pool_sizes(FRAMES_IN_FLIGHT),
        )?;
        let family = bound.queue(deferred.graphics).family;
        let slot = || FrameInFlight::new(tile, family, slot_pool, &pipelines.shared, scene.object_count());
        let slots = [slot()?, slot()?];
        let plan = bound.plan().clone();
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
            planned: Planned {
                number: 1,
                deferred,
                screen,
                bound,
                inputs,
            },
            former: Vec::new(),
            replanner: Replanner::new(tile),
            shown_plan: plan,
            refusal: None,
            sheet: Sheet::default(),
            layer,
            slot_pool,
            slots,
            frame_index: 0,
        };
        renderer.print_plan();
        renderer.print_places();
        Ok(renderer)
    }

    /// Where everything lives.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        self.planned.bound.plan()
    }

    pub(crate) fn deferred(&self) -> &Deferred {
        &self.planned.deferred
    }

    fn plan_at_rest(&self, deferred: &Deferred) -> tileheap::Result<Arc<Plan>> {
        let request = &self.overlay.request;
        self.tile.plan(
            &request.frame(&deferred.arranged.frame),
            &request.options(self.desc.options),
        )
    }

    /// Plans anew for another request, with frames under way.
    fn replan(&mut self) -> Result<()> {
        let (frame, options) = (
            self.overlay.request.frame(&self.planned.deferred.arranged.frame),
            self.overlay.request.options(self.desc.options),
        );
        match self.replanner.plan_now(&frame, &options) {
            Ok(plan) => {
                self.desc.request = self.overlay.request.clone();
                self.refusal = None;
                self.apply(&plan, self.planned.deferred.clone(), self.planned.screen)
            }
            Err(fault) => {
                self.overlay.request = self.desc.request.clone();
                if self.desc.prints_plans {
                    println!("frame {}: refused: {fault}", self.frame_index);
                }
                self.refusal = Some(fault.to_string());
                Ok(())
            }
        }
    }

    /// Applies the plan that was searched for meanwhile, if it is there.
    fn improve(&mut self) -> Result<()> {
        let Some(plan) = self.replanner.found() else {
            return Ok(());
        };
        if are_alike(&plan, self.planned.bound.plan()) {
            self.shown_plan = plan;
            self.print_plan();
            return Ok(());
        }
        self.apply(&plan, self.planned.deferred.clone(), self.planned.screen)
    }

    /// Binds a plan for the next frame; what was bound before lives until its frames are complete.
    fn apply(&mut self, plan: &Arc<Plan>, deferred: Deferred, screen: Screen) -> Result<()> {
        let bound = self.tile.bind(plan)?;
        let inputs = Inputs::write(self.tile.raw(), &deferred, &bound, &self.pipelines)?;
        self.shown_plan = bound.plan().clone();
        let planned = Planned {
            number: self.planned.number + 1,
            deferred,
            screen,
            bound,
            inputs,
        };
        self.former.push(std::mem::replace(&mut self.planned, planned));
        self.print_plan();
        self.print_places();
        self.release();
        Ok(())
    }

    /// Destroys what was given up and has no frame under way.
    fn release(&mut self) {
        let slots = &self.slots;
        let in_use = |planned: &Planned| {
            let mut pending = slots.iter().filter_map(|slot| slot.pending);
            pending.any(|pending| pending.plan == planned.number)
        };
        let (in_use, unused): (Vec<_>, _) = std::mem::take(&mut self.former).into_iter().partition(in_use);
        self.former = in_use;
        for planned in unused {
            if self.desc.prints_plans {
                println!("frame {}: plan {} released", self.frame_index, planned.number);
            }
            // SAFETY: every slot that a frame of it was recorded into has been waited for.
            unsafe { planned.destroy(self.tile.raw()) };
        }
    }

    fn print_plan(&self) {
        if !self.desc.prints_plans {
            return;
        }
        let (plan, request) = (&self.shown_plan, &self.overlay.request);
        let found = match plan.optimality {
            Some(found) if found.is_proved() => "proved optimal",
            Some(_) => "searched",
            None => "at once",
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
            self.planned.number,
            plan.totals.on_chip_bytes,
            plan.totals.eligible_bytes,
            plan.totals.tile_bytes,
            heap.map_or("no heap".to_owned(), |heap| heap.size.to_string()),
            names(&request.pinned),
            names(&request.excluded),
        );
    }

    fn print_places(&self) {
        if !self.desc.prints_places {
            return;
        }
        let scale = self.planned.screen.scale;
        for (name, area) in self.overlay.places(&self.view()) {
            let [left, top, width, height] =
                [area.left, area.top, area.width, area.height].map(|points| (points * scale).round() as i32);
            println!("place {left} {top} {width} {height} {name}");
        }
        println!("places of plan {}", self.planned.number);
    }

    fn view(&self) -> View<'_> {
        View {
            extent: self.planned.screen.points(),
            plan: &self.shown_plan,
            searching: self.replanner.is_searching(),
            refusal: self.refusal.as_deref(),
        }
    }

    /// Waits for the frame of a slot.
    fn wait_for(&mut self, index: usize) -> Result<()> {
        if let Some(Pending { plan, frame }) = self.slots[index].pending.take() {
            let former = self.former.iter().find(|former| former.number == plan);
            let planned = former.unwrap_or(&self.planned);
            planned.bound.wait(frame, u64::MAX)?;
            self.release();
        }
        Ok(())
    }
}

impl Painter for Renderer {
    // Pipelines stay: their viewports are dynamic, their formats the same.
    fn resize(&mut self, screen: Screen, output: Output) -> Result<()> {
        self.wait_idle()?;
        let deferred = describe(screen.extent, output)?.arranged(self.desc.arrangement.as_ref())?;
        let plan = match self.plan_at_rest(&deferred) {
            Ok(plan) => plan,
            // What was pinned at another size need not fit at this one.
            Err(fault) => {
                self.overlay.request.pinned.clear();
                self.refusal = Some(fault.to_string());
                self.plan_at_rest(&deferred)?
            }
        };
        self.replanner.forget();
        self.apply(&plan, deferred, screen)
    }

    fn input(&mut self, input: Input) -> Result<Flow> {
        let mut overlay = self.overlay.clone();
        let before = self.overlay.detail(&self.view()).map(str::to_owned);
        let is_switch = matches!(input, Input::Key(Key::F1 | Key::Tab));
        let reaction = overlay.input(input, &self.view());
        self.overlay = overlay;
        match reaction {
            Reaction::Nothing => {}
            Reaction::Plan => self.replan()?,
            Reaction::Close => return Ok(Flow::Close),
        }
        if self.desc.prints_places {
            if is_switch {
                self.print_places();
            }
            let after = self.overlay.detail(&self.view());
            if before.as_deref() != after {
                println!("details of {}", after.unwrap_or("nothing"));
            }
        }
        Ok(Flow::Continue)
    }

    fn next_slot(&mut self) -> Result<usize> {
        let index = self.frame_index as usize % FRAMES_IN_FLIGHT;
        self.wait_for(index)?;
        Ok(index)
    }

    fn declared(&self) -> (ResourceId, Semaphores) {
        let deferred = &self.planned.deferred;
        let semaphores = deferred.semaphores.expect("the frame was described with them");
        (deferred.picture, semaphores)
    }

    unsafe fn draw(&mut self, imports: &Imports<'_>) -> Result<()> {
        self.improve()?;
        let index = self.next_slot()?;
        let mut sheet = std::mem::take(&mut self.sheet);
        self.overlay.draw(&mut sheet, &self.view());
        self.layer.write(index, &sheet);
        self.sheet = sheet;
        let Planned {
            number,
            deferred,
            screen,
            bound,
            inputs,
        } = &mut self.planned;
        let (slot, extent) = (&mut self.slots[index], screen.extent);
        slot.begin(self.tile.raw(), &self.scene, self.frame_index, extent)?;

        // SAFETY: the caller's duty.
        let recorder = unsafe { bound.begin(imports) }?;
        let pass_recorder = PassRecorder {
            device: self.tile.raw(),
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
            extent,
        };
        let frame = &deferred.arranged.frame;
        let runs: Vec<(usize, Run)> = deferred.runs().enumerate().collect();
        // Merged passes run in one; passes of one command buffer follow one another.
        let passes: Vec<_> = runs
            .chunk_by(|(_, one), (_, next)| one.pass == next.pass)
            .collect();
        let commands_of = |runs: &&[(usize, Run)]| frame.pass(runs[0].1.pass).command_buffer;
        let buffers = passes.chunk_by(|one, next| commands_of(one) == commands_of(next));
        for (&buffer, passes) in slot.command_buffers.iter().zip(buffers) {
            // SAFETY: the slot's command buffers were reset, and are used again after this frame only.
            let mut recording = unsafe { recorder.record(buffer, commands_of(&passes[0])) }?;
            for runs in passes {
                recording.pass(runs[0].1.pass, |cmd| {
                    for (at, run) in *runs {
                        pass_recorder.record(cmd, *at, run);
                        if run.described == deferred.tone_map {
                            self.layer
                                .record(pass_recorder.device, cmd.command_buffer(), index, *screen);
                        }
                    }
                })?;
            }
            recording.finish()?;
        }

        // SAFETY: this thread alone uses the queues.
        let frame = unsafe { recorder.submit() }?;
        slot.pending = Some(Pending { plan: *number, frame });
        self.frame_index += 1;
        Ok(())
    }

    fn queue(&self) -> vk::Queue {
        self.planned.bound.queue(self.planned.deferred.graphics).handle
    }

    fn wait_idle(&mut self) -> Result<()> {
        (0..FRAMES_IN_FLIGHT).try_for_each(|index| self.wait_for(index))
    }

    fn destroy(mut self) -> Result<()> {
        self.replanner.finish();
        self.wait_idle()?;
        let device = self.tile.raw();
        // SAFETY: no frame is under way, and this is the last use of each.
        unsafe {
            self.planned.destroy(device);
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
