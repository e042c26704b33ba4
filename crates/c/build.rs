//! Sets the SONAME of the shared library, so that programs that link to it find the library with the same binary interface. `TILEHEAP_C_LINK_ARGS`
//! has additional linker arguments, which CMakeLists.txt has tested.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=TILEHEAP_C_LINK_ARGS");
    for argument in std::env::var("TILEHEAP_C_LINK_ARGS")
        .unwrap_or_default()
        .split_whitespace()
    {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
    let family = std::env::var("CARGO_CFG_TARGET_FAMILY").unwrap_or_default();
    let vendor = std::env::var("CARGO_CFG_TARGET_VENDOR").unwrap_or_default();
    // While the major version is 0, a minor version may break the interface.
    let version = |part: &str| std::env::var(format!("CARGO_PKG_VERSION_{part}")).unwrap_or_default();
    let interface = match version("MAJOR").as_str() {
        "0" => format!("0.{}", version("MINOR")),
        major => major.to_owned(),
    };
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "android") {
        // Packages of Android contain only libraries without a version.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtileheap.so");
    } else if family == "unix" && vendor != "apple" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtileheap.so.{interface}");
    } else if vendor == "apple" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libtileheap.{interface}.dylib");
    }
}
