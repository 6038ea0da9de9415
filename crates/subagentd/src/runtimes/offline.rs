//! The runtime that is part of this program.

use subagentd_core::definition::Thinking;
use subagentd_core::plan::Environment;

use super::probe::Model;
use super::{Findings, Look, Runtime};
use crate::settings::OFFLINE;

/// Searches the workspace and needs no model.
pub(crate) struct Offline;

impl Runtime for Offline {
    fn name(&self) -> &str {
        OFFLINE
    }

    fn look(&self, _environment: &Environment) -> Look {
        let model = Model {
            provider: OFFLINE.to_owned(),
            id: "search".to_owned(),
            name: None,
            levels: vec![Thinking::Off.word().to_owned()],
            context_window: None,
        };
        Look::Known(Findings {
            version: Some(crate::api::VERSION.to_owned()),
            default_model: Some(format!("{OFFLINE}/search")),
            default_thinking: Some(Thinking::Off.word().to_owned()),
            models: Some(vec![model]),
            ..Findings::usable("part of this program; it searches the workspace and needs no model")
        })
    }
}
