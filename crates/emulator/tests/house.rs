//! The rules of the house that the compiler does not enforce.

use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the package's sources");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    paths
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .collect()
}

/// What the layer uses of the crate: its binding, its profiles and its quantities. Not the planner, not the runtime.
#[test]
fn the_layer_uses_no_other_module_of_the_crate() {
    let allowed = ["ffi", "profile", "units", "error"];
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sources.len() > 20, "{sources:?}");
    for path in sources {
        let text = std::fs::read_to_string(&path).expect("a source file");
        for (_, rest) in text
            .match_indices("tileheap_device::")
            .map(|(at, found)| (at, &text[at + found.len()..]))
        {
            let module: String = rest
                .chars()
                .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                .collect();
            let named = allowed.contains(&module.as_str()) || rest.starts_with('{');
            assert!(named, "{} uses tileheap_device::{module}", path.display());
        }
    }
}

#[test]
fn the_manifest_lists_every_setting_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("VkLayer_tileheap_emulator.json");
    let text = std::fs::read_to_string(path).expect("the manifest");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let settings = manifest["layer"]["features"]["settings"]
        .as_array()
        .expect("settings");
    let mut listed: Vec<_> = settings
        .iter()
        .map(|setting| setting["key"].as_str().expect("a key"))
        .collect();
    let mut known = tileheap_emulator::SETTINGS.to_vec();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
    for setting in settings {
        let key = setting["key"].as_str().expect("a key");
        let variable = format!("VK_TILEHEAP_EMULATOR_{}", key.to_uppercase());
        assert_eq!(setting["env"], variable.as_str());
    }
    let name = manifest["layer"]["name"].as_str().map(str::as_bytes);
    assert_eq!(name, Some(tileheap_emulator::LAYER_NAME.to_bytes()));
}
