//! Finds the valid name that is nearest to an invalid one.

/// Names longer than this are not compared: Vulkan's longest has about 70 characters.
const MAX_NAME_LENGTH: usize = 100;

/// The candidate that is the fewest edits away from `name` (a swap of neighboring characters is one edit); for a candidate that contains `name`, each
/// additional character counts as an eighth of an edit. `None` if all candidates differ too much.
///
/// Case is ignored: `graphics` finds `VK_QUEUE_GRAPHICS_BIT`. O(candidates x length²).
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME_LENGTH {
        return None;
    }
    let wanted = name.to_ascii_uppercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let upper = candidate.to_ascii_uppercase();
        let contained = wanted.len() >= 3 && upper.contains(&wanted);
        // The prefix and suffix that all names share must not outweigh a contained word: missing characters then cost an eighth of an edit each.
        let distance = if contained {
            upper.len().abs_diff(wanted.len()).div_ceil(8)
        } else {
            strsim::osa_distance(&wanted, &upper)
        };
        let near = contained || distance * 4 <= wanted.len().max(4);
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The end of a message about an unknown name: ": did you mean `lit`?"; empty if no candidate is near.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |near| format!(": did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_names_are_not_suggested() {
        assert_eq!(nearest("widgets", ["queue", "passes"]), None);
        assert_eq!(nearest("pases", ["queue", "passes"]), Some("passes"));
        assert_eq!(nearest("", ["queue"]), None);
    }

    #[test]
    fn a_suggestion_ends_a_message_only_if_a_name_is_near() {
        assert_eq!(did_you_mean("Lit", ["albedo", "lit"]), ": did you mean `lit`?");
        assert_eq!(did_you_mean("widgets", ["albedo", "lit"]), "");
    }
}
