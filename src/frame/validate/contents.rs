//! Derives lifetimes, and checks that nothing is read before it is written.

use ash::vk;

use super::super::tables::Tables;
use super::super::*;
use crate::frame::external::ExternalDesc;
use crate::frame::tables::{Access, HistoryVersion, Pass, Resource, SkippedOutputs};
use crate::units::{Run, Span, Step};

pub(super) fn derive_uses(tables: &mut Tables) {
    let mut counts = vec![0u32; tables.resources.len() + 1];
    for access in &tables.accesses {
        counts[access.resource.index() + 1] += 1;
    }
    for index in 1..counts.len() {
        counts[index] += counts[index - 1];
    }
    tables.uses_of = counts.windows(2).map(|pair| Run::new(pair[0], pair[1])).collect();
    tables.uses = vec![0; tables.accesses.len()];
    tables.lifetimes = vec![Span::default(); tables.resources.len()];
    let mut next = counts;
    for (index, access) in tables.accesses.iter().enumerate() {
        let slot = &mut next[access.resource.index()];
        tables.uses[*slot as usize] = index as u32;
        *slot += 1;
        let lifetime = &mut tables.lifetimes[access.resource.index()];
        if lifetime.is_empty() {
            lifetime.first = access.pass.step();
        }
        lifetime.end = Step(access.pass.0 + 1);
    }
}

/// Checks that every read finds contents: written by an earlier pass, supplied by the caller, or left by the previous frame.
pub(super) fn check_contents(tables: &Tables) -> Result<(), FrameError> {
    for index in 0..tables.resources.len() {
        let parts = tables.parts_of[index].of(&tables.parts);
        for part in parts {
            check_part(tables, index, *part, parts.len() == 1)?;
        }
        check_slices(tables, index, parts)?;
    }
    Ok(())
}

/// Checks that a frame writes either all slices of a level of a 3D history or none: the runtime clears unwritten levels, and a clear covers all slices.
fn check_slices(tables: &Tables, index: usize, parts: &[SubresourceRange]) -> Result<(), FrameError> {
    let resource = &tables.resources[index];
    if !resource.is_3d() || resource.persistence != Persistence::History {
        return Ok(());
    }
    let uses = tables.uses_of[index].of(&tables.uses).iter();
    let uses = uses.map(|&use_index| &tables.accesses[use_index as usize]);
    let writes = |part: &&SubresourceRange| {
        let mut written = uses.clone().filter(|access| access.writes);
        written.any(|access| access.range.intersects(**part))
    };
    let torn = |part: &&SubresourceRange| {
        let mut written = parts.iter().filter(writes);
        !writes(part) && written.any(|other| other.levels == part.levels)
    };
    match parts.iter().find(torn) {
        None => Ok(()),
        Some(part) => Err(FrameRule::Previous.broken(format!(
            "no pass writes {part}`{resource}`, although other slices of this history are written: write all slices \
             of a level, or none",
            part = part.words_in(resource),
            resource = resource.name
        ))),
    }
}

/// Checks that a pass that keeps its outputs when it is skipped loads, updates or clears everything that it writes.
pub(super) fn check_optional(tables: &Tables) -> Result<(), FrameError> {
    let keeps = |pass: &&Pass| pass.optional == Some(SkippedOutputs::Kept);
    for pass in tables.passes.iter().filter(keeps) {
        let overwritten = |access: &&Access| access.writes && access.load_op == LoadOp::DontCare;
        if let Some(access) = pass.accesses.of(&tables.accesses).iter().find(overwritten) {
            return Err(FrameRule::Optional.broken(format!(
                "pass `{pass}` keeps its outputs when it is skipped, but overwrites `{resource}`: load, clear or \
                 update it, or declare that outputs are lost",
                pass = pass.name,
                resource = tables.resources[access.resource.index()].name
            )));
        }
    }
    Ok(())
}

/// Checks one part of a resource; every access to an undivided resource uses its only part.
fn check_part(
    tables: &Tables,
    index: usize,
    part: SubresourceRange,
    undivided: bool,
) -> Result<(), FrameError> {
    let resource = &tables.resources[index];
    // An external image that enters as UNDEFINED has no contents either; a buffer has no layout to say so.
    let mut contents = match resource.persistence {
        Persistence::External(desc) => {
            !resource.is_image() || desc.entry.layout != vk::ImageLayout::UNDEFINED
        }
        Persistence::Transient | Persistence::History => false,
    };
    let access_of = |&use_index: &u32| &tables.accesses[use_index as usize];
    let uses = tables.uses_of[index].of(&tables.uses);
    let of_part = |access: &&Access| undivided || access.range.intersects(part);
    let written = || {
        uses.iter()
            .map(access_of)
            .filter(of_part)
            .any(|access| access.writes)
    };
    let pass_name = |access: &Access| tables.passes[access.pass.index()].name.clone();
    for in_pass in uses.chunk_by(|a, b| access_of(a).pass == access_of(b).pass) {
        let in_pass = || in_pass.iter().map(access_of).filter(of_part);
        let finds_contents = |access: &Access| {
            access.version == HistoryVersion::Current && (contents || !access.needs_contents())
        };
        if in_pass().all(finds_contents) {
            contents = contents || in_pass().any(|access| access.writes);
            continue;
        }
        // A pass may read what it writes itself if the write clears or overwrites: an attachment read as input
        // or tile attachment in the same pass.
        let anew = in_pass().any(|access| access.writes && access.load_op != LoadOp::Load);
        for access in in_pass() {
            if access.version == HistoryVersion::Previous {
                if !written() {
                    return Err(FrameRule::Previous.broken(format!(
                        "pass `{pass}` uses the previous version of `{resource}`: no pass writes its \
                         current version",
                        pass = pass_name(access),
                        resource = resource.name
                    )));
                }
                continue;
            }
            let reads_in_place = matches!(
                access.kind,
                AccessKind::InputAttachment | AccessKind::TileAttachment
            );
            let same_pass = anew && (reads_in_place || access.continues_attachment);
            if access.needs_contents() && !contents && !same_pass {
                return Err(FrameRule::ReadBeforeWrite.broken(read_before_write(
                    &tables.passes[access.pass.index()].name,
                    resource,
                    part,
                    access,
                )));
            }
        }
        contents |= in_pass().any(|access| access.writes);
    }
    Ok(())
}

/// The message for a pass that reads an unwritten part of a resource, with the remedy.
fn read_before_write(pass: &str, resource: &Resource, part: SubresourceRange, access: &Access) -> String {
    let (part, name) = (part.words_in(resource), &resource.name);
    let help = match resource.persistence {
        Persistence::Transient => "write or clear it first, or declare it as a history or as external",
        Persistence::History => {
            "to read what the previous frame left, access its previous version; or write or clear it first"
        }
        Persistence::External(ExternalDesc::SWAPCHAIN) => {
            "write or clear it first: a swapchain image has no contents before the frame; if its contents matter, declare it as \
             external, with the layout of its entry state"
        }
        Persistence::External(_) => {
            "set the layout of its entry state, now UNDEFINED, or write or clear it first"
        }
    };
    let loads = access.kind.is_attachment() && access.writes && access.load_op == LoadOp::Load;
    let load_help = if loads {
        "its load operation is LOAD, the default in C and JSON: use CLEAR or DONT_CARE. Otherwise "
    } else if access.writes && !access.kind.is_attachment() {
        "an access that reads and writes keeps earlier contents; if the pass replaces them all, declare only the write. Otherwise "
    } else {
        ""
    };
    format!(
        "pass `{pass}` reads {part}`{name}` before anything in the frame has written it: {load_help}{help}"
    )
}
