//! Programs with images on one queue, and their hazards.

use std::sync::Arc;

use ash::vk;
use tileheap_sync::Certainty::{ByTheLetter, Certain};
use tileheap_sync::MissingDependency::{Availability, Execution};
use tileheap_sync::program::*;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::make::*;
use super::stages::TILE_WRITE;

const COLOR: S = S::COLOR_ATTACHMENT_OUTPUT;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = transitions();
    cases.extend(render_passes());
    cases
}

/// "Image Layout Transitions" and "Memory Aliasing".
fn transitions() -> Vec<Case> {
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
        // The order applies to image layout transitions, aliases are not mentioned: a hazard by the letter.
        one(
            "transitions of aliases",
            vec![
                barrier(transition(nothing, IMAGE)),
                barrier(transition(nothing, OTHER)),
            ],
            vec![(0, 1, Execution, ByTheLetter)],
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

/// The chapter "Render Pass".
fn render_passes() -> Vec<Case> {
    let write = A::COLOR_ATTACHMENT_WRITE;
    let to_input = scopes(COLOR, write, S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ);
    let to_copies = scopes(COLOR, write, S::COPY, A::TRANSFER_READ | A::TRANSFER_WRITE);
    let from_copies = scopes(S::COPY, A::TRANSFER_WRITE, COLOR, write);
    let input = || {
        let part = ResourcePart::Texels(layers(0, 1));
        act(access(
            IMAGE,
            part,
            S::FRAGMENT_SHADER,
            A::INPUT_ATTACHMENT_READ,
            AccessKind::Whole,
        ))
    };
    let draw = |image| color(image, AccessKind::Attachment);
    let area = |first, end, kind| act(access(IMAGE, columns(first, end), COLOR, write, kind));
    let transitions = vec![Transition {
        resource: IMAGE,
        part: all(),
        discards: false,
    }];
    let to_bottom = scopes(S::ALL_COMMANDS, A::MEMORY_WRITE, S::BOTTOM_OF_PIPE, A::NONE);
    let secondary = CommandBuffer {
        commands: vec![(
            Tag(10),
            barrier(Dependency {
                scopes: to_input,
                ..execution(COLOR, COLOR)
            }),
        )],
    };
    vec![
        // The textbook dependency from subpass 0 to 1.
        one(
            "input attachment",
            vec![
                begin(vec![]),
                draw(IMAGE),
                next(vec![from(Some(0), to_input)]),
                input(),
                end(vec![]),
            ],
            vec![],
        ),
        // The destination is only subpass 1; subpass 2 needs a separate dependency.
        one(
            "input attachment two subpasses later",
            vec![
                begin(vec![]),
                draw(IMAGE),
                next(vec![from(Some(0), to_input)]),
                next(vec![]),
                input(),
                end(vec![]),
            ],
            vec![(1, 4, Execution, Certain)],
        ),
        // The source is subpass 1, the draw in subpass 0.
        one(
            "wrong source subpass",
            vec![
                begin(vec![]),
                draw(IMAGE),
                next(vec![]),
                next(vec![from(Some(1), to_input)]),
                input(),
                end(vec![]),
            ],
            vec![(1, 4, Execution, Certain)],
        ),
        // VK_SUBPASS_EXTERNAL does not include subpass 0.
        one(
            "external is not the subpass before",
            vec![
                begin(vec![]),
                draw(IMAGE),
                next(vec![from(None, to_input)]),
                input(),
                end(vec![]),
            ],
            vec![(1, 3, Execution, Certain)],
        ),
        // A barrier in a subpass only has scopes there.
        one(
            "barrier in a subpass",
            vec![
                copy_to(IMAGE),
                begin(vec![]),
                Command::Execute(Arc::new(secondary)),
                barrier(memory(S::COPY, A::TRANSFER_WRITE, COLOR, write)),
                draw(IMAGE),
                end(vec![]),
            ],
            vec![(0, 4, Execution, Certain)],
        ),
        // Rasterization order, and draws before the resolve of their subpass.
        one(
            "draws",
            vec![
                begin(vec![]),
                draw(IMAGE),
                draw(IMAGE),
                color(IMAGE, AccessKind::Resolve),
                end(vec![]),
            ],
            vec![],
        ),
        one(
            "draws of two instances",
            vec![
                begin(vec![]),
                draw(IMAGE),
                end(vec![]),
                begin(vec![]),
                draw(IMAGE),
                end(vec![]),
            ],
            vec![(1, 4, Execution, Certain)],
        ),
        // renderpass-load-operations: first and last in the instance, also through aliases.
        one(
            "load and store",
            vec![
                begin(vec![]),
                color(IMAGE, AccessKind::Load),
                next(vec![]),
                draw(TWIN),
                input(),
                color(IMAGE, AccessKind::Store),
                end(vec![]),
            ],
            vec![(3, 4, Execution, Certain)],
        ),
        // Dispatches for each tile also access attachments.
        one(
            "load and store around a dispatch",
            vec![
                begin(vec![]),
                color(IMAGE, AccessKind::Load),
                act(access(
                    IMAGE,
                    ResourcePart::Texels(layers(0, 1)),
                    S::COMPUTE_SHADER,
                    TILE_WRITE,
                    AccessKind::Partial,
                )),
                color(IMAGE, AccessKind::Store),
                end(vec![]),
            ],
            vec![],
        ),
        // A load outside of the area of a copy may write it back.
        one(
            "disjoint render areas",
            vec![
                act(access(
                    IMAGE,
                    columns(0, 32),
                    S::COPY,
                    A::TRANSFER_WRITE,
                    AccessKind::Whole,
                )),
                begin(vec![]),
                area(32, 64, AccessKind::Load),
                end(vec![]),
            ],
            vec![(0, 2, Execution, ByTheLetter)],
        ),
        // The implicit dependency at the end has BOTTOM_OF_PIPE as its destination: nothing is ordered after the transition.
        one(
            "final transition",
            vec![
                begin(vec![from(None, from_copies)]),
                draw(IMAGE),
                Command::EndRendering(SubpassBoundary {
                    dependencies: vec![from(Some(0), to_bottom)],
                    transitions: transitions.clone(),
                }),
                whole(IMAGE, S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ),
            ],
            vec![(2, 3, Execution, Certain)],
        ),
        // An explicit one orders it, and the copy before it by a chain through the subpass.
        one(
            "final transition with a dependency",
            vec![
                copy_to(IMAGE),
                begin(vec![from(None, from_copies)]),
                draw(IMAGE),
                Command::EndRendering(SubpassBoundary {
                    dependencies: vec![from(Some(0), to_copies)],
                    transitions,
                }),
                copy_from(IMAGE),
            ],
            vec![],
        ),
        // VK_RENDERING_RESUMING: the same instance, in which draws are ordered.
        one(
            "resumed rendering",
            vec![
                begin(vec![]),
                draw(IMAGE),
                end(vec![]),
                Command::BeginRendering {
                    resumes: true,
                    boundary: SubpassBoundary::default(),
                },
                draw(IMAGE),
                end(vec![]),
            ],
            vec![],
        ),
    ]
}
