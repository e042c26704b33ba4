//! Damage to several passes.

use tileheap::lower::Lowered;
use tileheap::lower::check::{LoweredCheckError, LoweringRule};
use tileheap::lower::tables::OptionalIndex;
use tileheap::lower::tables::commands::{PassContents, PassRow};
use tileheap::plan::MemoryKind;

use super::{Sound, is_hazard, is_layout, refused};

fn is_contents(error: &LoweredCheckError) -> bool {
    error.rule == LoweringRule::Contents
}

#[test]
fn tile_contents_are_needed_after_a_pass_without_tile_memory() {
    let sites = |sound: &Sound| {
        let uses = |row: &usize, read: bool| {
            let PassRow {
                contents, pass: id, ..
            } = sound.tables.passes[*row];
            if contents != PassContents::Described {
                return false;
            }
            let mut accesses = sound.plan.frame.accesses_of(id).iter();
            accesses.any(|access| {
                (!read || access.needs_contents())
                    && sound.plan.memory_of(access.resource) == Some(MemoryKind::Tile)
            })
        };
        let users: Vec<usize> = (0..sound.tables.passes.len())
            .filter(|row| uses(row, false))
            .collect();
        let pairs = users.windows(2).filter(|pair| uses(&pair[1], true));
        pairs.map(|pair| pair[0]).collect()
    };
    let damage = |tables: &mut Lowered, &row: &usize| {
        for pass in &mut tables.passes[row + 1..] {
            pass.tile_memory = OptionalIndex::NONE;
        }
    };
    refused(sites, damage, is_contents);
}

#[test]
fn a_history_is_not_cleared_before_its_first_use() {
    let sites = |sound: &Sound| {
        let passes = sound.tables.passes.iter().enumerate();
        let clears = passes.filter(|(_, pass)| pass.contents == PassContents::Clear);
        clears.map(|(row, _)| row).collect()
    };
    let damage = |tables: &mut Lowered, &row: &usize| {
        let clear = tables.passes.remove(row).row.get().unwrap();
        tables.clears.remove(clear as usize);
        for pass in &mut tables.passes[row..] {
            if pass.contents == PassContents::Clear {
                pass.row = pass.row.get().map(|row| row - 1).into();
            }
        }
        for commands in &mut tables.command_buffers {
            commands.passes.first -= u32::from(commands.passes.first > row as u32);
            commands.passes.end -= u32::from(commands.passes.end > row as u32);
        }
    };
    refused(sites, damage, is_contents);
}

#[test]
fn passes_are_recorded_in_another_order() {
    let sites = |sound: &Sound| {
        let runs = sound
            .tables
            .command_buffers
            .iter()
            .map(|commands| commands.passes);
        runs.filter(|run| run.len() > 1)
            .map(|run| run.first as usize)
            .collect()
    };
    let damage = |tables: &mut Lowered, &row: &usize| tables.passes.swap(row, row + 1);
    let right = |error: &LoweredCheckError| {
        error.rule == LoweringRule::Order || is_contents(error) || is_hazard(error) || is_layout(error)
    };
    refused(sites, damage, right);
}
