//! The importer of loose frame descriptions: its rules, what it refuses, and the files of `../shared/frames`.

mod support;

use ash::vk;
use tileheap::frame::import::{Imported, import, import_sized, read};
use tileheap::frame::{
    Access, AccessKind, Before, ClearValue, ExternalDesc, Frame, Lifetime, PassKind, ResourceKind, Version,
};

/// A loose file of resources and passes.
fn loose(resources: &str, passes: &str) -> String {
    format!(r#"{{"name": "t", "base_extent": [64, 32], "resources": [{resources}], "passes": [{passes}]}}"#)
}

fn image(name: &str, more: &str) -> String {
    format!(r#"{{"name": "{name}", "kind": "image", "format": "RGBA8", "extent_scale": [1, 1]{more}}}"#)
}

fn pass(name: &str, kind: &str, more: &str) -> String {
    format!(r#"{{"name": "{name}", "type": "{kind}"{more}}}"#)
}

fn raster(name: &str, reads: &str, writes: &str) -> String {
    pass(
        name,
        "raster",
        &format!(
            r#", "reads": [{}], "writes": [{}]"#,
            entries(reads),
            entries(writes)
        ),
    )
}

fn compute(name: &str, reads: &str, writes: &str) -> String {
    raster(name, reads, writes).replace("raster", "compute")
}

/// `a color, b depth` as JSON entries.
fn entries(list: &str) -> String {
    let entries = list.split(", ").filter(|entry| !entry.is_empty()).map(|entry| {
        let (resource, word) = entry.split_once(' ').unwrap();
        format!(r#"{{"res": "{resource}", "use": "{word}"}}"#)
    });
    entries.collect::<Vec<_>>().join(", ")
}

fn imported(resources: &str, passes: &[String]) -> Imported {
    import(&loose(resources, &passes.join(", "))).unwrap()
}

fn refusal(resources: &str, passes: &[String]) -> String {
    let text = loose(resources, &passes.join(", "));
    let message = import(&text).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

/// Kind, reads, writes, version and treatment of earlier contents.
fn summary(access: &Access) -> (AccessKind, bool, bool, Version, Before) {
    (
        access.kind,
        access.reads,
        access.writes,
        access.version,
        access.before,
    )
}

fn lifetime(frame: &Frame, name: &str) -> Lifetime {
    frame.resource(frame.resource_named(name).unwrap()).lifetime
}

const CLEAR: Before = Before::Clear(ClearValue::ZERO);

#[test]
fn a_read_and_a_write_through_one_use_are_one_access() {
    let Imported { frame, .. } = imported(
        &image("a", ""),
        &[
            raster("one", "", "a color"),
            raster("two", "a color", "a color"),
            raster("three", "", "a color"),
        ],
    );
    let accesses: Vec<_> = frame.accesses().iter().map(summary).collect();
    let color = AccessKind::ColorAttachment;
    assert_eq!(
        accesses,
        [
            (color, false, true, Version::Current, CLEAR),
            (color, true, true, Version::Current, Before::Load),
            (color, false, true, Version::Current, Before::Load),
        ]
    );
    let counts: Vec<_> = frame.accesses().iter().map(Access::count).collect();
    assert_eq!(counts, [1, 2, 1]);
}

#[test]
fn a_write_that_is_no_attachment_overwrites() {
    let Imported { frame, .. } = imported(
        &image("a", ""),
        &[
            compute("one", "", "a storage"),
            compute("two", "", "a storage"),
            raster("three", "", "a color"),
        ],
    );
    let before: Vec<_> = frame.accesses().iter().map(|access| access.before).collect();
    // Drawing over what compute made keeps it.
    assert_eq!(before, [Before::Overwrite, Before::Overwrite, Before::Load]);
}

#[test]
fn clears_fit_the_format() {
    let resources = [
        image("u", "").replace("RGBA8", "R32_UINT"),
        image("s", "").replace("RGBA8", "R8_SINT"),
        image("d", "").replace("RGBA8", "D32"),
    ];
    let Imported { frame, .. } = imported(
        &resources.join(", "),
        &[raster("p", "", "u color, s color, d depth")],
    );
    let before: Vec<_> = frame.accesses().iter().map(|access| access.before).collect();
    assert_eq!(
        before,
        [
            Before::Clear(ClearValue::Uint([0; 4])),
            Before::Clear(ClearValue::Int([0; 4])),
            Before::Clear(ClearValue::DepthStencil(0.0, 0)),
        ]
    );
}

#[test]
fn history_is_read_as_the_frame_before_left_it_until_it_is_written() {
    let resources = [image("h", r#", "history": true"#), image("a", "")].join(", ");
    let Imported { frame, .. } = imported(
        &resources,
        &[
            raster("early", "h sampled", "a color"),
            raster("writer", "h sampled", "h color"),
            raster("late", "h sampled", "a color"),
        ],
    );
    let history = frame.resource_named("h").unwrap();
    assert_eq!(lifetime(&frame, "h"), Lifetime::History);
    let uses = frame
        .uses_of(history)
        .iter()
        .map(|&index| &frame.accesses()[index as usize]);
    let versions: Vec<_> = uses.map(|access| (access.version, access.writes)).collect();
    assert_eq!(
        versions,
        [
            (Version::Previous, false),
            (Version::Previous, false),
            (Version::Current, true),
            (Version::Current, false),
        ]
    );
}

#[test]
fn history_updated_by_its_first_writer_reads_one_version_and_writes_the_other() {
    let Imported { frame, .. } = imported(
        &image("h", r#", "history": true"#),
        &[compute("p", "h storage", "h storage")],
    );
    let storage = AccessKind::StorageImage;
    let accesses: Vec<_> = frame.accesses().iter().map(summary).collect();
    assert_eq!(
        accesses,
        [
            (storage, true, false, Version::Previous, Before::Load),
            (storage, false, true, Version::Current, Before::Overwrite),
        ]
    );
}

#[test]
fn imported_resources_enter_and_leave_sensibly() {
    let external = r#", "imported": true"#;
    let resources = [
        image("swap", external),
        image("texture", external),
        image("kept", external),
        image("depth", external).replace("RGBA8", "D16"),
        r#"{"name": "b", "size_bytes": 12, "imported": true}"#.to_owned(),
    ];
    let Imported { frame, .. } = imported(
        &resources.join(", "),
        &[
            raster("p", "texture sampled, kept sampled", "swap color, depth depth"),
            raster("q", "depth sampled", "kept color"),
            compute("r", "", "b storage"),
        ],
    );
    let external = |name: &str| match lifetime(&frame, name) {
        Lifetime::External(desc) => desc,
        other => panic!("{name} is {other:?}"),
    };
    use vk::ImageLayout as L;
    assert_eq!(external("swap"), ExternalDesc::SWAPCHAIN);
    assert_eq!(
        external("texture"),
        ExternalDesc::in_layout(L::SHADER_READ_ONLY_OPTIMAL)
    );
    assert_eq!(
        external("kept"),
        ExternalDesc::in_layout(L::SHADER_READ_ONLY_OPTIMAL)
    );
    assert_eq!(external("depth").entry.layout, L::UNDEFINED);
    assert_eq!(external("depth").exit.layout, L::DEPTH_STENCIL_READ_ONLY_OPTIMAL);
    assert_eq!(external("b"), ExternalDesc::in_layout(L::UNDEFINED));
}

#[test]
fn a_change_of_queue_is_a_submit_ordered_by_semaphores() {
    let on = |queue: &str, submit: u32, pass: String| {
        pass.replacen('{', &format!(r#"{{"queue": "{queue}", "submit": {submit}, "#), 1)
    };
    let Imported { frame, .. } = imported(
        &image("a", ""),
        &[
            on("graphics", 7, raster("one", "", "a color")),
            on("async compute", 7, compute("two", "a sampled", "a storage")),
            on("graphics", 7, raster("three", "a sampled", "")),
            on("graphics", 9, raster("four", "a sampled", "")),
        ],
    );
    let queues: Vec<_> = frame
        .submits()
        .iter()
        .map(|submit| frame.queues()[submit.queue.index()].name.as_str())
        .collect();
    assert_eq!(queues, ["graphics", "async compute", "graphics", "graphics"]);
    assert_eq!(frame.semaphores().len(), 2);
    let passes: Vec<_> = frame.pass_ids().collect();
    assert!(frame.happens_before(passes[0], passes[1]) && frame.happens_before(passes[1], passes[2]));
    assert_eq!(
        frame.queues()[1].capabilities,
        vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER
    );
}

#[test]
fn names_sizes_and_words_are_taken_loosely() {
    let resources = [
        r#"{"name": "half", "format": "HDR", "bytes_per_texel": 8, "extent_scale": 0.5, "usage": ["color", "transfer_src"], "tile_eligible": true, "histroy": true}"#,
        r#"{"name": "volume", "format": "R16F", "bytes_per_texel": 4, "extent": [8, 8, 4], "mips": 2}"#,
        r#"{"name": "multi", "format": "D24S8", "extent": [64, 32], "samples": 4, "layers": 2}"#,
        r#"{"name": "target", "format": "D24S8", "extent": [64, 32]}"#,
        r#"{"name": "swap", "format": "swapchain", "extent": [64, 32], "imported": true}"#,
        r#"{"name": "lights", "kind": "buffer", "size_bytes": 12}"#,
    ];
    let passes = [
        pass(
            "p",
            "dispatch",
            &format!(r#", "writes": [{}]"#, entries("volume uav, lights storage")),
        ),
        pass(
            "p",
            "graphics",
            &format!(
                r#", "reads": [{}], "writes": [{}]"#,
                entries("lights indirect"),
                entries("multi depth_stencil, target resolve")
            ),
        ),
        pass(
            "p",
            "render",
            &format!(
                r#", "reads": [{}], "writes": [{}]"#,
                entries("target input_attachment, volume texture, lights device_address"),
                entries("half render_target, swap colour")
            ),
        ),
        pass(
            "show",
            "present",
            &format!(r#", "reads": [{}]"#, entries("swap present")),
        ),
    ];
    let Imported {
        frame,
        claims,
        raw_texel_bytes,
        notes,
    } = imported(&resources.join(", "), &passes);
    let names: Vec<_> = frame.passes().iter().map(|pass| pass.name.as_str()).collect();
    assert_eq!(names, ["p", "p (2)", "p (3)"]);
    assert_eq!(frame.passes()[0].kind, PassKind::Compute);
    assert_eq!(claims, [Some(true), None, None, None, None, None]);
    assert_eq!(raw_texel_bytes, [8, 4, 0, 0, 0, 0]);
    assert_eq!(
        notes,
        [
            "the field `histroy` of resources is not known and was ignored",
            "pass `show` only presents: it was left out",
            "resource `half`: format `HDR` is not known, taken as VK_FORMAT_R16G16B16A16_SFLOAT for its 8 bytes per texel",
            "resource `volume`: the file says 4 bytes per texel, and VK_FORMAT_R16_SFLOAT has 2",
        ]
    );
    let ResourceKind::Image { extent, usage, .. } = frame.resources()[0].kind else {
        panic!("half is an image");
    };
    assert_eq!((extent.width, extent.height), (32, 16));
    assert_eq!(
        usage,
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC
    );
    let resolve = frame
        .accesses()
        .iter()
        .find(|access| access.kind == AccessKind::ResolveAttachment);
    assert_eq!(resolve.unwrap().resolves, frame.resource_named("multi"));
}

#[test]
fn another_base_extent_scales_what_is_scaled() {
    let text = loose(&image("a", ""), &raster("p", "", "a color"));
    let extent = vk::Extent2D { width: 11, height: 7 };
    let frame = import_sized(&text, extent).unwrap().frame;
    let ResourceKind::Image { extent: resolved, .. } = frame.resources()[0].kind else {
        panic!("a is an image");
    };
    assert_eq!(resolved, extent.into());
    // The same from its native form.
    let native = import(&text).unwrap().frame.to_json();
    assert_eq!(read(&native, Some(extent)).unwrap().frame, frame);
    assert_eq!(Frame::read(&native).unwrap(), Frame::read(&text).unwrap());
}

#[test]
fn what_means_nothing_is_refused_by_name() {
    let a = image("a", "");
    let draw = raster("p", "", "a color");
    let one = std::slice::from_ref(&draw);
    let cases = [
        (
            refusal(&a, &[raster("p", "a sampled", "")]),
            "pass `p` reads `a` before anything in the frame has written it",
        ),
        (
            refusal(&a, &[raster("p", "", "a color, a storage")]),
            "pass `p` declares two writers of `a`",
        ),
        (
            refusal(&a, &[raster("p", "", "a color, a color")]),
            "pass `p` declares two writers of `a`",
        ),
        (
            refusal(&a, &[draw.clone(), raster("q", "a sampled, a sampled", "")]),
            "pass `q`: lists `a` twice as `sampled` in its reads",
        ),
        (
            refusal(&a, &[raster("p", "", "b color")]),
            "pass `p` refers to resource `b`, which the frame does not declare",
        ),
        (
            refusal(&a, &[raster("p", "", "a colr")]),
            "pass `p`: writes `a` as `colr`: no such use is known",
        ),
        (
            refusal(&a, &[raster("p", "", "a depth_read")]),
            "pass `p`: writes `a` as `depth_read`: it only reads",
        ),
        (
            refusal(&a, &[raster("p", "", "a sampled")]),
            "pass `p` uses `a` as SampledImage: such accesses cannot write",
        ),
        (
            refusal(&a, &[compute("p", "", "a color")]),
            "pass `p` uses `a` as ColorAttachment: only render passes have attachments",
        ),
        (
            refusal(&a, &[raster("p", "", "a transfer_dst")]),
            "pass `p` uses `a` as TransferDestination: transfers are not allowed inside",
        ),
        (
            refusal(&a, &[raster("p", "", "a vertex")]),
            "pass `p` uses `a` as VertexBuffer: only buffers can be used so",
        ),
        (
            refusal(&a, &[raster("p", "a present", "a color")]),
            "resource `a`: is presented, and so must be `imported`",
        ),
        (
            refusal(&a, &[draw.replace("raster", "rastr")]),
            "pass `p`: type `rastr` is none of `raster`, `compute`, `transfer`, `present`",
        ),
        (
            refusal(&a, &[draw.replace("raster", "present")]),
            "pass `p`: presents, and so can do nothing else",
        ),
        (
            refusal(&a, &[draw.replace("\"type\"", "\"kind\"")]),
            "frame JSON, line 1 column 226, at `passes[0]`: missing field `type`",
        ),
        (
            refusal(&a, &[draw.replace("\"p\"", "3")]),
            "frame JSON, line 1 column 150, at `passes[0].name`: invalid type: integer `3`, expected a string",
        ),
        (refusal(&a, &[]), "frame `t` has no passes"),
        (refusal(&format!("{a}, {a}"), one), "two resources are named `a`"),
        (
            refusal(&a.replace("RGBA8", "foo"), one),
            "resource `a`: format `foo` is not known, and `bytes_per_texel` = 0 does not say it either",
        ),
        (
            refusal(&a.replace("[1, 1]", "[0, 1]"), one),
            "image `a` is scaled by 0 x 1",
        ),
        (
            refusal(&a.replace("\"extent_scale\": [1, 1]", "\"extent\": [0, 1]"), one),
            "image `a` has a zero extent (0 x 1 x 1)",
        ),
        (
            refusal(&a.replace(", \"extent_scale\": [1, 1]", ""), one),
            "resource `a`: is an image with neither `extent` nor `extent_scale`",
        ),
        (
            refusal(&image("a", r#", "extent": [1, 1]"#), one),
            "resource `a`: has both `extent` and `extent_scale`",
        ),
        (
            refusal(&image("a", r#", "samples": 3"#), one),
            "resource `a`: has 3 samples",
        ),
        (
            refusal(&image("a", r#", "usage": ["colr"]"#), one),
            "resource `a`: usage `colr` is not known",
        ),
        (
            refusal(&image("a", r#", "imported": true, "history": true"#), one),
            "resource `a`: is both `imported` and `history`",
        ),
        (
            refusal(&a.replace("\"image\"", "\"thing\""), one),
            "resource `a`: kind `thing` is neither `image` nor `buffer`",
        ),
        (
            refusal(r#"{"name": "a", "kind": "buffer"}"#, one),
            "resource `a`: is a buffer without `size_bytes`",
        ),
        (
            refusal(
                &image("a", r#", "history": true"#),
                &[raster("p", "a color", "a color")],
            ),
            "pass `p`: reads what the frame before left in `a` through the attachment that it writes",
        ),
        (
            refusal(&a.replace("\"a\"", r#""a\u2028""#), one),
            r"resource name `a\u{2028}` cannot be used",
        ),
    ];
    for (message, expected) in cases {
        assert!(message.starts_with(expected), "{message}\nwanted: {expected}");
    }
    let back = [
        draw.replacen('{', r#"{"submit": 1, "#, 1),
        raster("q", "", "a color").replacen('{', r#"{"submit": 2, "#, 1),
        raster("r", "", "a color").replacen('{', r#"{"submit": 1, "#, 1),
    ];
    assert_eq!(
        refusal(&a, &back),
        "pass `r`: goes back to submit 1: list passes in the order of submission"
    );
}

#[test]
fn hostile_texts_are_refused() {
    for text in [
        "",
        "[]",
        "{}",
        "null",
        "{\"resources\": [], \"passes\": {}}",
        "{\"resources\": [[[[",
        "\u{0}",
    ] {
        let message = import(text).unwrap_err().to_string();
        assert!(message.starts_with("frame JSON, line 1 column"), "{message}");
        assert!(Frame::read(text).is_err());
    }
    let deep = format!(r#"{{"resources": [], "passes": [], "x": {}"#, "[".repeat(1 << 20));
    assert!(
        import(&deep)
            .unwrap_err()
            .to_string()
            .contains("recursion limit exceeded")
    );
}

/// The three files, and per file: passes, accesses listed, history and imported resources, submits.
const FILES: [(&str, usize, usize, usize, usize, usize); 3] = [
    ("granite_deferred_taa_bloom.json", 18, 50, 2, 2, 1),
    ("khronos_local_read_deferred.json", 3, 11, 0, 1, 1),
    ("qualcomm_tile_memory_sample.json", 7, 21, 0, 1, 2),
];

#[test]
fn the_shared_frames_import_as_they_are() {
    let Some(folder) = support::shared("frames") else {
        return;
    };
    for (file, passes, listed, history, external, submits) in FILES {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let Imported {
            frame, claims, notes, ..
        } = import(&text).unwrap();
        assert_eq!(frame.passes().len(), passes, "{file}");
        assert_eq!(frame.submits().len(), submits, "{file}");
        let of = |wanted: fn(&Lifetime) -> bool| {
            frame.resources().iter().filter(|it| wanted(&it.lifetime)).count()
        };
        assert_eq!(of(|lifetime| *lifetime == Lifetime::History), history, "{file}");
        assert_eq!(
            of(|lifetime| matches!(lifetime, Lifetime::External(_))),
            external,
            "{file}"
        );
        assert!(claims.iter().all(Option::is_some), "{file}");
        assert_eq!(notes, Vec::<String>::new(), "{file}");

        // Every entry of the file is counted, for its pass and its resource.
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut total = 0;
        for (id, pass) in frame.pass_ids().zip(document["passes"].as_array().unwrap()) {
            let lists = [&pass["reads"], &pass["writes"]].map(|list| list.as_array().unwrap().iter());
            let names: Vec<&str> = lists
                .into_iter()
                .flatten()
                .map(|entry| entry["res"].as_str().unwrap())
                .collect();
            for resource in frame.resource_ids() {
                let name = &frame.resource(resource).name;
                let accesses = frame
                    .accesses_of(id)
                    .iter()
                    .filter(|access| access.resource == resource);
                let counted: u32 = accesses.map(Access::count).sum();
                let listed = names.iter().filter(|listed| *listed == name).count();
                assert_eq!(
                    counted as usize,
                    listed,
                    "{file}: {name} in {}",
                    frame.pass(id).name
                );
            }
            total += names.len();
        }
        assert_eq!(total, listed, "{file}");
        assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame, "{file}");
    }
}

#[test]
fn the_granite_frame_means_what_its_authors_meant() {
    let Some(folder) = support::shared("frames") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join(FILES[0].0)).unwrap();
    let frame = Frame::read(&text).unwrap();
    let access = |pass: &str, resource: &str| {
        let pass = frame.pass_named(pass).unwrap();
        let resource = frame.resource_named(resource).unwrap();
        let of_resource = frame
            .accesses_of(pass)
            .iter()
            .filter(move |access| access.resource == resource);
        of_resource.map(summary).collect::<Vec<_>>()
    };
    assert_eq!(
        access("lighting", "emissive/HDR"),
        [(
            AccessKind::ColorAttachment,
            true,
            true,
            Version::Current,
            Before::Load
        )]
    );
    assert_eq!(
        access("taa-resolve", "taa-history"),
        [
            (
                AccessKind::SampledImage,
                true,
                false,
                Version::Previous,
                Before::Load
            ),
            (AccessKind::ColorAttachment, false, true, Version::Current, CLEAR),
        ]
    );
    assert_eq!(
        access("bloom-upsample-0", "bloom-downsample-3")[0].3,
        Version::Current
    );
    assert_eq!(
        access("gbuffer-phase1", "depth-prepass/transient")[0].4,
        Before::Clear(ClearValue::DepthStencil(0.0, 0))
    );
    assert_eq!(
        lifetime(&frame, "backbuffer"),
        Lifetime::External(ExternalDesc::SWAPCHAIN)
    );
    let formats = ["emissive/HDR", "tonemapped", "backbuffer"]
        .map(|name| frame.resource(frame.resource_named(name).unwrap()).format());
    assert_eq!(
        formats,
        [
            vk::Format::B10G11R11_UFLOAT_PACK32,
            vk::Format::B8G8R8A8_UNORM,
            vk::Format::B8G8R8A8_UNORM
        ]
    );
}
