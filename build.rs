//! With the feature `shaders`: compiles `shaders/store`, the shaders of the passes that store split lifetimes, to `OUT_DIR/shaders.rs`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "shaders")]
    tileheap_shaders::build_folder("shaders/store".as_ref());
}
