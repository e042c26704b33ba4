//! The report about a captured frame, as text.

use super::CaptureReport;
use crate::values::amount;

/// The width of the longer bar, in characters.
const BAR: u64 = 48;

impl CaptureReport {
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n  {}\n", self.title, self.verdict);
        if let Some(notice) = &self.notice {
            text += &format!("  {notice}\n");
        }
        text.push('\n');
        for (name, bytes) in [("now", self.now_bytes), ("proposed", self.proposed_bytes)] {
            let length = (u128::from(bytes) * u128::from(BAR) / u128::from(self.now_bytes.max(1))) as usize;
            text += &format!("  {name:10} {:>10}  {}\n", amount(bytes), "#".repeat(length));
        }
        text += "\nProposed changes\n";
        if self.changes.is_empty() {
            text += "  none\n";
        }
        for (number, change) in (1..).zip(&self.changes) {
            let saves = match (change.saves_bytes, change.frees_bytes) {
                (0, frees) => format!("frees {} of memory", amount(frees)),
                (saves, _) => format!("saves {} per frame", amount(saves)),
            };
            text += &format!(
                "  {number}. {}: {saves}, {}\n",
                change.title,
                change.helps.words()
            );
            text += &format!("     in Vulkan: {}\n     cost: {}\n", change.how, change.cost);
            for detail in &change.details {
                text += &format!("       {detail}\n");
            }
        }
        text += "\nChanges to usages, formats and extents\n";
        if self.description_changes.changes.is_empty() {
            text += &format!("  {}\n", self.description_changes.none);
        } else {
            let bytes = amount(self.description_changes.saves_bytes);
            text +=
                &format!("  together they keep {bytes} more on chip per frame; check the image quality\n");
        }
        for change in &self.description_changes.changes {
            text += &format!("  {change}\n");
        }
        text += "\nTraffic that stays in memory\n";
        for one in &self.stays {
            text += &format!("  {} {}\n", amount(one.bytes), one.why);
            for resource in &one.resources {
                text += &format!("      {resource}\n");
            }
        }
        text += &format!(
            "\nUpper bound on the traffic that asynchronous compute could hide\n  {}\n",
            self.async_compute
        );
        text += "\nThe capture\n";
        for (name, value) in &self.facts {
            text += &format!("  {name:12} {value}\n");
        }
        for limit in &self.limits {
            text += &format!("  {limit}\n");
        }
        text
    }
}
