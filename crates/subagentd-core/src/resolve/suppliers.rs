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
    let of_provider = capture.providers.get(provider);
    let needed = of_tools.chain(of_provider).filter(|supplier| may_load(supplier, capture, policy));
    let mut suppliers: Vec<_> = needed.cloned().collect();
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
    let excluded = matches!(supplier, Supplier::Package(source) if policy.excludes(source));
    !excluded && Some(supplier) != capture.host.as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_the_host_nor_an_excluded_package_is_loaded_for_a_tool_or_a_provider() {
        let of = |name: &str| Some(Supplier::Package(name.to_owned()));
        let tool = |name: &str, supplier| ActiveTool { supplier, ..ActiveTool::named(name) };
        let active = [tool("a", of("npm:good")), tool("b", of("npm:bad@2")), tool("c", of("npm:host"))];
        let capture = Capture {
            host: of("npm:host"),
            providers: [("p".to_owned(), Supplier::Package("npm:bad@3".to_owned()))].into(),
            ..Capture::default()
        };
        let policy = Policy { excluded_packages: vec!["npm:bad".to_owned()], ..Policy::default() };
        let tools = ["a", "b", "c"].map(str::to_owned);
        let (suppliers, _) = needed(&tools, "p", &active, &capture, &policy);
        assert_eq!(suppliers, [Supplier::Package("npm:good".to_owned())]);
    }
}
