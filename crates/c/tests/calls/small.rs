//! A small frame as structures, to be changed by tests.

use ash::vk;
use tileheap_c::enums::AccessKind;
use tileheap_c::frame_desc::*;
use tileheap_c::opaque::*;

use super::c::{self, sized, view};

/// A frame of two passes.
pub(crate) struct Small {
    pub(crate) resources: [ResourceDesc; 2],
    pub(crate) first: [AccessDesc; 1],
    pub(crate) second: [AccessDesc; 2],
    pub(crate) passes: [PassDesc; 2],
    pub(crate) frame: FrameDesc,
}

pub(crate) fn small() -> Small {
    let resource = |name| ResourceDesc {
        name: view(name),
        format: vk::Format::R8G8B8A8_UNORM,
        scale: [1.0, 1.0],
        ..sized()
    };
    let access = |resource, kind: AccessKind| AccessDesc {
        resource,
        kind: kind as u32,
        load_op: vk::AttachmentLoadOp::DONT_CARE,
        ..sized()
    };
    let pass = |name| PassDesc {
        name: view(name),
        ..sized()
    };
    Small {
        resources: [resource("albedo"), resource("lit")],
        first: [access(0, AccessKind::ColorAttachment)],
        second: [
            access(0, AccessKind::SampledImage),
            access(1, AccessKind::ColorAttachment),
        ],
        passes: [pass("gbuffer"), pass("lighting")],
        frame: FrameDesc {
            name: view("small"),
            base_extent: vk::Extent2D {
                width: 64,
                height: 64,
            },
            ..sized()
        },
    }
}

impl Small {
    /// Points the arrays to their elements.
    pub(crate) fn connect(&mut self) {
        (self.passes[0].accesses, self.passes[0].access_count) = (self.first.as_ptr(), 1);
        (self.passes[1].accesses, self.passes[1].access_count) = (self.second.as_ptr(), 2);
        (self.frame.passes, self.frame.pass_count) = (self.passes.as_ptr(), 2);
        (self.frame.resources, self.frame.resource_count) = (self.resources.as_ptr(), 2);
    }

    pub(crate) fn create(&mut self) -> c::Result<FrameHandle> {
        self.connect();
        // SAFETY: everything is alive.
        unsafe { c::frame(&self.frame) }
    }
}
