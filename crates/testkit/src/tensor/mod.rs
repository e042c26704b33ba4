//! Networks to plan and to run, what they compute, and what TVM decides about them: storage scopes, pools.

pub mod networks;
pub mod reference;
pub mod relay;
pub mod usmp;

/// Asserts that an error, or what it says, contains every one of these words.
#[track_caller]
pub fn assert_says(said: impl ToString, words: &[&str]) {
    let said = said.to_string();
    let missing = words.iter().find(|word| !said.contains(**word));
    assert!(missing.is_none(), "{said} without {missing:?}");
}
