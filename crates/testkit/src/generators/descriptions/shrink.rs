//! Reduces descriptions to smaller ones that fail in the same way.

use tileheap::frame::tables::{ResourceKind, ViewDesc};
use tileheap::frame::{Persistence, SubresourceRange, TileConstraint};

use super::description::{DescribedAccess, DescribedPass, Description};

/// Applies the n-th possible change of one kind to a description; returns false if there are fewer.
type Edit = fn(&mut Description, usize) -> bool;

/// Returns the smallest description found that still fails. Each step removes a batch, pass, access or resource, or resets a setting.
pub fn shrink(mut description: Description, fails: &mut dyn FnMut(&Description) -> bool) -> Description {
    let edits: [Edit; 6] = [batch, pass, access, resource, settings, of_resource];
    loop {
        let mut smaller = false;
        for edit in edits {
            let mut at = 0;
            loop {
                let mut candidate = description.clone();
                if !edit(&mut candidate, at) {
                    break;
                }
                let changed = format!("{candidate:?}") != format!("{description:?}");
                if changed && fails(&candidate) {
                    (description, smaller) = (candidate, true);
                } else {
                    at += 1;
                }
            }
        }
        if !smaller {
            return description;
        }
    }
}

fn batch(description: &mut Description, at: usize) -> bool {
    let there = at < description.batches.len();
    if there {
        description.batches.remove(at);
    }
    there
}

fn passes(description: &mut Description) -> impl Iterator<Item = &mut DescribedPass> {
    description.batches.iter_mut().flat_map(|batch| &mut batch.passes)
}

fn pass(description: &mut Description, mut at: usize) -> bool {
    for batch in &mut description.batches {
        if at < batch.passes.len() {
            batch.passes.remove(at);
            return true;
        }
        at -= batch.passes.len();
    }
    false
}

fn access(description: &mut Description, mut at: usize) -> bool {
    for pass in passes(description) {
        if at < pass.accesses.len() {
            pass.accesses.remove(at);
            return true;
        }
        at -= pass.accesses.len();
    }
    false
}

/// Removes a resource that nothing uses.
fn resource(description: &mut Description, at: usize) -> bool {
    if at >= description.resources.len() {
        return false;
    }
    let uses = |access: &DescribedAccess| access.resource == at || access.resolves == Some(at);
    if passes(description).any(|pass| pass.accesses.iter().any(uses)) {
        return true;
    }
    description.resources.remove(at);
    let moved = |index: usize| index - usize::from(index > at);
    for pass in passes(description) {
        for access in &mut pass.accesses {
            access.resource = moved(access.resource);
            access.resolves = access.resolves.map(moved);
        }
    }
    true
}

/// Resets one setting of a pass or of all its accesses.
fn settings(description: &mut Description, at: usize) -> bool {
    const EACH: usize = 13;
    let (index, setting) = (at / EACH, at % EACH);
    let Some(pass) = passes(description).nth(index) else {
        return false;
    };
    let each = pass.accesses.iter_mut();
    match setting {
        0 => pass.area = None,
        1 => pass.views = 0,
        2 => pass.samples = None,
        3 => pass.hook = 0,
        4 => pass.optional = None,
        5 => pass.secondary = false,
        6 => pass.tile_shading = false,
        7 => pass.in_strips = false,
        8 => pass.new_commands = false,
        9 => each.for_each(|access| access.stages = None),
        10 => each.for_each(|access| access.view = ViewDesc::default()),
        11 => each.for_each(|access| access.range = SubresourceRange::ALL),
        _ => each.for_each(|access| access.previous = false),
    }
    true
}

/// Resets one setting of a resource.
fn of_resource(description: &mut Description, at: usize) -> bool {
    const EACH: usize = 8;
    let (index, setting) = (at / EACH, at % EACH);
    let Some(resource) = description.resources.get_mut(index) else {
        return false;
    };
    match (&mut resource.kind, setting) {
        (_, 0) => resource.persistence = Persistence::Transient,
        (_, 1) => resource.tile_constraint = TileConstraint::None,
        (ResourceKind::Image { desc, .. }, 2) => desc.array_layers = 1,
        (ResourceKind::Image { desc, .. }, 3) => desc.mip_levels = 1,
        (ResourceKind::Image { desc, .. }, 4) => desc.flags = Default::default(),
        (ResourceKind::Image { desc, usage, .. }, 5) => {
            (desc.usage, *usage) = Default::default();
        }
        (ResourceKind::Image { desc, .. }, 6) => desc.separate_levels = false,
        (ResourceKind::Image { desc, .. }, 7) => desc.hook = 0,
        _ => {}
    }
    true
}
