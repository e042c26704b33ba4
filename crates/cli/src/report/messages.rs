//! Summarizes the message log of the emulator or the aliasing layer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::values::{FailOn, counted};

/// The memory that a layer checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckedMemory {
    /// Tile memory, checked by the emulator.
    #[default]
    TileMemory,
    /// Memory that resources share, checked by the aliasing layer.
    SharedMemory,
}

/// A summary of a log.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Summary {
    checked: CheckedMemory,
    errors: u64,
    warnings: u64,
    /// Number of findings that are possible or pedantic.
    others: u64,
    instances: u64,
    devices: u64,
    devices_with_tile_memory: u64,
    /// Number of devices on which several resources shared memory.
    devices_with_shared_memory: u64,
    #[serde(skip)]
    devices_destroyed: u64,
    messages: Vec<Message>,
}

/// The messages of one kind.
#[derive(Debug, Serialize, Deserialize)]
struct Message {
    severity: String,
    id: String,
    count: u64,
    /// Number of repetitions of mistakes that were already reported.
    #[serde(default)]
    repeated: u64,
    /// The text of the first message of this kind.
    first: String,
}

impl Summary {
    /// Summarizes a log. The last line may be cut off if the program was killed.
    pub(crate) fn of(log: &str, checked: CheckedMemory) -> Summary {
        let mut summary = Summary {
            checked,
            ..Summary::default()
        };
        let mut messages: BTreeMap<(u8, String), Message> = BTreeMap::new();
        for line in log
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        {
            let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
            match line["event"].as_str() {
                Some("instance") => summary.instances += 1,
                Some("device") => {
                    summary.devices += 1;
                    summary.devices_with_tile_memory += u64::from(line["usesTileMemory"] == true);
                }
                Some("shared-memory") => summary.devices_with_shared_memory += 1,
                Some("end") => summary.devices_destroyed += 1,
                Some("message") => {
                    let (severity, id) = (text("severity"), text("id"));
                    let rank = summary.count(&severity, &id);
                    let one = messages.entry((rank, id.clone())).or_insert_with(|| Message {
                        severity,
                        id,
                        count: 0,
                        repeated: 0,
                        first: text("text"),
                    });
                    one.count += 1;
                }
                Some("repeated") => {
                    let id = text("id");
                    let times = line["times"].as_u64().unwrap_or_default();
                    let one = messages.values_mut().find(|message| message.id == id);
                    one.into_iter().for_each(|message| message.repeated += times);
                }
                _ => {}
            }
        }
        summary.messages = messages.into_values().collect();
        summary
    }

    /// Counts a message; returns the sort order of its severity.
    fn count(&mut self, severity: &str, id: &str) -> u8 {
        let is_finding = ["TILEHEAP-possible", "TILEHEAP-pedantic"]
            .iter()
            .any(|kind| id.starts_with(kind));
        match severity {
            "error" => {
                self.errors += 1;
                0
            }
            "warning" => {
                self.warnings += 1;
                1
            }
            _ => {
                self.others += u64::from(is_finding);
                2
            }
        }
    }

    /// The counts, each kind of message with its first text, and the reasons that the log is incomplete.
    pub(crate) fn text(&self) -> String {
        let (errors, warnings) = (counted(self.errors, "error"), counted(self.warnings, "warning"));
        let others = match self.others {
            0 => String::new(),
            others => format!(", and {}", counted(others, "possible or pedantic finding")),
        };
        let layer = match self.checked {
            CheckedMemory::TileMemory => "emulator",
            CheckedMemory::SharedMemory => "aliasing layer",
        };
        let mut text = format!("tileheap: the {layer} reported {errors} and {warnings}{others}\n");
        for message in &self.messages {
            let Message {
                severity,
                id,
                count,
                repeated,
                first,
            } = message;
            let first = first.replace('\n', "\n  ");
            let again = match repeated {
                0 => String::new(),
                _ => format!(", and {}", counted(*repeated, "repetition")),
            };
            text += &format!(
                "{severity} {id}, {}{again}:\n  {first}\n",
                counted(*count, "time")
            );
        }
        if self.devices_destroyed < self.devices {
            text += "tileheap: the program ended before it destroyed its device: the last messages may be missing\n";
        }
        text
    }

    /// The reason that nothing was checked, if nothing was.
    pub(crate) fn unchecked(&self) -> Option<&'static str> {
        match self.checked {
            _ if self.instances == 0 => {
                Some("nothing was checked: the program created no Vulkan instance with the layer")
            }
            CheckedMemory::TileMemory if self.devices_with_tile_memory == 0 => {
                Some("nothing was checked: no device enabled the feature tileMemoryHeap")
            }
            CheckedMemory::SharedMemory if self.devices_with_shared_memory == 0 => {
                Some("nothing was checked: no two images or buffers shared bytes of memory")
            }
            _ => None,
        }
    }

    /// Returns `true` if messages of this level or above were reported.
    pub(crate) fn fails(&self, fail_on: FailOn) -> bool {
        self.errors > 0 || fail_on == FailOn::Warning && self.warnings + self.others > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_counted_apart() {
        let log = r#"{"event":"device"}
{"event":"message","severity":"error","id":"a","text":"wrong"}
{"event":"message","severity":"error","id":"a","text":"also wrong"}
{"event":"repeated","id":"a","text":"wrong","times":598}
{"event":"repeated","id":"a","text":"also wrong","times":1}
{"event":"end"}"#;
        let summary = Summary::of(log, CheckedMemory::SharedMemory);
        let expected = "tileheap: the aliasing layer reported 2 errors and 0 warnings\n\
            error a, 2 times, and 599 repetitions:\n  wrong\n";
        assert_eq!(summary.text(), expected);
        assert!(summary.fails(FailOn::Error));
        let json = serde_json::to_value(&summary).expect("a document");
        assert_eq!(json["messages"][0]["repeated"], 599);
    }

    #[test]
    fn messages_are_counted_by_kind() {
        let log = r#"{"event":"instance"}
{"event":"device","usesTileMemory":true}
{"event":"message","severity":"warning","id":"b","text":"first\n    at: x"}
{"event":"message","severity":"error","id":"a","text":"wrong"}
{"event":"message","severity":"warning","id":"b","text":"second"}
{"event":"mess"#;
        let expected = "tileheap: the emulator reported 1 error and 2 warnings\nerror a, 1 time:\n  wrong\n\
            warning b, 2 times:\n  first\n      at: x\n\
            tileheap: the program ended before it destroyed its device: the last messages may be missing\n";
        assert_eq!(Summary::of(log, CheckedMemory::TileMemory).text(), expected);
        let ended = format!(
            "{}\n{{\"event\":\"end\"}}",
            log.lines().nth(1).unwrap_or_default()
        );
        let unchecked_by =
            |checked| move |log: &str| Summary::of(log, checked).unchecked().unwrap_or_default();
        let unchecked = unchecked_by(CheckedMemory::TileMemory);
        assert!(unchecked(&ended).contains("no Vulkan instance"));
        assert!(unchecked("{\"event\":\"instance\"}").contains("tileMemoryHeap"));
        assert_eq!(unchecked(log), "");
        let unchecked = unchecked_by(CheckedMemory::SharedMemory);
        assert!(unchecked(log).contains("no two images or buffers shared"));
        assert_eq!(unchecked(&format!("{log}\n{{\"event\":\"shared-memory\"}}")), "");
    }
}
