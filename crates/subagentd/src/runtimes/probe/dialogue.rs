//! Asking a program of pi's dialect for its models: a pure machine. Bytes of its output go in, what to write comes out.
//!
//! Its records hold whole model objects, with base addresses and perhaps headers that are secret. Only the fields below
//! are ever read out of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;
use subagentd_core::definition::Thinking;
use subagentd_core::outcome::error_line;

use super::form::{MODELS, Model, NAME_BYTES, Offer};

const STATE: &str = "get_state";
const LIST: &str = "get_available_models";
/// The dialect's word for both provider and id when no model is set up.
const UNKNOWN: &str = "unknown";

/// One conversation.
#[derive(Default)]
pub(super) struct Dialogue {
    line: Vec<u8>,
    offer: Offer,
    has_state: bool,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Read on.
    More,
    /// Write this, then read on.
    Say(Vec<u8>),
    /// All is known.
    Done(Offer),
    /// It does not tell.
    Failed(String),
}

impl Dialogue {
    /// What to write first.
    pub(super) fn opening() -> Vec<u8> {
        command(STATE)
    }

    /// Takes output. Commands go out one at a time: the dialect handles them concurrently.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Step {
        let mut step = Step::More;
        let mut rest = bytes;
        // Never at another character than LF: strings may hold U+2028.
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            self.line.extend_from_slice(line);
            rest = after.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.line);
            match self.take(&line) {
                Step::More => {}
                Step::Say(bytes) => step = Step::Say(bytes),
                end => return end,
            }
        }
        self.line.extend_from_slice(rest);
        step
    }

    fn take(&mut self, line: &[u8]) -> Step {
        let asked = if self.has_state { LIST } else { STATE };
        // Noise, or a record that was not asked for.
        let Some(response) = Response::of(line).filter(|response| response.command == asked) else { return Step::More };
        if response.success != Some(true) {
            let said = response.error.map(|error| format!(": {}", error_line(&error))).unwrap_or_default();
            return Step::Failed(format!("refused {asked}{said}"));
        }
        let data = response.data.map_or("null", RawValue::get);
        if asked == STATE {
            let state: State = serde_json::from_str(data).unwrap_or_default();
            self.has_state = true;
            self.offer.default =
                state.model.and_then(named).filter(|(provider, id)| provider != UNKNOWN || id != UNKNOWN);
            self.offer.thinking = state.thinking.filter(|level| Thinking::from_word(level).is_some());
            return Step::Say(command(LIST));
        }
        let Ok(list) = serde_json::from_str::<List<'_>>(data) else {
            return Step::Failed(format!("answered {LIST} without a list of models"));
        };
        self.offer.models = list.models.iter().filter_map(|raw| model(raw.get())).take(MODELS).collect();
        Step::Done(std::mem::take(&mut self.offer))
    }
}

fn command(name: &str) -> Vec<u8> {
    format!("{{\"id\":\"{name}\",\"type\":\"{name}\"}}\n").into_bytes()
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    command: Cow<'a, str>,
    #[serde(default, deserialize_with = "lenient")]
    success: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    error: Option<String>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl<'a> Response<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        // Without this a JSON array would be read as the fields in their order.
        let object = line.trim_ascii_start().first() == Some(&b'{');
        object
            .then(|| serde_json::from_slice(line).ok())
            .flatten()
            .filter(|response: &Self| response.kind == "response")
    }
}

#[derive(Default, Deserialize)]
struct State {
    #[serde(default, deserialize_with = "lenient")]
    model: Option<Facts>,
    #[serde(rename = "thinkingLevel", default, deserialize_with = "lenient")]
    thinking: Option<String>,
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    models: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Facts {
    provider: String,
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    reasoning: Option<bool>,
    #[serde(rename = "thinkingLevelMap", default, deserialize_with = "lenient")]
    levels: Option<BTreeMap<String, Option<String>>>,
    // A JavaScript number: it may come as 2e5.
    #[serde(rename = "contextWindow", default, deserialize_with = "lenient")]
    context_window: Option<f64>,
}

/// A field of an unexpected shape counts as absent: a newer program must not break the reading of what did not change.
fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let raw = <&'de RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

fn named(facts: Facts) -> Option<(String, String)> {
    let fits = |name: &str| !name.is_empty() && name.len() <= NAME_BYTES;
    (fits(&facts.provider) && fits(&facts.id)).then_some((facts.provider, facts.id))
}

/// `None` for what has no exact name.
fn model(text: &str) -> Option<Model> {
    let mut facts: Facts = serde_json::from_str(text).ok()?;
    let levels = levels(facts.reasoning == Some(true), &facts.levels.take().unwrap_or_default());
    let name = facts.name.take().filter(|name| !name.is_empty() && name.len() <= NAME_BYTES);
    // The conversion saturates.
    let context_window = facts.context_window.map(|tokens| tokens as u64).filter(|tokens| *tokens > 0);
    let (provider, id) = named(facts)?;
    Some(Model { provider, id, name, levels, context_window })
}

/// The dialect's rule. Keyed by provider and id: the same id has other levels at another provider.
fn levels(reasons: bool, map: &BTreeMap<String, Option<String>>) -> Vec<String> {
    let has = |level: &Thinking| match (level, map.get(level.word())) {
        (Thinking::Off, _) if !reasons => true,
        _ if !reasons => false,
        (Thinking::Xhigh | Thinking::Max, mapped) => matches!(mapped, Some(Some(_))),
        (_, mapped) => !matches!(mapped, Some(None)),
    };
    Thinking::ALL.iter().filter(|level| has(level)).map(|level| level.word().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, Option<&str>)]) -> BTreeMap<String, Option<String>> {
        pairs.iter().map(|(level, value)| ((*level).to_owned(), value.map(str::to_owned))).collect()
    }

    #[test]
    fn levels_follow_the_rule() {
        type Case = (bool, &'static [(&'static str, Option<&'static str>)], &'static [&'static str]);
        let table: [Case; 5] = [
            (false, &[("high", Some("high")), ("max", Some("max"))], &["off"]),
            (true, &[], &["off", "minimal", "low", "medium", "high"]),
            (true, &[("off", None), ("xhigh", Some("x"))], &["minimal", "low", "medium", "high", "xhigh"]),
            (
                true,
                &[("xhigh", None), ("max", Some("m")), ("low", Some("l"))],
                &["off", "minimal", "low", "medium", "high", "max"],
            ),
            (true, &[("off", None), ("minimal", None), ("low", None), ("medium", None), ("high", None)], &[]),
        ];
        for (reasons, pairs, wanted) in table {
            assert_eq!(levels(reasons, &map(pairs)), wanted, "{reasons} {pairs:?}");
        }
    }

    const GOT_STATE: &str = r#"{"id":"get_state","type":"response","command":"get_state","success":true,"data":{"model":{"provider":"acme","id":"v/one","headers":{"x-key":"s3cret"}},"thinkingLevel":"medium"}}"#;
    const GOT_LIST: &str = "{\"type\":\"response\",\"command\":\"get_available_models\",\"success\":true,\"data\":{\"models\":[{\"provider\":\"acme\",\"id\":\"v/one\",\"name\":\"One\u{2028}\",\"reasoning\":true,\"thinkingLevelMap\":{\"max\":\"m\",\"low\":null},\"contextWindow\":2e5,\"headers\":{\"x-key\":\"s3cret\"}},{\"provider\":\"acme\"},7,{\"provider\":\"b\",\"id\":\"plain\",\"reasoning\":\"odd\",\"thinkingLevelMap\":{\"low\":3},\"contextWindow\":\"big\"}]}}";

    #[test]
    fn state_then_list_one_command_at_a_time() {
        let mut dialogue = Dialogue::default();
        assert_eq!(Dialogue::opening(), b"{\"id\":\"get_state\",\"type\":\"get_state\"}\n");
        // A list that was not asked for yet, noise, half a line.
        let noise = format!("hello\n{GOT_LIST}\n[]\n{{\"type\":\"other\"}}\n");
        assert_eq!(dialogue.feed(noise.as_bytes()), Step::More);
        let (head, tail) = GOT_STATE.split_at(30);
        assert_eq!(dialogue.feed(head.as_bytes()), Step::More);
        let say = dialogue.feed(format!("{tail}\n").as_bytes());
        assert_eq!(say, Step::Say(b"{\"id\":\"get_available_models\",\"type\":\"get_available_models\"}\n".to_vec()));
        let Step::Done(offer) = dialogue.feed(format!("{GOT_LIST}\n").as_bytes()) else { panic!("not done") };
        assert_eq!(offer.default, Some(("acme".to_owned(), "v/one".to_owned())));
        assert_eq!(offer.thinking.as_deref(), Some("medium"));
        let [one, plain] = offer.models.as_slice() else { panic!("{offer:?}") };
        assert_eq!((one.id.as_str(), one.context_window), ("v/one", Some(200_000)));
        assert_eq!(one.levels, ["off", "minimal", "medium", "high", "max"]);
        assert_eq!(
            (plain.id.as_str(), plain.levels.as_slice(), plain.context_window),
            ("plain", &["off".to_owned()][..], None)
        );
        assert!(!serde_json::to_string(&offer).unwrap().contains("s3cret"), "only the needed fields");
    }

    #[test]
    fn nothing_set_up_and_refusals_are_told_apart() {
        let nothing = r#"{"type":"response","command":"get_state","success":true,"data":{"model":{"provider":"unknown","id":"unknown"},"thinkingLevel":"loud"}}"#;
        let empty = r#"{"type":"response","command":"get_available_models","success":true,"data":{"models":[]}}"#;
        let mut dialogue = Dialogue::default();
        // Both at once.
        let step = dialogue.feed(format!("{nothing}\n{empty}\n").as_bytes());
        assert_eq!(step, Step::Done(Offer::default()));
        let table = [
            (
                r#"{"type":"response","command":"get_state","success":false,"error":"no\nway"}"#,
                "refused get_state: no way",
            ),
            (r#"{"type":"response","command":"get_state"}"#, "refused get_state"),
        ];
        for (line, wanted) in table {
            assert_eq!(Dialogue::default().feed(format!("{line}\n").as_bytes()), Step::Failed(wanted.to_owned()));
        }
        let mut dialogue = Dialogue { has_state: true, ..Dialogue::default() };
        let odd = r#"{"type":"response","command":"get_available_models","success":true,"data":{"models":7}}"#;
        assert!(
            matches!(dialogue.feed(format!("{odd}\n").as_bytes()), Step::Failed(text) if text.contains("without a list"))
        );
    }

    #[test]
    fn a_list_without_end_is_cut() {
        let one = r#"{"provider":"p","id":"i"}"#;
        let list = vec![one; MODELS + 5].join(",");
        let mut dialogue = Dialogue { has_state: true, ..Dialogue::default() };
        let line = format!(
            r#"{{"type":"response","command":"get_available_models","success":true,"data":{{"models":[{list}]}}}}"#
        );
        let Step::Done(offer) = dialogue.feed(format!("{line}\n").as_bytes()) else { panic!("not done") };
        assert_eq!(offer.models.len(), MODELS);
    }
}
