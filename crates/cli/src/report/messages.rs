//! The emulator's log of messages, summarized.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a log contains.
#[derive(Default)]
pub(crate) struct Summary {
    pub(crate) errors: u64,
    warnings: u64,
    instances: u64,
    devices: u64,
    devices_with_tile_memory: u64,
    devices_destroyed: u64,
    /// By severity and id: how many, and the first text.
    messages: BTreeMap<(String, String), (u64, String)>,
}

impl Summary {
    /// Summarizes a log. A program that was killed may leave its last line cut off.
    pub(crate) fn of(log: &str) -> Summary {
        let mut summary = Summary::default();
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
                Some("end") => summary.devices_destroyed += 1,
                Some("message") => {
                    let key = (text("severity"), text("id"));
                    summary.errors += u64::from(key.0 == "error");
                    summary.warnings += u64::from(key.0 == "warning");
                    summary.messages.entry(key).or_insert_with(|| (0, text("text"))).0 += 1;
                }
                _ => {}
            }
        }
        summary
    }

    /// The counts, each kind of message with its first text, and what keeps the log from being complete.
    pub(crate) fn text(&self) -> String {
        let counted = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (errors, warnings) = (counted(self.errors, "error"), counted(self.warnings, "warning"));
        let mut text = format!("tileheap: the emulator reported {errors} and {warnings}\n");
        for ((severity, id), (count, first)) in &self.messages {
            let first = first.replace('\n', "\n  ");
            text += &format!("{severity} {id}, {}:\n  {first}\n", counted(*count, "time"));
        }
        if self.instances == 0 {
            text += "tileheap: nothing was checked: the program created no Vulkan instance with the layer\n";
        } else if self.devices_with_tile_memory == 0 {
            text += "tileheap: nothing was checked: no device enabled the feature tileMemoryHeap\n";
        }
        if self.devices_destroyed < self.devices {
            text += "tileheap: the program ended before it destroyed its device: these are the messages until then\n";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            tileheap: the program ended before it destroyed its device: these are the messages until then\n";
        assert_eq!(Summary::of(log).text(), expected);
        let ended = format!(
            "{}\n{{\"event\":\"end\"}}",
            log.lines().nth(1).unwrap_or_default()
        );
        assert!(Summary::of(&ended).text().contains("no Vulkan instance"));
        assert!(
            Summary::of("{\"event\":\"instance\"}")
                .text()
                .contains("tileMemoryHeap")
        );
    }
}
