//! Links the layer with `nodelete`: loaders unload a layer when the last instance is destroyed, and the layer's tables would be lost each time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if matches!(system.as_str(), "linux" | "android" | "freebsd") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    if system == "android" {
        // Devices with 16 KiB pages require this alignment; NDKs before 28 align to 4 KiB.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,max-page-size=16384");
    }
}
