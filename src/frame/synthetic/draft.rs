//! A pass whose accesses are collected before it is declared.

use super::*;
use crate::frame::tables::PassKind;

/// A pass whose accesses are collected first: it is declared after its resources.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) kind: PassKind,
    pub(super) accesses: Vec<DraftAccess>,
    pub(super) secondary: bool,
}

#[derive(Debug)]
pub(super) struct DraftAccess {
    pub(super) resource: ResourceId,
    pub(super) kind: AccessKind,
    pub(super) reads: bool,
    /// The load operation, if the access writes.
    pub(super) load_op: Option<LoadOp>,
    pub(super) previous: bool,
    pub(super) resolves: Option<ResourceId>,
}

impl Draft {
    pub(super) fn push(
        &mut self,
        resource: ResourceId,
        kind: AccessKind,
        reads: bool,
        load_op: Option<LoadOp>,
    ) {
        self.accesses.push(DraftAccess {
            resource,
            kind,
            reads,
            load_op,
            previous: false,
            resolves: None,
        });
    }

    pub(super) fn declare(self, frame: &mut FrameBuilder, commands: CommandBufferId) {
        let mut pass = frame.pass(commands, self.name, self.kind);
        if self.secondary {
            pass = pass.secondary();
        }
        for access in self.accesses {
            pass = match access.resolves {
                Some(source) => pass.resolve(source, access.resource),
                None => pass.access(
                    access.resource,
                    access.kind,
                    access.reads,
                    access.load_op.is_some(),
                    access.load_op.unwrap_or_default(),
                ),
            };
            if access.previous {
                pass = pass.previous();
            }
        }
    }
}
