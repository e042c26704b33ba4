//! Keeps the layer loaded: loaders would unload it when the last instance is destroyed, and its tables would be lost each time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if matches!(system.as_str(), "linux" | "android" | "freebsd") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    if system == "android" {
        // Devices with pages of 16 KiB refuse other libraries; NDKs before 28 align to 4 KiB.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,max-page-size=16384");
    }
}
