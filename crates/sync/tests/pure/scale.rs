//! The work of the model grows with the number of accesses, not with the number of other resources in the same memory.

use std::sync::Arc;

use tileheap_sync::program::*;
use tileheap_sync::{Model, ModelStatistics};

use crate::recordings::*;

/// Size of a block that buffers share; each shares half of its bytes with the next one.
const BLOCK: u64 = 256 << 20;

/// The barriers between the accesses of a frame.
#[derive(Clone, Copy, Debug)]
enum Barriers {
    Memory,
    /// One for each buffer.
    Buffers,
}

/// The work for two frames in which each of `count` buffers is written and read.
fn work(count: u64, barriers: Barriers) -> ModelStatistics {
    let mut model = Model::new(1);
    model.set_host_visible(MemoryId(0), false);
    let stride = BLOCK / count;
    let buffers = (0..count).map(|index| Resource {
        memory: MemoryId(0),
        first: stride * index,
        end: (stride * (index + 2)).min(BLOCK),
        tiling: Tiling::Linear,
        alias_of: None,
        sharing: SharingMode::Concurrent,
    });
    let ids: Vec<ResourceId> = buffers.map(|buffer| model.add(buffer)).collect();
    let part = ResourcePart::Bytes(0, stride);
    let barrier = |id: ResourceId, from, to| match barriers {
        Barriers::Memory => memory(from, to),
        Barriers::Buffers => Command::Barrier(vec![Dependency {
            scopes: scopes(from, to),
            memory: DependencyMemory::Part(id, part),
            change: BarrierChange::None,
        }]),
    };
    let commands = ids.iter().flat_map(|id| {
        [
            act_on(*id, part, CS_WRITE, AccessKind::Whole),
            barrier(*id, CS_WRITE, CS_READ),
            act_on(*id, part, CS_READ, AccessKind::Whole),
            memory(CS_READ, CS_WRITE),
        ]
    });
    let commands = Arc::new(CommandBuffer {
        commands: (0..).map(Tag).zip(commands).collect(),
    });
    for number in 0..2 {
        let fence = FenceId(number);
        let findings = model.step(&HostStep::Submit(Batch {
            number,
            command_buffers: vec![commands.clone()],
            fence: Some(fence),
            ..Batch::default()
        }));
        assert_eq!(findings.hazards, []);
        model.step(&HostStep::WaitFence(fence));
    }
    assert_eq!(model.statistics().records, 0);
    model.statistics()
}

/// Four times the number of resources in the same memory takes about four times the work. Comparing every access with all earlier ones took 16 times
/// the work.
#[test]
fn work_grows_with_the_number_of_accesses() {
    for barriers in [Barriers::Memory, Barriers::Buffers] {
        let [few, many] = [4_000, 16_000].map(|count| work(count, barriers));
        let all = |one: ModelStatistics| one.compared_records + one.decisions;
        eprintln!("{barriers:?}: {few:?}, {many:?}");
        assert!(all(many) < 5 * all(few), "{barriers:?}: {few:?}, {many:?}");
    }
}
