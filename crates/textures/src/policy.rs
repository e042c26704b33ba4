//! The trait of all policies, and the description by which a policy is selected.

use std::fmt;

use crate::Geometry;
use crate::arenas::{ArenaView, WallStats};
use crate::error::{Error, Result};
use crate::ids::TextureId;
use crate::journal::Journal;
use crate::request::{Request, RequestOutcome};
use crate::units::Bytes;

/// Decides which textures are resident in a fixed budget of linear memory, and at which offsets.
///
/// A frame consists of requests and [`end_frame`](Policy::end_frame). Releases may occur at any time. All changes in memory
/// are appended to the journal, in order. A policy depends only on its inputs: no clock, no addresses.
pub trait Policy {
    /// Requests a texture for this frame.
    ///
    /// A hit if the texture is resident at the requested level or a finer one. An upgrade uploads the levels that the policy's [`UploadMode`] names.
    fn request(&mut self, request: Request, journal: &mut Journal) -> RequestOutcome;

    /// Releases a texture that is destroyed, or whose contents are replaced. Ignores unknown ids.
    fn release(&mut self, texture: TextureId, journal: &mut Journal);

    /// Ends a frame.
    fn end_frame(&mut self, _journal: &mut Journal) {}

    /// Changes the budget, between two frames.
    ///
    /// Textures that extend past a smaller budget are evicted with [`EvictionReason::Budget`](super::EvictionReason::Budget); all others
    /// stay in place.
    ///
    /// # Errors
    /// Those of creation; nothing has changed in that case.
    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<()>;

    /// An arena by its index from the left; `None` past the last one, and for policies without arenas.
    fn arena(&self, _index: usize) -> Option<ArenaView> {
        None
    }

    /// Statistics of the walls between arenas, at the end of a frame; all zero for policies without arenas.
    fn wall_stats(&self) -> WallStats {
        WallStats::default()
    }
}

/// The maximum number of parameters of a policy.
const MAX_PARAMETERS: usize = 12;

/// The values of a policy's [parameters](PolicyDesc::parameters), in their order; 0 past the last one.
pub type ParameterValues = [u64; MAX_PARAMETERS];

/// A parameter of a policy: a number, or one of several names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name, in lower case with hyphens.
    pub name: &'static str,
    /// The effect of the parameter.
    pub description: &'static str,
    /// The default value; for a choice of names, an index.
    pub default: u64,
    /// The largest value; the smallest is 0.
    pub max: u64,
    /// Names of the values 0, 1, …; empty for a number.
    pub names: &'static [&'static str],
}

impl Parameter {
    /// A parameter that is a number from 0 to `max`.
    pub const fn number(name: &'static str, default: u64, max: u64, description: &'static str) -> Parameter {
        Parameter {
            name,
            description,
            default,
            max,
            names: &[],
        }
    }

    /// A parameter that is one of several names; `default` is an index into them.
    pub const fn choice(
        name: &'static str,
        default: u64,
        names: &'static [&'static str],
        description: &'static str,
    ) -> Parameter {
        Parameter {
            names,
            ..Parameter::number(name, default, names.len() as u64 - 1, description)
        }
    }

    /// The default values of parameters.
    pub const fn defaults(parameters: &[Parameter]) -> ParameterValues {
        let (mut values, mut index) = ([0; MAX_PARAMETERS], 0);
        while index < parameters.len() {
            values[index] = parameters[index].default;
            index += 1;
        }
        values
    }

    fn parse(&self, text: &str) -> Option<u64> {
        match self.names {
            [] => text.parse().ok().filter(|&value| value <= self.max),
            names => names.iter().position(|&name| name == text).map(|at| at as u64),
        }
    }

    fn text(&self, value: u64) -> String {
        let name = self.names.get(value as usize);
        name.map_or_else(|| value.to_string(), |&name| name.to_owned())
    }
}

/// Prints `search-blocks=48 (0 to 65536)`, `walls=equal-blocks (equal-bytes, equal-blocks, largest)`.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={} ", self.name, self.text(self.default))?;
        match self.names {
            [] => write!(f, "(0 to {})", self.max),
            names => write!(f, "({})", names.join(", ")),
        }
    }
}

/// The levels that a request uploads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadMode {
    /// All levels up to the requested one, into one block.
    Whole,
    /// The levels that are not resident, into one block with the others, which are copied within the cache.
    MissingLevels,
    /// The levels that are not resident, each into a separate block.
    SingleLevels,
}

/// Describes a policy by name, constructor, parameters and capabilities, so that one can be selected before the geometry is known.
///
/// [`POLICIES`](crate::POLICIES) lists the built-in ones. Other policies are used in the same way: replay, limiter and Vulkan cache
/// accept any description, and [`parse`](PolicyDesc::parse) accepts any table. The [front page](crate) has an example.
#[derive(Clone, Copy)]
pub struct PolicyDesc<'a> {
    /// Name, in lower case with hyphens.
    pub name: &'a str,
    /// The policy's behavior, in one sentence.
    pub description: &'a str,
    /// The levels that a request uploads. [`lower_bound`](crate::replay::lower_bound) holds only for [`UploadMode::Whole`].
    pub uploads: UploadMode,
    /// True if textures, including pinned ones, may be evicted in the frame that requested them; for other policies
    /// that is a [violation](crate::replay::PolicyRule::InUse).
    pub evicts_in_use: bool,
    /// True if textures move within the cache ([`CacheEvent::Move`](crate::CacheEvent::Move) and
    /// [`CacheEvent::Shrink`](crate::CacheEvent::Shrink)).
    pub relocates: bool,
    /// The policy's parameters.
    pub parameters: &'a [Parameter],
    /// The values of the parameters.
    pub values: ParameterValues,
    /// Creates the policy; called by [`create`](PolicyDesc::create).
    pub create: &'a CreatePolicy,
}

/// Creates a policy for a geometry, a budget, a seed for random choices, and values of its parameters.
pub type CreatePolicy = dyn Fn(&Geometry, Bytes, u64, &ParameterValues) -> Result<Box<dyn Policy>> + Sync;

impl<'a> PolicyDesc<'a> {
    /// A policy that uploads textures whole, evicts none that the frame requested, never moves them, and has no parameters.
    pub const fn new(name: &'a str, description: &'a str, create: &'a CreatePolicy) -> PolicyDesc<'a> {
        PolicyDesc {
            name,
            description,
            uploads: UploadMode::Whole,
            evicts_in_use: false,
            relocates: false,
            parameters: &[],
            values: [0; MAX_PARAMETERS],
            create,
        }
    }

    /// Adds parameters, at their defaults.
    pub const fn with_parameters(mut self, parameters: &'a [Parameter]) -> PolicyDesc<'a> {
        (self.parameters, self.values) = (parameters, Parameter::defaults(parameters));
        self
    }

    /// Marks a policy that may evict textures in the frame that requested them.
    pub const fn evicting_in_use(mut self) -> PolicyDesc<'a> {
        self.evicts_in_use = true;
        self
    }

    /// Creates the policy.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or exceeds what the policy can address.
    pub fn create(&self, geometry: &Geometry, budget: Bytes, seed: u64) -> Result<Box<dyn Policy>> {
        (self.create)(geometry, budget, seed, &self.values)
    }

    /// Selects a policy from a table by name, optionally with values of parameters: `arenas:stride=20:walls=largest`.
    ///
    /// # Errors
    /// If no policy or parameter has that name, or the value is out of range: the error lists the known names.
    pub fn parse(policies: &[PolicyDesc<'a>], text: &str) -> Result<PolicyDesc<'a>> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let found = policies.iter().find(|policy| policy.name == name);
        let known = || PolicyDesc::names(policies, |_| true);
        let mut policy = *found.ok_or_else(|| Error::UnknownName("policy", name.to_owned(), known()))?;
        for part in parts {
            let (parameter, value) = part.split_once('=').unwrap_or((part, ""));
            let index = policy.parameters.iter().position(|one| one.name == parameter);
            let value = index.and_then(|index| Some((index, policy.parameters[index].parse(value)?)));
            let Some((index, value)) = value else {
                let known: Vec<String> = policy.parameters.iter().map(Parameter::to_string).collect();
                return Err(Error::PolicyParameter(
                    part.to_owned(),
                    name.to_owned(),
                    known.join("; "),
                ));
            };
            policy.values[index] = value;
        }
        Ok(policy)
    }

    /// The names of the policies of a table that satisfy a predicate, separated by commas.
    pub fn names(policies: &[PolicyDesc<'_>], satisfies: impl Fn(&PolicyDesc<'_>) -> bool) -> String {
        let found = policies.iter().filter(|policy| satisfies(policy));
        found.map(|policy| policy.name).collect::<Vec<_>>().join(", ")
    }
}

/// Prints the form that [`parse`](PolicyDesc::parse) reads: the name, and values other than the defaults.
impl fmt::Display for PolicyDesc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        for (parameter, &value) in self.parameters.iter().zip(&self.values) {
            if value != parameter.default {
                write!(f, ":{}={}", parameter.name, parameter.text(value))?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for PolicyDesc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyDesc({self})")
    }
}
