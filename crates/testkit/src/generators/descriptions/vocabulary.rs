//! Random layouts, stages and states.

use ash::vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
use tileheap::frame::AccessKind;
use tileheap::frame::external::{ExternalFamily, ResourceState};
use tileheap::frame::tables::PassKind;
use tileheap::names::{self, Vocabulary};

use super::generator::DescriptionGenerator;

impl DescriptionGenerator {
    /// Up to `most` random bits that have names and, with a probability of 1 in 20, one arbitrary bit.
    pub(super) fn any_bits<T: Vocabulary + Copy>(&mut self, most: u64) -> u64 {
        let named: Vec<u64> = names::all::<T>().map(|(_, bit)| bit.to_raw()).collect();
        let count = 1 + self.random.below(most);
        let bits = (0..count).fold(0, |bits, _| bits | self.random.pick(&named));
        let wide = if T::TYPE.contains('2') { 63 } else { 31 };
        match self.random.one_in(20) {
            true => bits | 1 << self.random.below(wide),
            false => bits,
        }
    }

    /// A random value, nearly always one that has a name.
    pub(super) fn any_value<T: Vocabulary + Copy>(&mut self) -> T {
        let named: Vec<T> = names::all::<T>().map(|(_, value)| value).collect();
        match self.random.one_in(20) {
            true => T::from_raw_value(self.random.below(1_000_000)),
            false => self.random.pick(&named),
        }
    }

    /// Random explicit stages for an access of a pass; usually `None`, for the default stages.
    pub(super) fn stages(&mut self, pass: PassKind, kind: AccessKind) -> Option<S> {
        if self.is_unrestricted() {
            return Some(S::from_raw(self.any_bits::<S>(3)));
        }
        if !self.random.one_in(6) {
            return None;
        }
        let choices: &[S] = match (pass, kind) {
            (PassKind::Render, AccessKind::InputAttachment) => &[S::FRAGMENT_SHADER, S::ALL_GRAPHICS],
            (PassKind::Render, kind) if kind.is_shader() => &[
                S::VERTEX_SHADER,
                S::FRAGMENT_SHADER,
                S::PRE_RASTERIZATION_SHADERS,
                S::ALL_GRAPHICS,
                S::GEOMETRY_SHADER,
                S::TESSELLATION_CONTROL_SHADER,
            ],
            (PassKind::Compute, kind) if kind.is_shader() => &[S::COMPUTE_SHADER, S::ALL_COMMANDS],
            (PassKind::Render, AccessKind::DepthStencilAttachment) => {
                &[S::EARLY_FRAGMENT_TESTS, S::ALL_GRAPHICS]
            }
            (_, AccessKind::TransferSource) => &[S::COPY, S::BLIT, S::ALL_TRANSFER, S::ALL_COMMANDS],
            (_, AccessKind::TransferDestination) => &[S::ALL_TRANSFER, S::ALL_COMMANDS, S::CLEAR],
            (_, AccessKind::VertexBuffer) => &[S::VERTEX_INPUT, S::VERTEX_ATTRIBUTE_INPUT],
            (_, AccessKind::IndexBuffer) => &[S::VERTEX_INPUT, S::INDEX_INPUT],
            _ => return None,
        };
        Some(self.random.pick(choices))
    }

    /// A random state in which an external resource enters or leaves the frame, given its layout.
    pub(super) fn state(&mut self, layout: L) -> ResourceState {
        let (stages, access) = match self.is_unrestricted() {
            true => (
                S::from_raw(self.any_bits::<S>(2)),
                A::from_raw(self.any_bits::<A>(2)),
            ),
            false => self.random.pick(&[
                (
                    S::ALL_COMMANDS,
                    A::from_raw(A::MEMORY_READ.as_raw() | A::MEMORY_WRITE.as_raw()),
                ),
                (S::ALL_COMMANDS, A::MEMORY_WRITE),
                (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE),
                (S::ALL_TRANSFER, A::TRANSFER_READ),
                (S::COPY, A::TRANSFER_WRITE),
                (S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ),
                (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE),
                (S::HOST, A::HOST_READ),
                (S::BOTTOM_OF_PIPE, A::NONE),
                (S::NONE, A::NONE),
            ]),
        };
        let mut state = ResourceState::new(layout, stages, access);
        if self.random.one_in(12) {
            state.family = Some(ExternalFamily::External);
        } else if self.is_unrestricted() {
            state.family = Some(ExternalFamily::Foreign);
        }
        state
    }

    /// A random layout for an image that the caller owns.
    pub(super) fn layout(&mut self, is_depth: bool) -> L {
        if self.is_unrestricted() {
            return self.any_value();
        }
        // Devices without the features of newer versions refuse these.
        if self.one_in(20) {
            return self.random.pick(&[
                L::READ_ONLY_OPTIMAL,
                L::ATTACHMENT_OPTIMAL,
                L::RENDERING_LOCAL_READ_KHR,
            ]);
        }
        let choices: &[L] = match is_depth {
            true => &[
                L::GENERAL,
                L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
                L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
                L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
                L::TRANSFER_SRC_OPTIMAL,
                L::TRANSFER_DST_OPTIMAL,
                L::SHADER_READ_ONLY_OPTIMAL,
            ],
            false => &[
                L::GENERAL,
                L::GENERAL,
                L::COLOR_ATTACHMENT_OPTIMAL,
                L::SHADER_READ_ONLY_OPTIMAL,
                L::TRANSFER_SRC_OPTIMAL,
                L::TRANSFER_DST_OPTIMAL,
            ],
        };
        self.random.pick(choices)
    }
}
