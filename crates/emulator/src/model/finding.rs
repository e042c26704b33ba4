//! What a check found.

use super::objects::Object;
use super::position::{Position, Submit};
use crate::tables::messages::MessageId;

/// A message that is reported once no lock is held: a callback may call Vulkan.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) id: MessageId,
    /// What it is about first of all.
    pub(crate) object: Object,
    /// What is wrong, and the rule.
    pub(crate) text: String,
    /// The command, where it is one.
    pub(crate) at: Option<Position>,
    /// The batch, where the mistake shows when it is submitted.
    pub(crate) submit: Option<Submit>,
    /// What put the bytes into this state.
    pub(crate) cause: Option<String>,
    /// What would mend it, if that is not the id's remedy.
    pub(crate) remedy: Option<&'static str>,
}

impl Finding {
    /// A finding about no command in particular.
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

    /// The same about a command.
    pub(crate) fn at(self, at: Position) -> Finding {
        Finding { at: Some(at), ..self }
    }
}
