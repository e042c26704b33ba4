//! C and C++ programs: the headers compile in every language that they support; `examples/c/plan.c` runs, linked to either library, with sanitizers
//! and in valgrind; and a program calls everything in `tileheap.hpp`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::SkippedOutputs;
use tileheap::frame::{BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::measure::estimate;
use tileheap::plan::{MemoryKind, PlanOptions, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;
use tileheap_testkit::{own_file, skip};

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

fn plan_c() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/plan.c")
}

/// A folder with the libraries under the names that programs link to.
fn libraries() -> PathBuf {
    let built = std::env::current_exe().unwrap();
    let built = built.parent().unwrap();
    let folder = own_file("libtileheap");
    std::fs::create_dir_all(&folder).unwrap();
    let interface = concat!(
        env!("CARGO_PKG_VERSION_MAJOR"),
        ".",
        env!("CARGO_PKG_VERSION_MINOR")
    );
    let shared = format!("libtileheap.so.{interface}");
    for (name, file) in [
        ("libtileheap.so", "libtileheap_c.so"),
        (&shared, "libtileheap_c.so"),
        ("libtileheap.a", "libtileheap_c.a"),
    ] {
        // Another test may have created it.
        let _ = std::os::unix::fs::symlink(built.join(file), folder.join(name));
    }
    folder
}

/// Returns `true` if a compiler is installed.
fn is_installed(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

fn succeeded(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

#[test]
fn the_headers_compile_without_warnings_as_c_and_cpp() {
    let source = own_file("header.c");
    std::fs::write(
        &source,
        "#include <tileheap_requirements.h>\nint main(void) { return thGetVersion() == 0; }\n",
    )
    .unwrap();
    let compilers = [
        ("cc", "c", ["c11", "c17", "c2x"]),
        ("c++", "c++", ["c++17", "c++20", "c++23"]),
        ("clang", "c", ["c11", "c17", "c2x"]),
        ("clang++", "c++", ["c++17", "c++20", "c++2b"]),
    ];
    for (compiler, language, standards) in compilers {
        if !is_installed(compiler) {
            skip(&format!("no {compiler}"));
            continue;
        }
        for standard in standards {
            let mut command = Command::new(compiler);
            command.arg(format!("-std={standard}")).args(WARNINGS).args([
                "-fsyntax-only",
                "-x",
                language,
                "-I",
            ]);
            succeeded(command.arg(include()).arg(&source));
        }
    }
}

#[test]
fn the_cpp_header_compiles_with_and_without_exceptions() {
    let header = "#include <tileheap.hpp>\nint main() { return tileheap::Profile() ? 1 : 0; }\n";
    let source = own_file("header.cpp");
    std::fs::write(&source, format!("#include <vulkan/vulkan.hpp>\n{header}")).unwrap();
    // Macros of X.h, Xlib.h and windows.h, which programs with a window include first.
    let macros = "None 0L|Success 0|Always 2|Bool int|Status int|True 1|False 0|min(a, b) ((a) < (b) ? (a) : (b))|\
                  max(a, b) ((a) < (b) ? (b) : (a))|near|far|small char|ERROR 0|OPAQUE 2|DELETE 4|IN|OUT|OPTIONAL";
    let macros: String = macros.split('|').map(|one| format!("#define {one}\n")).collect();
    let among_macros = own_file("macros.cpp");
    std::fs::write(
        &among_macros,
        format!("#include <vulkan/vulkan.h>\n{macros}{header}"),
    )
    .unwrap();
    for compiler in ["c++", "clang++"] {
        if !is_installed(compiler) {
            skip(&format!("no {compiler}"));
            continue;
        }
        for options in [
            &["-std=c++17"][..],
            &[
                "-std=c++17",
                "-fno-exceptions",
                "-fno-rtti",
                "-DVULKAN_HPP_NO_EXCEPTIONS",
            ],
            &["-std=c++20"],
        ] {
            for source in [&source, &among_macros] {
                let mut command = Command::new(compiler);
                command
                    .args(options)
                    .args(WARNINGS)
                    .arg("-fsyntax-only")
                    .arg("-I");
                succeeded(command.arg(include()).arg(source));
            }
        }
    }
}

/// The frame that `cpp/wrapper.cpp` describes.
fn everything() -> Frame {
    let extent = vk::Extent2D {
        width: 1280,
        height: 720,
    };
    let (all, hdr) = (
        vk::PipelineStageFlags2::ALL_COMMANDS,
        vk::Format::R16G16B16A16_SFLOAT,
    );
    let mut frame = FrameBuilder::new("everything", extent);
    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let compute = frame.queue("compute", vk::QueueFlags::COMPUTE);
    let (drawn, counted) = (frame.semaphore("drawn"), frame.semaphore("counted"));
    let acquired = frame.external_semaphore("acquired");
    let whole = |format| ImageDesc::scaled(format, 1.0, 1.0);
    let multisampled = ImageDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..whole(vk::Format::R8G8B8A8_UNORM)
    };
    let samples = frame.image("samples", multisampled);
    let color = frame.image("color", whole(vk::Format::R8G8B8A8_UNORM));
    let fixed = vk::Extent2D {
        width: 640,
        height: 360,
    };
    let depth = frame.image("depth", ImageDesc::new(vk::Format::D24_UNORM_S8_UINT, fixed));
    let lit = frame.resource("lit", whole(hdr), Persistence::History);
    let half = frame.image("half", ImageDesc::scaled(hdr, 0.5, 0.5));
    let counts = frame.buffer("counts", BufferDesc::new(Bytes(4096)));
    let screen = Persistence::External(ExternalDesc::SWAPCHAIN);
    let screen = frame.resource("screen", whole(vk::Format::B8G8R8A8_UNORM), screen);
    let read = Persistence::External(ExternalDesc::READ_BACK);
    let read = frame.resource("read", BufferDesc::new(Bytes(4096)), read);

    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    frame.signal(batch, drawn, all);
    let commands = frame.command_buffer(batch, "draw");
    let clear = LoadOp::Clear(ClearValue::Float([0.25, 0.5, 0.75, 1.0]));
    let pass = frame.render_pass(commands, "samples").color(samples, clear);
    pass.resolve(samples, color);
    let pass = frame
        .render_pass(commands, "subpasses")
        .color(color, LoadOp::Load);
    let pass = pass.depth(depth, LoadOp::Clear(ClearValue::DepthStencil(1.0, 3)));
    let pass = pass.next_subpass().input(color).depth_read_only(depth);
    pass.sampled_previous(lit).color(lit, LoadOp::DontCare).fragment();
    let commands = frame.command_buffer(batch, "half");
    frame
        .compute_pass(commands, "shrink")
        .sampled(lit)
        .storage_write(half);
    let submit = frame.submit(compute);
    let batch = frame.batch(submit);
    frame.wait(batch, drawn, all);
    frame.signal(batch, counted, vk::PipelineStageFlags2::COMPUTE_SHADER);
    let commands = frame.command_buffer(batch, "count");
    frame
        .compute_pass(commands, "count")
        .sampled(half)
        .storage_write(counts);
    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    frame.wait(batch, counted, all);
    frame.wait(batch, acquired, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
    let commands = frame.command_buffer(batch, "finish");
    let pass = frame.render_pass(commands, "show").sampled(half);
    let pass = pass.at(vk::PipelineStageFlags2::VERTEX_SHADER).sampled(lit);
    pass.color(screen, LoadOp::DontCare).fragment();
    let pass = frame.render_pass(commands, "overlay").color(screen, LoadOp::Load);
    pass.optional(SkippedOutputs::Kept);
    let pass = frame.transfer_pass(commands, "read").transfer_source(counts);
    pass.transfer_destination(read);
    frame.build().unwrap()
}

#[test]
fn the_cpp_header_calls_every_function_and_describes_what_rust_describes() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp/wrapper.cpp");
    let (binary, folder) = (own_file("wrapper"), libraries());
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-g"]).args(WARNINGS);
    command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I"]);
    command.arg(include()).arg(&source).arg("-L").arg(&folder);
    command.args(SHARED).arg("-o").arg(&binary);
    succeeded(command.arg(format!("-Wl,-rpath,{}", folder.display())));
    let printed = succeeded(&mut Command::new(&binary));
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), everything().to_json());

    let sources = [
        include_str!("cpp/wrapper.cpp"),
        include_str!("../include/tileheap.hpp"),
    ];
    let called = |name: &str| sources.iter().any(|text| text.contains(&format!("{name}(")));
    let header = include_str!("../include/tileheap.h");
    let names = header.lines().filter_map(|line| {
        let line = line
            .strip_prefix("ThStatus ")
            .or_else(|| line.strip_prefix("uint32_t "))?;
        Some(line.split_once('(')?.0)
    });
    // Functions that programs can call directly.
    let plain = ["thGetVersion", "thGetProfileNames"];
    let missing: Vec<&str> = names
        .filter(|name| !plain.contains(name) && !called(name) && !name.starts_with("thDestroy"))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn mistakes_of_c_programs_are_told_in_the_names_of_c() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp/misuse.c");
    for compiler in ["cc", "clang"] {
        if !is_installed(compiler) {
            skip(&format!("no {compiler}"));
            continue;
        }
        let (binary, folder) = (own_file(&format!("misuse-{compiler}")), libraries());
        let mut command = Command::new(compiler);
        command
            .args(["-std=c11", "-g"])
            .args(WARNINGS)
            .arg("-I")
            .arg(include());
        command.arg(&source).arg("-L").arg(&folder).args(SHARED);
        command.arg("-o").arg(&binary);
        succeeded(command.arg(format!("-Wl,-rpath,{}", folder.display())));
        succeeded(&mut Command::new(&binary));
    }
}

/// The output of a document's first program after `mark`.
fn output_of_program(name: &str, document: &str, mark: &str) -> String {
    let after = document.split_once(mark).unwrap().1;
    let code = after.split_once("```cpp\n").unwrap().1;
    let code = code.split_once("```").unwrap().0;
    let (include_line, statements) = code.split_once('\n').unwrap();
    let text = format!("#include <cstdio>\n{include_line}\nint main() {{\n{statements}}}\n");
    let (source, binary, folder) = (own_file(&format!("{name}.cpp")), own_file(name), libraries());
    std::fs::write(&source, text).unwrap();
    let mut command = Command::new("c++");
    command.arg("-std=c++17").args(WARNINGS).arg("-I").arg(include());
    command.arg(&source).arg("-L").arg(&folder).args(SHARED).arg("-o");
    succeeded(
        command
            .arg(&binary)
            .arg(format!("-Wl,-rpath,{}", folder.display())),
    );
    let printed = succeeded(&mut Command::new(&binary));
    String::from_utf8(printed.stdout).unwrap()
}

#[test]
fn the_programs_in_the_guide_and_in_the_readme_of_the_archive_run() {
    let chapter = include_str!("../../../docs/guide/cpp.md");
    let mark = "<!-- compiled by crates/c/tests/programs.rs -->";
    assert_eq!(
        output_of_program("levels", chapter, mark),
        "bloom: 960 x 540\nbloom level 1: 480 x 270\nbloom level 2: 240 x 135\nbloom level 3: 120 x 67\n"
    );
    let printed = output_of_program("readme", include_str!("../PACKAGE.md"), "# tileheap");
    assert!(
        printed.starts_with("Frame `frame`, 1280 x 720, on adreno-830"),
        "{printed}"
    );
}

/// Compiles `plan.c`, linked to a library.
fn build(name: &str, options: &[&str], library: &[&str]) -> PathBuf {
    let (binary, folder) = (own_file(name), libraries());
    let mut command = Command::new("cc");
    command
        .args(["-std=c11", "-g"])
        .args(WARNINGS)
        .args(options)
        .arg("-I")
        .arg(include());
    command
        .arg(plan_c())
        .arg("-L")
        .arg(&folder)
        .args(library)
        .arg("-o")
        .arg(&binary);
    succeeded(command.arg(format!("-Wl,-rpath,{}", folder.display())));
    binary
}

const SHARED: [&str; 1] = ["-ltileheap"];
const STATIC: [&str; 5] = ["-l:libtileheap.a", "-lpthread", "-ldl", "-lm", "-lgcc_s"];

/// The output of `plan.c`, from Rust's plan of the same frame.
fn expected(profile: &str) -> String {
    let extent = vk::Extent2D {
        width: 1280,
        height: 720,
    };
    let mut frame = FrameBuilder::new("deferred", extent);
    let image =
        |frame: &mut FrameBuilder, name, format| frame.image(name, ImageDesc::scaled(format, 1.0, 1.0));
    let albedo = image(&mut frame, "albedo", vk::Format::R8G8B8A8_UNORM);
    let normal = image(&mut frame, "normal", vk::Format::R8G8B8A8_UNORM);
    let depth = image(&mut frame, "depth", vk::Format::D32_SFLOAT);
    let lit = image(&mut frame, "lit", vk::Format::B10G11R11_UFLOAT_PACK32);
    let screen = ImageDesc::scaled(vk::Format::R8G8B8A8_UNORM, 1.0, 1.0);
    let screen = frame.resource("screen", screen, Persistence::External(ExternalDesc::SWAPCHAIN));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "frame");
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let pass = frame
        .render_pass(commands, "gbuffer")
        .color(albedo, clear)
        .color(normal, clear);
    pass.depth(depth, LoadOp::Clear(ClearValue::DepthStencil(0.0, 0)));
    let pass = frame
        .render_pass(commands, "lighting")
        .sampled(albedo)
        .sampled(normal)
        .sampled(depth);
    pass.color(lit, LoadOp::DontCare);
    frame
        .render_pass(commands, "tonemap")
        .sampled(lit)
        .color(screen, LoadOp::DontCare);
    let frame = frame.build().unwrap();
    let profile = Arc::new(DeviceProfile::preset(profile).unwrap());
    let needs = Arc::new(estimate(&frame, &profile).unwrap());
    let plan = plan(&frame, &needs, &profile, &PlanOptions::default()).unwrap();
    let mut lines = String::new();
    for placement in &plan.placements {
        let name = &frame.resource(placement.resource).name;
        let memory = match placement.memory {
            MemoryKind::Lazy => "lazy",
            MemoryKind::Tile => "tile",
            MemoryKind::Arena => "arena",
            MemoryKind::Dedicated => "dedicated",
        };
        let (first, end) = (placement.offset.0, placement.offset.0 + placement.size.0);
        let (first_pass, end_pass) = (placement.span.first.0, placement.span.end.0);
        lines += &format!("{name:<6} passes [{first_pass}, {end_pass}) ");
        if let Some(object) = placement.object {
            lines += &format!(
                "object {} ({memory}) bytes [{first:>8}, {end:>8}) ",
                object.index()
            );
        }
        lines += &(plan.reason_text(placement.resource) + "\n");
    }
    lines
}

#[test]
fn plan_c_prints_the_plan_that_rust_makes() {
    for (name, library) in [("plan-shared", &SHARED[..]), ("plan-static", &STATIC)] {
        let binary = build(name, &[], library);
        for profile in ["adreno-830", "hostile", "no-tile-memory"] {
            let printed = succeeded(Command::new(&binary).arg(profile));
            assert_eq!(
                String::from_utf8(printed.stdout).unwrap(),
                expected(profile),
                "{name} {profile}"
            );
            assert_eq!(
                String::from_utf8(printed.stderr).unwrap(),
                "",
                "{name}: the library prints nothing"
            );
        }
    }
    let wrong = Command::new(own_file("plan-shared"))
        .arg("adreno")
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        said.starts_with("error: thCreateProfile: no device profile is named `adreno`"),
        "{said}"
    );
}

#[test]
fn plan_c_is_clean_below_sanitizers() {
    let binary = build(
        "plan-sanitized",
        &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        &SHARED,
    );
    let printed = succeeded(
        Command::new(&binary)
            .arg("adreno-830")
            .env("ASAN_OPTIONS", "detect_leaks=1"),
    );
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), expected("adreno-830"));
}

#[test]
fn plan_c_is_clean_below_valgrind() {
    if !is_installed("valgrind") {
        return skip("no valgrind");
    }
    let binary = build("plan-valgrind", &[], &SHARED);
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        "--error-exitcode=9",
        "--leak-check=full",
        "--show-leak-kinds=definite,indirect,possible",
    ]);
    command
        .arg("--errors-for-leak-kinds=definite,indirect,possible")
        .arg(&binary)
        .arg("adreno-830");
    let printed = succeeded(&mut command);
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), expected("adreno-830"));
}

#[test]
fn the_shared_library_has_a_soname_and_exports_nothing_else() {
    let library = libraries().join("libtileheap.so");
    if !is_installed("readelf") || !is_installed("nm") {
        return skip("no readelf or nm");
    }
    let dynamic = succeeded(Command::new("readelf").arg("--dynamic").arg(&library)).stdout;
    let interface = concat!(
        env!("CARGO_PKG_VERSION_MAJOR"),
        ".",
        env!("CARGO_PKG_VERSION_MINOR")
    );
    let dynamic = String::from_utf8(dynamic).unwrap();
    assert!(
        dynamic.contains(&format!("[libtileheap.so.{interface}]")),
        "{dynamic}"
    );
    let symbols = succeeded(
        Command::new("nm")
            .args(["--dynamic", "--defined-only"])
            .arg(&library),
    )
    .stdout;
    let symbols = String::from_utf8(symbols).unwrap();
    let header = include_str!("../include/tileheap.h");
    let exported: Vec<&str> = symbols
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    assert!(exported.len() > 50);
    for symbol in &exported {
        assert!(
            header.contains(&format!(" {symbol}(")),
            "{symbol} is exported and not in the header"
        );
    }
    for line in header
        .lines()
        .filter(|line| line.starts_with("ThStatus th") || line.starts_with("uint32_t th"))
    {
        let name = line.split_once(' ').unwrap().1.split_once('(').unwrap().0;
        assert!(
            exported.contains(&name),
            "{name} is in the header and not exported"
        );
    }
}
