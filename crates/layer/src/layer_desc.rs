//! Describes a layer: its names, and its settings as parsers, manifests and documents list them.
//!
//! ```text
//! LayerDesc ──► lookup of settings        (`settings`)
//!           ──► answers to enumerations   (`enumerate`)
//!           ──► `features.settings` of the manifest, which tests compare
//! ```

use std::ffi::CStr;

/// The names and the settings of a layer.
#[derive(Debug)]
pub struct LayerDesc {
    /// The name that programs enable.
    pub name: &'static CStr,
    /// One line for lists of layers.
    pub description: &'static CStr,
    /// The prefix of the layer's settings in files and system properties, such as `tileheap_capture`.
    pub key: &'static str,
    /// Every setting.
    pub settings: &'static [SettingDesc],
}

/// A setting of a layer.
#[derive(Debug)]
pub struct SettingDesc {
    /// The name, in lower case.
    pub key: &'static str,
    /// The name that users see.
    pub label: &'static str,
    /// The effect, in one sentence.
    pub description: &'static str,
    /// The type, and the default.
    pub kind: SettingKind,
}

/// The type of a setting, with its default.
#[derive(Clone, Copy, Debug)]
pub enum SettingKind {
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Text.
    Text(&'static str),
    /// The path of a folder; no default.
    Folder,
    /// The path of an output file; no default.
    File,
    /// One of several values: the key of the default, and all values.
    Enum(&'static str, &'static [SettingValue]),
}

/// A value of an enumerated setting.
#[derive(Debug)]
pub struct SettingValue {
    /// The text that stands for the value.
    pub key: &'static str,
    /// The name that users see.
    pub label: &'static str,
    /// The effect.
    pub description: &'static str,
}

impl LayerDesc {
    /// The environment variable of a setting, such as `VK_TILEHEAP_CAPTURE_FOLDER`.
    pub fn variable(&self, setting: &str) -> String {
        format!("VK_{}_{setting}", self.key).to_ascii_uppercase()
    }

    /// The name of a setting in `vk_layer_settings.txt`, such as `tileheap_capture.folder`.
    pub fn file_key(&self, setting: &str) -> String {
        format!("{}.{setting}", self.key)
    }

    /// The Android system property of a setting, such as `debug.vulkan.tileheap_capture.folder`. Needs Android 8: older versions limit
    /// names to 31 characters.
    pub fn property(&self, setting: &str) -> String {
        format!("debug.vulkan.{}", self.file_key(setting))
    }

    /// The keys of the layer's settings.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.settings.iter().map(|setting| setting.key)
    }

    /// `features.settings` of the layer's manifest, for Vulkan Configurator, as JSON.
    ///
    /// Source: the schema `layers_schema.json` of Vulkan-Profiles, 1.2.
    pub fn manifest_settings(&self) -> String {
        list(self.settings.iter().map(|setting| {
            let (kind, default, values) = setting.kind.manifest();
            let mut fields = vec![
                ("key", quoted(setting.key)),
                ("env", quoted(&self.variable(setting.key))),
                ("label", quoted(setting.label)),
                ("description", quoted(setting.description)),
                ("type", quoted(kind)),
                ("default", default),
                ("platforms", r#"["WINDOWS","LINUX","MACOS","ANDROID"]"#.to_owned()),
            ];
            fields.extend(values.map(|values| ("flags", values)));
            object(&fields)
        }))
    }
}

impl SettingKind {
    /// Type, default and values in a manifest.
    fn manifest(self) -> (&'static str, String, Option<String>) {
        match self {
            SettingKind::Bool(value) => ("BOOL", value.to_string(), None),
            SettingKind::Int(value) => ("INT", value.to_string(), None),
            SettingKind::Text(value) => ("STRING", quoted(value), None),
            SettingKind::Folder => ("SAVE_FOLDER", quoted(""), None),
            SettingKind::File => ("SAVE_FILE", quoted(""), None),
            SettingKind::Enum(default, values) => {
                let values = list(values.iter().map(|value| {
                    object(&[
                        ("key", quoted(value.key)),
                        ("label", quoted(value.label)),
                        ("description", quoted(value.description)),
                    ])
                }));
                ("ENUM", quoted(default), Some(values))
            }
        }
    }
}

fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(","))
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<_> = fields
        .iter()
        .map(|(key, value)| format!("\"{key}\":{value}"))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// Converts text to a JSON string. Strings of the tables have no control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYER: LayerDesc = LayerDesc {
        name: c"VK_LAYER_TILEHEAP_test",
        description: c"A test",
        key: "tileheap_test",
        settings: &[
            SettingDesc {
                key: "out_folder",
                label: "Folder",
                description: "A \"place\"",
                kind: SettingKind::Folder,
            },
            SettingDesc {
                key: "mode",
                label: "Mode",
                description: "A choice",
                kind: SettingKind::Enum(
                    "fast",
                    &[SettingValue {
                        key: "fast",
                        label: "Fast",
                        description: "At once",
                    }],
                ),
            },
        ],
    };

    #[test]
    fn a_setting_has_one_name_in_each_source() {
        assert_eq!(LAYER.variable("out_folder"), "VK_TILEHEAP_TEST_OUT_FOLDER");
        assert_eq!(LAYER.file_key("out_folder"), "tileheap_test.out_folder");
        assert_eq!(
            LAYER.property("out_folder"),
            "debug.vulkan.tileheap_test.out_folder"
        );
        assert!(LAYER.keys().eq(["out_folder", "mode"]));
    }

    #[test]
    fn the_manifest_has_types_defaults_and_values() {
        let text = LAYER.manifest_settings();
        for part in [
            r#""description":"A \"place\"","type":"SAVE_FOLDER","default":"""#,
            r#""type":"ENUM","default":"fast""#,
            r#""flags":[{"key":"fast","label":"Fast","description":"At once"}]}]"#,
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
