//! The examples' windows on a screen of their own (Xvfb): they open, present, survive resizes, heed keys, close clean.
#![cfg(all(feature = "runtime", feature = "shaders"))]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask, ImageFormat, InputFocus,
    KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

/// How long to wait for a window or a line: the example may have to be built first.
const PATIENCE: Duration = Duration::from_secs(300);

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail where it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An X server without a screen, and the name it goes by; `None` where there is no such server to start.
fn screen() -> Option<(Running, String)> {
    let mut server = Command::new("Xvfb")
        .args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1024x768x24",
            "-nolisten",
            "tcp",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut number = String::new();
    let output = server.stdout.take().expect("a pipe");
    BufReader::new(output)
        .read_line(&mut number)
        .expect("a display number");
    Some((Running(server), format!(":{}", number.trim())))
}

/// An example in a window of that screen, and what it prints.
fn start(name: &str, display: &str, arguments: &[&str]) -> (Running, Receiver<String>) {
    let mut example = support::example(name)
        .args(["--window", "--size", "320x180"])
        .args(arguments)
        .env("DISPLAY", display)
        .stdout(Stdio::piped())
        .spawn()
        .expect("cargo runs");
    let output = BufReader::new(example.stdout.take().expect("a pipe"));
    let (sender, lines) = channel();
    // Reading has no time limit, receiving has one.
    std::thread::spawn(move || {
        for line in output.lines() {
            if sender.send(line.expect("text")).is_err() {
                break;
            }
        }
    });
    (Running(example), lines)
}

/// Reads on until a line begins with `start`, and gives its rest.
fn expect_line(lines: &Receiver<String>, start: &str) -> String {
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                if let Some(rest) = line.strip_prefix(start) {
                    return rest.to_owned();
                }
            }
            Err(error) => panic!("no line `{start}…` from the example: {error}"),
        }
    }
}

fn assert_ends_well(mut example: Running) {
    let status = example.0.wait().expect("a child");
    assert!(status.success(), "the example ended with {status}");
}

/// The example's window, once it is shown.
fn wait_for_window(screen: &RustConnection, root: Window) -> Window {
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        let windows = screen
            .query_tree(root)
            .expect("a request")
            .reply()
            .expect("a tree")
            .children;
        let shown = windows.into_iter().find(|&window| is_shown(screen, window));
        if let Some(window) = shown {
            return window;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("no window after {PATIENCE:?}");
}

/// Whether it is the example's, and mapped. A window may be gone before it is asked.
fn is_shown(screen: &RustConnection, window: Window) -> bool {
    let name = screen
        .get_property(false, window, AtomEnum::WM_NAME, AtomEnum::ANY, 0, 64)
        .expect("a request")
        .reply();
    let attributes = screen.get_window_attributes(window).expect("a request").reply();
    name.is_ok_and(|name| name.value.starts_with(b"tileheap"))
        && attributes.is_ok_and(|attributes| attributes.map_state == MapState::VIEWABLE)
}

/// Asks the window to close as a window manager does when its button is pressed.
fn ask_to_close(screen: &RustConnection, window: Window) {
    let atom = |name: &[u8]| {
        screen
            .intern_atom(false, name)
            .expect("a request")
            .reply()
            .expect("an atom")
            .atom
    };
    let (protocols, delete) = (atom(b"WM_PROTOCOLS"), atom(b"WM_DELETE_WINDOW"));
    let event = ClientMessageEvent::new(32, window, protocols, [delete, 0, 0, 0, 0]);
    screen
        .send_event(false, window, EventMask::NO_EVENT, event)
        .expect("a request");
    screen.flush().expect("a connection");
}

/// Presses and releases the key that writes a character.
fn press(screen: &RustConnection, character: char) {
    let setup = screen.setup();
    let codes = setup.max_keycode - setup.min_keycode + 1;
    let mapping = screen
        .get_keyboard_mapping(setup.min_keycode, codes)
        .expect("a request")
        .reply()
        .expect("a keyboard");
    // Without shift.
    let mut unshifted = mapping
        .keysyms
        .iter()
        .step_by(usize::from(mapping.keysyms_per_keycode));
    let at = unshifted.position(|&keysym| keysym == character as u32);
    let code = setup.min_keycode + at.expect("a key for it") as u8;
    for kind in [KEY_PRESS_EVENT, KEY_RELEASE_EVENT] {
        screen
            .xtest_fake_input(kind, code, 0, x11rb::NONE, 0, 0, 0)
            .expect("a request");
    }
    screen.flush().expect("a connection");
}

/// The pixels of a window, row by row.
fn pixels(screen: &RustConnection, window: Window, (width, height): (u16, u16)) -> Vec<[u8; 3]> {
    let image = screen
        .get_image(ImageFormat::Z_PIXMAP, window, 0, 0, width, height, u32::MAX)
        .expect("a request")
        .reply()
        .expect("pixels");
    let (texels, rest) = image.data.as_chunks::<4>();
    assert_eq!(
        (texels.len(), rest.len()),
        (usize::from(width) * usize::from(height), 0)
    );
    texels.iter().map(|&[b, g, r, _]| [r, g, b]).collect()
}

/// Looks at the window until it shows what is wanted.
fn wait_for_pixels(
    screen: &RustConnection,
    window: Window,
    size: (u16, u16),
    what: &str,
    is_there: impl Fn(&[[u8; 3]]) -> bool,
) -> Vec<[u8; 3]> {
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        let found = pixels(screen, window, size);
        if is_there(&found) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{what}: not after {PATIENCE:?}");
}

/// The flight over the terrain: the overlay is drawn anew in every frame, hides and shows again, the budget changes, the window
/// changes its size, and it ends when asked.
#[test]
fn the_flight_heeds_its_keys_and_shows_the_cache_as_it_is() {
    const SIZE: (u16, u16) = (320, 180);
    let Some((_server, display)) = screen() else {
        return support::skip("Xvfb is not installed");
    };
    let arguments = ["--budget", "6M", "--uploads", "256K"];
    let (example, lines) = start("terrain", &display, &arguments);
    let (screen, number) = x11rb::connect(Some(&display)).expect("the server answers");
    let window = wait_for_window(&screen, screen.setup().roots[number].root);
    screen
        .set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)
        .expect("a request");
    // A letter of the monitor's title.
    let title = |pixels: &[[u8; 3]]| {
        let panel = pixels.chunks(usize::from(SIZE.0)).skip(22).take(10);
        let white = panel.map(|row| {
            row[70..]
                .iter()
                .filter(|pixel| pixel.iter().all(|&byte| byte > 220))
                .count()
        });
        white.sum::<usize>() > 100
    };
    let shown = wait_for_pixels(&screen, window, SIZE, "the overlay", title);
    // It moves while the flight does.
    let changes = |before: &[[u8; 3]], now: &[[u8; 3]], rows: std::ops::Range<usize>| {
        let range = rows.start * usize::from(SIZE.0)..rows.end * usize::from(SIZE.0);
        before[range.clone()] != now[range]
    };
    let (monitor, memory) = (38..96, 140..166);
    wait_for_pixels(&screen, window, SIZE, "a moving overlay", |now| {
        changes(&shown, now, monitor.clone()) && changes(&shown, now, memory.clone())
    });
    press(&screen, ' ');
    expect_line(&lines, "stands still");
    press(&screen, 'o');
    expect_line(&lines, "overlay off");
    wait_for_pixels(&screen, window, SIZE, "no overlay", |now| !title(now));
    press(&screen, 'o');
    expect_line(&lines, "overlay on");
    wait_for_pixels(&screen, window, SIZE, "the overlay again", title);
    press(&screen, '-');
    assert_eq!(expect_line(&lines, "budget "), "4,718,592 B");
    press(&screen, ' ');
    expect_line(&lines, "flies on");
    let size = ConfigureWindowAux::new().width(400).height(240);
    screen.configure_window(window, &size).expect("a request");
    screen.flush().expect("a connection");
    assert_eq!(expect_line(&lines, "resized to "), "400 x 240");
    wait_for_pixels(&screen, window, SIZE, "a picture of another size", |now| {
        now.iter().any(|&pixel| pixel != [0; 3])
    });
    ask_to_close(&screen, window);
    expect_line(&lines, "presented ");
    assert_ends_well(example);
}

#[test]
fn presents_sixty_frames_and_changes_size_in_between() {
    let Some((_server, display)) = screen() else {
        return support::skip("Xvfb is not installed");
    };
    let (example, lines) = start("deferred", &display, &["--frames", "60", "--resize-after", "20"]);
    assert_eq!(expect_line(&lines, "resized to "), "240 x 120");
    let presented = expect_line(&lines, "presented ");
    assert!(presented.starts_with("60 frames"), "presented {presented}");
    assert_ends_well(example);
}

#[test]
fn follows_its_window_and_closes_when_asked() {
    let Some((_server, display)) = screen() else {
        return support::skip("Xvfb is not installed");
    };
    let (example, lines) = start("deferred", &display, &[]);
    let (screen, number) = x11rb::connect(Some(&display)).expect("the server answers");
    let window = wait_for_window(&screen, screen.setup().roots[number].root);
    // The window is there before the renderer, which takes the size it finds; the plan is printed by a renderer that has one.
    expect_line(&lines, "Frame `deferred`");
    for (width, height) in [(400, 300), (200, 100)] {
        let size = ConfigureWindowAux::new().width(width).height(height);
        screen.configure_window(window, &size).expect("a request");
        screen.flush().expect("a connection");
        assert_eq!(expect_line(&lines, "resized to "), format!("{width} x {height}"));
    }
    ask_to_close(&screen, window);
    expect_line(&lines, "presented ");
    assert_ends_well(example);
}
