//! Debian's Chromium, headless, driven through its debugging pipe: real mouse and keys, screenshots, the accessibility tree.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

use crate::run::scratch;
use crate::support;

/// A browser with one page.
pub(crate) struct Browser {
    /// Not waited for: it ends when this process ends and closes the pipe.
    _process: Child,
    to: File,
    from: BufReader<File>,
    calls: u64,
    session: Option<String>,
    loaded: bool,
    /// Errors that the page reported since it was opened.
    faults: Vec<String>,
}

/// The browser shared by all tests. `None`, and the test is listed as skipped, if none is installed.
pub(crate) fn browser() -> Option<MutexGuard<'static, Browser>> {
    static BROWSER: OnceLock<Option<Mutex<Browser>>> = OnceLock::new();
    let programs = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    let started = BROWSER.get_or_init(|| {
        let program = programs.into_iter().find(|program| Path::new(program).exists())?;
        Some(Mutex::new(Browser::start(program)))
    });
    let Some(browser) = started else {
        support::skip("Chromium is not installed");
        return None;
    };
    // A failed test leaves a page that the next one closes.
    Some(browser.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Browser {
    fn start(program: &str) -> Browser {
        let (to, from, profile) = (
            scratch("browser.to"),
            scratch("browser.from"),
            scratch("browser.profile"),
        );
        for pipe in [&to, &from] {
            let _ = std::fs::remove_file(pipe);
            let made = Command::new("mkfifo").arg(pipe).status().expect("mkfifo starts");
            assert!(made.success(), "a pipe at {}", pipe.display());
        }
        let _ = std::fs::remove_dir_all(&profile);
        // Only the font family of the references, whatever else the machine has.
        let fonts = scratch("browser.fonts");
        let family = Path::new("/usr/share/fonts/truetype/dejavu");
        let folder = if family.exists() {
            family
        } else {
            Path::new("/usr/share/fonts")
        };
        let listed = format!(
            "<fontconfig><dir>{}</dir><match target=\"pattern\"><edit name=\"family\" mode=\"prepend\" binding=\"strong\">\
             <string>DejaVu Sans</string></edit></match></fontconfig>",
            folder.display()
        );
        std::fs::write(&fonts, listed).expect("a list of fonts");
        // Chromium listens on descriptor 3 and answers on 4.
        let script = "exec timeout 900 \"$0\" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb \
                      --remote-debugging-pipe --user-data-dir=\"$3\" about:blank 3<\"$1\" 4>\"$2\"";
        let process = Command::new("sh")
            .args(["-c", script, program])
            .args([&to, &from, &profile])
            .env("FONTCONFIG_FILE", &fonts)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell starts");
        let open = |path: &PathBuf, write: bool| File::options().read(!write).write(write).open(path);
        let mut browser = Browser {
            _process: process,
            to: open(&to, true).expect("the browser's ear"),
            from: BufReader::new(open(&from, false).expect("the browser's voice")),
            calls: 0,
            session: None,
            loaded: false,
            faults: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let how = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", how);
        browser.session = Some(session["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method of the browser, and handles the events that arrive before the result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut request = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let heard = self.hear();
            if heard["id"] == self.calls {
                assert!(heard["error"].is_null(), "{method}: {}", heard["error"]);
                return heard["result"].clone();
            }
        }
    }

    fn hear(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("the browser answers");
        assert_eq!(bytes.pop(), Some(0), "the browser is gone");
        let heard: Value = serde_json::from_slice(&bytes).expect("JSON");
        let about = &heard["params"];
        match heard["method"].as_str().unwrap_or("") {
            "Page.loadEventFired" => self.loaded = true,
            "Runtime.exceptionThrown" => self.faults.push(about["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if about["type"] != "log" => self.faults.push(about.to_string()),
            "Log.entryAdded" if about["entry"]["level"] == "error" => self.faults.push(about.to_string()),
            _ => {}
        }
        heard
    }

    /// Opens a file in a window of this size, in the light color scheme.
    pub(crate) fn open(&mut self, page: &str, (width, height): (u32, u32)) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        self.show_as("", "light");
        (self.loaded, self.faults) = (false, Vec::new());
        self.call("Page.navigate", json!({ "url": format!("file://{page}") }));
        while !self.loaded {
            self.hear();
        }
    }

    /// Switches to the screen or to paper (`print`), in the color scheme `light` or `dark`.
    pub(crate) fn show_as(&mut self, media: &str, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        let how = json!({ "media": media, "features": features });
        self.call("Emulation.setEmulatedMedia", how);
    }

    /// Evaluates the body of a function in the page; returns its result.
    pub(crate) fn run(&mut self, body: &str) -> Value {
        let how = json!({ "expression": format!("(() => {{ {body} }})()"), "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", how);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        answer["result"]["value"].clone()
    }

    pub(crate) fn move_mouse(&mut self, x: f64, y: f64) {
        let event = json!({ "type": "mouseMoved", "x": x, "y": y });
        self.call("Input.dispatchMouseEvent", event);
    }

    pub(crate) fn click(&mut self, x: f64, y: f64) {
        self.move_mouse(x, y);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key by its name in the DOM: `ArrowRight`, `Tab`, `a`.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            letter => (0, letter),
        };
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        for kind in [down, "keyUp"] {
            let event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// A screenshot of the window as PNG.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let how = json!({ "format": "png", "captureBeyondViewport": false });
        let picture = self.call("Page.captureScreenshot", how);
        let data = picture["data"].as_str().expect("a picture");
        BASE64_STANDARD.decode(data).expect("base 64")
    }

    /// The accessibility tree: the role of each node, and its name or an empty text.
    pub(crate) fn spoken(&mut self) -> Vec<(String, String)> {
        let tree = self.call("Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().expect("nodes").iter();
        let told = nodes.filter(|node| node["ignored"] != true).filter_map(|node| {
            let value = |field: &str| node[field]["value"].as_str().map(str::to_owned);
            Some((value("role")?, value("name").unwrap_or_default()))
        });
        told.collect()
    }

    /// Asserts that nothing was thrown or logged as an error since the page was opened.
    pub(crate) fn assert_no_faults(&mut self) {
        // A screenshot renders a frame, in which the page runs its deferred work; the call after it receives the resulting events.
        self.picture();
        self.run("");
        assert_eq!(self.faults, Vec::<String>::new());
    }
}
