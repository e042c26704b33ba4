//! Reads and writes tables as JSON.

use serde::{Deserialize, Serialize};

use super::error::LowerError;
use super::lowering_desc::{DeviceQueues, FamilyQueue, LoweringDesc, Parity};
use super::names::FrameNames;
use super::state::MemoryState;
use super::tables::Lowered;
use crate::frame::Frame;

/// The format name of the document.
const FORMAT: &str = "tileheap-lowered-frame";
const VERSION: u64 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u64,
    frame: String,
    names: FrameNames,
    parity: Parity,
    queues: Vec<FamilyQueue>,
    before: MemoryState,
    tables: Lowered,
}

impl Lowered {
    /// The tables of a planned frame, the frame's names, and the inputs for which the tables were lowered, as JSON.
    pub fn to_json(&self, frame: &Frame, lowering_desc: &LoweringDesc) -> String {
        let declared = lowering_desc.queues.declared().iter();
        tileheap_json::write(&Document {
            format: FORMAT.to_owned(),
            version: VERSION,
            frame: frame.name().to_owned(),
            names: FrameNames::of(frame),
            parity: lowering_desc.parity,
            queues: declared.map(|&queue| lowering_desc.queues.queue(queue)).collect(),
            before: lowering_desc.before.clone(),
            tables: self.clone(),
        })
    }

    /// Reads lowered tables and the inputs for which they were lowered. Does not check the tables: check them before they are executed.
    ///
    /// # Errors
    /// If the text is not such a document, or is one of another version or frame.
    pub fn from_json(frame: &str, text: &str) -> Result<(Lowered, LoweringDesc), LowerError> {
        let document: Document = tileheap_json::read(text, FORMAT, VERSION)?;
        if document.frame != frame {
            let (tables, frame) = (tileheap_json::clip(&document.frame), frame.to_owned());
            return Err(LowerError::OtherFrame { tables, frame });
        }
        let lowering_desc = LoweringDesc {
            queues: DeviceQueues::new(&document.queues),
            parity: document.parity,
            before: document.before,
        };
        Ok((document.tables, lowering_desc))
    }
}
