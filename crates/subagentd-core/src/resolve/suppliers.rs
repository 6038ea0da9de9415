//! What has to be loaded into a child, and what of it must stay out of reach.

use crate::plan::Supplier;

use super::capture::{ActiveTool, Capture};
use super::policy::Policy;

/// Exactly the suppliers that the tools and the provider need, by name, and the captured tools that they bring besides.
pub(super) fn needed(
    tools: &[String],
    provider: &str,
    active: &[ActiveTool],
    capture: &Capture,
    policy: &Policy,
) -> (Vec<Supplier>, Vec<String>) {
    let of_tools = active.iter().filter(|tool| tools.contains(&tool.name)).filter_map(|tool| tool.supplier.as_ref());
    let of_provider = capture.providers.get(provider).filter(|supplier| may_load(supplier, capture, policy));
    let mut suppliers: Vec<_> = of_tools.chain(of_provider).cloned().collect();
    suppliers.sort();
    suppliers.dedup();
    let brought = active.iter().filter(|tool| tool.supplier.as_ref().is_some_and(|name| suppliers.contains(name)));
    let withheld = brought.map(|tool| tool.name.clone()).filter(|name| !tools.contains(name));
    let mut withheld: Vec<_> = withheld.collect();
    withheld.sort();
    withheld.dedup();
    (suppliers, withheld)
}

/// The host's own extension and packages that the configuration excludes load into no child.
fn may_load(supplier: &Supplier, capture: &Capture, policy: &Policy) -> bool {
    let excluded = matches!(supplier, Supplier::Package(source) if policy.excluded_packages.contains(source));
    !excluded && Some(supplier) != capture.host.as_ref()
}
