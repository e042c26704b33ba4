//! Checks structure: every index refers to a row, and the tables record the whole frame, once and in order.

use std::fmt::Debug;

use super::checker::Checker;
use super::error::LoweringRule;
use crate::frame::tables::CommandSource;
use crate::frame::{BatchId, CommandBufferId, PassId, SubmitId};
use crate::lower::state::AddressSpaceKind;
use crate::lower::tables::commands::{DependencyRow, PassContents};
use crate::lower::tables::objects::MemoryBinding;
use crate::lower::tables::submission::SemaphoreKind;
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer, ObjectRef, OptionalIndex};
use crate::units::Run;

pub(super) fn check(checker: &mut Checker<'_>) {
    check_lowering_desc(checker);
    check_created(checker);
    check_recorded(checker);
    check_submitted(checker);
    if checker.errors.is_empty() {
        check_references(checker);
        check_order(checker);
    }
    if checker.errors.is_empty() {
        check_accesses(checker);
    }
}

/// A row whose indices are being checked.
struct Row<'c, 'a> {
    checker: &'c mut Checker<'a>,
    table: &'static str,
    row: usize,
}

impl Row<'_, '_> {
    fn index(&mut self, field: &str, index: u32, len: usize) {
        let Row { table, row, .. } = self;
        if index as usize >= len {
            let message = format!(
                "{table} row {row}: {field} index {index} is out of range (number of entries: {len})"
            );
            self.checker.report(LoweringRule::Index, message);
        }
    }

    fn index_if(&mut self, field: &str, index: OptionalIndex, len: usize) {
        if let Some(index) = index.get() {
            self.index(field, index, len);
        }
    }

    fn run(&mut self, field: &str, Run { first, end }: Run, len: usize) {
        let Row { table, row, .. } = self;
        if first > end || end as usize > len {
            let message =
                format!("{table} row {row}: {field} [{first}, {end}) is not a range within [0, {len})");
            self.checker.report(LoweringRule::Index, message);
        }
    }

    /// Checks runs of levels and layers; other rules check their limits.
    fn range(&mut self, levels: Run, layers: Run) {
        self.run("levels", levels, u32::MAX as usize);
        self.run("layers", layers, u32::MAX as usize);
    }

    fn object(&mut self, field: &str, object: ObjectRef) {
        match object.get() {
            ImageOrBuffer::Image(row) => self.index(field, row, self.checker.tables.images.len()),
            ImageOrBuffer::Buffer(row) => self.index(field, row, self.checker.tables.buffers.len()),
        }
    }

    fn queue(&mut self, field: &str, queue: DeviceQueueIndex) {
        self.index(field, queue.0, self.checker.lowering_desc.queues.len());
    }

    fn binding(&mut self, binding: MemoryBinding) {
        self.index_if("memory", binding.memory, self.checker.tables.memory.len());
    }
}

/// Calls `judge` for every row of a table.
fn each<'a, T>(
    checker: &mut Checker<'a>,
    table: &'static str,
    rows: impl IntoIterator<Item = T>,
    judge: impl Fn(&mut Row<'_, 'a>, T),
) {
    for (row, of) in rows.into_iter().enumerate() {
        judge(&mut Row { checker, table, row }, of);
    }
}

fn rows(checker: &mut Checker<'_>, table: &str, rows: usize, needs: usize) {
    if rows != needs {
        let message = format!("{table}: the number of rows is {rows}, but the frame needs {needs}");
        checker.report(LoweringRule::Rows, message);
    }
}

fn order<T: PartialEq + Debug>(checker: &mut Checker<'_>, table: &str, row: usize, found: T, needs: T) {
    if found != needs {
        wrong_order(checker, table, row, &found, &needs);
    }
}

#[cold]
fn wrong_order(checker: &mut Checker<'_>, table: &str, row: usize, found: &dyn Debug, needs: &dyn Debug) {
    let message = format!("{table} row {row} is {found:?}, but the frame has {needs:?} there");
    checker.report(LoweringRule::Order, message);
}

/// Checks the queues, and the memory state before and after the frame.
fn check_lowering_desc(checker: &mut Checker<'_>) {
    let (frame, lowering_desc, tables) = (checker.frame, checker.lowering_desc, checker.tables);
    let declared = lowering_desc.queues.declared();
    rows(checker, "described queues", declared.len(), frame.queues().len());
    let required = checker.device.requirements.resources.len();
    rows(checker, "requirements", required, frame.resources().len());
    order(checker, "queues", 0, &tables.queues[..], declared);
    let families = checker.device.families.len();
    each(
        checker,
        "described queues",
        lowering_desc.queues.iter(),
        |at, real| {
            at.index("family", real.family, families);
        },
    );
    for (table, state) in [("before", &lowering_desc.before), ("after", &tables.after)] {
        each(checker, table, &state.bytes, |at, one| {
            at.queue("queue", one.last.queue);
            match one.space.kind {
                AddressSpaceKind::Tile => at.queue("space", DeviceQueueIndex(one.space.index)),
                AddressSpaceKind::Memory => at.index("space", one.space.index, tables.memory.len()),
            }
            let mut of_row = at.checker.at(format!("{table} row {}", at.row));
            let needs = format!("at most the end, {}", one.end);
            of_row.demand(one.first <= one.end, "first", one.first, needs);
        });
        each(checker, table, &state.contents, |at, one| {
            at.object("object", one.object)
        });
    }
}

/// Checks the indices in the rows of memory objects, images, buffers, views and accesses.
fn check_created(checker: &mut Checker<'_>) {
    let tables = checker.tables;
    let (resources, families) = (checker.frame.resources().len(), tables.families.len());
    each(checker, "memory", &tables.memory, |at, memory| {
        at.index_if("dedicated_image", memory.dedicated_image, tables.images.len());
        at.index_if("dedicated_buffer", memory.dedicated_buffer, tables.buffers.len());
    });
    each(checker, "images", &tables.images, |at, image| {
        at.index("resource", image.resource.0, resources);
        at.run("view_formats", image.view_formats, tables.formats.len());
        at.run("families", image.sharing.families, families);
        at.binding(image.binding);
    });
    each(checker, "buffers", &tables.buffers, |at, buffer| {
        at.index("resource", buffer.resource.0, resources);
        at.run("families", buffer.sharing.families, families);
        at.binding(buffer.binding);
    });
    each(checker, "views", &tables.views, |at, view| {
        at.index("image", view.image, tables.images.len());
        at.range(view.range.levels, view.range.layers);
    });
    each(checker, "accesses", &tables.accesses, |at, access| {
        at.object("object", access.object);
        at.index_if("view", access.view, tables.views.len());
    });
}

/// Checks the indices in the rows of render pass instances, passes and barriers.
fn check_recorded(checker: &mut Checker<'_>) {
    let tables = checker.tables;
    let (attachments, references) = (tables.attachments.len(), tables.references.len());
    each(checker, "attachments", &tables.attachments, |at, attachment| {
        at.index("view", attachment.view, tables.views.len());
        at.index_if("resolve", attachment.resolve, attachments);
    });
    each(checker, "subpasses", &tables.subpasses, |at, row| {
        let dependencies = tables.subpass_dependencies.len();
        at.run("dependencies", row.dependencies, dependencies);
        at.run("barriers", row.barriers, dependencies);
        at.run("colors", row.colors, references);
        at.run("resolves", row.resolves, references);
        at.run("inputs", row.inputs, references);
        at.index_if("depth", row.depth, references);
        at.index_if("depth_resolve", row.depth_resolve, references);
        at.run("preserved", row.preserved, tables.indices.len());
        at.run("locations", row.locations, tables.indices.len());
        at.run("input_indices", row.input_indices, tables.indices.len());
        at.run("color_formats", row.color_formats, tables.formats.len());
    });
    let passes = checker.frame.passes().len();
    each(checker, "instances", &tables.instances, |at, instance| {
        at.index("pass", instance.pass.0, passes);
        at.run("attachments", instance.attachments, attachments);
        at.run("colors", instance.colors, attachments);
        at.index_if("depth", instance.depth, attachments);
        at.index_if("stencil", instance.stencil, attachments);
        at.run("subpasses", instance.subpasses, tables.subpasses.len());
    });
    each(checker, "clears", &tables.clears, |at, clear| {
        at.object("object", clear.object);
        at.range(clear.range.levels, clear.range.layers);
    });
    each(checker, "stores", &tables.stores, |at, store| {
        at.index("source", store.source, tables.accesses.len());
        at.index("target", store.target, tables.accesses.len());
    });
    each(checker, "passes", &tables.passes, |at, pass| {
        at.index("pass", pass.pass.0, passes);
        let (rows, table) = match pass.contents {
            PassContents::Described => (0, "no"),
            PassContents::Store => (tables.stores.len(), "stores"),
            PassContents::Clear => (tables.clears.len(), "clears"),
        };
        at.index_if("row", pass.row, rows);
        if pass.row.is_none() && pass.contents != PassContents::Described {
            let message = format!(
                "passes row {}: `row` is none, but must refer to one of {rows} {table}",
                at.row
            );
            at.checker.report(LoweringRule::Index, message);
        }
        at.index_if("tile_memory", pass.tile_memory, tables.memory.len());
        at.index_if("instance", pass.instance, tables.instances.len());
        for row in [pass.before, pass.after] {
            let DependencyRow {
                images,
                buffers,
                memory,
            } = row;
            at.run("image barriers", images, tables.image_barriers.len());
            at.run("buffer barriers", buffers, tables.buffer_barriers.len());
            at.run("memory barriers", memory, tables.memory_barriers.len());
        }
    });
    each(
        checker,
        "image_barriers",
        &tables.image_barriers,
        |at, barrier| {
            at.index("image", barrier.image, tables.images.len());
            at.range(barrier.range.levels, barrier.range.layers);
        },
    );
    each(
        checker,
        "buffer_barriers",
        &tables.buffer_barriers,
        |at, barrier| {
            at.index("buffer", barrier.buffer, tables.buffers.len());
        },
    );
}

/// Checks that references are to attachments of their instance.
fn check_references(checker: &mut Checker<'_>) {
    let tables = checker.tables;
    for instance in &tables.instances {
        for row in instance.subpasses.of(&tables.subpasses) {
            let single = [row.depth, row.depth_resolve]
                .into_iter()
                .filter_map(OptionalIndex::get);
            let runs = [row.colors, row.resolves, row.inputs]
                .into_iter()
                .flat_map(|run| run.indices());
            for at in runs.chain(single.map(|row| row as usize)) {
                let attachment = tables.references[at].get();
                let (table, row) = ("references", at);
                let mut at = Row { checker, table, row };
                at.index_if("attachment", attachment.into(), instance.attachments.len());
            }
        }
    }
}

/// Checks the indices in the rows of command buffers, batches, submits, and semaphore waits and signals.
fn check_submitted(checker: &mut Checker<'_>) {
    let tables = checker.tables;
    let semaphores = checker.frame.semaphores().len();
    each(
        checker,
        "command_buffers",
        &tables.command_buffers,
        |at, commands| {
            at.run("passes", commands.passes, tables.passes.len());
        },
    );
    each(checker, "batches", &tables.batches, |at, batch| {
        at.run("waits", batch.waits, tables.waits.len());
        at.run("signals", batch.signals, tables.signals.len());
        at.run(
            "command_buffers",
            batch.command_buffers,
            tables.command_buffers.len(),
        );
    });
    each(checker, "submits", &tables.submits, |at, submit| {
        at.queue("queue", submit.queue);
        at.run("batches", submit.batches, tables.batches.len());
    });
    for (table, rows) in [("waits", &tables.waits), ("signals", &tables.signals)] {
        each(checker, table, rows, |at, one| match one.semaphore.kind {
            SemaphoreKind::Declared => at.index("semaphore", one.semaphore.index, semaphores),
            SemaphoreKind::Queue => at.queue("queue", DeviceQueueIndex(one.semaphore.index)),
        });
    }
}

/// Checks that submits, batches, command buffers and passes are the frame's, each once and in its order.
fn check_order(checker: &mut Checker<'_>) {
    let (tables, frame) = (checker.tables, checker.frame);
    rows(checker, "submits", tables.submits.len(), frame.submits().len());
    for (row, (submit, described)) in tables.submits.iter().zip(frame.submits()).enumerate() {
        let queue = checker.lowering_desc.queues.declared()[described.queue.index()];
        let needs = (SubmitId(row as u32), queue, described.batches);
        let found = (submit.submit, submit.queue, submit.batches);
        order(checker, "submits", row, found, needs);
    }
    rows(checker, "batches", tables.batches.len(), frame.batches().len());
    for (row, (batch, described)) in tables.batches.iter().zip(frame.batches()).enumerate() {
        let needs = (BatchId(row as u32), described.command_buffers);
        order(
            checker,
            "batches",
            row,
            (batch.batch, batch.command_buffers),
            needs,
        );
    }
    let count = frame.command_buffers().len();
    rows(checker, "command_buffers", tables.command_buffers.len(), count);
    let (mut recorded, mut stores, mut clears) = (0, 0, 0);
    let described = tables.command_buffers.iter().zip(frame.command_buffers());
    for (row, (commands, described)) in described.enumerate() {
        let submit = frame.batches()[described.batch.index()].submit;
        let queue = checker.lowering_desc.queues.declared()[frame.submits()[submit.index()].queue.index()];
        let needs = (CommandBufferId(row as u32), queue, recorded);
        let found = (commands.commands, commands.queue, commands.passes.first);
        order(checker, "command_buffers", row, found, needs);
        recorded = commands.passes.end;
        let mut expected = described
            .passes
            .indices()
            .map(|pass| PassId(pass as u32))
            .peekable();
        let is_clear = |row: usize| tables.passes[row].contents == PassContents::Clear;
        for row in commands.passes.indices() {
            let next = expected.peek().copied();
            let store = |pass: &PassId| {
                matches!(
                    frame.pass(*pass).contents,
                    CommandSource::Store | CommandSource::Border { .. }
                )
            };
            let (contents, nth) = match next {
                _ if is_clear(row) => (PassContents::Clear, Some(&mut clears)),
                Some(pass) if store(&pass) => (PassContents::Store, Some(&mut stores)),
                _ => (PassContents::Described, None),
            };
            let nth = nth.map(|count| {
                *count += 1;
                *count - 1
            });
            let found = tables.passes[row];
            let needs = next.map(|pass| (pass, contents, OptionalIndex::from(nth)));
            order(
                checker,
                "passes",
                row,
                Some((found.pass, found.contents, found.row)),
                needs,
            );
            if !is_clear(row) {
                expected.next();
            }
        }
        let needs = match expected.next() {
            Some(missing) => format!("pass `{}`", checker.pass(missing)),
            None if commands.passes.indices().last().is_some_and(is_clear) => {
                "a pass that uses the cleared contents".to_owned()
            }
            None => continue,
        };
        let message =
            format!("passes row {recorded} is the end of a command buffer, but the frame has {needs} there");
        checker.report(LoweringRule::Order, message);
    }
    rows(checker, "passes", tables.passes.len(), recorded as usize);
    rows(checker, "clears", tables.clears.len(), clears as usize);
    rows(checker, "stores", tables.stores.len(), stores as usize);
}

/// Checks that every access uses an image or buffer of its resource, namely the copy for its version.
fn check_accesses(checker: &mut Checker<'_>) {
    let (tables, frame) = (checker.tables, checker.frame);
    for object in checker.objects() {
        let is_image = matches!(object, ImageOrBuffer::Image(_));
        if frame.resource(checker.resource_of(object)).is_image() != is_image {
            let (table, kind) = if is_image {
                ("images", "a buffer")
            } else {
                ("buffers", "an image")
            };
            let name = checker.name_of(object);
            let message = format!("{table}: {object:?} is for `{name}`, which is {kind}");
            checker.report(LoweringRule::Order, message);
        }
    }
    rows(checker, "accesses", tables.accesses.len(), frame.accesses().len());
    for (row, access) in tables.accesses.iter().zip(frame.accesses()) {
        if !checker.holds(row.object.get(), access.resource, access.version) {
            let (pass, resource) = (checker.pass(access.pass), checker.resource(access.resource));
            let message = format!(
                "pass `{pass}` uses {:?} for `{resource}`, which does not hold the version that the pass declares",
                row.object
            );
            checker.report(LoweringRule::Object, message);
        }
    }
}
