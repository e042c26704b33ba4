//! What a loose description means.

use super::*;

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
            (color, true, true, Version::Current, LoadOp::Load),
            (color, false, true, Version::Current, LoadOp::Load),
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
    let before: Vec<_> = frame.accesses().iter().map(|access| access.load_op).collect();
    // Drawing over what compute made keeps it.
    assert_eq!(before, [LoadOp::DontCare, LoadOp::DontCare, LoadOp::Load]);
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
    let before: Vec<_> = frame.accesses().iter().map(|access| access.load_op).collect();
    assert_eq!(
        before,
        [
            LoadOp::Clear(ClearValue::Uint([0; 4])),
            LoadOp::Clear(ClearValue::Int([0; 4])),
            LoadOp::Clear(ClearValue::DepthStencil(0.0, 0)),
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
    assert_eq!(persistence(&frame, "h"), Persistence::History);
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
            (storage, true, false, Version::Previous, LoadOp::Load),
            (storage, false, true, Version::Current, LoadOp::DontCare),
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
    let external = |name: &str| match persistence(&frame, name) {
        Persistence::External(desc) => desc,
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
fn a_transfer_has_the_direction_of_its_list() {
    let resources = [image("a", ""), image("b", "")].join(", ");
    let copy = raster("copy", "a transfer", "b transfer").replace("raster", "transfer");
    let Imported { frame, .. } = imported(&resources, &[raster("draw", "", "a color"), copy]);
    let pass = frame.pass_named("copy").unwrap();
    let kinds: Vec<_> = frame.accesses_of(pass).iter().map(|access| access.kind).collect();
    assert_eq!(
        kinds,
        [AccessKind::TransferSource, AccessKind::TransferDestination]
    );
}
