//! Damaged objects, attachments, bound tile memory, and structure.

use ash::vk;
use ash::vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store};
use tileheap::frame::ClearValue;
use tileheap::lower::Lowered;
use tileheap::lower::check::{CheckError, Rule};
use tileheap::lower::tables::Object;
use tileheap::lower::tables::commands::{DependencyRow, PassContents};
use tileheap::lower::tables::objects::Binding;
use tileheap::plan::MemoryKind;
use tileheap::units::{Bytes, Run};

use super::{Sound, is_contents, is_hazard, is_layout, is_parameter, refused, rows};

/// Passes that use tile memory.
fn tile_passes(sound: &Sound<'_>) -> Vec<usize> {
    let tables = &sound.tables;
    let is_tile = |object: Object| {
        let binding = match object {
            Object::Image(row) => tables.images[row as usize].binding,
            Object::Buffer(row) => tables.buffers[row as usize].binding,
        };
        matches!(binding, Binding::Memory { memory, .. } if tables.memory[memory as usize].kind == MemoryKind::Tile)
    };
    rows(&tables.passes, |pass| {
        let PassContents::Described(id) = pass.contents else {
            return false;
        };
        let accesses = sound.plan.frame.pass(id).accesses;
        accesses
            .of(&tables.accesses)
            .iter()
            .any(|access| is_tile(access.object))
    })
}

#[test]
fn tile_memory_is_not_bound() {
    let damage = |tables: &mut Lowered, &row: &usize| tables.passes[row].tile_memory = None;
    refused(tile_passes, damage, |error| is_parameter(error, "tile_memory"));
}

#[test]
fn tile_contents_are_needed_after_a_pass_without_tile_memory() {
    // Every pass but those that use tile memory: what is alive meanwhile is lost.
    let sites = |sound: &Sound<'_>| {
        let users = tile_passes(sound);
        let reads = |row: usize| {
            let PassContents::Described(id) = sound.tables.passes[row].contents else {
                return false;
            };
            let accesses = sound.plan.frame.accesses_of(id).iter();
            accesses.clone().any(|access| {
                access.needs_contents() && sound.plan.memory_of(access.resource) == Some(MemoryKind::Tile)
            })
        };
        users
            .windows(2)
            .filter(|pair| reads(pair[1]))
            .map(|pair| pair[0])
            .collect()
    };
    let damage = |tables: &mut Lowered, &row: &usize| {
        for pass in &mut tables.passes[row + 1..] {
            pass.tile_memory = None;
        }
    };
    refused(sites, damage, is_contents);
}

#[test]
fn memory_is_smaller() {
    let sites = |sound: &Sound<'_>| (0..sound.tables.memory.len()).collect();
    let damage =
        |tables: &mut Lowered, row: &usize| tables.memory[*row].size = Bytes(tables.memory[*row].size.0 / 2);
    refused(sites, damage, |error| is_parameter(error, "memoryOffset"));
}

#[test]
fn an_offset_is_shifted() {
    let sites = |sound: &Sound<'_>| {
        rows(&sound.tables.images, |image| {
            let alignment = sound.plan.requirements.resources[image.resource.index()].alignment;
            let Binding::Memory { memory, .. } = image.binding else {
                return false;
            };
            alignment.get() > 1 && sound.tables.memory[memory as usize].kind != MemoryKind::Tile
        })
    };
    let damage = |tables: &mut Lowered, &row: &usize| {
        if let Binding::Memory { offset, .. } = &mut tables.images[row].binding {
            *offset += Bytes(1);
        }
    };
    refused(sites, damage, |error| is_parameter(error, "memoryOffset"));
}

/// Attachments that a pass loads, or clears, and what an access says of them.
fn attachments(sound: &Sound<'_>, load: Load) -> Vec<usize> {
    let tables = &sound.tables;
    let colors = tables
        .renderings
        .iter()
        .flat_map(|rendering| rendering.colors.indices());
    colors
        .filter(|&row| tables.attachments[row].operations.load == load)
        .collect()
}

#[test]
fn an_attachment_has_another_load_operation() {
    // A load of what is declared overwritten is a read that nothing expects.
    for (from, to) in [
        (Load::LOAD, Load::DONT_CARE),
        (Load::CLEAR, Load::LOAD),
        (Load::DONT_CARE, Load::LOAD),
    ] {
        refused(
            |sound| attachments(sound, from),
            |tables, &row| tables.attachments[row].operations.load = to,
            |error| is_parameter(error, "loadOp"),
        );
    }
}

#[test]
fn an_attachment_that_is_read_is_not_stored() {
    let sites = |sound: &Sound<'_>| {
        let colors = sound
            .tables
            .renderings
            .iter()
            .flat_map(|rendering| rendering.colors.indices());
        colors
            .filter(|&row| sound.tables.attachments[row].operations.store == Store::STORE)
            .collect()
    };
    let damage =
        |tables: &mut Lowered, &row: &usize| tables.attachments[row].operations.store = Store::DONT_CARE;
    // A history that is not stored is not what `after` says.
    refused(sites, damage, |error| {
        is_contents(error) || error.rule == Rule::AfterContents || error.rule == Rule::AfterUncovered
    });
}

#[test]
fn an_attachment_is_cleared_to_another_value() {
    refused(
        |sound| attachments(sound, Load::CLEAR),
        |tables, &row| tables.attachments[row].clear = ClearValue::Int([77; 4]),
        |error| is_parameter(error, "clearValue"),
    );
}

/// A view of another image than a view's.
fn other_view(sound: &Sound<'_>, view: u32) -> Option<u32> {
    let views = &sound.tables.views;
    let other = views
        .iter()
        .position(|other| other.image != views[view as usize].image)?;
    Some(other as u32)
}

#[test]
fn an_attachment_has_the_view_of_another_image() {
    let sites = |sound: &Sound<'_>| {
        let rows = sound.tables.attachments.iter().enumerate();
        rows.filter_map(|(row, one)| Some((row, other_view(sound, one.view)?)))
            .collect()
    };
    let damage = |tables: &mut Lowered, &(row, view): &(usize, u32)| tables.attachments[row].view = view;
    refused(sites, damage, |error| is_parameter(error, "view"));
}

#[test]
fn a_descriptor_has_the_view_of_another_image() {
    let sites = |sound: &Sound<'_>| {
        let rows = sound.tables.accesses.iter().enumerate();
        rows.filter_map(|(row, one)| Some((row, other_view(sound, one.view?)?)))
            .collect()
    };
    let damage = |tables: &mut Lowered, &(row, view): &(usize, u32)| tables.accesses[row].view = Some(view);
    refused(sites, damage, |error| is_parameter(error, "view"));
}

#[test]
fn parameters_of_created_objects_and_attachments_are_others() {
    let images = |sound: &Sound<'_>| (0..sound.tables.images.len()).collect::<Vec<_>>();
    let no_usage =
        |tables: &mut Lowered, row: &usize| tables.images[*row].usage = vk::ImageUsageFlags::empty();
    refused(images, no_usage, |error| is_parameter(error, "usage"));
    let more_samples =
        |tables: &mut Lowered, row: &usize| tables.images[*row].samples = vk::SampleCountFlags::TYPE_64;
    refused(images, more_samples, |error| is_parameter(error, "samples"));
    let tile = |sound: &Sound<'_>| {
        rows(
            &sound.tables.images,
            |image| matches!(image.binding, Binding::Memory { memory, .. } if sound.tables.memory[memory as usize].kind == MemoryKind::Tile),
        )
    };
    let ordinary = |tables: &mut Lowered, row: &usize| {
        tables.images[*row].usage &= !tileheap::ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
    };
    refused(tile, ordinary, |error| is_parameter(error, "usage"));
    let attachments = |sound: &Sound<'_>| (0..sound.tables.attachments.len()).collect::<Vec<_>>();
    let format = |tables: &mut Lowered, row: &usize| tables.attachments[*row].format = vk::Format::R64_UINT;
    refused(attachments, format, |error| is_parameter(error, "format"));
    let renderings = |sound: &Sound<'_>| (0..sound.tables.renderings.len()).collect::<Vec<_>>();
    let area = |tables: &mut Lowered, row: &usize| tables.renderings[*row].area.extent.width += 1;
    refused(renderings, area, |error| is_parameter(error, "renderArea"));
}

#[test]
fn a_history_is_not_cleared_before_its_first_use() {
    let sites = |sound: &Sound<'_>| {
        rows(&sound.tables.passes, |pass| {
            matches!(pass.contents, PassContents::Clear { .. })
        })
    };
    let damage = |tables: &mut Lowered, &row: &usize| {
        tables.passes.remove(row);
        for commands in &mut tables.command_buffers {
            commands.passes.first -= u32::from(commands.passes.first > row as u32);
            commands.passes.end -= u32::from(commands.passes.end > row as u32);
        }
    };
    refused(sites, damage, is_contents);
}

#[test]
fn passes_are_recorded_in_another_order() {
    let sites = |sound: &Sound<'_>| {
        let runs = sound
            .tables
            .command_buffers
            .iter()
            .map(|commands| commands.passes);
        runs.filter(|run| run.len() > 1)
            .map(|run| run.first as usize)
            .collect()
    };
    let damage = |tables: &mut Lowered, &row: &usize| tables.passes.swap(row, row + 1);
    let right = |error: &CheckError| {
        error.rule == Rule::Order || is_contents(error) || is_hazard(error) || is_layout(error)
    };
    refused(sites, damage, right);
}

#[test]
fn indices_and_runs_are_out_of_range() {
    let passes = |sound: &Sound<'_>| (0..sound.tables.passes.len()).collect::<Vec<_>>();
    let structure =
        |error: &CheckError| matches!(error.rule, Rule::Index | Rule::Rows | Rule::Order | Rule::Object);
    let far = Run::new(5, u32::MAX);
    refused(
        passes,
        |tables, &row| tables.passes[row].before.images = far,
        structure,
    );
    let backwards = DependencyRow {
        buffers: Run::new(1, 0),
        ..DependencyRow::default()
    };
    refused(
        passes,
        |tables, &row| tables.passes[row].after = backwards,
        structure,
    );
    let views = |sound: &Sound<'_>| (0..sound.tables.views.len()).collect::<Vec<_>>();
    refused(
        views,
        |tables, &row| tables.views[row].image = u32::MAX,
        structure,
    );
    let accesses = |sound: &Sound<'_>| (0..sound.tables.accesses.len()).collect::<Vec<_>>();
    refused(
        accesses,
        |tables, &row| tables.accesses[row].object = Object::Buffer(u32::MAX),
        structure,
    );
    refused(
        accesses,
        |tables, _| {
            tables.accesses.pop();
        },
        structure,
    );
    let submits = |sound: &Sound<'_>| (0..sound.tables.submits.len()).collect::<Vec<_>>();
    refused(
        submits,
        |tables, &row| tables.submits[row].queue.0 += 1,
        structure,
    );
    refused(
        submits,
        |tables, _| {
            tables.submits.pop();
        },
        structure,
    );
}

#[test]
fn an_access_uses_another_resource() {
    let sites = |sound: &Sound<'_>| {
        let images = sound.tables.images.len() as u32;
        let is_image = |row: &usize| matches!(sound.tables.accesses[*row].object, Object::Image(_));
        let rows = (0..sound.tables.accesses.len()).filter(is_image);
        rows.filter(|_| images > 1).map(|row| (row, images)).collect()
    };
    let damage = |tables: &mut Lowered, &(row, images): &(usize, u32)| {
        if let Object::Image(image) = &mut tables.accesses[row].object {
            *image = (*image + 1) % images;
        }
    };
    let right = |error: &CheckError| error.rule == Rule::Object || is_parameter(error, "tile_memory");
    refused(sites, damage, right);
}
