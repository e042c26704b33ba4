//! Rendering in a window: frames are rendered to swapchain images and presented.

use std::ffi::CStr;
use std::time::Instant;

use ash::vk;
use ash_window::{create_surface, enumerate_required_extensions};
use egui::{Event, Key, Modifiers, PointerButton, Pos2};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};
use tileheap::runtime::context::{ExtensionNames, SurfaceCallback, ValidationMessage};
use tileheap::runtime::import::{ImportedImage, ImportedSemaphore};
use tileheap::runtime::{Context, ContextDesc, Imports};
use winit::application::ApplicationHandler;
use winit::dpi::{LogicalSize, PhysicalSize};
use winit::event::{MouseButton, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::Key as WindowKey;
use winit::window::{Window, WindowId};

use super::error::{self, Called, Error, Result};
use super::output::Output;
use super::painter::{Flow, Painter, Screen, WindowDesc};
use super::swapchain::Swapchain;

/// Runs until the window is closed or all frames were shown; returns Vulkan's messages.
pub fn run<P: Painter>(
    window: WindowDesc,
    desc: ContextDesc<'_>,
    make: impl Fn(&Context, Screen, Output) -> Result<P>,
) -> Result<Vec<ValidationMessage>> {
    let event_loop = EventLoop::new().map_err(no_window)?;
    event_loop.set_control_flow(ControlFlow::Poll);
    let mut app = App {
        window,
        desc,
        make,
        shown: None,
        outcome: Ok(Vec::new()),
    };
    event_loop.run_app(&mut app).map_err(no_window)?;
    app.outcome
}

struct App<'a, P, F> {
    window: WindowDesc,
    desc: ContextDesc<'a>,
    make: F,
    /// `None` until the event loop creates windows.
    shown: Option<Shown<P>>,
    /// The first error; if there is none, Vulkan's messages at the end.
    outcome: Result<Vec<ValidationMessage>>,
}

impl<P, F> App<'_, P, F> {
    /// Stops the loop at the first error.
    fn keep(&mut self, event_loop: &ActiveEventLoop, outcome: Result<()>) {
        if let Err(fault) = outcome {
            self.outcome = Err(fault);
            event_loop.exit();
        }
    }
}

impl<P, F> ApplicationHandler for App<'_, P, F>
where
    P: Painter,
    F: Fn(&Context, Screen, Output) -> Result<P>,
{
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.shown.is_none() {
            let outcome = Shown::open(event_loop, self.window, &self.desc, &self.make)
                .map(|shown| self.shown = Some(shown));
            self.keep(event_loop, outcome);
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else { return };
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => shown.fits &= shown.swapchain.extent == extent_of(size),
            // The new size has its own event, unless it does not change.
            WindowEvent::ScaleFactorChanged { .. } => shown.fits = false,
            WindowEvent::RedrawRequested => {
                let outcome = shown.draw();
                if self.window.frames.is_some_and(|frames| shown.frames >= frames) {
                    event_loop.exit();
                }
                // Only once: the next attempt may show no frame if the size has already changed.
                if self
                    .window
                    .resize_after
                    .take_if(|after| *after == shown.frames)
                    .is_some()
                {
                    shown.ask_for_another_size();
                }
                self.keep(event_loop, outcome);
            }
            WindowEvent::KeyboardInput {
                event,
                is_synthetic: false,
                ..
            } if event.state.is_pressed() => {
                match key_of(&event.logical_key).map_or(Ok(Flow::Continue), |key| shown.painter.key(key)) {
                    Ok(Flow::Continue) => {}
                    Ok(Flow::Close) => event_loop.exit(),
                    Err(fault) => self.keep(event_loop, Err(fault)),
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                let [x, y] = [position.x, position.y].map(|pixels| pixels as f32 / shown.scale);
                shown.pointer = Pos2::new(x, y);
                shown.painter.point(Event::PointerMoved(shown.pointer));
            }
            WindowEvent::CursorLeft { .. } => shown.painter.point(Event::PointerGone),
            WindowEvent::MouseInput {
                state,
                button: MouseButton::Left,
                ..
            } => shown.painter.point(Event::PointerButton {
                pos: shown.pointer,
                button: PointerButton::Primary,
                pressed: state.is_pressed(),
                modifiers: Modifiers::NONE,
            }),
            _ => {}
        }
    }

    fn about_to_wait(&mut self, _: &ActiveEventLoop) {
        if let Some(shown) = &self.shown {
            shown.window.request_redraw();
        }
    }

    /// Closes the window before the loop closes its connection to the display, which the surface needs until then.
    fn exiting(&mut self, _: &ActiveEventLoop) {
        let closed = self.shown.take().map_or(Ok(Vec::new()), Shown::close);
        if self.outcome.is_ok() {
            self.outcome = closed;
        }
    }
}

/// A window and its renderer.
struct Shown<P> {
    painter: P,
    swapchain: Swapchain,
    context: Context,
    /// The window; dropped last, since the context's surface uses it.
    window: Window,
    /// True if the swapchain has the window's size, and the painter has the window's scale.
    fits: bool,
    /// Pixels per point, as last set in the painter.
    scale: f32,
    /// The position of the pointer, in points.
    pointer: Pos2,
    frames: u32,
    since: Instant,
}

impl<P: Painter> Shown<P> {
    fn open(
        event_loop: &ActiveEventLoop,
        wanted: WindowDesc,
        desc: &ContextDesc<'_>,
        make: impl Fn(&Context, Screen, Output) -> Result<P>,
    ) -> Result<Shown<P>> {
        let size = LogicalSize::new(wanted.size.width, wanted.size.height);
        let attributes = Window::default_attributes()
            .with_title(wanted.title)
            .with_inner_size(size);
        let window = event_loop.create_window(attributes).map_err(no_window)?;
        let display = window.display_handle().map_err(no_window)?.as_raw();
        let handle = window.window_handle().map_err(no_window)?.as_raw();
        let extensions = enumerate_required_extensions(display).map_err(no_window)?;
        // SAFETY: the extensions are in the description.
        let surface = |entry: &ash::Entry, instance: &ash::Instance| unsafe {
            create_surface(entry, instance, display, handle, None)
        };
        // SAFETY: the names are static strings of ash.
        let extensions = extensions.iter().map(|&name| unsafe { CStr::from_ptr(name) });
        let desc = ContextDesc {
            // SAFETY: these are all the extensions that the surface needs.
            instance_extensions: unsafe { ExtensionNames::new(extensions) },
            // SAFETY: a surface of that instance, whose window outlives the context (see `Shown::close`).
            surface: Some(unsafe { SurfaceCallback::new(&surface) }),
            ..desc.clone()
        };
        let context = Context::new(&desc)?;

        let mut swapchain = Swapchain::new(&context)?;
        // SAFETY: there are no images yet.
        let fits = unsafe { swapchain.resize(&context, extent_of(window.inner_size())) }?;
        let extent = if fits { swapchain.extent } else { wanted.size };
        let output = Output::Swapchain(swapchain.format.format);
        let screen = Screen::scaled(extent, window.scale_factor());
        let painter = make(&context, screen, output)?;
        Ok(Shown {
            painter,
            swapchain,
            context,
            window,
            fits,
            scale: screen.scale,
            pointer: Pos2::ZERO,
            frames: 0,
            since: Instant::now(),
        })
    }

    /// Draws a frame and shows it, if the window has a size.
    fn draw(&mut self) -> Result<()> {
        if !self.fits && !self.follow_window()? {
            return Ok(());
        }
        let slot = self.painter.next_slot()?;
        let Some((image, acquired)) = self.swapchain.acquire(slot)? else {
            self.fits = false;
            return Ok(());
        };
        let (picture, semaphores) = self.painter.declared();
        let images = [ImportedImage {
            resource: picture,
            image: image.image,
            view: image.view,
        }];
        let binary = |semaphore, handle| ImportedSemaphore {
            semaphore,
            handle,
            value: 0,
        };
        let semaphores = [
            binary(semaphores.acquired, acquired),
            binary(semaphores.presentable, image.presentable),
        ];
        let imports = Imports {
            images: &images,
            semaphores: &semaphores,
            ..Imports::default()
        };
        // SAFETY: the image was acquired, and swapchain and semaphores outlive the frames.
        unsafe { self.painter.draw(&imports) }?;
        self.fits &= self.swapchain.present(self.painter.queue(), image)?;
        self.frames += 1;
        Ok(())
    }

    /// Resizes swapchain and frame to the window; returns false if the window has no size.
    fn follow_window(&mut self) -> Result<bool> {
        self.wait()?;
        let size = extent_of(self.window.inner_size());
        // SAFETY: nothing is pending.
        self.fits = unsafe { self.swapchain.resize(&self.context, size) }?;
        if self.fits {
            let (extent, format) = (self.swapchain.extent, self.swapchain.format.format);
            let screen = Screen::scaled(extent, self.window.scale_factor());
            self.scale = screen.scale;
            self.painter.resize(screen, Output::Swapchain(format))?;
            println!("resized to {} x {}", extent.width, extent.height);
        }
        Ok(self.fits)
    }

    fn ask_for_another_size(&self) {
        let size = self.window.inner_size();
        // If the size changes immediately, there is no event: the next frame detects it.
        let _ = self
            .window
            .request_inner_size(PhysicalSize::new(size.width * 3 / 4, size.height * 2 / 3));
    }

    /// Waits for frames and their presentation.
    fn wait(&mut self) -> Result<()> {
        self.painter.wait_idle()?;
        // SAFETY: only this thread uses the device.
        unsafe { self.context.device().device_wait_idle() }.called("vkDeviceWaitIdle")
    }

    fn close(mut self) -> Result<Vec<ValidationMessage>> {
        self.wait()?;
        let took = self.since.elapsed().as_secs_f64() * 1e3 / f64::from(self.frames.max(1));
        println!("presented {} frames, {took:.1} ms each", self.frames);
        // SAFETY: nothing is pending.
        unsafe { self.swapchain.destroy(self.context.device()) };
        self.painter.destroy()?;
        let messages = self.context.destroy();
        drop(self.window);
        Ok(messages)
    }
}

/// The window system's error message, without the source location that winit puts before it.
fn no_window(error: impl std::fmt::Display) -> Error {
    let text = error.to_string();
    let why = text.rsplit(": ").next().unwrap_or(&text);
    error::no_window(why.trim_end_matches('.'))
}

fn key_of(key: &WindowKey) -> Option<Key> {
    match key {
        WindowKey::Named(named) => Key::from_name(&format!("{named:?}")),
        WindowKey::Character(text) => Key::from_name(text),
        _ => None,
    }
}

fn extent_of(size: PhysicalSize<u32>) -> vk::Extent2D {
    vk::Extent2D {
        width: size.width,
        height: size.height,
    }
}
