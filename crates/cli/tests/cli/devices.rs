//! `device`: the devices of this machine, and one line if there are none.

use std::process::Command;

use crate::run::{Run, command, contains, json, scratch, tileheap};
use crate::support::skip;

fn without_driver(arguments: &[&str]) -> Run {
    // The loader takes its drivers only from this file, which does not exist.
    let missing = std::env::temp_dir().join("tileheap-no-such-driver.json");
    let output = command()
        .args(arguments)
        .env("VK_DRIVER_FILES", &missing)
        .env("VK_ICD_FILENAMES", &missing)
        .output()
        .expect("the command starts");
    Run::new(&output)
}

#[test]
fn every_device_is_listed_with_what_it_lacks() {
    let run = tileheap(&["device"]);
    if run.err.contains("no Vulkan") {
        return skip(run.bad(1).as_str());
    }
    let text = run.good();
    let devices = json(&tileheap(&["device", "--json"]).good());
    let devices = devices["devices"].as_array().expect("devices");
    assert!(!devices.is_empty());
    for device in devices {
        assert!(text.contains(device["name"].as_str().expect("a name")), "{text}");
        if device["tile_memory"] == false {
            assert!(
                device["missing"]
                    .as_array()
                    .is_some_and(|missing| !missing.is_empty())
            );
            assert!(
                text.contains("Missing for tile memory") && text.contains("VK_QCOM_tile_memory_heap"),
                "{text}"
            );
        }
        assert_eq!(device["profile"]["format"], "tileheap-profile");
    }
}

#[test]
fn without_a_loader_one_line_says_what_to_do() {
    // An empty file with the loader's name, found first. Not on the test bed, whose libraries precede all others.
    let folder = scratch("no loader");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("libvulkan.so.1"), "").expect("an empty file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileheap"));
    let output = command
        .arg("device")
        .env("LD_LIBRARY_PATH", &folder)
        .output()
        .expect("the command starts");
    Run::new(&output).names(1, &["no Vulkan loader", "install"]);
}

#[test]
fn without_a_driver_one_line_says_what_to_do() {
    let message = without_driver(&["device"]).bad(1);
    if message.contains("no Vulkan loader") {
        return skip(&message);
    }
    contains(message, &["no Vulkan device", "install a driver"]);
}
