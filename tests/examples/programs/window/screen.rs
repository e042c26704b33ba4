//! A separate screen for the test, an example on it, and simulated keyboard and mouse input.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ClientMessageEvent, ConfigureWindowAux,
    ConnectionExt, EventMask, ImageFormat, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::{CURRENT_TIME, NONE};

use tileheap_testkit as support;

/// Time limit for a window or a line: the example may have to be built first.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// Polls `look` until it returns a value.
///
/// # Panics
/// If it does not within [`PATIENCE`].
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no {what} after {PATIENCE:?}");
}

/// A process that is killed at the end of the test.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail if it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Waits for the process to end; returns its exit status.
    ///
    /// # Panics
    /// If it does not end.
    fn end(&mut self) -> ExitStatus {
        wait_for("end of the example", || self.0.try_wait().expect("a child"))
    }
}

/// An example on a screen of this size; `None`, and the calling test is skipped, if there is no X server to start.
pub(crate) fn open(pixels: [i16; 2], example: Command) -> Option<(Running, Shown, String)> {
    let Some((server, display)) = screen(pixels) else {
        support::skip("Xvfb is not installed");
        return None;
    };
    let shown = Shown::start(&display, example);
    Some((server, shown, display))
}

/// The same, with input for its window.
pub(crate) fn show(pixels: [i16; 2], example: Command) -> Option<(Running, Shown, Hand)> {
    let (server, shown, display) = open(pixels, example)?;
    Some((server, shown, Hand::before_window(&display)))
}

/// The default screen size.
pub(crate) const USUAL: [i16; 2] = [1024, 768];

/// Starts an X server, and moves its pointer to a corner; returns its display name. `None` if no such server is installed.
fn screen([width, height]: [i16; 2]) -> Option<(Running, String)> {
    let mut server = Command::new("Xvfb")
        // Without `-noreset` it resets when its last client disconnects, and may not be available for the next one.
        .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp", "-r"])
        .args(["-screen", "0", &format!("{width}x{height}x24")])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut number = String::new();
    let output = server.stdout.take().expect("a pipe");
    let server = Running(server);
    BufReader::new(output)
        .read_line(&mut number)
        .expect("a display number");
    let display = format!(":{}", number.trim());
    let (connection, screen) = x11rb::connect(Some(&display)).expect("the server answers");
    let root = connection.setup().roots[screen].root;
    connection
        .warp_pointer(NONE, root, 0, 0, 0, 0, width - 1, height - 1)
        .expect("a request")
        .check()
        .expect("the server moves the pointer");
    Some((server, display))
}

/// The example in a window, and its output.
pub(crate) struct Shown {
    example: Running,
    lines: Receiver<String>,
}

impl Shown {
    fn start(display: &str, mut example: Command) -> Shown {
        let mut example = example
            .env("DISPLAY", display)
            .env_remove("WAYLAND_DISPLAY")
            .stdout(Stdio::piped())
            .spawn()
            .expect("cargo runs");
        let output = BufReader::new(example.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        // Reading has no timeout, receiving has one.
        std::thread::spawn(move || {
            for line in output.lines() {
                if sender.send(line.expect("text")).is_err() {
                    break;
                }
            }
        });
        let example = Running(example);
        Shown { example, lines }
    }

    /// The first following line for which `wanted` returns a value; returns that value.
    ///
    /// # Panics
    /// If there is none; the message has the other lines.
    pub(crate) fn expect<T>(&self, what: &str, wanted: impl Fn(&str) -> Option<T>) -> T {
        let mut others = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    if let Some(found) = wanted(&line) {
                        return found;
                    }
                    others.push(line);
                }
                Err(error) => panic!("no {what} from the example: {error}; but: {others:#?}"),
            }
        }
    }

    /// Reads until a line begins with `start`, and returns the rest of it.
    pub(crate) fn expect_line(&self, start: &str) -> String {
        self.expect(&format!("`{start}…`"), |line| {
            line.strip_prefix(start).map(str::to_owned)
        })
    }

    pub(crate) fn assert_ends_well(mut self) {
        let status = self.example.end();
        assert!(status.success(), "the example ended with {status}");
    }
}

/// Simulated user input for the example's window.
pub(crate) struct Hand {
    screen: RustConnection,
    root: Window,
    pub(crate) window: Window,
}

/// X keysyms of keys without a character.
pub(crate) mod keys {
    pub(crate) const F1: u32 = 0xffbe;
    pub(crate) const DOWN: u32 = 0xff54;
    pub(crate) const ESCAPE: u32 = 0xff1b;
}

impl Hand {
    /// Waits for the window and gives it the input focus.
    fn before_window(display: &str) -> Hand {
        let (screen, number) = x11rb::connect(Some(display)).expect("the server answers");
        let root = screen.setup().roots[number].root;
        let window = wait_for_window(&screen, root);
        screen
            .set_input_focus(InputFocus::PARENT, window, CURRENT_TIME)
            .expect("a request");
        let hand = Hand { screen, root, window };
        hand.flush();
        hand
    }

    fn flush(&self) {
        self.screen.flush().expect("a connection");
    }

    fn fake(&self, event: u8, detail: u8, x: i16, y: i16) {
        self.screen
            .xtest_fake_input(event, detail, CURRENT_TIME, self.root, x, y, 0)
            .expect("a request")
            .check()
            .expect("the server fakes input");
        self.flush();
    }

    /// Presses and releases the key of a keysym.
    pub(crate) fn key(&self, meaning: u32) {
        let (first, last) = (self.screen.setup().min_keycode, self.screen.setup().max_keycode);
        let mapping = self
            .screen
            .get_keyboard_mapping(first, last - first + 1)
            .expect("a request")
            .reply()
            .expect("a keyboard");
        let each = usize::from(mapping.keysyms_per_keycode);
        let place = mapping
            .keysyms
            .chunks(each)
            .position(|meanings| meanings[0] == meaning);
        let code = first + place.expect("a key of that meaning") as u8;
        self.fake(KEY_PRESS_EVENT, code, 0, 0);
        self.fake(KEY_RELEASE_EVENT, code, 0, 0);
    }

    /// Moves the pointer to a position in the window.
    fn point(&self, [x, y]: [i16; 2]) {
        let corner = self
            .screen
            .translate_coordinates(self.window, self.root, 0, 0)
            .expect("a request")
            .reply()
            .expect("the window is there");
        self.fake(MOTION_NOTIFY_EVENT, 0, corner.dst_x + x, corner.dst_y + y);
    }

    pub(crate) fn click(&self, at: [i16; 2]) {
        self.point(at);
        self.fake(BUTTON_PRESS_EVENT, 1, 0, 0);
        self.fake(BUTTON_RELEASE_EVENT, 1, 0, 0);
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size = ConfigureWindowAux::new().width(width).height(height);
        self.screen
            .configure_window(self.window, &size)
            .expect("a request");
        self.flush();
    }

    /// The window's width and height in pixels.
    pub(crate) fn size(&self) -> [u16; 2] {
        let geometry = self.screen.get_geometry(self.window).expect("a request").reply();
        let geometry = geometry.expect("the window is there");
        [geometry.width, geometry.height]
    }

    /// The currently shown pixels of the window's upper left corner, row by row.
    pub(crate) fn pixels(&self, [width, height]: [u16; 2]) -> Vec<[u8; 3]> {
        let image = self
            .screen
            .get_image(ImageFormat::Z_PIXMAP, self.window, 0, 0, width, height, !0)
            .expect("a request")
            .reply()
            .expect("the window is shown whole");
        let texels = image.data.chunks_exact(4);
        assert_eq!(texels.len(), usize::from(width) * usize::from(height));
        texels.map(|texel| [texel[2], texel[1], texel[0]]).collect()
    }

    /// Waits until the window shows an expected state.
    ///
    /// # Panics
    /// If it does not.
    pub(crate) fn wait_to_see(&self, what: &str, is_shown: impl Fn(&Hand) -> bool) {
        wait_for(what, || is_shown(self).then_some(()));
    }

    /// Asks the window to close, as a window manager does when its close button is pressed.
    pub(crate) fn ask_to_close(&self) {
        let atom = |name: &[u8]| {
            self.screen
                .intern_atom(false, name)
                .expect("a request")
                .reply()
                .expect("an atom")
                .atom
        };
        let (protocols, delete) = (atom(b"WM_PROTOCOLS"), atom(b"WM_DELETE_WINDOW"));
        let event = ClientMessageEvent::new(32, self.window, protocols, [delete, 0, 0, 0, 0]);
        self.screen
            .send_event(false, self.window, EventMask::NO_EVENT, event)
            .expect("a request");
        self.flush();
    }
}

/// Waits for the example's window to be shown.
fn wait_for_window(screen: &RustConnection, root: Window) -> Window {
    wait_for("window", || {
        let windows = screen
            .query_tree(root)
            .expect("a request")
            .reply()
            .expect("a tree")
            .children;
        windows.into_iter().find(|&window| is_shown(screen, window))
    })
}

/// Returns true if the window is the example's, and mapped. It may be destroyed before the query.
fn is_shown(screen: &RustConnection, window: Window) -> bool {
    let name = screen
        .get_property(false, window, AtomEnum::WM_NAME, AtomEnum::ANY, 0, 64)
        .expect("a request")
        .reply();
    let attributes = screen.get_window_attributes(window).expect("a request").reply();
    name.is_ok_and(|name| name.value.starts_with(b"tileheap"))
        && attributes.is_ok_and(|attributes| attributes.map_state == MapState::VIEWABLE)
}

pub(crate) fn deferred(size: &str, arguments: &[&str]) -> Command {
    in_window("deferred", size, arguments)
}

pub(crate) fn in_window(example: &str, size: &str, arguments: &[&str]) -> Command {
    let mut command = support::example(example);
    command.args(["--window", "--size", size]).args(arguments);
    command
}
