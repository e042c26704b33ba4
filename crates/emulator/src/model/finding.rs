//! Findings of checks.

use std::borrow::Cow;

use super::objects::Object;
use super::position::{Position, Submit};
use crate::tables::messages::MessageId;

/// A message that is reported once no lock is held: a callback may call Vulkan.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) id: MessageId,
    /// The object that the message is about.
    pub(crate) object: Object,
    /// The description of the error, and the rule that it breaks.
    pub(crate) text: String,
    /// The command that breaks the rule, if any.
    pub(crate) at: Option<Position>,
    /// The batch, for errors found when it is submitted.
    pub(crate) submit: Option<Submit>,
    /// The earlier commands that led to the error.
    pub(crate) cause: Option<String>,
    /// A remedy that replaces that of the message id.
    pub(crate) remedy: Option<Cow<'static, str>>,
}

impl Finding {
    /// Creates a finding without a command.
    pub(crate) fn new(id: MessageId, object: Object, text: impl Into<String>) -> Finding {
        Finding {
            id,
            object,
            text: text.into(),
            at: None,
            submit: None,
            cause: None,
            remedy: None,
        }
    }

    /// Sets the command that breaks the rule.
    pub(crate) fn at(self, at: Position) -> Finding {
        Finding { at: Some(at), ..self }
    }
}
