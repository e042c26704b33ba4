//! Cache policies as command-line options.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use tileheap_baselines::textures::ALL;
use tileheap_textures::{Parameter, PolicyDesc};

/// Parses a policy by its name, optionally with parameter values; help lists both.
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
        let parameters = |policy: &PolicyDesc<'static>| {
            let one = |parameter: &Parameter| format!("; {parameter}: {}", parameter.description);
            policy.parameters.iter().map(one).collect::<String>()
        };
        let value = move |policy: PolicyDesc<'static>| {
            let help = format!("{}{}", policy.description, parameters(&policy));
            PossibleValue::new(policy.name).help(help)
        };
        Some(Box::new(ALL.into_iter().map(value)))
    }
}
