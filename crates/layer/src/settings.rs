//! Reads a layer's settings. If several sources have a value, the first one wins:
//!
//! | | source | name of the setting `folder` of the capture layer |
//! |---|---|---|
//! | 1 | environment | `VK_TILEHEAP_CAPTURE_FOLDER` |
//! | 2 | system properties of Android | `debug.vulkan.tileheap_capture.folder` |
//! | 3 | `vk_layer_settings.txt` | `tileheap_capture.folder` |
//! | 4 | `VkLayerSettingsCreateInfoEXT` of the instance | `folder` of `VK_LAYER_TILEHEAP_capture` |
//!
//! This is the order of the Khronos layers. An empty system property counts as not set, since properties cannot be removed.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::path::PathBuf;

use ash::vk;

use crate::app_folder::AppFolder;
use crate::layer_desc::LayerDesc;
use crate::{android, array, chained, given, text};

/// Values as text, by the keys of the settings.
pub type SettingValues = BTreeMap<String, String>;

/// The sources of settings, in order of precedence.
pub struct SettingSources<'a> {
    /// Returns the value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the value of a system property.
    pub property: &'a dyn Fn(&str) -> Option<String>,
    /// The text of `vk_layer_settings.txt`.
    pub file: &'a str,
    /// The settings that the instance's create info gives to this layer.
    pub structure: SettingValues,
}

impl SettingSources<'_> {
    /// The values of a layer's settings.
    pub fn read(self, layer: &LayerDesc) -> SettingValues {
        let mut values = self.structure;
        values.retain(|key, _| layer.keys().any(|known| known == key));
        values.extend(in_file(self.file, layer));
        for key in layer.keys() {
            let property = (self.property)(&layer.property(key)).filter(|value| !value.is_empty());
            let value = (self.variable)(&layer.variable(key)).or(property);
            values.extend(value.map(|value| (key.to_owned(), value)));
        }
        values
    }
}

/// The values of a layer's settings for an instance that this process creates.
pub fn of_instance(layer: &LayerDesc, info: &vk::InstanceCreateInfo<'_>) -> SettingValues {
    SettingSources {
        // Invalid UTF-8 becomes U+FFFD, which the layers report.
        variable: &|name| Some(std::env::var_os(name)?.to_string_lossy().into_owned()),
        property: &android::property,
        file: &file_text(),
        structure: in_structure(layer, info),
    }
    .read(layer)
}

/// The text of the first `vk_layer_settings.txt` found: at `VK_LAYER_SETTINGS_PATH` (a file or a directory), in the working
/// directory, in Vulkan Configurator's output directory, or in the application's own folder on Android. Empty if there is none.
fn file_text() -> String {
    const FILE: &str = "vk_layer_settings.txt";
    let mut places = Vec::new();
    if let Some(path) = std::env::var_os("VK_LAYER_SETTINGS_PATH").map(PathBuf::from) {
        places.push(if path.is_dir() { path.join(FILE) } else { path });
    }
    places.push(PathBuf::from(FILE));
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
        places.push(home.join(".local/share/vulkan/settings.d").join(FILE));
    }
    places.extend(AppFolder::of_process().map(|folder| folder.path().join(FILE)));
    let text = places
        .iter()
        .find_map(|place| std::fs::read_to_string(place).ok());
    text.unwrap_or_default()
}

/// A layer's settings in the text of a file.
fn in_file(text: &str, layer: &LayerDesc) -> SettingValues {
    let line = |line: &str| {
        let line = line.split('#').next().unwrap_or_default();
        let (name, value) = line.split_once('=')?;
        let key = layer.keys().find(|key| layer.file_key(key) == name.trim())?;
        Some((key.to_owned(), value.trim().to_owned()))
    };
    text.lines().filter_map(line).collect()
}

/// A layer's settings in the instance's `VkLayerSettingsCreateInfoEXT`.
fn in_structure(layer: &LayerDesc, info: &vk::InstanceCreateInfo<'_>) -> SettingValues {
    let Some(given) = chained!(info.p_next => vk::LayerSettingsCreateInfoEXT<'_>) else {
        return SettingValues::new();
    };
    let settings = array!(given.p_settings, given.setting_count);
    let own = settings
        .iter()
        .filter(|setting| layer.name.to_str() == Ok(&*text!(setting.p_layer_name)));
    own.filter_map(key_and_text).collect()
}

/// A setting's key, and its first value as text.
fn key_and_text(setting: &vk::LayerSettingEXT<'_>) -> Option<(String, String)> {
    use vk::LayerSettingTypeEXT as T;
    if setting.value_count == 0 || setting.p_values.is_null() {
        return None;
    }
    // `ty` determines the type of the values, and there is at least one value.
    let values = setting.p_values;
    let value = match setting.ty {
        T::BOOL32 => (*given!(values.cast::<u32>()) != 0).to_string(),
        T::INT32 => given!(values.cast::<i32>()).to_string(),
        T::INT64 => given!(values.cast::<i64>()).to_string(),
        T::UINT32 => given!(values.cast::<u32>()).to_string(),
        T::UINT64 => given!(values.cast::<u64>()).to_string(),
        T::STRING => text!(*given!(values.cast::<*const c_char>())),
        _ => return None,
    };
    Some((text!(setting.p_setting_name), value))
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;
    use crate::layer_desc::{SettingDesc, SettingKind};

    const fn setting(key: &'static str) -> SettingDesc {
        SettingDesc {
            key,
            label: "",
            description: "",
            kind: SettingKind::Text(""),
        }
    }

    const LAYER: LayerDesc = LayerDesc {
        name: c"VK_LAYER_TILEHEAP_test",
        description: c"A test",
        key: "tileheap_test",
        settings: &[setting("one"), setting("two"), setting("three"), setting("four")],
    };

    fn values(pairs: &[(&str, &str)]) -> SettingValues {
        let pairs = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        pairs.collect()
    }

    /// Looks up a name in pairs.
    fn among<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| {
            let found = pairs.iter().find(|pair| pair.0 == name);
            found.map(|pair| pair.1.to_owned())
        }
    }

    #[test]
    fn the_environment_precedes_properties_the_file_and_the_structure() {
        let given = SettingSources {
            variable: &among(&[("VK_TILEHEAP_TEST_ONE", "variable")]),
            property: &among(&[
                ("debug.vulkan.tileheap_test.one", "property"),
                ("debug.vulkan.tileheap_test.two", "property"),
                ("debug.vulkan.tileheap_test.three", ""),
            ]),
            file: "tileheap_test.two = file\ntileheap_test.three = file\n",
            structure: values(&[
                ("one", "structure"),
                ("three", "structure"),
                ("four", "structure"),
                ("five", "unknown"),
            ]),
        };
        let expected = [
            ("one", "variable"),
            ("two", "property"),
            ("three", "file"),
            ("four", "structure"),
        ];
        assert_eq!(given.read(&LAYER), values(&expected));
    }

    #[test]
    fn the_file_may_hold_settings_of_other_layers() {
        let file = "# comment\nkhronos_validation.debug = x\n tileheap_test.one = a b.json # here\n=\ntileheap_test.onet = 1\n";
        assert_eq!(in_file(file, &LAYER), values(&[("one", "a b.json")]));
    }

    #[test]
    fn values_of_the_structure_become_text() {
        use vk::LayerSettingTypeEXT as T;
        let (yes, low, high, text) = (vk::TRUE, -3i32, u64::MAX, CString::new("a text").expect("no NUL"));
        let text = text.as_ptr();
        let one =
            |layer: &'static std::ffi::CStr, name: &'static std::ffi::CStr, ty, value| vk::LayerSettingEXT {
                p_layer_name: layer.as_ptr(),
                p_setting_name: name.as_ptr(),
                ty,
                value_count: 1,
                p_values: value,
                ..Default::default()
            };
        let settings = [
            one(LAYER.name, c"one", T::BOOL32, (&raw const yes).cast()),
            one(LAYER.name, c"two", T::INT32, (&raw const low).cast()),
            one(LAYER.name, c"three", T::UINT64, (&raw const high).cast()),
            one(LAYER.name, c"four", T::STRING, (&raw const text).cast()),
            one(c"VK_LAYER_other", c"four", T::INT32, (&raw const low).cast()),
            one(LAYER.name, c"none", T::STRING, std::ptr::null()),
        ];
        let mut given = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        let info = vk::InstanceCreateInfo::default().push_next(&mut given);
        let expected = [
            ("one", "true"),
            ("two", "-3"),
            ("three", "18446744073709551615"),
            ("four", "a text"),
        ];
        assert_eq!(in_structure(&LAYER, &info), values(&expected));
    }
}
