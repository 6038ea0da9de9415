//! `models`: what can be named as a model, by runtime.

use subagentd_proto::method::ModelList;
use subagentd_proto::model::{ListParams, ListResponse};

use crate::args::Models;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::output::Screen;
use crate::render::models as render;

pub(crate) async fn models(args: Models, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach(caller).await?;
    let Models { runtime, refresh } = args;
    let response = daemon.call::<ModelList>(ListParams { runtime, refresh }).await?;
    screen.result(&response, || render::models(&response, screen))?;
    screen.hints(&next(&response));
    Ok(Exit::Succeeded)
}

/// A model to copy, of the runtime that a launch would take.
fn next(response: &ListResponse) -> Hints {
    let usable = || response.runtimes.iter().filter(|runtime| runtime.usable);
    let chosen = usable().find(|runtime| runtime.default).or_else(|| usable().next());
    let first = |runtime: &subagentd_proto::model::RuntimeView| {
        let model = runtime.models.iter().flatten().next()?;
        Some(format!("{}/{}", model.provider, model.id))
    };
    let model = chosen.and_then(|runtime| runtime.default_model.clone().or_else(|| first(runtime)));
    let hints = Hints::default();
    match (model, chosen) {
        (Some(model), Some(runtime)) if runtime.default => {
            hints.and(format_args!("run AGENT --model {model} \"TASK\""), "put one to work with it")
        }
        (Some(model), Some(runtime)) => {
            let name = &runtime.name;
            hints.and(format_args!("run AGENT --runtime {name} --model {model} \"TASK\""), "put one to work with it")
        }
        _ => hints,
    }
}
