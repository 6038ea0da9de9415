//! The screen of `profiles`.

use subagentd_proto::profile::{ListResponse, ProfileView, TierView};

use super::table::{Columns, plain};
use super::{fit, words};
use crate::output::Screen;

/// One ladder a line, and below them what is wrong.
pub(crate) fn profiles(response: &ListResponse, screen: &Screen) -> String {
    let mut columns = Columns::new(screen, &["FAMILY", "SOURCE", "GROUP", "TIERS"], &[2]).whole();
    for profile in &response.profiles {
        let group = profile.group.as_deref().unwrap_or("-");
        columns.row(vec![plain(&profile.family), plain(&profile.source), plain(group), plain(&tiers(profile))]);
    }
    let faults = response.profiles.iter().flat_map(|profile| &profile.faults).map(|fault| words::line(fault));
    let problems = response.problems.iter().map(words::problem);
    let told: Vec<String> = faults.chain(problems).map(|fault| wrapped(&fault, screen)).collect();
    let gap = if told.is_empty() { "" } else { "\n" };
    format!("{}{gap}{}", columns.text(), told.concat())
}

fn tiers(profile: &ProfileView) -> String {
    if profile.group.is_none() {
        return "out of order".to_owned();
    }
    let tier = |tier: &TierView| {
        let name = if tier.name.is_empty() { "(unnamed)" } else { &tier.name };
        format!("{name} {}", tier.label)
    };
    profile.tiers.iter().map(tier).collect::<Vec<_>>().join(", ")
}

fn wrapped(text: &str, screen: &Screen) -> String {
    fit::wrap(text, screen.width.into()).join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;
    use subagentd_proto::agent::ProblemView;

    fn view(family: &str, source: &str, group: Option<&str>, tiers: &[(&str, &str)], faults: &[&str]) -> ProfileView {
        let tier = |(name, label): &(&str, &str)| TierView { name: (*name).to_owned(), label: (*label).to_owned() };
        ProfileView {
            family: family.to_owned(),
            source: source.to_owned(),
            group: group.map(str::to_owned),
            tiers: tiers.iter().map(tier).collect(),
            faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
        }
    }

    fn sample() -> ListResponse {
        let fault = "/home/ada/.config/subagentd/config.toml, line 12: `profiles.glm.tiers`: this is missing; write an \
                     array of tiers, most capable first";
        let problem = ProblemView {
            severity: "warning".to_owned(),
            file: "/w/.subagentd/config.toml".to_owned(),
            line: 3,
            column: 1,
            message: "limits: this has no effect".to_owned(),
        };
        let sizes = [("astra", "XL"), ("sol", "L"), ("terra", "M"), ("pro", "M"), ("", "M"), ("luna", "S")];
        ListResponse {
            profiles: vec![
                view("claude", "project", Some("size"), &[("opus", "XL"), ("haiku", "L")], &[]),
                view("glm", "user", None, &[], &[fault]),
                view("gpt", "builtin", Some("size"), &sizes, &[]),
                view("mimo", "builtin", Some("planner-worker"), &[("pro", "planner"), ("", "worker")], &[]),
            ],
            problems: vec![problem],
        }
    }

    #[test]
    fn ladders_stand_one_a_line_and_faults_below() {
        assert_eq!(
            profiles(&sample(), &samples::screen()),
            "\
FAMILY  SOURCE   GROUP           TIERS
claude  project  size            opus XL, haiku L
glm     user     -               out of order
gpt     builtin  size            astra XL, sol L, terra M, pro M, (unnamed) M,
                                 luna S
mimo    builtin  planner-worker  pro planner, (unnamed) worker

/home/ada/.config/subagentd/config.toml, line 12: `profiles.glm.tiers`: this is
missing; write an array of tiers, most capable first
/w/.subagentd/config.toml, line 3: limits: this has no effect
"
        );
    }

    #[test]
    fn a_narrow_terminal_does_without_the_group() {
        let narrow = Screen { width: 50, ..samples::screen() };
        assert_eq!(
            profiles(&sample(), &narrow),
            "\
FAMILY  SOURCE   TIERS
claude  project  opus XL, haiku L
glm     user     out of order
gpt     builtin  astra XL, sol L, terra M, pro M,
                 (unnamed) M, luna S
mimo    builtin  pro planner, (unnamed) worker

/home/ada/.config/subagentd/config.toml, line 12:
`profiles.glm.tiers`: this is missing; write an
array of tiers, most capable first
/w/.subagentd/config.toml, line 3: limits: this
has no effect
"
        );
    }
}
