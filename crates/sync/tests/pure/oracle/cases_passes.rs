//! Programs with render passes on one queue, and their hazards.

use std::sync::Arc;

use ash::vk;
use tileheap_sync::Certainty::{Certain, Pedantic};
use tileheap_sync::MissingDependency::Execution;
use tileheap_sync::program::*;
use vk::{AccessFlags2 as A, ImageLayout, PipelineStageFlags2 as S};

use super::make::*;
use super::stages::TILE_WRITE;

const COLOR: S = S::COLOR_ATTACHMENT_OUTPUT;
const GENERAL: ImageLayout = ImageLayout::GENERAL;
const COLOR_LAYOUT: ImageLayout = ImageLayout::COLOR_ATTACHMENT_OPTIMAL;

fn draw(image: ResourceId) -> Command {
    color(image, AccessKind::Attachment)
}

/// A draw that reads the first layer as an input attachment.
fn input() -> Command {
    let part = ResourcePart::Texels(layers(0, 1));
    let access_type = A::INPUT_ATTACHMENT_READ;
    act(access(
        IMAGE,
        part,
        S::FRAGMENT_SHADER,
        access_type,
        AccessKind::Whole,
    ))
}

/// The chapter "Render Pass".
pub(super) fn cases() -> Vec<Case> {
    let mut cases = dependencies();
    cases.extend(transitions());
    cases.extend(transitions_of_aliases());
    cases
}

fn dependencies() -> Vec<Case> {
    let write = A::COLOR_ATTACHMENT_WRITE;
    let to_input = scopes(COLOR, write, S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ);
    let to_copies = scopes(COLOR, write, S::COPY, A::TRANSFER_READ | A::TRANSFER_WRITE);
    let from_copies = scopes(S::COPY, A::TRANSFER_WRITE, COLOR, write);
    let area = |first, end, kind| act(access(IMAGE, columns(first, end), COLOR, write, kind));
    let moved = |initial| attachment(IMAGE, initial, &[(0, COLOR_LAYOUT)], GENERAL);
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
                begin(vec![between(Some(0), Some(1), to_input)]),
                draw(IMAGE),
                next(),
                input(),
                end(),
            ],
            vec![],
        ),
        // The destination is only subpass 1; subpass 2 needs a separate dependency.
        one(
            "input attachment two subpasses later",
            vec![
                begin(vec![between(Some(0), Some(1), to_input)]),
                draw(IMAGE),
                next(),
                next(),
                input(),
                end(),
            ],
            vec![(1, 4, Execution, Certain)],
        ),
        // The source is subpass 1, the draw in subpass 0.
        one(
            "wrong source subpass",
            vec![
                begin(vec![between(Some(1), Some(2), to_input)]),
                draw(IMAGE),
                next(),
                next(),
                input(),
                end(),
            ],
            vec![(1, 4, Execution, Certain)],
        ),
        // VK_SUBPASS_EXTERNAL does not include subpass 0.
        one(
            "external is not the subpass before",
            vec![
                begin(vec![between(None, Some(1), to_input)]),
                draw(IMAGE),
                next(),
                input(),
                end(),
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
                end(),
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
                end(),
            ],
            vec![],
        ),
        one(
            "draws of two instances",
            vec![
                begin(vec![]),
                draw(IMAGE),
                end(),
                begin(vec![]),
                draw(IMAGE),
                end(),
            ],
            vec![(1, 4, Execution, Certain)],
        ),
        // renderpass-load-operations: first and last in the instance, also through aliases.
        one(
            "load and store",
            vec![
                begin(vec![]),
                color(IMAGE, AccessKind::Load),
                next(),
                draw(TWIN),
                input(),
                color(IMAGE, AccessKind::Store),
                end(),
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
                end(),
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
                end(),
            ],
            vec![(0, 2, Execution, Pedantic)],
        ),
        // The implicit dependency at the end has no stage as its destination: nothing is ordered after the transition.
        one(
            "final transition",
            vec![
                begin_with(
                    vec![between(None, Some(0), from_copies)],
                    vec![moved(COLOR_LAYOUT)],
                ),
                draw(IMAGE),
                end(),
                whole(IMAGE, S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ),
            ],
            vec![(2, 3, Execution, Certain)],
        ),
        // An explicit one orders it, and the copy before it by a chain through the subpass.
        one(
            "final transition with a dependency",
            vec![
                copy_to(IMAGE),
                begin_with(
                    vec![
                        between(None, Some(0), from_copies),
                        between(Some(0), None, to_copies),
                    ],
                    vec![moved(COLOR_LAYOUT)],
                ),
                draw(IMAGE),
                end(),
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
                end(),
                Command::BeginRendering {
                    resumes: true,
                    pass: Arc::default(),
                },
                draw(IMAGE),
                end(),
            ],
            vec![],
        ),
    ]
}

const READ: ImageLayout = ImageLayout::SHADER_READ_ONLY_OPTIMAL;
const WRITE: A = A::COLOR_ATTACHMENT_WRITE;
const FRAGMENT: S = S::FRAGMENT_SHADER;

/// "Render Pass Creation", the paragraphs about automatic layout transitions.
fn transitions() -> Vec<Case> {
    let input_read = A::INPUT_ATTACHMENT_READ;
    let from_color = |dst, dst_access| scopes(COLOR, WRITE, dst, dst_access);
    let later = || {
        vec![attachment(
            IMAGE,
            COLOR_LAYOUT,
            &[(0, COLOR_LAYOUT), (2, READ)],
            READ,
        )]
    };
    let read_later = |dependencies| {
        vec![
            begin_with(dependencies, later()),
            draw(IMAGE),
            next(),
            next(),
            input(),
            end(),
        ]
    };
    let into = between(Some(1), Some(2), scopes(COLOR, A::NONE, FRAGMENT, input_read));
    let readers = |uses: &[(u32, ImageLayout)], last| vec![attachment(IMAGE, READ, uses, last)];
    let before_writes = scopes(FRAGMENT, A::NONE, COLOR, WRITE);
    let copies = A::TRANSFER_READ | A::TRANSFER_WRITE;
    vec![
        // "away from the layout used in a subpass happen-after [...] all dependencies with that subpass as the srcSubpass": 0 to 1 is one of them,
        // and 1 to 2 comes after the transition, though no stages chain the two.
        one(
            "transition between two dependencies of other subpasses",
            read_later(vec![
                between(Some(0), Some(1), from_color(FRAGMENT, A::NONE)),
                into,
            ]),
            vec![],
        ),
        // Nothing has subpass 0 as its source.
        one(
            "transition without a dependency of the subpass that it leaves",
            read_later(vec![into]),
            vec![(1, 3, Execution, Certain)],
        ),
        // A dependency from outside is before the transition into its destination, but not before those away from other subpasses.
        one(
            "transition without a dependency into the subpass that it leads to",
            read_later(vec![between(Some(0), Some(1), from_color(FRAGMENT, input_read))]),
            vec![(3, 4, Execution, Certain)],
        ),
        // "away from initialLayout happen-after [...] where dstSubpass uses the attachment": also the second one.
        one(
            "initial transition after a dependency with a later use",
            vec![
                copy_to(IMAGE),
                begin_with(
                    vec![between(
                        None,
                        Some(1),
                        scopes(S::COPY, A::TRANSFER_WRITE, COLOR, WRITE),
                    )],
                    vec![attachment(
                        IMAGE,
                        GENERAL,
                        &[(0, COLOR_LAYOUT), (1, COLOR_LAYOUT)],
                        COLOR_LAYOUT,
                    )],
                ),
                draw(IMAGE),
                next(),
                end(),
            ],
            vec![],
        ),
        one(
            "initial transition after a dependency with another subpass",
            vec![
                copy_to(IMAGE),
                begin_with(
                    vec![between(
                        None,
                        Some(1),
                        scopes(S::COPY, A::TRANSFER_WRITE, COLOR, WRITE),
                    )],
                    vec![attachment(IMAGE, GENERAL, &[(0, COLOR_LAYOUT)], COLOR_LAYOUT)],
                ),
                draw(IMAGE),
                next(),
                end(),
            ],
            vec![(0, 1, Execution, Certain)],
        ),
        // "into finalLayout happen-before [...] where srcSubpass uses the attachment": also the first one.
        one(
            "final transition before a dependency of an earlier use",
            vec![
                begin_with(
                    vec![between(Some(0), None, from_color(S::COPY, copies))],
                    vec![attachment(
                        IMAGE,
                        COLOR_LAYOUT,
                        &[(0, COLOR_LAYOUT), (1, COLOR_LAYOUT)],
                        GENERAL,
                    )],
                ),
                draw(IMAGE),
                next(),
                end(),
                copy_from(IMAGE),
            ],
            vec![],
        ),
        one(
            "final transition before a dependency of another subpass",
            vec![
                begin_with(
                    vec![between(Some(0), None, from_color(S::COPY, copies))],
                    vec![attachment(IMAGE, COLOR_LAYOUT, &[(1, COLOR_LAYOUT)], GENERAL)],
                ),
                next(),
                draw(IMAGE),
                end(),
                copy_from(IMAGE),
            ],
            vec![(3, 4, Execution, Certain)],
        ),
        // Every required dependency is there: the transition is away from the layout that both subpasses use.
        one(
            "transition after two readers without order",
            vec![
                begin_with(
                    vec![
                        between(Some(0), Some(2), before_writes),
                        between(Some(1), Some(2), before_writes),
                    ],
                    readers(&[(0, READ), (1, READ), (2, COLOR_LAYOUT)], COLOR_LAYOUT),
                ),
                input(),
                next(),
                input(),
                next(),
                draw(IMAGE),
                end(),
            ],
            vec![],
        ),
        one(
            "transition after only one of two readers",
            vec![
                begin_with(
                    vec![between(Some(1), Some(2), before_writes)],
                    readers(&[(0, READ), (1, READ), (2, COLOR_LAYOUT)], COLOR_LAYOUT),
                ),
                input(),
                next(),
                next(),
                draw(IMAGE),
                end(),
            ],
            vec![(1, 3, Execution, Certain)],
        ),
        // The implementation adds the dependency.
        one(
            "two read-only layouts",
            vec![
                begin_with(
                    vec![],
                    readers(
                        &[(0, READ), (1, ImageLayout::READ_ONLY_OPTIMAL)],
                        ImageLayout::READ_ONLY_OPTIMAL,
                    ),
                ),
                input(),
                next(),
                input(),
                end(),
            ],
            vec![],
        ),
    ]
}

/// "Render Pass Creation", attachments with `VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT`.
fn transitions_of_aliases() -> Vec<Case> {
    let color = scopes(COLOR, WRITE, COLOR, WRITE);
    let aliased = |dependencies, other, last| {
        let first = attachment(IMAGE, COLOR_LAYOUT, &[(0, COLOR_LAYOUT)], last);
        let second = attachment(other, ImageLayout::UNDEFINED, &[(1, COLOR_LAYOUT)], COLOR_LAYOUT);
        let begin = begin_with(dependencies, vec![first, second]);
        vec![begin, draw(IMAGE), next(), draw(other), end()]
    };
    let ordered = || vec![between(Some(0), Some(1), color)];
    vec![
        one("one view twice", aliased(ordered(), TWIN, COLOR_LAYOUT), vec![]),
        one(
            "one view twice without a dependency",
            aliased(vec![], TWIN, COLOR_LAYOUT),
            vec![(1, 2, Execution, Certain)],
        ),
        one("two images", aliased(ordered(), OTHER, COLOR_LAYOUT), vec![]),
        // The final layout is for the contents that the first image had.
        one(
            "two images with a final transition",
            aliased(ordered(), OTHER, GENERAL),
            vec![],
        ),
        // "where dstSubpass uses any aliased attachment"
        one(
            "initial transition after a dependency with a use of an alias",
            {
                let mut commands = vec![copy_to(OTHER)];
                let copies = scopes(S::COPY, A::TRANSFER_WRITE, COLOR, WRITE);
                let dependencies = vec![between(None, Some(0), copies), between(Some(0), Some(1), color)];
                commands.extend(aliased(dependencies, OTHER, COLOR_LAYOUT));
                commands
            },
            vec![],
        ),
    ]
}
