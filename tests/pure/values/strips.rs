//! Values in strips.

use tileheap::arrange::{ArrangedBatch, Arrangement, GroupMode, PassGroup, StripGrid};
use tileheap::frame::{LoadOp, PassId, ReadReach};
use tileheap::units::{Bytes, Run};

use super::{CLEAR, color, frame_of, image, separate, values};

/// A pass of the strips draws to a value that an earlier pass has begun; the image is cleared again afterwards.
#[test]
fn a_value_is_drawn_on_in_strips() {
    let frame = frame_of(image, |frame, commands, pool, out| {
        let made = frame.image("made", color());
        frame.render_pass(commands, "begin").color(pool, CLEAR);
        let make = frame.render_pass(commands, "make");
        make.color(made, CLEAR).in_strips(Bytes::ZERO);
        let draw = frame.render_pass(commands, "draw");
        let draw = draw.sampled(made).reaching(ReadReach::PIXEL);
        draw.color(pool, LoadOp::Load).in_strips(Bytes::ZERO);
        frame.render_pass(commands, "use").sampled(pool).color(out, CLEAR);
        frame.render_pass(commands, "begin again").color(pool, CLEAR);
        let again = frame.render_pass(commands, "use again");
        again.sampled(pool).color(out, LoadOp::Load);
    });
    let executed = separate(&frame);
    assert_eq!(values(&executed, "pool"), [(1, 2), (2, 2)]);
    let passes: Vec<PassId> = frame.pass_ids().collect();
    let alone = |pass: usize| PassGroup::new(vec![passes[pass]], GroupMode::Once);
    let strips = GroupMode::Strips(StripGrid { columns: 1, rows: 4 });
    let strips = PassGroup::new(passes[1..3].to_vec(), strips);
    let arrangement = Arrangement {
        changes: Vec::new(),
        batches: vec![ArrangedBatch {
            batches: Run::new(0, 1),
            groups: vec![alone(0), strips, alone(3), alone(4), alone(5)],
        }],
    };
    let arranged = arrangement.apply(&executed).unwrap();
    assert_eq!(arranged.frame().passes().len(), 4 + 2 * 4);
    assert_eq!(arranged.violations(), []);
}
