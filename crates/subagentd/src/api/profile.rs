//! `profile/list`: the ladders that models are routed by.

use std::sync::Arc;

use subagentd_core::route::{Family, Ladder, Tier};
use subagentd_ipc::connection::Connection;
use subagentd_proto::error::Fault;
use subagentd_proto::profile::{ListParams, ListResponse, ProfileView, TierView};

use super::{Api, convert, launch, workspace};
use crate::policy::Layers;

/// As a launch in that place would find them.
pub(super) async fn list(
    api: Arc<Api>,
    _connection: Arc<Connection>,
    params: ListParams,
) -> Result<ListResponse, Fault> {
    let ListParams { directory, trusted } = params;
    let what = directory.clone().unwrap_or_else(|| "the settings".to_owned());
    launch::beside(&api, &what, move |api| {
        let workspace = directory.as_deref().map(workspace::find).transpose()?;
        let project = workspace.as_ref().filter(|_| trusted == Some(true)).map(|workspace| workspace.root.as_path());
        Ok(response(&api.policies.read(project)))
    })
    .await
}

fn response(layers: &Layers) -> ListResponse {
    let profiles: Vec<_> = layers.profiles().iter().map(|(family, ladder)| view(layers, family, ladder)).collect();
    let told: Vec<&String> = profiles.iter().flat_map(|profile| &profile.faults).collect();
    let others = layers.problems().into_iter().filter(|problem| !told.contains(&&problem.to_string()));
    let problems = others.map(|problem| convert::setting(&problem)).collect();
    ListResponse { profiles, problems }
}

fn view(layers: &Layers, family: Family, ladder: &Ladder) -> ProfileView {
    let profile = ladder.profile.as_ref();
    let faults = layers.profiles().faults().iter();
    // A fault of a layer below one that is sound concerns nobody.
    let faults = faults.filter(|fault| fault.is_of(family) && fault.layer == ladder.layer);
    let told = faults.map(|fault| layers.problem_of(fault).map_or_else(|| fault.to_string(), |told| told.to_string()));
    ProfileView {
        family: family.word().to_owned(),
        source: ladder.layer.word().to_owned(),
        group: profile.map(|profile| profile.group.word().to_owned()),
        tiers: profile.map(|profile| profile.tiers.iter().map(tier).collect()).unwrap_or_default(),
        faults: told.collect(),
    }
}

fn tier(tier: &Tier) -> TierView {
    TierView { name: tier.name.clone(), label: tier.label.word().to_owned() }
}
