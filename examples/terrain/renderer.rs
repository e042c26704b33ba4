//! The renderer: a planned frame that streams textures and draws the land.

use ash::vk;
use egui::{Event, Key};
use tileheap::frame::ResourceId;
use tileheap::plan::PlanOptions;
use tileheap::runtime::{BoundFrame, Device, FrameNumber, Imports};
use tileheap::units::Bytes;
use tileheap_textures::UploadMode;

use crate::args::Args;
use crate::camera::Camera;
use crate::frame::{Landscape, describe};
use crate::gpu::{NODE_VERTICES, NodeConstants, Pipelines, camera_buffer};
use crate::overlay;
use crate::paint::Painter;
use crate::quadtree::{FINEST, Quadtree, Seen, TEXELS};
use crate::streamer::{PALETTE, Streamer, shape_of};
use crate::support::FRAMES_IN_FLIGHT;
use crate::support::commands::{command_buffers, set_viewport, whole};
use crate::support::error::{Called, Result};
use crate::support::layer::Layer;
use crate::support::memory::HostBuffer;
use crate::support::output::{Output, Semaphores};
use crate::support::painter::{Flow, Painter as _, Screen};
use crate::support::picture::copy_to_buffer;

/// The land, which does not depend on a device.
pub(crate) struct World {
    pub(crate) painter: Painter,
    tree: Quadtree,
}

impl World {
    pub(crate) fn new() -> World {
        let painter = Painter::new();
        World {
            tree: Quadtree::new(&painter.ground),
            painter,
        }
    }
}

struct FrameInFlight {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    camera: HostBuffer,
    pending: Option<FrameNumber>,
}

pub(crate) struct Renderer {
    tile: Device,
    world: World,
    landscape: Landscape,
    screen: Screen,
    bound: BoundFrame,
    pipelines: Pipelines,
    heights: HostBuffer,
    palette: HostBuffer,
    slots: [FrameInFlight; FRAMES_IN_FLIGHT],
    pub(crate) streamer: Streamer,
    frames: usize,
    /// The position in the flight, as a frame number.
    pub(crate) at: u32,
    /// False while the flight is paused.
    pub(crate) moving: bool,
    pub(crate) overlay: bool,
    policy: String,
    uploads: Bytes,
    seen: Vec<Seen>,
    layer: Layer,
}

fn bind(tile: &Device, screen: Screen, output: Output) -> Result<(Landscape, BoundFrame)> {
    let landscape = describe(screen.extent, output)?;
    let bound = tile.bind(&tile.plan(&landscape.frame, &PlanOptions::default())?)?;
    Ok((landscape, bound))
}

impl Renderer {
    /// A flight with a cache of `budget` bytes, which uploads at most `uploads` bytes per frame.
    pub(crate) fn new(
        tile: &Device,
        args: &Args,
        world: World,
        screen: Screen,
        output: Output,
        (budget, uploads): (Bytes, Bytes),
    ) -> Result<Renderer> {
        let (landscape, bound) = bind(tile, screen, output)?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let heights = HostBuffer::holding(tile, &world.painter.ground.heights(), usage)?;
        let palette = HostBuffer::holding(tile, &world.painter.palette.linear(), usage)?;
        let streamer = Streamer::new(tile, args, budget, uploads)?;
        let family = bound.queue(landscape.graphics).family;
        let slots = [
            FrameInFlight::new(tile, family)?,
            FrameInFlight::new(tile, family)?,
        ];
        let pipelines = Pipelines::new(
            tile,
            bound.target(landscape.land),
            (
                streamer.cache.set_layout(),
                args.policy.uploads == UploadMode::SingleLevels,
            ),
            &heights,
            &palette,
            slots.each_ref().map(|slot| &slot.camera),
        )?;
        let layer = Layer::new(tile, bound.target(landscape.land))?;
        Ok(Renderer {
            tile: tile.clone(),
            world,
            landscape,
            screen,
            bound,
            pipelines,
            heights,
            palette,
            slots,
            streamer,
            frames: 0,
            at: args.start,
            moving: true,
            overlay: !args.no_overlay,
            policy: args.policy.to_string(),
            uploads,
            seen: Vec::new(),
            layer,
        })
    }

    pub(crate) fn landscape(&self) -> &Landscape {
        &self.landscape
    }

    /// The size of the frame's textures if all are present as requested.
    pub(crate) fn working_set(&self) -> Bytes {
        let geometry = self.streamer.cache.geometry();
        let size = |one: &Seen| {
            let size = geometry.size(shape_of(self.streamer.texels, one.node), one.level);
            size.expect("all levels are there").align_up(geometry.unit())
        };
        self.seen.iter().map(size).sum()
    }

    /// Destroys the renderer and returns the land for another one.
    pub(crate) fn destroy_for_world(mut self) -> Result<World> {
        self.wait_idle()?;
        let device = self.tile.raw().clone();
        // SAFETY: no frame is in flight, and this is the last use of each.
        unsafe {
            self.pipelines.destroy();
            self.bound.destroy();
            self.streamer.cache.destroy();
            for slot in &self.slots {
                device.destroy_command_pool(slot.pool, None);
                slot.camera.destroy(&device);
            }
            self.layer.destroy(&device);
            self.heights.destroy(&device);
            self.palette.destroy(&device);
        }
        Ok(self.world)
    }
}

impl FrameInFlight {
    fn new(tile: &Device, family: u32) -> Result<FrameInFlight> {
        let (pool, [commands]) = command_buffers(tile.raw(), family)?;
        Ok(FrameInFlight {
            pool,
            commands,
            camera: camera_buffer(tile)?,
            pending: None,
        })
    }
}

/// Draws the land into a command buffer.
struct PassRecorder<'a> {
    device: &'a ash::Device,
    pipelines: &'a Pipelines,
    set: vk::DescriptorSet,
    streamer: &'a Streamer,
    extent: vk::Extent2D,
}

impl PassRecorder<'_> {
    fn draw(&self, commands: vk::CommandBuffer, seen: &[Seen], world: &World) {
        let (device, graphics) = (self.device, vk::PipelineBindPoint::GRAPHICS);
        let (layout, pipelines) = (self.pipelines.layout, self.pipelines);
        set_viewport(device, commands, whole(self.extent));
        // SAFETY: recording inside the pass that the pipelines were created for, with sets of their layout.
        unsafe { device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &[self.set], &[]) };
        let mut bound = vk::Pipeline::null();
        let mut bind = |pipeline: vk::Pipeline| {
            if std::mem::replace(&mut bound, pipeline) != pipeline {
                // SAFETY: as above.
                unsafe { device.cmd_bind_pipeline(commands, graphics, pipeline) };
            }
        };
        for one in seen {
            let (node, texture) = (one.node, self.streamer.texture(one.node));
            let origin = node.origin();
            let mut constants = NodeConstants {
                origin: origin.to_array(),
                size: node.size(),
                skirt: node.size() * 0.06,
                plain: [0.0; 4],
                texels: TEXELS as f32,
                levels: i32::from(FINEST.0) + 1,
                asked: f32::from(FINEST.0 - one.level.0),
            };
            match texture {
                Some(texture) => {
                    let palette = shape_of(self.streamer.texels, node) == PALETTE;
                    bind(if palette {
                        pipelines.palette
                    } else {
                        pipelines.rgba
                    });
                    // SAFETY: as above.
                    unsafe {
                        device.cmd_bind_descriptor_sets(commands, graphics, layout, 1, &[texture.set], &[])
                    };
                }
                None => {
                    let middle = origin + node.size() / 2.0;
                    constants.plain = world
                        .painter
                        .ground
                        .color(middle, node.size())
                        .extend(1.0)
                        .to_array();
                    bind(pipelines.plain);
                }
            }
            let stages = pipelines.push_constant_stages;
            // SAFETY: as above; the layout has a range of that size.
            unsafe {
                device.cmd_push_constants(commands, layout, stages, 0, bytemuck::bytes_of(&constants));
                device.cmd_draw(commands, NODE_VERTICES, 1, 0, 0);
            }
        }
        bind(pipelines.sky);
        // SAFETY: as above.
        unsafe { device.cmd_draw(commands, 3, 1, 0, 0) };
    }
}

impl crate::support::painter::Painter for Renderer {
    fn resize(&mut self, screen: Screen, output: Output) -> Result<()> {
        self.wait_idle()?;
        let (landscape, bound) = bind(&self.tile, screen, output)?;
        let former = std::mem::replace(&mut self.bound, bound);
        // SAFETY: every frame is complete.
        unsafe { former.destroy() };
        (self.landscape, self.screen) = (landscape, screen);
        Ok(())
    }

    fn next_slot(&mut self) -> Result<usize> {
        let index = self.frames % FRAMES_IN_FLIGHT;
        if let Some(number) = self.slots[index].pending.take() {
            self.bound.wait(number, u64::MAX)?;
        }
        Ok(index)
    }

    fn declared(&self) -> (ResourceId, Semaphores) {
        let semaphores = self.landscape.semaphores;
        (
            self.landscape.picture,
            semaphores.expect("the frame was described with them"),
        )
    }

    unsafe fn draw(&mut self, imports: &Imports<'_>) -> Result<()> {
        let index = self.next_slot()?;
        let camera = Camera::at(self.at, self.screen.extent, &self.world.painter.ground);
        self.world.tree.see(&camera, &mut self.seen);
        self.streamer.ask(&self.seen)?;
        self.slots[index]
            .camera
            .bytes()
            .copy_from_slice(bytemuck::bytes_of(&camera.constants()));
        let device = self.tile.raw().clone();
        // SAFETY: the frame that used it is complete.
        unsafe { device.reset_command_pool(self.slots[index].pool, vk::CommandPoolResetFlags::empty()) }
            .called("vkResetCommandPool")?;

        // SAFETY: the caller's duty.
        let recorder = unsafe { self.bound.begin(imports) }?;
        let buffer = self.slots[index].commands;
        // SAFETY: it was reset, and is used again only after this frame.
        let mut commands = unsafe { recorder.record(buffer, self.landscape.commands) }?;
        let (streamer, painter) = (&mut self.streamer, &mut self.world.painter);
        let mut recorded = Ok(Default::default());
        commands.pass(self.landscape.stream, |pass| {
            // SAFETY: recording, outside render passes; frames are submitted in order, and those reported as complete were
            // waited for.
            recorded = unsafe { streamer.record(pass.command_buffer(), painter) };
        })?;
        let _ = recorded?;
        if self.overlay {
            let (streamer, policy, uploads) = (&self.streamer, &self.policy, self.uploads);
            let overlay = |context: &egui::Context| overlay::show(context, streamer, policy, uploads);
            self.layer.run(index, self.screen, overlay)?;
        }
        let pen = PassRecorder {
            device: &device,
            pipelines: &self.pipelines,
            set: self.pipelines.sets[index],
            streamer: &self.streamer,
            extent: self.screen.extent,
        };
        commands.pass(self.landscape.land, |pass| {
            pen.draw(pass.command_buffer(), &self.seen, &self.world);
            if self.overlay {
                self.layer
                    .record(&device, pass.command_buffer(), index, self.screen);
            }
        })?;
        if let Some(read_back) = self.landscape.read_back {
            let (picture, extent) = (self.landscape.picture, self.screen.extent);
            commands.pass(read_back.pass, |pass| {
                let image = pass.access(picture).image();
                let texels = pass.access(read_back.texels).buffer().handle;
                // SAFETY: recording; the pass declares both accesses.
                unsafe { copy_to_buffer(&device, pass.command_buffer(), (image, extent), texels) };
            })?;
        }
        commands.finish()?;
        // SAFETY: only this thread uses the queue.
        self.slots[index].pending = Some(unsafe { recorder.submit() }?);
        self.streamer.end(&self.seen)?;
        self.frames += 1;
        self.at += u32::from(self.moving);
        Ok(())
    }

    fn point(&mut self, _: Event) {}

    fn key(&mut self, key: Key) -> Result<Flow> {
        let budget = match key {
            Key::Escape => return Ok(Flow::Close),
            Key::Space => {
                self.moving = !self.moving;
                println!(
                    "{} at {}",
                    if self.moving { "flies on" } else { "stands still" },
                    self.at
                );
                return Ok(Flow::Continue);
            }
            Key::O | Key::F1 => {
                self.overlay = !self.overlay;
                println!("overlay {}", if self.overlay { "on" } else { "off" });
                return Ok(Flow::Continue);
            }
            Key::Minus => Bytes(self.streamer.cache.budget().0 / 4 * 3),
            Key::Plus | Key::Equals => Bytes(self.streamer.cache.budget().0 / 3 * 4),
            _ => return Ok(Flow::Continue),
        };
        // An impossible budget does not end the flight.
        match self.streamer.cache.set_budget(budget) {
            Ok(()) => println!("budget {budget}"),
            Err(fault) => eprintln!("budget stays: {fault}"),
        }
        Ok(Flow::Continue)
    }

    fn queue(&self) -> vk::Queue {
        self.bound.queue(self.landscape.graphics).handle
    }

    fn wait_idle(&mut self) -> Result<()> {
        for slot in &mut self.slots {
            if let Some(number) = slot.pending.take() {
                self.bound.wait(number, u64::MAX)?;
            }
        }
        Ok(())
    }

    fn destroy(mut self) -> Result<()> {
        self.streamer.finish_trace()?;
        self.destroy_for_world().map(drop)
    }
}
