//! Values: where they begin and do not begin, and that every access finds the same contents in them as in the described resources.

mod contents;
mod frames;
mod outside;
mod planned;
mod random;
mod strips;

use ash::vk;
use tileheap::execute::{ExecutedFrame, ResourceValue};
use tileheap::frame::tables::SkippedOutputs;
use tileheap::frame::{
    BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId,
};
use tileheap::units::Bytes;

const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);
const CLEAR_DEPTH: LoadOp = LoadOp::Clear(ClearValue::DepthStencil(1.0, 0));
const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 64,
};

fn color() -> ImageDesc {
    ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT)
}

/// A frame on one queue: `pool`, `out` for results, and the passes of `passes`.
fn frame_of(
    pool: impl FnOnce(&mut FrameBuilder) -> ResourceId,
    passes: impl FnOnce(&mut FrameBuilder, CommandBufferId, ResourceId, ResourceId),
) -> Frame {
    let mut frame = FrameBuilder::new("values", EXTENT);
    let pool = pool(&mut frame);
    let out = frame.resource("out", color(), Persistence::History);
    let all = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
    let queue = frame.queue("main", all);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    passes(&mut frame, commands, pool, out);
    frame.build().unwrap()
}

fn image(frame: &mut FrameBuilder) -> ResourceId {
    frame.image("pool", color())
}

/// Draws to `pool` with `first` and reads it, then again with `second`, for `out`.
fn twice(
    pool: impl FnOnce(&mut FrameBuilder) -> ResourceId,
    second: impl FnOnce(&mut FrameBuilder, CommandBufferId, ResourceId),
) -> Frame {
    frame_of(pool, |frame, commands, pool, out| {
        frame.render_pass(commands, "draw").color(pool, CLEAR);
        frame.render_pass(commands, "use").sampled(pool).color(out, CLEAR);
        second(frame, commands, pool);
        frame
            .render_pass(commands, "use again")
            .sampled(pool)
            .color(out, LoadOp::Load);
    })
}

/// The frame with separate values; checks the map.
fn separate(frame: &Frame) -> ExecutedFrame {
    let executed = ExecutedFrame::as_described(frame).separate_values().unwrap();
    assert_eq!(executed.violations(), []);
    executed
}

/// The numbers of the values of a described resource, as resources of the executed frame.
fn values(executed: &ExecutedFrame, name: &str) -> Vec<(u32, u32)> {
    let id = executed.described().resource_named(name).unwrap();
    let parts = executed.frame().resource_ids();
    let parts = parts.filter(|&part| executed.described_resource(part) == id);
    let values = parts.filter_map(|part| executed.part(part).value);
    values
        .map(|ResourceValue { number, count }| (number, count))
        .collect()
}

#[test]
fn each_clear_of_all_begins_a_value() {
    let frame = twice(image, |frame, commands, pool| {
        frame.render_pass(commands, "draw again").color(pool, CLEAR);
    });
    let executed = separate(&frame);
    assert_eq!(values(&executed, "pool"), [(1, 2), (2, 2)]);
    assert_eq!(values(&executed, "out"), []);
    let names = executed.frame().resources().iter().map(|one| one.name.as_str());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["pool (value 1 of 2)", "out", "pool (value 2 of 2)"]
    );
    let used = |pass: &str| {
        let pass = executed.frame().pass_named(pass).unwrap();
        executed
            .part(executed.frame().accesses_of(pass)[0].resource)
            .value
    };
    let value = |number| Some(ResourceValue { number, count: 2 });
    assert_eq!(
        ["draw", "use", "draw again", "use again"].map(used),
        [value(1), value(1), value(2), value(2)]
    );
    // A second separation changes nothing; nor does one of a frame without values.
    assert_eq!(executed.separate_values().unwrap(), executed);
    let itself = ExecutedFrame::as_described(executed.frame());
    assert!(itself.separate_values().unwrap().origins().is_identity());
}

#[test]
fn names_of_values_are_free_and_short_enough() {
    let long = "é".repeat(128);
    let frame = frame_of(
        |frame| {
            frame.image("pool (value 2 of 2)", color());
            frame.image(&long, color());
            frame.image("pool", color())
        },
        |frame, commands, pool, out| {
            let ids = [pool, pool, pool].map(|id| id.index());
            assert_eq!(ids, [2; 3]);
            for name in ["draw", "draw again"] {
                frame.render_pass(commands, name).color(pool, CLEAR);
                frame
                    .render_pass(commands, format!("use after {name}"))
                    .sampled(pool)
                    .color(out, CLEAR);
            }
        },
    );
    let executed = separate(&frame);
    assert!(
        executed
            .frame()
            .resource_named("pool (value 2 of 2, 2)")
            .is_some()
    );
    let frame = frame_of(
        |frame| frame.image(&long, color()),
        |frame, commands, pool, _| {
            frame.render_pass(commands, "draw").color(pool, CLEAR);
            frame.render_pass(commands, "draw again").color(pool, CLEAR);
        },
    );
    let executed = separate(&frame);
    let names = executed.frame().resources().iter().map(|one| &one.name);
    let shortened = names.filter(|name| name.ends_with("of 2)") && name.starts_with("éé"));
    assert_eq!(shortened.count(), 2);
}

#[test]
fn what_overwrites_everything_begins_a_value() {
    type Pass = fn(&mut FrameBuilder, CommandBufferId, ResourceId);
    let passes: [(&str, Pass); 4] = [
        ("discard", |frame, commands, pool| {
            frame.render_pass(commands, "again").color(pool, LoadOp::DontCare);
        }),
        ("copy", |frame, commands, pool| {
            frame.transfer_pass(commands, "again").transfer_destination(pool);
        }),
        ("dispatch", |frame, commands, pool| {
            frame.compute_pass(commands, "again").storage_write(pool);
        }),
        ("resolve", |frame, commands, pool| {
            let samples = ImageDesc {
                samples: vk::SampleCountFlags::TYPE_4,
                ..color()
            };
            let samples = frame.image("samples", samples);
            frame
                .render_pass(commands, "again")
                .color(samples, CLEAR)
                .resolve(samples, pool);
        }),
    ];
    for (name, pass) in passes {
        let executed = separate(&twice(image, pass));
        assert_eq!(values(&executed, "pool"), [(1, 2), (2, 2)], "{name}");
    }
}

#[test]
fn what_is_resolved_into_follows_its_value() {
    let samples = |frame: &mut FrameBuilder| {
        frame.image(
            "pool",
            ImageDesc {
                samples: vk::SampleCountFlags::TYPE_4,
                ..color()
            },
        )
    };
    let frame = frame_of(samples, |frame, commands, pool, out| {
        for name in ["draw", "draw again"] {
            frame
                .render_pass(commands, name)
                .color(pool, CLEAR)
                .resolve(pool, out);
        }
    });
    let executed = separate(&frame);
    assert_eq!(values(&executed, "pool"), [(1, 2), (2, 2)]);
    // The first result is never read.
    assert_eq!(values(&executed, "out"), [(1, 2)]);
    for pass in executed.frame().pass_ids() {
        let accesses = executed.frame().accesses_of(pass);
        assert_eq!(accesses[1].resolves, Some(accesses[0].resource));
    }
}

#[test]
fn what_keeps_something_begins_no_value() {
    type Pass = fn(&mut FrameBuilder, CommandBufferId, ResourceId);
    let passes: [(&str, Pass); 7] = [
        ("load", |frame, commands, pool| {
            frame.render_pass(commands, "again").color(pool, LoadOp::Load);
        }),
        ("a smaller area", |frame, commands, pool| {
            let half = vk::Extent2D { height: 32, ..EXTENT };
            frame
                .render_pass(commands, "again")
                .color(pool, CLEAR)
                .area(half.into());
        }),
        ("a smaller attachment beside it", |frame, commands, pool| {
            let small = ImageDesc::new(
                vk::Format::R8G8B8A8_UNORM,
                vk::Extent2D {
                    width: 32,
                    height: 64,
                },
            );
            let small = frame.image("small", small);
            frame
                .render_pass(commands, "again")
                .color(pool, CLEAR)
                .color(small, CLEAR);
        }),
        ("an update", |frame, commands, pool| {
            frame.compute_pass(commands, "again").storage_update(pool);
        }),
        ("a pass that may be left out", |frame, commands, pool| {
            frame
                .render_pass(commands, "again")
                .color(pool, LoadOp::DontCare)
                .optional(SkippedOutputs::Lost);
        }),
        (
            "a pass that may be left out, its clear kept",
            |frame, commands, pool| {
                frame
                    .render_pass(commands, "again")
                    .color(pool, CLEAR)
                    .optional(SkippedOutputs::Kept);
            },
        ),
        ("a read beside the write", |frame, commands, pool| {
            let other = frame.image("other", color());
            frame.compute_pass(commands, "again").storage_write(other);
            frame
                .compute_pass(commands, "and again")
                .transfer_source(pool)
                .transfer_destination(pool);
        }),
    ];
    for (name, pass) in passes {
        let executed = separate(&twice(image, pass));
        assert_eq!(values(&executed, "pool"), [], "{name}");
        assert!(executed.origins().is_identity(), "{name}");
    }
}

/// Shadow cascades: layers are drawn one by one, and read together.
///
/// ```text
/// layer 0   clear                 read   clear                 read
/// layer 1            clear        read            clear        read
/// ```
#[test]
fn layers_that_are_drawn_one_by_one_are_a_value_together() {
    let layered = |frame: &mut FrameBuilder| {
        let two = ImageDesc {
            array_layers: 2,
            ..color()
        };
        frame.image("pool", two)
    };
    let passes = |layers: u32| {
        frame_of(layered, move |frame, commands, pool, out| {
            for (round, layers) in [2, layers].into_iter().enumerate() {
                for layer in 0..layers {
                    frame
                        .render_pass(commands, format!("draw {round} {layer}"))
                        .color(pool, CLEAR)
                        .layer(layer);
                }
                frame
                    .render_pass(commands, format!("use {round}"))
                    .sampled(pool)
                    .color(out, CLEAR);
            }
        })
    };
    assert_eq!(values(&separate(&passes(2)), "pool"), [(1, 2), (2, 2)]);
    // One layer of the first round is read again.
    assert_eq!(values(&separate(&passes(1)), "pool"), []);
    // All layers are attached, but only as many are rendered as all attachments have.
    let frame = twice(layered_twice, |frame, commands, pool| {
        let flat = frame.image("flat", color());
        frame
            .render_pass(commands, "again")
            .color(pool, CLEAR)
            .color(flat, CLEAR);
    });
    assert_eq!(values(&separate(&frame), "pool"), []);
    let frame = twice(layered_twice, |frame, commands, pool| {
        frame
            .render_pass(commands, "again")
            .color(pool, CLEAR)
            .views(0b11);
    });
    assert_eq!(values(&separate(&frame), "pool"), [(1, 2), (2, 2)]);
}

fn layered_twice(frame: &mut FrameBuilder) -> ResourceId {
    frame.image(
        "pool",
        ImageDesc {
            array_layers: 2,
            ..color()
        },
    )
}

#[test]
fn depth_without_stencil_begins_no_value() {
    use vk::ImageAspectFlags as Aspects;
    let depth = |frame: &mut FrameBuilder| {
        frame.image("pool", ImageDesc::new(vk::Format::D32_SFLOAT_S8_UINT, EXTENT))
    };
    let frame = |aspects: Option<Aspects>, later: LoadOp| {
        frame_of(depth, move |frame, commands, pool, _| {
            frame.render_pass(commands, "draw").depth(pool, CLEAR_DEPTH);
            let again = frame.render_pass(commands, "again").depth(pool, CLEAR_DEPTH);
            if let Some(aspects) = aspects {
                let _ = again.aspect(aspects);
            }
            frame.render_pass(commands, "blend").depth(pool, later);
        })
    };
    for aspects in [Aspects::DEPTH, Aspects::STENCIL] {
        let executed = separate(&frame(Some(aspects), LoadOp::Load));
        assert_eq!(values(&executed, "pool"), []);
    }
    assert_eq!(
        values(&separate(&frame(None, LoadOp::Load)), "pool"),
        [(1, 2), (2, 2)]
    );
    assert_eq!(
        values(&separate(&frame(None, CLEAR_DEPTH)), "pool"),
        [(1, 3), (2, 3), (3, 3)]
    );
}

#[test]
fn buffers_have_values() {
    let frame = |update: bool| {
        frame_of(
            |frame| frame.buffer("pool", BufferDesc::new(Bytes(4096))),
            move |frame, commands, pool, out| {
                frame.transfer_pass(commands, "fill").transfer_destination(pool);
                frame.compute_pass(commands, "use").storage_read(pool);
                let again = frame.compute_pass(commands, "again");
                match update {
                    true => again.storage_update(pool),
                    false => again.storage_write(pool),
                };
                frame
                    .render_pass(commands, "use again")
                    .uniform(pool)
                    .color(out, CLEAR);
            },
        )
    };
    let executed = separate(&frame(false));
    assert_eq!(values(&executed, "pool"), [(1, 2), (2, 2)]);
    assert_eq!(values(&separate(&frame(true)), "pool"), []);
    // Each is created with the usage of its own accesses.
    let usages = executed
        .frame()
        .resources()
        .iter()
        .filter_map(|one| match one.kind {
            tileheap::frame::tables::ResourceKind::Buffer { usage, .. } => Some(usage),
            _ => None,
        });
    use vk::BufferUsageFlags as Usage;
    assert_eq!(
        usages.collect::<Vec<_>>(),
        [
            Usage::TRANSFER_DST | Usage::STORAGE_BUFFER,
            Usage::STORAGE_BUFFER | Usage::UNIFORM_BUFFER
        ]
    );
}

/// A mip chain whose levels are separate images, used twice.
#[test]
fn levels_have_values_of_their_own() {
    let chain = |frame: &mut FrameBuilder| {
        frame.image(
            "pool",
            ImageDesc {
                mip_levels: 2,
                separate_levels: true,
                ..color()
            },
        )
    };
    let frame = frame_of(chain, |frame, commands, pool, out| {
        for round in 0..2 {
            let pass = |what: &str| format!("{what} {round}");
            frame
                .render_pass(commands, pass("draw"))
                .color(pool, CLEAR)
                .level(0);
            frame
                .render_pass(commands, pass("halve"))
                .sampled(pool)
                .level(0)
                .color(pool, CLEAR)
                .level(1);
            frame
                .render_pass(commands, pass("use"))
                .sampled(pool)
                .level(1)
                .color(out, CLEAR);
        }
    });
    let executed = separate(&frame);
    assert_eq!(values(&executed, "pool"), [(1, 2), (1, 2), (2, 2), (2, 2)]);
    let pool = frame.resource_named("pool").unwrap();
    let parts = executed.frame().resource_ids();
    let parts = parts.filter(|&id| executed.described_resource(id) == pool);
    let parts = parts.map(|id| executed.part(id));
    let parts: Vec<(Option<u32>, u32)> = parts
        .filter_map(|part| Some((part.level, part.value?.number)))
        .collect();
    assert_eq!(parts, [(None, 1), (Some(1), 1), (None, 2), (Some(1), 2)]);
}

/// A value that is never read still counts.
#[test]
fn a_value_that_is_never_read_is_a_value() {
    let frame = frame_of(image, |frame, commands, pool, out| {
        frame.render_pass(commands, "wasted").color(pool, CLEAR);
        frame.render_pass(commands, "draw").color(pool, CLEAR);
        frame.render_pass(commands, "use").sampled(pool).color(out, CLEAR);
    });
    assert_eq!(values(&separate(&frame), "pool"), [(1, 2), (2, 2)]);
}
