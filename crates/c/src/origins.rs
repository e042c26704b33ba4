//! The described passes and resources of a frame, as rows.

use std::sync::OnceLock;

use ash::vk;
use tileheap::execute::ExecutedFrame;
use tileheap::units::Run;

use crate::structs::sized;

sized! { Output: FrameOrigins to resources; }

/// A described pass that runs as part of a pass of another frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct DescribedPass {
    /// The index of the pass in the described frame.
    pub pass: u32,
    /// The index of the subpass, in the other frame's pass, in which the described pass begins.
    pub subpass: u32,
}

/// The described passes that a pass of a frame runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PassOrigin {
    /// A run of `ThFrameOrigins::described`: several if passes were merged, none for a store, which only copies a resource.
    pub described: Run,
}

/// The described resource that a resource of a frame corresponds to, or is a part of.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct ResourceOrigin {
    /// The index of the resource in the described frame.
    pub described: u32,
    /// The number of this value, counted from 1, if the described resource was divided into values; 0 if it was not.
    pub value: u32,
    /// The number of values that the described resource was divided into; 0 if it was not divided.
    pub value_count: u32,
    /// The described pass after which the contents of the resource are stored; `TH_NONE` unless the resource is the part of a split
    /// lifetime that is in tile memory.
    pub until_pass: u32,
    /// The area of the described image that the resource holds; empty for all of the image.
    pub area: vk::Rect2D,
}

/// The described passes and resources of a frame, as arrays that are valid until the frame is destroyed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FrameOrigins {
    /// `sizeof(ThFrameOrigins)`.
    pub struct_size: u32,
    /// The number of elements of `passes`.
    pub pass_count: u32,
    /// Per pass of the frame, the described passes that it runs.
    pub passes: *const PassOrigin,
    /// The number of elements of `described`.
    pub described_count: u32,
    /// The number of elements of `resources`.
    pub resource_count: u32,
    /// Described passes; each row of `passes` has a run of them.
    pub described: *const DescribedPass,
    /// Per resource of the frame, its origin in the described frame.
    pub resources: *const ResourceOrigin,
}

/// The arrays that a `ThFrameOrigins` points to.
pub struct OriginRows {
    pub(crate) passes: Vec<PassOrigin>,
    pub(crate) described: Vec<DescribedPass>,
    pub(crate) resources: Vec<ResourceOrigin>,
}

impl OriginRows {
    pub(crate) fn of(executed: &ExecutedFrame) -> OriginRows {
        let frame = executed.frame();
        let mut described = Vec::new();
        let passes = frame.pass_ids().map(|pass| {
            let first = described.len() as u32;
            described.extend(executed.described_passes(pass).map(|run| DescribedPass {
                pass: run.pass.index() as u32,
                subpass: run.subpass,
            }));
            PassOrigin {
                described: Run::new(first, described.len() as u32),
            }
        });
        let passes = passes.collect();
        let resources = frame.resource_ids().map(|id| {
            let origin = executed.origins().resource(id);
            ResourceOrigin {
                described: origin.resource.index() as u32,
                value: origin.value.map_or(0, |value| value.number),
                value_count: origin.value.map_or(0, |value| value.count),
                until_pass: origin.until.map_or(u32::MAX, |pass| pass.index() as u32),
                area: origin.area.unwrap_or_default(),
            }
        });
        OriginRows {
            passes,
            resources: resources.collect(),
            described,
        }
    }
}

/// The arrays of a frame's origins, created when they are first read.
pub(crate) type LazyOrigins = OnceLock<OriginRows>;
