//! Parses the layer's settings. `tileheap_layer::settings` finds the text of each; `setting_descs` lists them. If a value cannot be parsed, it
//! is reported and the default is used.

use std::path::{Path, PathBuf};

use ash::vk;
use tileheap_device::profile::{DeviceProfile, MemoryTypePosition, PRESETS, Quirks, TileHeap};
use tileheap_layer::app_folder::resolve;
use tileheap_layer::settings::SettingValues;
use tileheap_units::{Alignment, Bytes};

use super::layer::Layer;

/// The layer's settings for one instance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// The device that is emulated.
    pub(crate) profile: Profile,
    /// True if contents that the specification calls undefined are overwritten.
    pub(crate) poison: bool,
    /// True if the order of accesses is checked.
    pub(crate) order: bool,
    /// True if ordinary memory that resources share is checked.
    pub(crate) ordinary: bool,
    /// True if findings that depend on something unknown are reported as well.
    pub(crate) possible: bool,
    /// True if a missing dependency that the specification requires but no known implementation needs is reported as well.
    pub(crate) pedantic: bool,
    /// True if mistakes in order and contents are reported each time, instead of once.
    pub(crate) repeats: bool,
    /// True if the layer emulates even if the driver has the extension.
    pub(crate) force: bool,
    /// True if the layer adds a lazily allocated memory type.
    pub(crate) lazy_type: bool,
    /// The rules whose violations are reported.
    pub(crate) report: Report,
    /// The path of the trace to write; `None` for no trace.
    pub(crate) trace: Option<PathBuf>,
    /// True if messages also go to standard error, or to logcat.
    pub(crate) log: bool,
    /// File that messages are appended to as JSON documents, one per line.
    pub(crate) message_log: Option<PathBuf>,
    /// Messages about settings that could not be parsed.
    pub(crate) errors: Vec<String>,
}

/// The rules whose violations are reported; violations of all rules are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Report {
    /// `BeyondValidation` if validation is enabled above the layer, else `All`.
    #[default]
    Auto,
    /// Every rule.
    All,
    /// Rules that the validation layers do not check.
    BeyondValidation,
    /// No rules.
    None,
}

impl Report {
    /// Resolves `Auto`, given whether validation is enabled above the layer.
    pub(crate) fn beside_validation(self, is_validated: bool) -> Report {
        match self {
            Report::Auto if is_validated => Report::BeyondValidation,
            Report::Auto => Report::All,
            chosen => chosen,
        }
    }
}

/// The device that is emulated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Profile {
    /// The profile's name.
    pub(crate) name: String,
    /// The tile heap. Its heap and type indices are those of the profile, which the emulator does not use.
    pub(crate) tile: TileHeap,
    /// Size in bytes of the on-chip memory that contains the tile heap.
    pub(crate) gmem: u64,
    /// Differences from the layout model.
    pub(crate) quirks: Quirks,
}

impl Profile {
    /// Returns the emulated device for the preset with this name.
    pub(crate) fn named(name: &str) -> Result<Profile, String> {
        Profile::of(DeviceProfile::preset(name).map_err(|error| error.to_string())?)
    }

    /// Returns the emulated device for the name of a preset, or for a file with a profile as JSON.
    fn read(name_or_file: &str) -> Result<Profile, String> {
        let given = Path::new(name_or_file);
        let path = resolve(given);
        let looks_like_a_file = given.extension().is_some() || given.components().count() > 1;
        if PRESETS.contains(&name_or_file) || (!looks_like_a_file && !path.exists()) {
            return Profile::named(name_or_file);
        }
        let text =
            std::fs::read_to_string(&path).map_err(|error| format!("the file cannot be read: {error}"))?;
        Profile::of(DeviceProfile::from_json(&text).map_err(|error| error.to_string())?)
    }

    fn of(device: DeviceProfile) -> Result<Profile, String> {
        let quirks = Quirks::of_profile(&device);
        let DeviceProfile { name, tile, gmem, .. } = device;
        let tile = tile.ok_or_else(|| format!("profile `{name}` has no tile heap to emulate"))?;
        Ok(Profile {
            name,
            tile,
            gmem: gmem.0,
            quirks,
        })
    }
}

impl Settings {
    /// Parses settings.
    pub(crate) fn read(values: &SettingValues) -> Settings {
        let mut reader = Reader {
            values,
            errors: Vec::new(),
        };
        let mut profile = reader.parsed("profile", Profile::read).unwrap_or_else(|| {
            Profile::named("adreno-830").expect("the default is a preset with a tile heap")
        });
        if let Some(size) = reader.parsed("heap_size", bytes).filter(|size| *size > 0) {
            profile.tile.size = Bytes(size);
            profile.gmem = profile.gmem.max(size);
        }
        if let Some(alignment) = reader.parsed("alignment", bytes).and_then(Alignment::new) {
            profile.tile.block.bytes = alignment;
        }
        if let Some(boundary) = reader.parsed("queue_submit_boundary", boolean) {
            profile.tile.queue_submit_boundary = boundary;
        }
        if let Some(transfers) = reader.parsed("tile_buffer_transfers", boolean) {
            profile.tile.buffer_transfers = transfers;
        }
        if let Some(position) = reader.parsed("tile_type_position", position) {
            profile.quirks.tile_type_position = position;
        }
        if let Some(lazy) = reader.parsed("tile_type_lazy", boolean) {
            const LOCAL: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::DEVICE_LOCAL;
            const LAZY: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
                LOCAL.as_raw() | vk::MemoryPropertyFlags::LAZILY_ALLOCATED.as_raw(),
            );
            profile.quirks.tile_types = if lazy { &[LAZY] } else { &[LOCAL] };
        }
        Settings {
            poison: reader.parsed("poison", boolean).unwrap_or(true),
            order: reader.parsed("order", boolean).unwrap_or(true),
            ordinary: match Layer::loaded() {
                Layer::Emulator => reader.parsed("ordinary", boolean).unwrap_or(false),
                Layer::Aliasing => true,
            },
            possible: reader.parsed("possible", boolean).unwrap_or(false),
            pedantic: reader.parsed("pedantic", boolean).unwrap_or(false),
            repeats: reader.parsed("repeats", boolean).unwrap_or(false),
            force: reader.parsed("force", boolean).unwrap_or(false),
            lazy_type: reader.parsed("lazy_type", boolean).unwrap_or(false),
            report: reader.parsed("report", report).unwrap_or_default(),
            trace: reader.path("trace"),
            message_log: reader.path("message_log"),
            log: reader
                .parsed("log", boolean)
                .unwrap_or(cfg!(target_os = "android")),
            profile,
            errors: reader.errors,
        }
    }
}

struct Reader<'a> {
    values: &'a SettingValues,
    errors: Vec<String>,
}

impl Reader<'_> {
    fn value(&self, setting: &str) -> Option<String> {
        self.values.get(setting).cloned()
    }

    fn path(&mut self, setting: &str) -> Option<PathBuf> {
        let path = self.value(setting).filter(|path| !path.is_empty())?;
        if path.contains(char::REPLACEMENT_CHARACTER) {
            let error = format!("setting {setting} is `{path}`: the path is not UTF-8; nothing is written");
            self.errors.push(error);
            return None;
        }
        Some(resolve(Path::new(&path)))
    }

    fn parsed<T>(&mut self, setting: &str, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let value = self.value(setting)?;
        match parse(value.trim()) {
            Ok(value) => Some(value),
            Err(why) => {
                self.errors.push(format!(
                    "setting {setting} is `{value}`: {why}; the default is used"
                ));
                None
            }
        }
    }
}

fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}

/// Parses a number of bytes, in which `_` and `,` may separate digits; 0 keeps the profile's value.
fn bytes(text: &str) -> Result<u64, String> {
    text.replace(['_', ','], "")
        .parse()
        .map_err(|_| "expected a number of bytes".to_owned())
}

fn position(text: &str) -> Result<MemoryTypePosition, String> {
    match text {
        "first" => Ok(MemoryTypePosition::First),
        "middle" => Ok(MemoryTypePosition::Middle),
        "last" => Ok(MemoryTypePosition::Last),
        _ => Err("expected first, middle or last".to_owned()),
    }
}

fn report(text: &str) -> Result<Report, String> {
    match text {
        "auto" => Ok(Report::Auto),
        "all" => Ok(Report::All),
        "beyond-validation" => Ok(Report::BeyondValidation),
        "none" => Ok(Report::None),
        _ => Err("expected auto, all, beyond-validation or none".to_owned()),
    }
}

/// The name of the validation layer.
pub(crate) const VALIDATION: &std::ffi::CStr = c"VK_LAYER_KHRONOS_validation";

/// Returns true if the environment enables validation, by name or by a pattern that contains "validation".
pub(crate) fn environment_validates() -> bool {
    let listed = |variable: &str, matches: fn(&str) -> bool| {
        let value = std::env::var(variable).unwrap_or_default();
        value.split([':', ';', ',']).any(|layer| matches(layer.trim()))
    };
    listed("VK_INSTANCE_LAYERS", |layer| VALIDATION.to_str() == Ok(layer))
        || listed("VK_LOADER_LAYERS_ENABLE", |pattern| {
            pattern.to_ascii_lowercase().contains("validation")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the settings in a layer's manifest, and checks that the manifest and the README match the layer's description.
    fn manifest(layer: Layer, path: &str) -> serde_json::Value {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(&path).expect("the manifest");
        let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let settings = manifest["layer"]["features"]["settings"].clone();
        let described: serde_json::Value =
            serde_json::from_str(&layer.desc().manifest_settings()).expect("JSON");
        assert_eq!(settings, described, "{path:?}");
        let readme = std::fs::read_to_string(path.with_file_name("README.md")).expect("the layer's page");
        for key in layer.desc().keys() {
            let row = format!("| `{key}` |");
            assert!(readme.contains(&row), "{row} is missing beside {path:?}");
        }
        let name = manifest["layer"]["name"].as_str().map(str::as_bytes);
        assert_eq!(name, Some(layer.name().to_bytes()));
        let description = manifest["layer"]["description"].as_str().map(str::as_bytes);
        assert_eq!(description, Some(layer.desc().description.to_bytes()));
        settings
    }

    #[test]
    fn manifests_describe_the_settings_as_the_tables_do() {
        manifest(Layer::Aliasing, "../aliasing/VkLayer_tileheap_aliasing.json");
        let settings = manifest(Layer::Emulator, "VkLayer_tileheap_emulator.json");
        let profiles = settings[0]["flags"].as_array().expect("profiles");
        let profiles = profiles
            .iter()
            .map(|profile| profile["key"].as_str().expect("a key"));
        let emulated = tileheap_device::profile::PRESETS
            .into_iter()
            .filter(|name| Profile::named(name).is_ok());
        assert!(profiles.eq(emulated), "the profiles with a tile heap");
    }

    #[test]
    fn profiles_are_read_from_files() {
        let folder = std::env::temp_dir().join(format!("tileheap-profiles-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let read = |value: &str| {
            let values = [("profile".to_owned(), value.to_owned())].into_iter().collect();
            Settings::read(&values)
        };
        let file = folder.join("own.json");
        let path = file.to_str().expect("UTF-8");
        let own = DeviceProfile::preset("x2-85").expect("a preset");
        let own = own.with_tile_heap_size(Bytes::mib(2)).expect("a tile heap");
        for (name, quirks) in [
            ("x2-85", Quirks::of_preset("x2-85")),
            ("own", Quirks::of_preset("adreno-830")),
        ] {
            let own = DeviceProfile {
                name: name.to_owned(),
                ..own.clone()
            };
            std::fs::write(&file, own.to_json()).expect("a file");
            let settings = read(path);
            assert_eq!(settings.errors, Vec::<String>::new());
            assert_eq!(
                (&*settings.profile.name, settings.profile.tile.size),
                (name, Bytes::mib(2))
            );
            assert_eq!(settings.profile.quirks, quirks.expect("a preset"));
        }
        let missing = folder.join("missing.json");
        for (given, part) in [
            (missing.to_str().expect("UTF-8"), "the file cannot be read: "),
            ("unknown", "no device profile is named `unknown`"),
            ("no-tile-memory", "has no tile heap to emulate"),
        ] {
            let settings = read(given);
            assert!(settings.errors[0].contains(part), "{:?}", settings.errors);
            assert_eq!(settings.profile.name, "adreno-830");
        }
        std::fs::remove_dir_all(&folder).expect("a folder that can be removed");
    }
}
