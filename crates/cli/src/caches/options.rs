//! Cache policies as command-line options.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use tileheap_baselines::textures::ALL;
use tileheap_textures::PolicyDesc;

/// Parses a policy by its name, optionally with parameter values; [`parameters`] describes them.
#[derive(Clone)]
pub(crate) struct Policies;

impl TypedValueParser for Policies {
    type Value = PolicyDesc<'static>;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        (|text: &str| PolicyDesc::parse(&ALL, text)).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |policy: PolicyDesc<'static>| {
            PossibleValue::new(policy.name).help(policy.description.trim_end_matches('.'))
        };
        Some(Box::new(ALL.into_iter().map(value)))
    }
}

/// Returns a section of the help text that lists the parameters of all policies; policies with the same parameters share an entry.
pub(crate) fn parameters() -> String {
    let mut section = String::from("Parameters of policies:\n");
    let has_parameters = |policy: &&PolicyDesc<'_>| !policy.parameters.is_empty();
    let mut left: Vec<&PolicyDesc<'_>> = ALL.iter().filter(has_parameters).collect();
    while let Some(&first) = left.first() {
        let (alike, others): (Vec<&PolicyDesc<'_>>, Vec<_>) = left
            .iter()
            .copied()
            .partition(|policy| policy.parameters == first.parameters);
        let names: Vec<_> = alike.iter().map(|policy| policy.name).collect();
        section += &format!("  {}\n", names.join(", "));
        for parameter in first.parameters {
            section += &format!("    {parameter}: {}\n", parameter.description);
        }
        left = others;
    }
    section
}
