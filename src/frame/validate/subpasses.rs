//! Checks subpasses: a later one may use the results of an earlier one only at the fragment's own pixel, through the same attachment.

use super::super::tables::Tables;
use super::super::*;
use crate::frame::tables::{Access, Pass, PassKind};

/// Checks render passes with several subpasses, and marks the accesses that continue to use an attachment of an earlier subpass. Quadratic in the accesses of
/// such a pass.
pub(super) fn check_subpasses(tables: &mut Tables) -> Result<(), FrameError> {
    for index in 0..tables.passes.len() {
        let pass = &tables.passes[index];
        let accesses = pass.accesses.indices();
        let mut found = 0;
        for access in &tables.accesses[accesses.clone()] {
            let follows = access.subpass == found || access.subpass == found + 1;
            found = if follows { access.subpass } else { u32::MAX - 1 };
        }
        if found.saturating_add(1) != pass.subpasses {
            return Err(broken(
                pass,
                "each needs an access, and accesses must be in the order of subpasses",
            ));
        }
        if pass.subpasses == 1 {
            tables.accesses[accesses]
                .iter_mut()
                .for_each(|access| access.continues_attachment = false);
            continue;
        }
        if pass.kind != PassKind::Render || pass.tile_shading {
            return Err(broken(
                pass,
                "only render passes without tile shading can have several subpasses",
            ));
        }
        for later in accesses.clone() {
            let mut continues_attachment = false;
            for earlier in accesses.start..later {
                let [before, after] = [earlier, later].map(|access| &tables.accesses[access]);
                continues_attachment |= shares(before, after).map_err(|why| {
                    let resource = &tables.resources[after.resource.index()].name;
                    broken(pass, &format!("`{resource}` is {why}"))
                })?;
            }
            tables.accesses[later].continues_attachment = continues_attachment;
        }
    }
    Ok(())
}

fn broken(pass: &Pass, why: &str) -> FrameError {
    FrameRule::Subpass.broken(format!("the subpasses of pass `{}`: {why}", pass.name))
}

/// Returns true if `after` continues to use the attachment of `before` in a later subpass; an error if the two accesses cannot be in one render pass.
pub(in crate::frame) fn shares(before: &Access, after: &Access) -> Result<bool, &'static str> {
    let same = (before.resource, before.version) == (after.resource, after.version);
    if before.subpass == after.subpass || !same || !before.range.intersects(after.range) {
        return Ok(false);
    }
    let part = |of: &Access| (of.range.levels, of.range.layers, of.view);
    let resolves = |of: &Access| of.kind == AccessKind::ResolveAttachment;
    let attached = before.kind.is_attached() && after.kind.is_attached();
    if !(attached || before.writes || after.writes) {
        Ok(false)
    } else if !attached {
        Err("written by one subpass and used by another, but not an attachment of both")
    } else if part(before) != part(after) {
        Err("attached by subpasses through different views")
    } else if resolves(after) || after.writes && after.load_op != LoadOp::Load {
        Err(
            "attached by an earlier subpass, so later ones must load it: they cannot clear it, overwrite it or resolve into it",
        )
    } else {
        Ok(true)
    }
}
