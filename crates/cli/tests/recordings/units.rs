//! The memory that steps access.

use crate::recording::*;
use crate::timeline::Item;
use crate::tracker::Unit;

/// The units of a target.
pub(crate) fn units_of(recording: &Recording, target: Target) -> Vec<Unit> {
    match target {
        Target::Cells(cells) => {
            let resource = recording.resources[cells.buffer];
            let first = resource.first + cells.first;
            let cells = first..first + cells.count;
            cells.map(|cell| Unit::Cell(resource.place, cell)).collect()
        }
        Target::Layer(layer) => vec![Unit::Layer(recording.resources[layer.image].place, layer.layer)],
    }
}

/// The units that a step reads, and those that it writes or transitions.
pub(crate) fn units(recording: &Recording, item: &Item<'_>) -> [Vec<Unit>; 2] {
    let (cells, layer) = (Target::Cells, Target::Layer);
    let parameters = |buffer: &usize| {
        cells(Cells {
            buffer: *buffer,
            first: 0,
            count: 1,
        })
    };
    let (mut read, mut written): (Vec<Target>, Vec<Target>) = (Vec::new(), Vec::new());
    let mut changed = Vec::new();
    match &item.step.command {
        Command::Fill(to) | Command::Update(to) => written.push(cells(*to)),
        Command::CopyBuffer { from, to } => (read, written) = (vec![cells(*from)], vec![cells(*to)]),
        Command::CopyToImage { from, to, .. } => (read, written) = (vec![cells(*from)], vec![layer(*to)]),
        Command::CopyFromImage { from, to, .. } => (read, written) = (vec![layer(*from)], vec![cells(*to)]),
        Command::CopyImage { from, to, .. }
        | Command::Blit { from, to }
        | Command::ResolveImage { from, to } => {
            (read, written) = (vec![layer(*from)], vec![layer(*to)]);
        }
        Command::ClearImage(to) => written.push(layer(*to)),
        Command::Dispatch {
            bindings,
            parameters: buffer,
        } => {
            read.extend(buffer.iter().map(parameters));
            bound(bindings, &mut read, &mut written);
        }
        Command::Draw(draw) => {
            read.extend(draw.vertices.iter().chain(&draw.indices).map(|one| cells(*one)));
            read.extend(draw.parameters.iter().map(parameters));
            bound(&draw.bindings, &mut read, &mut written);
        }
        Command::Barrier(barrier) | Command::WaitEvent { barrier, .. } => {
            for member in &barrier.members {
                if let Scope::Image {
                    image, first, count, ..
                } = member.scope
                {
                    let place = recording.resources[image].place;
                    changed.extend((first..first + count).map(|one| Unit::Layer(place, one)));
                }
            }
        }
        Command::BeginPass(_)
        | Command::ClearAttachment
        | Command::NextSubpass { .. }
        | Command::EndPass
        | Command::Execute(_)
        | Command::SetEvent { .. } => {}
    }
    // Attachments are read and written.
    let attached = item
        .pass
        .iter()
        .flat_map(|pass| pass.attachments.iter().map(|one| layer(one.layer)));
    for attachment in attached {
        read.push(attachment);
        written.push(attachment);
    }
    let all = |targets: Vec<Target>| {
        targets
            .into_iter()
            .flat_map(|target| units_of(recording, target))
            .collect::<Vec<_>>()
    };
    [all(read), [all(written), changed].concat()]
}

fn bound(bindings: &[Binding], read: &mut Vec<Target>, written: &mut Vec<Target>) {
    for one in bindings {
        let list = if one.used.writes() {
            &mut *written
        } else {
            &mut *read
        };
        list.push(one.target);
        if one.used == Use::Modify {
            read.push(one.target);
        }
    }
}

/// Returns `true` if a barrier's scope includes a unit.
pub(crate) fn covers(recording: &Recording, scope: &Scope, unit: Unit) -> bool {
    match *scope {
        Scope::Memory => true,
        Scope::Buffer(cells) => units_of(recording, Target::Cells(cells)).contains(&unit),
        Scope::Image {
            image, first, count, ..
        } => {
            let place = recording.resources[image].place;
            matches!(unit, Unit::Layer(other, layer) if other == place && (first..first + count).contains(&layer))
        }
    }
}
