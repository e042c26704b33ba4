//! Valid usage: rejects frames that no device can create or record, by tables with one row per rule of the specification.
//!
//! ```text
//! DECLARED, USED, PREVIOUS   images       as declared; with the usage that their accesses add; as histories
//! USED, PREVIOUS             buffers
//! VIEWS, USES, PERFORMED     accesses     their views; stages and clear values; accesses that stages perform
//! RENDER_PASSES              passes       attachments together
//! EXTERNALS, SEMAPHORES      entry and exit states, and waits of the caller
//! EDGES                      queues     commands that the runtime records at the first and last use of a part
//! device*.rs                 the same subjects against the limits and features of a device
//! ```
//! A row has the identifier of its rule and a function that says in words how a subject breaks it; nothing else decides, in debug and in release
//! builds alike. Rows for usage that Vulkan allows but tileheap does not have the rule [`NOT_SUPPORTED`]. The first broken rule is the error, in the
//! order of resources, passes, accesses and batches; `EDGES` come last.

mod accepted;
mod accesses;
mod buffers;
mod device;
mod device_passes;
mod device_stages;
mod device_tiles;
mod externals;
mod images;
mod passes;
mod queues;
mod rule;
mod stages;
mod views;

use ash::vk;

use super::tables::{Access, Frame, HistoryVersion, Pass, PassKind, Resource, Tables};
use super::{LoadOp, Persistence};
use crate::profile::DeviceProfile;
use accesses::{AcceptedUses, Use};
pub use buffers::BUFFER_USAGES;
use buffers::Buffer;
use externals::{External, Semaphore};
pub(super) use images::AcceptedImages;
pub use images::IMAGE_USAGES;
use images::Image;
use passes::{AcceptedPasses, RenderPass};
pub use rule::{InvalidUsage, NOT_SUPPORTED, RuleRow};
use rule::{Problem, Table, check, rows_of, table};
use views::View;

/// The rows of all device-dependent tables with their rules, in the order in which they are checked.
pub fn device_rules() -> Vec<(RuleRow, &'static str)> {
    [
        rows_of(table!(device::IMAGES)),
        rows_of(table!(device::BUFFERS)),
        rows_of(table!(device_stages::EXTERNALS)),
        rows_of(table!(device_stages::USES)),
        rows_of(table!(device_tiles::USES)),
        rows_of(table!(device::CLEARS)),
        rows_of(table!(device::VIEWS)),
        rows_of(table!(device_passes::RENDER_PASSES)),
        rows_of(table!(device_tiles::RENDER_PASSES)),
        rows_of(table!(device_stages::SEMAPHORES)),
    ]
    .concat()
}

/// The rows of all device-independent tables with their rules, in the order in which they are checked.
pub fn rules() -> Vec<(RuleRow, &'static str)> {
    [
        rows_of(table!(images::DECLARED)),
        rows_of(table!(images::USED)),
        rows_of(table!(buffers::USED)),
        rows_of(table!(externals::EXTERNALS)),
        rows_of(table!(accesses::USES)),
        stages::rows(),
        rows_of(table!(views::VIEWS)),
        rows_of(table!(images::PREVIOUS)),
        rows_of(table!(buffers::PREVIOUS)),
        rows_of(table!(passes::RENDER_PASSES)),
        rows_of(table!(externals::SEMAPHORES)),
        rows_of(table!(queues::EDGES)),
    ]
    .concat()
}

/// Checks an image as it is declared, unless an equal one was accepted before.
pub(super) fn check_declared(resource: &Resource, accepted: &mut AcceptedImages) -> Result<(), InvalidUsage> {
    match Image::of(resource) {
        Some(image) => check_image(table!(images::DECLARED), &image, accepted),
        None => Ok(()),
    }
}

/// Returns true if an image of the caller breaks no rule of Vulkan about its declaration, on any device or on this one.
#[cfg(feature = "runtime")]
pub(crate) fn accepts_image(resource: &Resource, device: &DeviceProfile) -> bool {
    let is_valid = |image: Image<'_>| {
        image.is_valid() && device::check(table!(device::IMAGES), &image, device, &mut Err).is_ok()
    };
    Image::of(resource).is_some_and(is_valid)
}

/// Checks an image against a table of rules, unless an equal one is among `accepted`.
fn check_image(
    table: Table<'_, fn(&Image<'_>) -> Problem>,
    image: &Image<'_>,
    accepted: &mut AcceptedImages,
) -> Result<(), InvalidUsage> {
    let known = accepted.contains(image);
    if !known || cfg!(debug_assertions) {
        let checked = check(table, image);
        debug_assert!(
            !known || checked.is_ok(),
            "rules depend only on the cached properties"
        );
        checked?;
        accepted.add(image);
    }
    Ok(())
}

/// Checks all other rules that hold on every device. Ranges, usages and render areas must have been derived.
pub(super) fn check_used(tables: &Tables) -> Result<(), InvalidUsage> {
    let mut performed = stages::AcceptedPairs::default();
    let (mut accepted_uses, mut accepted_images) = (AcceptedUses::default(), AcceptedImages::default());
    let mut accepted_passes = AcceptedPasses::default();
    visit(tables, |_, _| true, &mut |subject| match subject {
        CheckedSubject::Image(image) => check_image(table!(images::USED), &image, &mut accepted_images),
        CheckedSubject::Buffer(buffer) => check(table!(buffers::USED), &buffer),
        CheckedSubject::External(external) => {
            check(table!(externals::EXTERNALS), &external)?;
            performed.check(&external, external.state.stages, external.state.access)
        }
        CheckedSubject::Use(used) => {
            let known = accepted_uses.contains(&used);
            if !known || cfg!(debug_assertions) {
                let mut checked = check(table!(accesses::USES), &used);
                if checked.is_ok() {
                    checked = performed.check(&used, used.access.stages, used.access.flags());
                }
                debug_assert!(
                    !known || checked.is_ok(),
                    "rules depend only on the cached properties"
                );
                checked?;
                accepted_uses.add(&used);
            }
            check_previous(&used)
        }
        CheckedSubject::View(view) => check(table!(views::VIEWS), &view),
        CheckedSubject::RenderPass(pass) => {
            let known = accepted_passes.contains(&pass);
            if !known || cfg!(debug_assertions) {
                let checked = check(table!(passes::RENDER_PASSES), &pass);
                debug_assert!(
                    !known || checked.is_ok(),
                    "rules depend only on the cached properties"
                );
                checked?;
                accepted_passes.add(&pass);
            }
            Ok(())
        }
        CheckedSubject::Semaphore(semaphore) => check(table!(externals::SEMAPHORES), &semaphore),
    })
}

/// Checks that queues support the commands that the runtime adds to them. Parts must have been derived.
pub(super) fn check_queues(tables: &Tables) -> Result<(), InvalidUsage> {
    let resources = tables.resources.iter().enumerate();
    let mut kept = resources.filter(|(_, resource)| !matches!(resource.persistence, Persistence::Transient));
    kept.try_for_each(|(index, _)| {
        queues::visit_edges(tables, index, &mut |edge| check(table!(queues::EDGES), edge))
    })
}

/// Checks that the runtime can clear a previous version that no frame has written.
fn check_previous(used: &Use<'_>) -> Result<(), InvalidUsage> {
    if used.access.version != HistoryVersion::Previous {
        return Ok(());
    }
    match (Image::of(used.resource), Buffer::of(used.resource)) {
        (Some(image), _) => check(table!(images::PREVIOUS), &image),
        (_, Some(buffer)) => check(table!(buffers::PREVIOUS), &buffer),
        (None, None) => Ok(()),
    }
}

impl Frame {
    /// Checks that a device can run the frame: against the limits and features that its profile states.
    ///
    /// # Errors
    /// The first rule that the frame breaks on the device.
    pub fn check_on(&self, device: &DeviceProfile) -> Result<(), InvalidUsage> {
        check_on(&self.tables, device, &mut Err)
    }

    /// Every rule that the frame breaks on a device, in the order of resources, passes and batches; empty if the device can run it.
    pub fn violations_on(&self, device: &DeviceProfile) -> Vec<InvalidUsage> {
        let mut all = Vec::new();
        // Continues after each violation: the callback returns no error.
        let _ = check_on(&self.tables, device, &mut |broken| {
            all.push(broken);
            Ok(())
        });
        all
    }
}

/// Calls `broken` for each rule of a device that a frame breaks, until it returns an error.
fn check_on(
    tables: &Tables,
    device: &DeviceProfile,
    broken: &mut dyn FnMut(InvalidUsage) -> Result<(), InvalidUsage>,
) -> Result<(), InvalidUsage> {
    let mut accepted = AcceptedImages::default();
    let mut accepted_passes = AcceptedPasses::default();
    let has_rules = |pass: &Pass, access: &Access| {
        access.stages.intersects(device_stages::STAGES_OF_USES)
            || device_tiles::accesses_tile(pass, access)
            || matches!(access.load_op, LoadOp::Clear(_))
    };
    visit(tables, has_rules, &mut |subject| match subject {
        CheckedSubject::Image(image) => {
            if accepted.contains(&image) {
                return Ok(());
            }
            let mut is_accepted = true;
            device::check(table!(device::IMAGES), &image, device, &mut |usage| {
                is_accepted = false;
                broken(usage)
            })?;
            if is_accepted {
                accepted.add(&image);
            }
            Ok(())
        }
        CheckedSubject::Buffer(buffer) => device::check(table!(device::BUFFERS), &buffer, device, broken),
        CheckedSubject::External(external) => {
            device::check(table!(device_stages::EXTERNALS), &external, device, broken)
        }
        CheckedSubject::Use(used) => {
            if used.access.stages.intersects(device_stages::STAGES_OF_USES) {
                device::check(table!(device_stages::USES), &used, device, broken)?;
            }
            if device_tiles::accesses_tile(used.pass, used.access) {
                device::check(table!(device_tiles::USES), &used, device, broken)?;
            }
            match used.access.load_op {
                LoadOp::Clear(_) => device::check(table!(device::CLEARS), &used, device, broken),
                LoadOp::Load | LoadOp::DontCare => Ok(()),
            }
        }
        CheckedSubject::View(view) => device::check(table!(device::VIEWS), &view, device, broken),
        CheckedSubject::RenderPass(pass) => {
            if accepted_passes.contains(&pass) {
                return Ok(());
            }
            let mut is_accepted = true;
            let mut broken = |usage| {
                is_accepted = false;
                broken(usage)
            };
            device::check(table!(device_passes::RENDER_PASSES), &pass, device, &mut broken)?;
            let mut accesses = pass.accesses.iter();
            if accesses.any(|access| device_tiles::accesses_tile(pass.pass, access)) {
                device::check(table!(device_tiles::RENDER_PASSES), &pass, device, &mut broken)?;
            }
            if is_accepted {
                accepted_passes.add(&pass);
            }
            Ok(())
        }
        CheckedSubject::Semaphore(semaphore) => {
            device::check(table!(device_stages::SEMAPHORES), &semaphore, device, broken)
        }
    })
}

/// Something that a table of rules applies to.
enum CheckedSubject<'a> {
    Image(Image<'a>),
    Buffer(Buffer<'a>),
    External(External<'a>),
    Use(Use<'a>),
    View(View<'a>),
    RenderPass(RenderPass<'a>),
    Semaphore(Semaphore<'a>),
}

/// Passes each subject of rules to `check` until `check` returns an error. Skips accesses for which `has_rules` is false, and plain views.
fn visit(
    tables: &Tables,
    has_rules: impl Fn(&Pass, &Access) -> bool,
    check: &mut impl FnMut(CheckedSubject<'_>) -> Result<(), InvalidUsage>,
) -> Result<(), InvalidUsage> {
    let used = aspects_of_externals(tables);
    for (index, resource) in tables.resources.iter().enumerate() {
        if let Some(image) = Image::of(resource) {
            check(CheckedSubject::Image(image))?;
        }
        if let Some(buffer) = Buffer::of(resource) {
            check(CheckedSubject::Buffer(buffer))?;
        }
        if let Persistence::External(desc) = &resource.persistence {
            for (state, leaves) in [(&desc.entry, false), (&desc.exit, true)] {
                check(CheckedSubject::External(External {
                    resource,
                    state,
                    leaves,
                    used_aspects: used[index],
                }))?;
            }
        }
    }
    for pass in &tables.passes {
        visit_pass(tables, pass, &has_rules, check)?;
    }
    for (index, batch) in tables.batches.iter().enumerate() {
        let queue = &tables.queues[tables.submits[batch.submit.index()].queue.index()];
        let waits = batch.waits.iter().map(|op| (op, true));
        for (op, waits) in waits.chain(batch.signals.iter().map(|op| (op, false))) {
            check(CheckedSubject::Semaphore(Semaphore {
                name: &tables.semaphores[op.semaphore.index()].name,
                op,
                queue,
                batch: index,
                waits,
            }))?;
        }
    }
    Ok(())
}

/// Per resource, the aspects that a frame uses of it; empty if the frame has no external resources.
fn aspects_of_externals(tables: &Tables) -> Vec<vk::ImageAspectFlags> {
    let is_external = |resource: &Resource| matches!(resource.persistence, Persistence::External(_));
    if !tables.resources.iter().any(is_external) {
        return Vec::new();
    }
    let mut used = vec![vk::ImageAspectFlags::empty(); tables.resources.len()];
    for access in &tables.accesses {
        used[access.resource.index()] |= access.range.aspects;
    }
    used
}

fn visit_pass(
    tables: &Tables,
    pass: &Pass,
    has_rules: &impl Fn(&Pass, &Access) -> bool,
    check: &mut impl FnMut(CheckedSubject<'_>) -> Result<(), InvalidUsage>,
) -> Result<(), InvalidUsage> {
    let accesses = pass.accesses.of(&tables.accesses);
    for access in accesses {
        let resource = &tables.resources[access.resource.index()];
        if has_rules(pass, access) {
            check(CheckedSubject::Use(Use {
                pass,
                resource,
                access,
            }))?;
        }
        let mut view = || match View::of(pass, access, resource) {
            Some(view) => check(CheckedSubject::View(view)),
            None => Ok(()),
        };
        match views::is_plain(access, resource) {
            true => debug_assert_eq!(view(), Ok(()), "no rule rejects a plain view"),
            false => view()?,
        }
    }
    if pass.kind != PassKind::Render {
        return Ok(());
    }
    check(CheckedSubject::RenderPass(RenderPass {
        pass,
        accesses,
        resources: &tables.resources,
        base: tables.base_extent,
    }))
}
