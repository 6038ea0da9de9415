//! The screen of `models`.

use comfy_table::{Cell, CellAlignment};
use subagentd_proto::model::{ListResponse, ModelView, RuntimeView};

use super::fit;
use super::table::{Columns, plain};
use super::words;
use crate::output::Screen;

/// What stands behind the default of a list.
const DEFAULT: &str = " (default)";

/// Runtime by runtime: what it is, what its children lack, and its models with what they can do.
pub(crate) fn models(response: &ListResponse, screen: &Screen) -> String {
    let runtimes: Vec<String> = response.runtimes.iter().map(|one| runtime(one, screen)).collect();
    runtimes.join("\n")
}

fn runtime(runtime: &RuntimeView, screen: &Screen) -> String {
    let name = words::line(&runtime.name);
    let default = if runtime.default { DEFAULT } else { "" };
    let cannot = if runtime.usable { "" } else { ": cannot be used" };
    let mut text = format!("{}{default}{cannot}\n", screen.bold(&name));
    text.push_str(&indented(&words::line(&runtime.reason), screen));
    for warning in &runtime.warnings {
        text.push_str(&indented(&format!("warning: {}", words::line(warning)), screen));
    }
    match &runtime.models {
        Some(models) if !models.is_empty() => text.push_str(&table(models, runtime.default_model.as_deref(), screen)),
        Some(_) => {}
        None if runtime.usable => {
            text.push_str(&indented("Which models it can run shows once a child has started.", screen));
        }
        None => {}
    }
    text
}

fn table(models: &[ModelView], default: Option<&str>, screen: &Screen) -> String {
    let narrower = Screen { width: screen.width.saturating_sub(2), ..*screen };
    let mut columns = Columns::new(&narrower, &["PROVIDER", "CONTEXT", "THINKING", "MODEL"], &[1, 2]).whole();
    for model in models {
        let is_default = default
            .is_some_and(|default| default.split_once('/') == Some((model.provider.as_str(), model.id.as_str())));
        let mark = if is_default { DEFAULT } else { "" };
        let context = Cell::new(context(model.context_window)).set_alignment(CellAlignment::Right);
        columns.row(vec![
            plain(&model.provider),
            context,
            plain(&levels(&model.thinking_levels)),
            plain(&format!("{}{mark}", model.id)),
        ]);
    }
    columns.text().lines().map(|line| format!("  {line}\n")).collect()
}

/// Neighbouring levels as a range: `off, low-high`.
fn levels(levels: &[String]) -> String {
    let place = |level: &String| words::THINKING.iter().position(|known| known == level);
    // A level that this program does not know is told as it is.
    let unknown = levels.iter().filter(|level| place(level).is_none()).map(|level| words::line(level));
    let mut places: Vec<usize> = levels.iter().filter_map(place).collect();
    places.sort_unstable();
    let word = |place: usize| words::THINKING.get(place).copied().unwrap_or_default();
    let ranges = places.chunk_by(|one, next| one + 1 == *next).filter_map(|range| {
        let (first, last) = (*range.first()?, *range.last()?);
        Some(match last - first {
            0 => word(first).to_owned(),
            1 => format!("{}, {}", word(first), word(last)),
            _ => format!("{}-{}", word(first), word(last)),
        })
    });
    let told: Vec<String> = ranges.chain(unknown).collect();
    if told.is_empty() { "-".to_owned() } else { told.join(", ") }
}

/// Tokens, in thousands or millions: the limits are round numbers.
fn context(tokens: Option<u64>) -> String {
    match tokens {
        None => "-".to_owned(),
        Some(tokens @ 0..1_000) => tokens.to_string(),
        Some(tokens @ 1_000..1_000_000) => format!("{}k", tokens / 1_000),
        Some(tokens) => match (tokens / 1_000_000, tokens % 1_000_000 / 100_000) {
            (millions, 0) => format!("{millions}M"),
            (millions, tenths) => format!("{millions}.{tenths}M"),
        },
    }
}

fn indented(text: &str, screen: &Screen) -> String {
    let width = usize::from(screen.width).saturating_sub(2);
    fit::wrap(text, width).into_iter().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    fn model(provider: &str, id: &str, levels: &[&str], context_window: Option<u64>) -> ModelView {
        ModelView {
            provider: provider.to_owned(),
            id: id.to_owned(),
            name: None,
            thinking_levels: levels.iter().map(|level| (*level).to_owned()).collect(),
            context_window,
        }
    }

    fn view(name: &str, usable: bool, reason: &str) -> RuntimeView {
        RuntimeView {
            name: name.to_owned(),
            default: false,
            usable,
            reason: reason.to_owned(),
            command: Vec::new(),
            version: None,
            default_model: None,
            models: None,
            warnings: Vec::new(),
        }
    }

    fn offline(default: bool, reason: &str) -> RuntimeView {
        RuntimeView {
            default,
            default_model: Some("offline/search".to_owned()),
            models: Some(vec![model("offline", "search", &["off"], None)]),
            ..view("offline", true, reason)
        }
    }

    #[test]
    fn models_stand_below_their_runtime() {
        let three = vec![
            model("anthropic", "claude-opus-5-5", &["low", "medium", "high", "xhigh", "max"], Some(1_000_000)),
            model("anthropic", "claude-haiku-4-5", &["off", "minimal", "low", "medium", "high"], Some(200_000)),
            model(
                "fireworks",
                "accounts/fireworks/routers/deepseek-v4p1-flash-1017-ultrafast",
                &["off", "high"],
                Some(1_048_576),
            ),
        ];
        let pi = RuntimeView {
            default: true,
            version: Some("1.6.0".to_owned()),
            default_model: Some("anthropic/claude-opus-5-5".to_owned()),
            models: Some(three),
            warnings: vec![
                "pi's tool `find` fails: there is no `fd` in PATH; install 10 or newer, e.g. `cargo install fd-find`"
                    .to_owned(),
            ],
            ..view("pi", true, "pi 1.6.0 has 3 models")
        };
        let mine = view("mine", true, "`runtimes.mine.command` in the configuration names its program");
        let offline = offline(false, "part of this program; it searches the workspace and needs no model");
        let response = ListResponse { runtimes: vec![mine, offline, pi] };
        assert_eq!(
            models(&response, &samples::screen()),
            "\
mine
  `runtimes.mine.command` in the configuration names its program
  Which models it can run shows once a child has started.

offline
  part of this program; it searches the workspace and needs no model
  PROVIDER  CONTEXT  THINKING  MODEL
  offline         -  off       search (default)

pi (default)
  pi 1.6.0 has 3 models
  warning: pi's tool `find` fails: there is no `fd` in PATH; install 10 or
  newer, e.g. `cargo install fd-find`
  PROVIDER   CONTEXT  THINKING   MODEL
  anthropic       1M  low-max    claude-opus-5-5 (default)
  anthropic     200k  off-high   claude-haiku-4-5
  fireworks       1M  off, high  accounts/fireworks/routers/deepseek-v4p1-flash-
                                 1017-ultrafast
"
        );
    }

    #[test]
    fn a_runtime_that_cannot_be_used_says_why_and_what_to_do() {
        let reason = "pi 1.6.0 has no model it may use; run `pi` and `/login`, or set a provider's key, such as \
                      ANTHROPIC_API_KEY";
        let pi = RuntimeView { models: Some(Vec::new()), ..view("pi", false, reason) };
        let response = ListResponse { runtimes: vec![offline(true, &format!("pi cannot be used: {reason}")), pi] };
        assert_eq!(
            models(&response, &samples::screen()),
            "\
offline (default)
  pi cannot be used: pi 1.6.0 has no model it may use; run `pi` and `/login`, or
  set a provider's key, such as ANTHROPIC_API_KEY
  PROVIDER  CONTEXT  THINKING  MODEL
  offline         -  off       search (default)

pi: cannot be used
  pi 1.6.0 has no model it may use; run `pi` and `/login`, or set a provider's
  key, such as ANTHROPIC_API_KEY
"
        );
    }

    #[test]
    fn levels_are_ranges() {
        let table: [(&[&str], &str); 8] = [
            (&[], "-"),
            (&["off"], "off"),
            (&["off", "minimal"], "off, minimal"),
            (&["off", "minimal", "low", "medium", "high"], "off-high"),
            (&["max", "off", "low", "high"], "off, low, high, max"),
            (&["low", "medium", "high", "max"], "low-high, max"),
            (&["off", "ultra"], "off, ultra"),
            (&["off", "minimal", "low", "medium", "high", "xhigh", "max"], "off-max"),
        ];
        for (words, wanted) in table {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(levels(&words), wanted, "{words:?}");
        }
    }

    #[test]
    fn contexts_are_short() {
        let table = [
            (None, "-"),
            (Some(512), "512"),
            (Some(8_192), "8k"),
            (Some(200_000), "200k"),
            (Some(1_000_000), "1M"),
            (Some(1_048_576), "1M"),
            (Some(1_050_000), "1M"),
            (Some(1_500_000), "1.5M"),
            (Some(2_097_152), "2M"),
        ];
        for (tokens, wanted) in table {
            assert_eq!(context(tokens), wanted, "{tokens:?}");
        }
    }
}
