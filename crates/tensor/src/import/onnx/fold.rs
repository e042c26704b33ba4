//! What is known before anything runs: shapes that exporters compute node by node.

use super::proto::NodeProto;
use super::{Reader, wrapped};

impl Reader<'_> {
    /// The whole numbers that a node makes, where they follow from constants and fixed shapes.
    pub(super) fn folded(&self, node: &NodeProto) -> Option<Vec<i64>> {
        let known = |place: usize| self.known.get(node.input.get(place)?).cloned();
        let at = |values: &[i64], index: i64| Some(values[wrapped(index, values.len())?]);
        match node.op_type.as_str() {
            "Shape" => {
                let id = self.ids.get(node.input.first()?)?;
                let dims = self.graph.tensor(*id).shape.0.iter().map(|dim| dim.fixed());
                dims.collect()
            }
            "Gather" => {
                let values = known(0)?;
                known(1)?.into_iter().map(|index| at(&values, index)).collect()
            }
            "Concat" => {
                let parts: Option<Vec<Vec<i64>>> = (0..node.input.len()).map(known).collect();
                Some(parts?.concat())
            }
            "Unsqueeze" | "Squeeze" | "Cast" | "Identity" => known(0),
            "Slice" => {
                let (values, begin, end) = (known(0)?, *known(1)?.first()?, *known(2)?.first()?);
                let step = known(4).map_or(Some(1), |steps| steps.first().copied())?;
                let count = values.len() as i64;
                let place =
                    |index: i64| if index < 0 { index + count } else { index }.clamp(0, count) as usize;
                (step == 1 && place(begin) <= place(end)).then(|| values[place(begin)..place(end)].to_vec())
            }
            "Add" | "Sub" | "Mul" | "Div" => {
                let (a, b) = (known(0)?, known(1)?);
                let count = a.len().max(b.len());
                let of = |values: &[i64], index: usize| {
                    values.get(if values.len() == 1 { 0 } else { index }).copied()
                };
                let step = |index: usize| {
                    let (x, y) = (of(&a, index)?, of(&b, index)?);
                    match node.op_type.as_str() {
                        "Add" => x.checked_add(y),
                        "Sub" => x.checked_sub(y),
                        "Mul" => x.checked_mul(y),
                        _ => x.checked_div(y),
                    }
                };
                (0..count).map(step).collect()
            }
            _ => None,
        }
    }
}
