//! Compiles `shaders/` to `OUT_DIR/shaders.rs`: for the passes that store split lifetimes, and for the examples, whose package runs
//! this script too.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "shaders")]
    {
        let package = std::path::PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
        let root = if package.ends_with("examples") {
            package.join("..")
        } else {
            package
        };
        tileheap_shaders::build_folder(&root.join("shaders"));
    }
}
