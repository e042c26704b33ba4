//! Structure: every index names a row, and the tables record the frame, all of it, once and in order.

use super::checker::{Checker, stores};
use super::error::{CheckError, StructureError};
use crate::frame::tables::Contents;
use crate::frame::{BatchId, CommandBufferId, PassId, SubmitId};
use crate::lower::state::Space;
use crate::lower::tables::commands::{DependencyRow, PassContents};
use crate::lower::tables::objects::Binding;
use crate::lower::tables::submission::Semaphore;
use crate::lower::tables::{DeviceQueueIndex, Object};
use crate::units::Run;

/// Where an index is.
type Place = (&'static str, usize, &'static str);

pub(super) fn check(checker: &mut Checker<'_>) {
    check_situation(checker);
    check_created(checker);
    check_recorded(checker);
    check_submitted(checker);
    if checker.errors.is_empty() {
        check_order(checker);
    }
    if checker.errors.is_empty() {
        check_accesses(checker);
    }
}

fn index(checker: &mut Checker<'_>, (table, row, field): Place, index: u64, len: usize) {
    if index >= len as u64 {
        checker.report(StructureError::Index {
            table,
            row,
            field,
            index,
            len,
        });
    }
}

fn run(checker: &mut Checker<'_>, (table, row, field): Place, run: Run, len: usize) {
    let Run { first, end } = run;
    if first > end || end as usize > len {
        checker.report(StructureError::Run {
            table,
            row,
            field,
            first,
            end,
            len,
        });
    }
}

fn rows(checker: &mut Checker<'_>, table: &'static str, rows: usize, needs: usize) {
    if rows != needs {
        checker.report(StructureError::Rows { table, rows, needs });
    }
}

fn object(checker: &mut Checker<'_>, place: Place, object: Object) {
    match object {
        Object::Image(row) => index(checker, place, row.into(), checker.tables.images.len()),
        Object::Buffer(row) => index(checker, place, row.into(), checker.tables.buffers.len()),
    }
}

fn queue(checker: &mut Checker<'_>, place: Place, queue: DeviceQueueIndex) {
    index(checker, place, queue.0.into(), checker.situation.queues.len());
}

/// The queues and what earlier work left, before and after.
fn check_situation(checker: &mut Checker<'_>) {
    let (frame, situation) = (checker.frame, checker.situation);
    let declared = situation.queues.declared();
    rows(
        checker,
        "queues of the situation",
        declared.len(),
        frame.queues().len(),
    );
    rows(
        checker,
        "requirements",
        checker.device.requirements.resources.len(),
        frame.resources().len(),
    );
    if checker.tables.queues != declared {
        checker.report(StructureError::Order {
            table: "queues",
            row: 0,
            found: format!("{:?}", checker.tables.queues),
            needs: format!("{declared:?}"),
        });
    }
    for (row, real) in situation.queues.iter().enumerate() {
        let families = checker.device.families.len();
        index(
            checker,
            ("queues of the situation", row, "family"),
            real.family.into(),
            families,
        );
    }
    for (table, state) in [("before", &situation.before), ("after", &checker.tables.after)] {
        for (row, one) in state.bytes.iter().enumerate() {
            queue(checker, (table, row, "queue"), one.last.queue);
            match one.space {
                Space::Tile(of) => queue(checker, (table, row, "space"), of),
                Space::Memory(of) => {
                    let len = checker.tables.memory.len();
                    index(checker, (table, row, "space"), of.into(), len);
                }
            }
            if one.first > one.end {
                let what = format!("{table} row {row}");
                checker.wrong(&what, "first", one.first, format!("at most the end, {}", one.end));
            }
        }
        for (row, one) in state.contents.iter().enumerate() {
            object(checker, (table, row, "object"), one.object);
        }
    }
}

/// Images, buffers and views.
fn check_created(checker: &mut Checker<'_>) {
    let tables = checker.tables;
    let (resources, families, memory) = (
        checker.frame.resources().len(),
        tables.families.len(),
        tables.memory.len(),
    );
    let bound = |checker: &mut Checker<'_>, table, row, binding| {
        if let Binding::Memory { memory: of, .. } = binding {
            index(checker, (table, row, "memory"), of.into(), memory);
        }
    };
    for (row, image) in tables.images.iter().enumerate() {
        index(
            checker,
            ("images", row, "resource"),
            image.resource.index() as u64,
            resources,
        );
        run(
            checker,
            ("images", row, "view_formats"),
            image.view_formats,
            tables.formats.len(),
        );
        run(
            checker,
            ("images", row, "families"),
            image.sharing.families,
            families,
        );
        bound(checker, "images", row, image.binding);
    }
    for (row, buffer) in tables.buffers.iter().enumerate() {
        index(
            checker,
            ("buffers", row, "resource"),
            buffer.resource.index() as u64,
            resources,
        );
        run(
            checker,
            ("buffers", row, "families"),
            buffer.sharing.families,
            families,
        );
        bound(checker, "buffers", row, buffer.binding);
    }
    for (row, view) in tables.views.iter().enumerate() {
        index(
            checker,
            ("views", row, "image"),
            view.image.into(),
            tables.images.len(),
        );
        run(
            checker,
            ("views", row, "levels"),
            view.range.levels,
            u32::MAX as usize,
        );
        run(
            checker,
            ("views", row, "layers"),
            view.range.layers,
            u32::MAX as usize,
        );
    }
    for (row, access) in tables.accesses.iter().enumerate() {
        object(checker, ("accesses", row, "object"), access.object);
        if let Some(view) = access.view {
            index(
                checker,
                ("accesses", row, "view"),
                view.into(),
                tables.views.len(),
            );
        }
    }
}

/// Render passes, passes and barriers.
fn check_recorded(checker: &mut Checker<'_>) {
    let tables = checker.tables;
    let attachments = tables.attachments.len();
    for (row, attachment) in tables.attachments.iter().enumerate() {
        index(
            checker,
            ("attachments", row, "view"),
            attachment.view.into(),
            tables.views.len(),
        );
        if let Some(resolve) = attachment.resolve {
            index(
                checker,
                ("attachments", row, "resolve"),
                resolve.attachment.into(),
                attachments,
            );
        }
    }
    for (row, rendering) in tables.renderings.iter().enumerate() {
        run(
            checker,
            ("renderings", row, "colors"),
            rendering.colors,
            attachments,
        );
        run(
            checker,
            ("renderings", row, "resolves"),
            rendering.resolves,
            attachments,
        );
        run(
            checker,
            ("renderings", row, "inputs"),
            rendering.inputs,
            attachments,
        );
        run(
            checker,
            ("renderings", row, "color_formats"),
            rendering.color_formats,
            tables.formats.len(),
        );
        if let Some(depth) = rendering.depth {
            index(checker, ("renderings", row, "depth"), depth.into(), attachments);
        }
    }
    let stores = stores(checker.frame).len();
    for (row, pass) in tables.passes.iter().enumerate() {
        match pass.contents {
            PassContents::Described(of) => {
                let passes = checker.frame.passes().len();
                index(checker, ("passes", row, "contents"), of.index() as u64, passes);
            }
            PassContents::Store(of) => index(checker, ("passes", row, "contents"), of.into(), stores),
            PassContents::Clear { object: of, .. } => object(checker, ("passes", row, "contents"), of),
        }
        if let Some(memory) = pass.tile_memory {
            index(
                checker,
                ("passes", row, "tile_memory"),
                memory.into(),
                tables.memory.len(),
            );
        }
        if let Some(rendering) = pass.rendering {
            index(
                checker,
                ("passes", row, "rendering"),
                rendering.into(),
                tables.renderings.len(),
            );
        }
        for DependencyRow {
            images,
            buffers,
            memory,
        } in [pass.before, pass.after]
        {
            run(
                checker,
                ("passes", row, "image barriers"),
                images,
                tables.image_barriers.len(),
            );
            run(
                checker,
                ("passes", row, "buffer barriers"),
                buffers,
                tables.buffer_barriers.len(),
            );
            run(
                checker,
                ("passes", row, "memory barriers"),
                memory,
                tables.memory_barriers.len(),
            );
        }
    }
    for (row, barrier) in tables.image_barriers.iter().enumerate() {
        index(
            checker,
            ("image_barriers", row, "image"),
            barrier.image.into(),
            tables.images.len(),
        );
        run(
            checker,
            ("image_barriers", row, "levels"),
            barrier.range.levels,
            u32::MAX as usize,
        );
        run(
            checker,
            ("image_barriers", row, "layers"),
            barrier.range.layers,
            u32::MAX as usize,
        );
    }
    for (row, barrier) in tables.buffer_barriers.iter().enumerate() {
        index(
            checker,
            ("buffer_barriers", row, "buffer"),
            barrier.buffer.into(),
            tables.buffers.len(),
        );
    }
}

/// Command buffers, batches and submits.
fn check_submitted(checker: &mut Checker<'_>) {
    let tables = checker.tables;
    for (row, commands) in tables.command_buffers.iter().enumerate() {
        run(
            checker,
            ("command_buffers", row, "passes"),
            commands.passes,
            tables.passes.len(),
        );
    }
    for (row, batch) in tables.batches.iter().enumerate() {
        run(
            checker,
            ("batches", row, "waits"),
            batch.waits,
            tables.waits.len(),
        );
        run(
            checker,
            ("batches", row, "signals"),
            batch.signals,
            tables.signals.len(),
        );
        let commands = tables.command_buffers.len();
        run(
            checker,
            ("batches", row, "command_buffers"),
            batch.command_buffers,
            commands,
        );
    }
    for (row, submit) in tables.submits.iter().enumerate() {
        queue(checker, ("submits", row, "queue"), submit.queue);
        run(
            checker,
            ("submits", row, "batches"),
            submit.batches,
            tables.batches.len(),
        );
    }
    for (table, rows) in [("waits", &tables.waits), ("signals", &tables.signals)] {
        for (row, one) in rows.iter().enumerate() {
            match one.semaphore {
                Semaphore::Declared(of) => {
                    let len = checker.frame.semaphores().len();
                    index(checker, (table, row, "semaphore"), of.into(), len);
                }
                Semaphore::Queue { queue: of, .. } => queue(checker, (table, row, "queue"), of),
            }
        }
    }
}

/// Submits, batches, command buffers and passes are the frame's, each once and in its order.
fn check_order(checker: &mut Checker<'_>) {
    let (tables, frame) = (checker.tables, checker.frame);
    let ordered = |checker: &mut Checker<'_>, table, row, found: String, needs: String| {
        if found != needs {
            checker.report(StructureError::Order {
                table,
                row,
                found,
                needs,
            });
        }
    };
    rows(checker, "submits", tables.submits.len(), frame.submits().len());
    for (row, (submit, described)) in tables.submits.iter().zip(frame.submits()).enumerate() {
        let queue = checker.situation.queues.declared()[described.queue.index()];
        let needs = (SubmitId(row as u32), queue, described.batches);
        let found = (submit.submit, submit.queue, submit.batches);
        ordered(
            checker,
            "submits",
            row,
            format!("{found:?}"),
            format!("{needs:?}"),
        );
    }
    rows(checker, "batches", tables.batches.len(), frame.batches().len());
    for (row, (batch, described)) in tables.batches.iter().zip(frame.batches()).enumerate() {
        let needs = (BatchId(row as u32), described.command_buffers);
        let found = (batch.batch, batch.command_buffers);
        ordered(
            checker,
            "batches",
            row,
            format!("{found:?}"),
            format!("{needs:?}"),
        );
    }
    let count = frame.command_buffers().len();
    rows(checker, "command_buffers", tables.command_buffers.len(), count);
    let (mut recorded, mut stores) = (0, 0);
    let described = tables.command_buffers.iter().zip(frame.command_buffers());
    for (row, (commands, described)) in described.enumerate() {
        let needs = (CommandBufferId(row as u32), recorded);
        let found = (commands.commands, commands.passes.first);
        ordered(
            checker,
            "command_buffers",
            row,
            format!("{found:?}"),
            format!("{needs:?}"),
        );
        recorded = commands.passes.end;
        let mut expected = described.passes.indices().map(|pass| PassId(pass as u32));
        for row in commands.passes.indices() {
            let found = tables.passes[row].contents;
            if matches!(found, PassContents::Clear { .. }) {
                continue;
            }
            let needs = expected.next().map(|pass| match frame.pass(pass).contents {
                Contents::Store => {
                    stores += 1;
                    PassContents::Store(stores - 1)
                }
                Contents::Inline | Contents::Secondary => PassContents::Described(pass),
            });
            ordered(
                checker,
                "passes",
                row,
                format!("{:?}", Some(found)),
                format!("{needs:?}"),
            );
        }
        let last_is_clear = commands.passes.indices().last().is_some_and(|row| {
            let PassContents::Clear { .. } = tables.passes[row].contents else {
                return false;
            };
            true
        });
        if let Some(missing) = expected.next() {
            let needs = format!("pass `{}`", checker.pass(missing));
            ordered(
                checker,
                "passes",
                recorded as usize,
                "the end of a command buffer".to_owned(),
                needs,
            );
        } else if last_is_clear {
            let needs = "a pass that uses what is cleared".to_owned();
            ordered(
                checker,
                "passes",
                recorded as usize,
                "the end of a command buffer".to_owned(),
                needs,
            );
        }
    }
    rows(checker, "passes", tables.passes.len(), recorded as usize);
}

/// Every access uses an image or buffer of its resource, the copy of its version.
fn check_accesses(checker: &mut Checker<'_>) {
    let (tables, frame) = (checker.tables, checker.frame);
    for object in checker.objects() {
        let is_image = matches!(object, Object::Image(_));
        if frame.resource(checker.resource_of(object)).is_image() != is_image {
            checker.report(StructureError::Order {
                table: if is_image { "images" } else { "buffers" },
                row: 0,
                found: format!("{object:?}"),
                needs: format!("another kind of resource for `{}`", checker.name_of(object)),
            });
        }
    }
    rows(checker, "accesses", tables.accesses.len(), frame.accesses().len());
    for (row, access) in tables.accesses.iter().zip(frame.accesses()) {
        if !checker.holds(row.object, access.resource, access.version) {
            let (pass, resource) = (checker.pass(access.pass), checker.resource(access.resource));
            let found = format!("{:?}", row.object);
            checker.report(CheckError::Structure(StructureError::Object {
                pass,
                resource,
                found,
            }));
        }
    }
}
