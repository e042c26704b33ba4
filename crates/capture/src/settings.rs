//! The settings of the layer: the frames to capture, and the folder for documents.

use std::ffi::CStr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tileheap_layer::app_folder::resolve;
use tileheap_layer::layer_desc::{LayerDesc, SettingDesc, SettingKind};

use crate::document::FrameBoundary;

/// The layer's name.
pub const LAYER_NAME: &CStr = c"VK_LAYER_TILEHEAP_capture";
/// The setting for the document folder: `frame-N.json` for each frame, `frame-N-device-D.json` for further devices. Without it nothing is captured,
/// except on Android.
pub const FOLDER: &str = "folder";
/// The setting for the captured frames: `N`; `N..M`, excluding M; or `heaviest:N`, the heaviest of the first N, preferably one that the next frame
/// repeats. Default: `heaviest:120`. If the program ends earlier, the last frame or the heaviest so far is written.
pub const FRAMES: &str = "frames";
/// The setting for the event that ends a frame: `present` (the default), `label:NAME` when a debug label or marker of that name is begun or inserted,
/// `submits:N` after N submits, or `signal:FILE` when the file is created, which the layer then removes.
pub const BORDER: &str = "border";
/// The setting for GPU times of passes: `true` writes timestamps between the passes of the program, and a fence after each of its submits. Default:
/// `false`.
pub const TIMESTAMPS: &str = "timestamps";

/// The layer with all its settings.
pub static LAYER: LayerDesc = LayerDesc {
    name: LAYER_NAME,
    description: c"Writes a program's frames as tileheap frame documents",
    key: "tileheap_capture",
    settings: &[
        SettingDesc {
            key: FOLDER,
            label: "Folder",
            description: "The folder for frame documents, frame-N.json; required except on Android, where the default is tileheap-capture in the application's own folder",
            kind: SettingKind::Folder,
        },
        SettingDesc {
            key: FRAMES,
            label: "Frames",
            description: "Frame N, counted from 0; frames N..M, excluding M; or heaviest:N, the frame that accesses the most bytes among the first N, preferably one that the next frame repeats",
            kind: SettingKind::Text("heaviest:120"),
        },
        SettingDesc {
            key: BORDER,
            label: "Border",
            description: "The event that ends a frame: present; label:NAME, a debug label; submits:N, after N submits; or signal:FILE, when the file is created",
            kind: SettingKind::Text("present"),
        },
        SettingDesc {
            key: TIMESTAMPS,
            label: "Timestamps",
            description: "Measures the GPU time of each pass with timestamps between passes and a fence after each submit",
            kind: SettingKind::Bool(false),
        },
    ],
};

/// The default document folder on Android, in the application's own folder.
const APP_FOLDER: &str = "tileheap-capture";

/// The log file in the document folder: a line for each device that the program creates (see [`is_device`]), and for each problem; if nothing was
/// captured, the last problem is the reason.
pub const LOG: &str = "capture.log";

/// The end of the log's lines about devices.
const DEVICE_CREATED: &str = " was created";

/// The line of the log about a new device.
pub(crate) fn device_line(device: &str) -> String {
    format!("device `{device}`{DEVICE_CREATED}")
}

/// Returns true if a line of the log says that a device was created.
pub fn is_device(line: &str) -> bool {
    line.starts_with("device `") && line.ends_with(DEVICE_CREATED)
}

/// The frames that the setting [`FRAMES`] requests by number; `None` if it is invalid or requests the heaviest frame.
pub fn requested_frames(text: &str) -> Option<Range<u64>> {
    match frames(text)? {
        FrameRule::Range(range) => Some(range),
        FrameRule::Heaviest(_) => None,
    }
}

/// Checks settings before a program runs with them; `get` returns the text of a setting by its key.
///
/// # Errors
/// A message with the setting, its value and the valid values.
pub fn check(get: impl Fn(&str) -> Option<String>) -> Result<(), String> {
    Settings::read(get).map(|_| ())
}

/// Default number of frames to search for the heaviest: two seconds at 60 frames per second.
const DEFAULT_SEARCH: u64 = 120;

/// The frames to capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FrameRule {
    /// The heaviest of the first frames; the field is their number.
    Heaviest(u64),
    Range(Range<u64>),
}

impl FrameRule {
    /// Returns true if a frame is captured, or compared with a captured one.
    pub(crate) fn needs(&self, frame: u64) -> bool {
        match self {
            FrameRule::Heaviest(count) => frame <= *count,
            FrameRule::Range(range) => frame.saturating_add(1) >= range.start && frame <= range.end,
        }
    }

    /// Returns true if a frame is requested by its number.
    pub(crate) fn requests(&self, frame: u64) -> bool {
        matches!(self, FrameRule::Range(range) if range.contains(&frame))
    }

    /// Returns the last frame that is compared.
    pub(crate) fn last(&self) -> u64 {
        match self {
            FrameRule::Heaviest(count) => *count,
            FrameRule::Range(range) => range.end,
        }
    }
}

/// The event that ends a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FrameBoundaryRule {
    Present,
    Label(String),
    Submits(u64),
    Signal(PathBuf),
}

impl FrameBoundaryRule {
    /// Returns the kind of the event, as stored in the document.
    pub(crate) fn kind(&self) -> FrameBoundary {
        match self {
            FrameBoundaryRule::Present => FrameBoundary::Present,
            FrameBoundaryRule::Label(_) => FrameBoundary::Label,
            FrameBoundaryRule::Submits(_) => FrameBoundary::Submits,
            FrameBoundaryRule::Signal(_) => FrameBoundary::Signal,
        }
    }
}

/// The settings of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) folder: PathBuf,
    pub(crate) frames: FrameRule,
    pub(crate) boundary: FrameBoundaryRule,
    /// True if passes are timed.
    pub(crate) timestamps: bool,
}

impl Settings {
    /// Reads the settings; `None` if nothing is to be captured.
    ///
    /// # Errors
    /// A message with the setting, its value and the valid values.
    pub(crate) fn read(get: impl Fn(&str) -> Option<String>) -> Result<Option<Settings>, String> {
        let of = |key: &str| get(key).filter(|value| !value.is_empty());
        let Some(folder) = folder(&get) else {
            return Ok(None);
        };
        if folder.to_string_lossy().contains(char::REPLACEMENT_CHARACTER) {
            let folder = folder.display();
            return Err(format!("setting {FOLDER} is `{folder}`: the path is not UTF-8"));
        }
        let frames = match of(FRAMES) {
            None => FrameRule::Heaviest(DEFAULT_SEARCH),
            Some(text) => frames(&text).ok_or_else(|| {
                format!("setting {FRAMES} is `{text}`: expected a frame `N`, a range of frames `N..M`, or `heaviest:N`")
            })?,
        };
        let boundary = match of(BORDER) {
            None => FrameBoundaryRule::Present,
            Some(text) => border(&text).ok_or_else(|| {
                format!(
                    "setting {BORDER} is `{text}`: expected `present`, `label:NAME`, `submits:N` or `signal:FILE`"
                )
            })?,
        };
        let timestamps = match of(TIMESTAMPS).as_deref() {
            None | Some("false" | "0") => false,
            Some("true" | "1") => true,
            Some(text) => {
                return Err(format!(
                    "setting {TIMESTAMPS} is `{text}`: expected `true` or `false`"
                ));
            }
        };
        Ok(Some(Settings {
            folder,
            frames,
            boundary,
            timestamps,
        }))
    }
}

/// Returns the document folder; `None` if nothing is to be captured.
pub(crate) fn folder(get: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let given = get(FOLDER).filter(|folder| !folder.is_empty());
    // Users who enable the layer on Android want a frame, and cannot know the application's folder.
    let default = cfg!(target_os = "android").then(|| APP_FOLDER.to_owned());
    given.or(default).map(|folder| resolve(Path::new(&folder)))
}

fn frames(text: &str) -> Option<FrameRule> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    if let Some(count) = text.strip_prefix("heaviest:") {
        return number(count).filter(|count| *count > 0).map(FrameRule::Heaviest);
    }
    let frames = match text.split_once("..") {
        Some((first, end)) => number(first)?..number(end)?,
        None => {
            let first = number(text)?;
            first..first.checked_add(1)?
        }
    };
    (!frames.is_empty()).then_some(FrameRule::Range(frames))
}

fn border(text: &str) -> Option<FrameBoundaryRule> {
    match text.split_once(':') {
        None if text == "present" => Some(FrameBoundaryRule::Present),
        Some(("label", name)) if !name.is_empty() => Some(FrameBoundaryRule::Label(name.to_owned())),
        Some(("signal", file)) if !file.is_empty() => Some(FrameBoundaryRule::Signal(file.into())),
        Some(("submits", count)) => count
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .map(FrameBoundaryRule::Submits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        Settings::read(|name| {
            let found = given.iter().find(|(given, _)| *given == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn settings_are_read_and_wrong_ones_named() {
        assert_eq!(read(&[(FRAMES, "1")]), Ok(None));
        let given = [
            (FOLDER, "out"),
            (FRAMES, "3..5"),
            (BORDER, "submits:4"),
            (TIMESTAMPS, "true"),
        ];
        let settings = read(&given).unwrap().unwrap();
        assert_eq!(
            (settings.frames, settings.boundary, settings.timestamps),
            (FrameRule::Range(3..5), FrameBoundaryRule::Submits(4), true)
        );
        for (given, expected) in [
            (&[(FOLDER, "out")][..], FrameRule::Heaviest(120)),
            (&[(FOLDER, "out"), (FRAMES, "heaviest:9")], FrameRule::Heaviest(9)),
        ] {
            assert_eq!(read(given).unwrap().unwrap().frames, expected);
        }
        for wrong in [
            (FRAMES, "5..3"),
            (FRAMES, "x"),
            (FRAMES, "heaviest:0"),
            (BORDER, "submits:0"),
            (BORDER, "label:"),
            (TIMESTAMPS, "yes"),
        ] {
            let error = read(&[(FOLDER, "out"), wrong]).unwrap_err();
            assert!(error.contains(wrong.0) && error.contains(wrong.1), "{error}");
        }
    }

    #[test]
    fn the_manifest_describes_the_layer_and_its_settings() {
        let text = include_str!("../VkLayer_tileheap_capture.json");
        let manifest: serde_json::Value = serde_json::from_str(text).unwrap();
        let layer = &manifest["layer"];
        let described: serde_json::Value = serde_json::from_str(&LAYER.manifest_settings()).unwrap();
        assert_eq!(layer["features"]["settings"], described);
        let texts = [("name", LAYER.name), ("description", LAYER.description)];
        for (key, text) in texts {
            assert_eq!(layer[key].as_str(), text.to_str().ok());
        }
        assert_eq!(LAYER.variable(FOLDER), "VK_TILEHEAP_CAPTURE_FOLDER");
        for key in LAYER.keys() {
            let row = format!("| `{key}` |");
            assert!(
                include_str!("../README.md").contains(&row),
                "{row} is missing from README.md"
            );
        }
    }
}
