//! Random render pass instances, with their dependencies recorded before them.

use ash::vk::{
    AccessFlags2 as A, AttachmentLoadOp, AttachmentStoreOp, ImageLayout as L, PipelineStageFlags2 as S,
};

use crate::generate::{Generator, attachment_layout, attachment_scope};
use crate::recording::*;
use crate::tracker::{Access, Unit};

/// The attachments of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// One color attachment.
    Color,
    /// One color attachment, and depth.
    Depth,
    /// A multisampled attachment, and its resolve attachment.
    Resolved,
    /// A second subpass reads the color attachment of the first one.
    Subpasses,
}

/// Generates a render pass instance; none if there are too few images.
pub(crate) fn pass(generator: &mut Generator) {
    let shape = generator.random.pick(&[
        Shape::Color,
        Shape::Color,
        Shape::Depth,
        Shape::Resolved,
        Shape::Subpasses,
    ]);
    let is_dynamic = shape != Shape::Subpasses && generator.random.one_in(2);
    let Some(layers) = attachments_of(generator, shape) else {
        return;
    };
    let draws = draws(generator, shape, &layers);
    let attachments = prepared_attachments(generator, is_dynamic, &layers);
    let subpasses = subpasses(generator, shape, is_dynamic, &attachments);
    let mut pass = Pass {
        is_dynamic,
        attachments,
        subpasses,
        dependencies: Vec::new(),
        secondaries: false,
    };
    pass.secondaries = generator.random.one_in(5);

    let attached: Vec<Access> = pass
        .attachments
        .iter()
        .flat_map(|one| accesses_of_attachment(generator, one))
        .collect();
    let read: Vec<Access> = draws
        .iter()
        .flatten()
        .flat_map(|draw| accesses_of_draw(generator, draw))
        .collect();
    let all = [attached.clone(), read.clone()].concat();
    generator.order(&all);
    if !is_dynamic {
        pass.dependencies = dependencies(generator, &pass);
    }
    record(generator, &pass, draws);
    generator.perform(&all);
    if !is_dynamic {
        transitions(generator, &pass);
    }
}

/// Layers of different images.
fn attachments_of(generator: &mut Generator, shape: Shape) -> Option<Vec<Layer>> {
    let kinds: &[ImageKind] = match shape {
        Shape::Color => &[ImageKind::Color],
        Shape::Depth => &[ImageKind::Color, ImageKind::Depth],
        Shape::Resolved => &[ImageKind::Multisampled, ImageKind::Color],
        Shape::Subpasses => &[ImageKind::Color, ImageKind::Color],
    };
    let mut layers: Vec<Layer> = Vec::new();
    for kind in kinds {
        let layer = generator.choose_layer(*kind)?;
        if layers.iter().any(|other| other.image == layer.image) {
            return None;
        }
        layers.push(layer);
    }
    Some(layers)
}

/// Draws of each subpass. No two of them conflict, since no barrier can separate them.
fn draws(generator: &mut Generator, shape: Shape, layers: &[Layer]) -> Vec<Vec<Draw>> {
    let uses = [Use::Uniform, Use::Read, Use::Write, Use::Modify, Use::Sample];
    let attached = |generator: &Generator, binding: &Binding| {
        let attachments = layers.iter().map(|layer| Binding {
            used: Use::Input,
            target: Target::Layer(*layer),
        });
        attachments
            .into_iter()
            .any(|one| generator.overlap(&one, binding))
    };
    let subpasses = if shape == Shape::Subpasses { 2 } else { 1 };
    let mut used: Vec<Binding> = Vec::new();
    let mut all = Vec::new();
    for subpass in 0..subpasses {
        let mut draws = Vec::new();
        for _ in 0..1 + generator.random.below(2) {
            let mut bindings = generator.some_bindings(&uses, 2);
            bindings.retain(|one| {
                !attached(generator, one) && !used.iter().any(|other| generator.overlap(other, one))
            });
            used.extend(&bindings);
            let mut bindings = generator.prepared(S::FRAGMENT_SHADER, bindings);
            if subpass == 1 {
                bindings.insert(
                    0,
                    Binding {
                        used: Use::Input,
                        target: Target::Layer(layers[0]),
                    },
                );
            }
            draws.push(Draw {
                bindings,
                ..fetches(generator, &mut used)
            });
        }
        all.push(draws);
    }
    all
}

/// A draw's vertices, indices and parameters: cells that nothing else in the pass uses.
fn fetches(generator: &mut Generator, used: &mut Vec<Binding>) -> Draw {
    let mut cells = |generator: &mut Generator| {
        let cells = generator.some_cells(1)?;
        let binding = Binding {
            used: Use::Read,
            target: Target::Cells(cells),
        };
        let is_free = !used.iter().any(|other| generator.overlap(other, &binding));
        used.extend(is_free.then_some(binding));
        is_free.then_some(cells)
    };
    let mut draw = Draw::default();
    match generator.random.below(6) {
        0 => draw.vertices = cells(generator),
        1 => draw.indices = cells(generator),
        2 => draw.parameters = Some(0),
        _ => {}
    }
    draw
}

/// Attachments in layouts in which the pass can begin.
fn prepared_attachments(generator: &mut Generator, is_dynamic: bool, layers: &[Layer]) -> Vec<Attachment> {
    let mut attachments = Vec::new();
    for layer in layers {
        let kind = generator.recording.image_kind(layer.image);
        let optimal = attachment_layout(kind);
        let layer = match is_dynamic {
            true => generator.in_layout(*layer, &[L::GENERAL, optimal], attachment_scope(kind)),
            false => *layer,
        };
        let loads = [AttachmentLoadOp::LOAD, AttachmentLoadOp::CLEAR];
        let final_layout = match is_dynamic {
            true => layer.layout,
            false => generator.random.pick(&[layer.layout, L::GENERAL, optimal]),
        };
        attachments.push(Attachment {
            layer,
            kind,
            load: generator.random.pick(&loads),
            store: AttachmentStoreOp::STORE,
            final_layout,
        });
    }
    attachments
}

/// The layout of an attachment in a subpass.
fn layout_in_pass(generator: &mut Generator, is_dynamic: bool, attachment: &Attachment) -> L {
    match is_dynamic {
        true => attachment.layer.layout,
        false => generator
            .random
            .pick(&[L::GENERAL, attachment_layout(attachment.kind)]),
    }
}

fn subpasses(
    generator: &mut Generator,
    shape: Shape,
    is_dynamic: bool,
    attachments: &[Attachment],
) -> Vec<Subpass> {
    let layouts: Vec<L> = attachments
        .iter()
        .map(|attachment| layout_in_pass(generator, is_dynamic, attachment))
        .collect();
    let reference = |index: usize| (index, layouts[index]);
    let color = Subpass {
        colors: vec![reference(0)],
        ..Subpass::default()
    };
    match shape {
        Shape::Color => vec![color],
        Shape::Depth => vec![Subpass {
            depth: Some(reference(1)),
            ..color
        }],
        Shape::Resolved => vec![Subpass {
            resolves: vec![reference(1)],
            ..color
        }],
        Shape::Subpasses => {
            let input = generator.random.pick(&[L::GENERAL, L::SHADER_READ_ONLY_OPTIMAL]);
            let second = Subpass {
                colors: vec![reference(1)],
                inputs: vec![(0, input)],
                ..Subpass::default()
            };
            vec![color, second]
        }
    }
}

fn accesses_of_attachment(generator: &Generator, attachment: &Attachment) -> Vec<Access> {
    let (stages, access) = attachment_scope(attachment.kind);
    generator.access(Target::Layer(attachment.layer), stages, access, true)
}

/// Accesses of a draw, except to attachments.
fn accesses_of_draw(generator: &Generator, draw: &Draw) -> Vec<Access> {
    let bindings: Vec<Binding> = draw
        .bindings
        .iter()
        .filter(|one| one.used != Use::Input)
        .copied()
        .collect();
    let mut accesses = generator.accesses_of(S::FRAGMENT_SHADER, &bindings);
    let mut fetch = |cells: Option<Cells>, stage, access| {
        let cells = cells.into_iter().map(Target::Cells);
        accesses.extend(cells.flat_map(|target| generator.access(target, stage, access, false)));
    };
    fetch(draw.vertices, S::VERTEX_ATTRIBUTE_INPUT, A::VERTEX_ATTRIBUTE_READ);
    fetch(draw.indices, S::INDEX_INPUT, A::INDEX_READ);
    accesses.extend(
        draw.parameters
            .iter()
            .flat_map(|buffer| generator.parameters(*buffer)),
    );
    accesses
}

/// The scope of all of a subpass's attachments.
fn scope_of(pass: &Pass, subpass: &Subpass) -> (S, A) {
    let attached = subpass
        .colors
        .iter()
        .chain(&subpass.resolves)
        .chain(&subpass.depth);
    attached.fold((S::NONE, A::NONE), |(stages, access), (index, _)| {
        let (more, mask) = attachment_scope(pass.attachments[*index].kind);
        (stages | more, access | mask)
    })
}

/// The write accesses of a scope.
fn written((stages, access): (S, A)) -> (S, A) {
    (stages, access & crate::tracker::writes())
}

/// Dependencies between subpasses, and with commands outside. Earlier commands are already ordered before the attachments' stages, so the first
/// dependencies only have to chain the layout transitions to them.
fn dependencies(generator: &mut Generator, pass: &Pass) -> Vec<Dependency> {
    let mut dependencies = Vec::new();
    for (index, subpass) in (0..).zip(&pass.subpasses) {
        let scope = scope_of(pass, subpass);
        let begins = Masks {
            source: (scope.0, A::NONE),
            destination: scope,
        };
        dependencies.push(Dependency {
            from: None,
            to: Some(index),
            masks: begins,
            by_region: false,
        });
    }
    if let [first, second] = &pass.subpasses[..] {
        let (stages, access) = scope_of(pass, second);
        let reads = (stages | S::FRAGMENT_SHADER, access | A::INPUT_ATTACHMENT_READ);
        let masks = Masks {
            source: written(scope_of(pass, first)),
            destination: reads,
        };
        dependencies.push(Dependency {
            from: Some(0),
            to: Some(1),
            masks,
            by_region: true,
        });
    }
    // The store of an attachment that the second subpass reads comes after that read.
    let last = pass.subpasses.len() as u32 - 1;
    let (stages, access) = written(scope_of(pass, &pass.subpasses[last as usize]));
    let source = if last == 1 {
        (stages | S::FRAGMENT_SHADER, access)
    } else {
        (stages, access)
    };
    if !generator.random.one_in(4) {
        let destination = generator.random.pick(&[
            (S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ),
            (S::COPY, A::TRANSFER_READ),
            (
                S::COMPUTE_SHADER,
                A::SHADER_STORAGE_READ | A::SHADER_STORAGE_WRITE,
            ),
            (S::ALL_COMMANDS, A::MEMORY_READ | A::MEMORY_WRITE),
        ]);
        let masks = Masks { source, destination };
        dependencies.push(Dependency {
            from: Some(last),
            to: None,
            masks,
            by_region: false,
        });
    }
    dependencies
}

fn record(generator: &mut Generator, pass: &Pass, draws: Vec<Vec<Draw>>) {
    let begin = generator.next_id();
    generator.push(Command::BeginPass(pass.clone()));
    for (subpass, draws) in (0..).zip(draws) {
        if subpass > 0 {
            generator.push(Command::NextSubpass { secondaries: false });
        }
        let primary = generator.current();
        let secondary = (subpass == 0 && pass.secondaries)
            .then(|| generator.begin_secondary(Inheritance::Inside { begin, subpass }));
        for draw in draws {
            generator.push(Command::Draw(draw));
            if generator.random.one_in(6) {
                generator.push(Command::ClearAttachment);
            }
        }
        if let Some(secondary) = secondary {
            generator.set_current(primary);
            generator.push(Command::Execute(secondary));
        }
    }
    generator.push(Command::EndPass);
}

/// Follows the layouts of attachments, and their last transitions.
fn transitions(generator: &mut Generator, pass: &Pass) {
    let last = pass.dependencies.iter().find(|one| one.to.is_none());
    let at = generator.position();
    for (index, attachment) in pass.attachments.iter().enumerate() {
        let used = pass.subpasses.iter().rev().find_map(|subpass| {
            let all = subpass
                .colors
                .iter()
                .chain(&subpass.resolves)
                .chain(&subpass.inputs)
                .chain(&subpass.depth);
            all.copied().find(|(other, _)| *other == index)
        });
        let (_, layout) = used.expect("an attachment is used");
        let Layer { image, layer, .. } = attachment.layer;
        let place = generator.recording.resources[image].place;
        let unit = Unit::Layer(place, layer);
        if layout != attachment.final_layout {
            match last {
                Some(dependency) => {
                    let destination = dependency.masks.destination;
                    generator
                        .tracker
                        .transitioned(unit, destination.0, destination, at);
                }
                // The implicit dependency ends at BOTTOM_OF_PIPE: only ALL_COMMANDS chains to it.
                None => generator
                    .tracker
                    .transitioned(unit, S::ALL_COMMANDS, (S::NONE, A::NONE), at),
            }
        }
        generator.layouts.insert((image, layer), attachment.final_layout);
    }
}
