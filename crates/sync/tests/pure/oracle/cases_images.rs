//! Programs with images on one queue, and their hazards.

use ash::vk;
use tileheap_sync::Certainty::{Certain, Pedantic};
use tileheap_sync::MissingDependency::{Availability, Execution};
use tileheap_sync::program::*;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::make::*;

/// "Image Layout Transitions" and "Memory Aliasing".
pub(super) fn cases() -> Vec<Case> {
    let write = A::TRANSFER_WRITE;
    let to_shader = memory(S::COPY, write, S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ);
    let sample = |image| whole(image, S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ);
    let nothing = memory(S::NONE, A::NONE, S::NONE, A::NONE);
    let all = memory(
        S::ALL_COMMANDS,
        A::NONE,
        S::FRAGMENT_SHADER,
        A::SHADER_SAMPLED_READ,
    );
    vec![
        // The transition is ordered after the copy and before the shader, and visible to its own second scope.
        one(
            "transition",
            vec![
                copy_to(IMAGE),
                barrier(transition(to_shader, IMAGE)),
                sample(IMAGE),
            ],
            vec![],
        ),
        // synchronization-image-barrier-layout-transition-order: in submission order, so there is no hazard between the two.
        one(
            "two transitions",
            vec![
                barrier(transition(nothing, IMAGE)),
                barrier(transition(to_shader, TWIN)),
                sample(IMAGE),
            ],
            vec![],
        ),
        // The order applies to image layout transitions, aliases are not mentioned: a pedantic hazard.
        one(
            "transitions of aliases",
            vec![
                barrier(transition(nothing, IMAGE)),
                barrier(transition(nothing, OTHER)),
            ],
            vec![(0, 1, Execution, Pedantic)],
        ),
        // Pipeline Stages: ALL_COMMANDS includes transitions, which are available without an access mask.
        one(
            "all commands after a transition",
            vec![barrier(transition(nothing, IMAGE)), barrier(all), sample(IMAGE)],
            vec![],
        ),
        one(
            "all graphics after a transition",
            vec![
                barrier(transition(nothing, IMAGE)),
                barrier(memory(
                    S::ALL_GRAPHICS,
                    A::NONE,
                    S::FRAGMENT_SHADER,
                    A::SHADER_SAMPLED_READ,
                )),
                sample(IMAGE),
            ],
            vec![(0, 2, Execution, Certain)],
        ),
        // The same with ALL_COMMANDS as a destination.
        one(
            "all commands before a transition",
            vec![
                copy_to(IMAGE),
                barrier(memory(S::COPY, write, S::ALL_COMMANDS, A::NONE)),
                barrier(transition(nothing, IMAGE)),
            ],
            vec![],
        ),
        // Writes have to be available to a transition: by its own access scope, or by a global barrier in the same command.
        one(
            "transition without availability",
            vec![
                copy_to(IMAGE),
                barrier(transition(execution(S::COPY, S::COPY), IMAGE)),
            ],
            vec![(0, 1, Availability, Certain)],
        ),
        one(
            "accompanied transition",
            vec![
                copy_to(IMAGE),
                Command::Barrier(vec![
                    memory(S::COPY, write, S::COPY, A::NONE),
                    transition(memory(S::COPY, A::NONE, S::COPY, A::NONE), IMAGE),
                ]),
            ],
            vec![],
        ),
        // resources-memory-aliasing: images of one class share subresources, others all of their memory.
        one(
            "twins",
            vec![
                copy_to(IMAGE),
                copies(),
                act(twin_read(IMAGE, 0)),
                act(twin_read(TWIN, 1)),
            ],
            vec![],
        ),
        one(
            "layers of a twin",
            vec![
                act(twin_write(IMAGE, 0)),
                act(twin_write(TWIN, 1)),
                act(twin_write(OTHER, 1)),
            ],
            vec![(0, 2, Execution, Certain), (1, 2, Execution, Certain)],
        ),
        one(
            "buffer over an image",
            vec![
                copy_to(IMAGE),
                copies(),
                copy_to(ALIAS),
                copies(),
                act(twin_write(IMAGE, 1)),
                copy_from(ALIAS),
            ],
            vec![(4, 5, Execution, Certain)],
        ),
        // bufferImageGranularity: the buffer is in the last page of the image.
        one(
            "granularity",
            vec![copy_to(IMAGE), copy_to(BESIDE)],
            vec![(0, 1, Execution, Certain)],
        ),
        // Inter-Thread-Happens-Before: the copy, the transition, and the shader.
        one(
            "chain through a transition",
            vec![
                copy_to(BESIDE),
                barrier(memory(S::COPY, write, S::ALL_COMMANDS, A::NONE)),
                barrier(transition(
                    Dependency {
                        scopes: scopes(S::NONE, A::NONE, S::FRAGMENT_SHADER, A::MEMORY_READ),
                        ..to_shader
                    },
                    IMAGE,
                )),
                sample(IMAGE),
            ],
            vec![],
        ),
    ]
}

fn twin_read(image: ResourceId, layer: u32) -> MemoryAccess {
    access(
        image,
        ResourcePart::Texels(layers(layer, layer + 1)),
        S::COPY,
        A::TRANSFER_READ,
        AccessKind::Whole,
    )
}

fn twin_write(image: ResourceId, layer: u32) -> MemoryAccess {
    MemoryAccess {
        access: A::TRANSFER_WRITE,
        ..twin_read(image, layer)
    }
}
