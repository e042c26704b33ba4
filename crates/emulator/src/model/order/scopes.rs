//! Synchronization scopes: which stages and accesses the masks of a dependency hold.

use ash::vk;
use tileheap_device::ffi::{
    ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM as TILE_READ,
    ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM as TILE_WRITE,
};
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

/// A stage with an access: an index into [`USAGES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Usage(u8);

const TRANSFERS: S =
    S::from_raw(S::COPY.as_raw() | S::RESOLVE.as_raw() | S::BLIT.as_raw() | S::CLEAR.as_raw());

/// No stage of Vulkan's: layout transitions and queue family transfers, which only scopes of all commands hold.
const BARRIERS: S = S::from_raw(1 << 63);

/// The uses of tile memory: stages of which any one will do, and the access.
const USAGES: [(S, A); 48] = {
    let mut all = [(BARRIERS, A::NONE); 48];
    let shaders = [
        S::VERTEX_SHADER,
        S::TESSELLATION_CONTROL_SHADER,
        S::TESSELLATION_EVALUATION_SHADER,
        S::GEOMETRY_SHADER,
        S::TASK_SHADER_EXT,
        S::MESH_SHADER_EXT,
        S::FRAGMENT_SHADER,
        S::COMPUTE_SHADER,
        S::RAY_TRACING_SHADER_KHR,
    ];
    let accesses = [
        A::UNIFORM_READ,
        A::SHADER_SAMPLED_READ,
        A::SHADER_STORAGE_READ,
        A::SHADER_STORAGE_WRITE,
    ];
    let others = [
        (S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ),
        (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_READ),
        (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE),
        (S::EARLY_FRAGMENT_TESTS, A::DEPTH_STENCIL_ATTACHMENT_READ),
        (S::EARLY_FRAGMENT_TESTS, A::DEPTH_STENCIL_ATTACHMENT_WRITE),
        (S::LATE_FRAGMENT_TESTS, A::DEPTH_STENCIL_ATTACHMENT_WRITE),
        (TRANSFERS, A::TRANSFER_READ),
        (TRANSFERS, A::TRANSFER_WRITE),
        (S::COMPUTE_SHADER, A::INPUT_ATTACHMENT_READ),
        (S::LATE_FRAGMENT_TESTS, A::DEPTH_STENCIL_ATTACHMENT_READ),
        (S::COLOR_ATTACHMENT_OUTPUT, A::INPUT_ATTACHMENT_READ),
    ];
    let mut next = 1;
    let mut shader = 0;
    while shader < shaders.len() {
        let mut access = 0;
        while access < accesses.len() {
            all[next] = (shaders[shader], accesses[access]);
            next += 1;
            access += 1;
        }
        shader += 1;
    }
    let mut other = 0;
    while other < others.len() {
        all[next] = others[other];
        next += 1;
        other += 1;
    }
    all
};

impl Usage {
    /// A layout transition, or the release of a queue family transfer.
    pub(crate) const BARRIER: Usage = Usage(0);

    /// The usage of a stage with an access; `None` for stages and accesses that are not followed.
    pub(crate) fn of(stage: S, access: A) -> Option<Usage> {
        let of = |(stages, of): &(S, A)| stages.intersects(stage) && *of == access;
        USAGES.iter().position(of).map(|index| Usage(index as u8))
    }

    /// Stages, any one of which performs it.
    pub(crate) fn stages(self) -> S {
        USAGES[usize::from(self.0)].0
    }

    pub(crate) fn access(self) -> A {
        USAGES[usize::from(self.0)].1
    }

    /// Whether it writes.
    pub(crate) fn writes(self) -> bool {
        self == Usage::BARRIER || WRITES.contains(self.access())
    }
}

const WRITES: A = A::from_raw(
    A::SHADER_STORAGE_WRITE.as_raw()
        | A::COLOR_ATTACHMENT_WRITE.as_raw()
        | A::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw()
        | A::TRANSFER_WRITE.as_raw(),
);

/// A set of usages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usages(u64);

impl Usages {
    /// The accesses in the mask by the stages in the mask.
    pub(crate) fn of(stages: S, access: A) -> Usages {
        let mut accesses = access;
        if access.contains(A::MEMORY_READ) {
            accesses |= !WRITES;
        }
        if access.contains(A::MEMORY_WRITE) {
            accesses |= WRITES;
        }
        // Tile attachments are accessed through descriptors of these kinds.
        if access.intersects(A::SHADER_READ | TILE_READ) {
            accesses |= A::SHADER_SAMPLED_READ | A::SHADER_STORAGE_READ;
        }
        if access.intersects(TILE_READ) {
            accesses |= A::INPUT_ATTACHMENT_READ;
        }
        if access.intersects(A::SHADER_WRITE | TILE_WRITE) {
            accesses |= A::SHADER_STORAGE_WRITE;
        }
        let stages = single_stages(stages);
        let usages = USAGES.iter().enumerate().skip(1);
        let held = usages.filter(|(_, usage)| stages.intersects(usage.0) && accesses.intersects(usage.1));
        Usages(held.fold(0, |all, (index, _)| all | 1 << index))
    }

    pub(crate) fn contains(self, usage: Usage) -> bool {
        self.0 >> usage.0 & 1 == 1
    }
}

impl std::ops::BitOrAssign for Usages {
    fn bitor_assign(&mut self, other: Usages) {
        self.0 |= other.0;
    }
}

/// Every access, as semaphores have it.
pub(crate) const ALL_ACCESSES: A = A::from_raw(A::MEMORY_READ.as_raw() | A::MEMORY_WRITE.as_raw());

const EVERYTHING: S = S::from_raw(u64::MAX);

/// The stages of the graphics pipeline, in logical order; those of mesh shading are behind those that they replace.
const GRAPHICS: [S; 15] = [
    S::DRAW_INDIRECT,
    S::INDEX_INPUT,
    S::VERTEX_ATTRIBUTE_INPUT,
    S::VERTEX_SHADER,
    S::TESSELLATION_CONTROL_SHADER,
    S::TESSELLATION_EVALUATION_SHADER,
    S::GEOMETRY_SHADER,
    S::TRANSFORM_FEEDBACK_EXT,
    S::TASK_SHADER_EXT,
    S::MESH_SHADER_EXT,
    S::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
    S::EARLY_FRAGMENT_TESTS,
    S::FRAGMENT_SHADER,
    S::LATE_FRAGMENT_TESTS,
    S::COLOR_ATTACHMENT_OUTPUT,
];

fn all(stages: &[S]) -> S {
    stages.iter().fold(S::NONE, |all, stage| all | *stage)
}

/// The single stages of a mask, without `TOP_OF_PIPE` and `BOTTOM_OF_PIPE`.
fn single_stages(stages: S) -> S {
    let mut single = stages;
    for (several, each) in [
        (S::ALL_COMMANDS, EVERYTHING),
        (S::ALL_GRAPHICS, all(&GRAPHICS)),
        (S::ALL_TRANSFER, TRANSFERS),
        (S::VERTEX_INPUT, all(&GRAPHICS[1..3])),
        (S::PRE_RASTERIZATION_SHADERS, all(&GRAPHICS[3..10])),
    ] {
        if stages.contains(several) {
            single |= each;
        }
    }
    single
}

/// The stages of a first synchronization scope: with those that are logically earlier.
pub(crate) fn first_scope(stages: S) -> S {
    if stages.contains(S::BOTTOM_OF_PIPE) {
        return EVERYTHING;
    }
    let stages = single_stages(stages);
    let last = GRAPHICS.iter().rposition(|stage| stages.intersects(*stage));
    (stages | all(&GRAPHICS[..last.map_or(0, |last| last + 1)])) & !(S::TOP_OF_PIPE)
}

/// The stages of a second synchronization scope: with those that are logically later.
pub(crate) fn second_scope(stages: S) -> S {
    if stages.contains(S::TOP_OF_PIPE) {
        return EVERYTHING;
    }
    let stages = single_stages(stages);
    let first = GRAPHICS.iter().position(|stage| stages.intersects(*stage));
    (stages | all(&GRAPHICS[first.unwrap_or(GRAPHICS.len())..])) & !(S::BOTTOM_OF_PIPE)
}
