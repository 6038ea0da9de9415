//! From a model's id to family, version and tier, and back to the id of another tier.

use super::family::{Family, Order};

/// Digits of one part of a version that stands after its tier; a longer number there is no version.
const PART_DIGITS: usize = 2;

/// An id, taken apart. Every part is a piece of the id itself, so what is built from it is spelled as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading<'a> {
    pub(super) family: Family,
    /// Everything before the first of version and tier.
    head: &'a str,
    pub(super) version: &'a str,
    /// The rest, without the date: a tier, if a ladder has it.
    rest: &'a str,
    order: Order,
    dated: bool,
}

/// Why an id cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    Family,
    Version(Family),
}

/// A tier of a ladder, as an id spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Its place on the ladder.
    pub(super) place: usize,
    /// Whether the id carries a date.
    pub(super) dated: bool,
}

impl<'a> Reading<'a> {
    pub(super) fn of(id: &'a str) -> Result<Self, Unread> {
        let name = name_of(id);
        let family = family_of(name).ok_or(Unread::Family)?;
        let bare = undated(name);
        let dated = bare.len() < name.len();
        let unread = Unread::Version(family);
        let body = body_of(bare, family).ok_or(unread)?;
        let before = (id.len() - name.len()) + (bare.len() - body.len());
        let head = id.get(..before).ok_or(unread)?;
        let order = match family.naming().order {
            Order::TierFirst if !body.starts_with(|first: char| first.is_ascii_digit()) => Order::TierFirst,
            _ => Order::VersionFirst,
        };
        let hyphenated = family.naming().order == Order::TierFirst;
        let (version, rest) = match order {
            Order::VersionFirst => leading_version(body, hyphenated),
            Order::TierFirst => trailing_version(body),
        }
        .ok_or(unread)?;
        Ok(Self { family, head, version, rest, order, dated })
    }

    /// The tier's place among the names of a ladder.
    pub(super) fn find(&self, names: &[&str]) -> Option<Found> {
        let place = |tier: &str| names.iter().position(|name| name.eq_ignore_ascii_case(tier));
        if let Some(place) = place(self.rest) {
            return Some(Found { place, dated: self.dated });
        }
        let stamped = self.family.naming().month_and_day && !self.dated;
        let (tier, stamp) = self.rest.rsplit_once('-').filter(|_| stamped)?;
        let place = place(tier).filter(|_| !tier.is_empty() && is_month_and_day(stamp))?;
        Some(Found { place, dated: true })
    }

    /// The tier, as the id spells it.
    pub(super) const fn tier(&self) -> &'a str {
        self.rest
    }

    /// The id of another tier at this version. `None` if that would be read as anything else: a name that looks like a
    /// date or the end of a version must not lead out of the version.
    pub(super) fn spell(&self, tier: &str) -> Option<String> {
        let Self { head, version, .. } = self;
        let id = match self.order {
            Order::VersionFirst if tier.is_empty() => format!("{head}{version}"),
            Order::VersionFirst => format!("{head}{version}-{tier}"),
            Order::TierFirst => format!("{head}{tier}-{version}"),
        };
        let same = Reading::of(&id).is_ok_and(|read| self.is_sibling(&read));
        same.then_some(id)
    }

    /// Whether the other is an id of this family, version and spelling, without a date.
    fn is_sibling(&self, other: &Reading<'_>) -> bool {
        let Self { family, order, head, version, .. } = *self;
        (other.family, other.order, other.head, other.version) == (family, order, head, version) && !other.dated
    }
}

/// The id without its namespace: what ends at the last slash, and a dotted prefix of words before a family's word, as
/// in `us.vendor.gpt-5`.
fn name_of(id: &str) -> &str {
    let name = id.rsplit_once('/').map_or(id, |(_, name)| name);
    let mut rest = name;
    while let Some((word, after)) = rest.split_once('.') {
        if word.is_empty() || !word.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-') {
            break;
        }
        rest = after;
    }
    if family_of(rest).is_some() { rest } else { name }
}

/// The family whose word the name starts with. A letter after it makes it another word.
fn family_of(name: &str) -> Option<Family> {
    let starts = |family: &Family| {
        after_word(name, family.word()).is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphabetic()))
    };
    Family::ALL.into_iter().find(starts)
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// What stands from the first of version and tier on.
fn body_of(name: &str, family: Family) -> Option<&str> {
    let after = after_word(name, family.word())?;
    family.naming().leads.iter().find_map(|lead| after_word(after, lead))
}

/// A version, and what follows after a hyphen.
fn leading_version(body: &str, hyphenated: bool) -> Option<(&str, &str)> {
    let major = digits(body);
    if major == 0 || (hyphenated && major > PART_DIGITS) {
        return None;
    }
    let after = body.get(major..)?;
    let joined = after.starts_with('.') || (hyphenated && after.starts_with('-'));
    let minor = after.get(1..).filter(|_| joined).map_or(0, digits);
    let is_minor = minor > 0 && (!hyphenated || minor <= PART_DIGITS);
    let length = if is_minor && ends_here(after.get(1 + minor..)?) { major + 1 + minor } else { major };
    let (version, rest) = body.split_at_checked(length)?;
    match rest {
        "" => Some((version, "")),
        rest => rest.strip_prefix('-').filter(|tier| !tier.is_empty()).map(|tier| (version, tier)),
    }
}

/// A version that ends the text, and the tier before its hyphen.
fn trailing_version(body: &str) -> Option<(&str, &str)> {
    let (before, last) = body.rsplit_once('-')?;
    let (tier, version) = match before.rsplit_once('-') {
        Some((tier, major)) if is_part(major) && is_part(last) => (tier, body.get(tier.len() + 1..)?),
        _ if is_part(last) || last.split_once('.').is_some_and(|(major, minor)| is_part(major) && is_part(minor)) => {
            (before, last)
        }
        _ => return None,
    };
    (!tier.is_empty()).then_some((version, tier))
}

fn is_part(text: &str) -> bool {
    (1..=PART_DIGITS).contains(&text.len()) && digits(text) == text.len()
}

/// How many digits the text starts with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn ends_here(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('-')
}

/// Whether a tier of this name would put a date into an id.
pub(super) fn is_dated(family: Family, tier: &str) -> bool {
    let name = format!("-{tier}");
    let stamp = family.naming().month_and_day.then(|| name.rsplit_once('-')).flatten();
    undated(&name).len() < name.len() || stamp.is_some_and(|(_, stamp)| is_month_and_day(stamp))
}

/// The name without a date at its end, `-20260131` or `-2026-01-31`.
fn undated(name: &str) -> &str {
    let Some((before, last)) = name.rsplit_once('-') else {
        return name;
    };
    if last.len() == 8 && last.get(4..).is_some_and(is_month_and_day) && digits(last) == 8 {
        return before;
    }
    let split = before.rsplit_once('-').and_then(|(before, month)| Some((before.rsplit_once('-')?, month)));
    match split {
        Some(((before, year), month)) if digits(year) == 4 && year.len() == 4 && is_month(month) && is_day(last) => {
            before
        }
        _ => name,
    }
}

fn is_month_and_day(text: &str) -> bool {
    text.len() == 4 && text.split_at_checked(2).is_some_and(|(month, day)| is_month(month) && is_day(day))
}

fn is_month(text: &str) -> bool {
    in_range(text, 12)
}

fn is_day(text: &str) -> bool {
    in_range(text, 31)
}

fn in_range(text: &str, most: u8) -> bool {
    text.len() == 2 && digits(text) == 2 && text.parse().is_ok_and(|number: u8| (1..=most).contains(&number))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{Family, Reading, Unread};

    /// `family version tier [dated]`, or `no FAMILY version`, or `unknown`.
    fn told(id: &str) -> String {
        match Reading::of(id) {
            Ok(read) => {
                let dated = if read.dated { " dated" } else { "" };
                format!("{} {} {}{dated}", read.family.word(), read.version, read.rest)
            }
            Err(Unread::Version(family)) => format!("no {} version", family.word()),
            Err(Unread::Family) => "unknown".to_owned(),
        }
    }

    #[rstest]
    #[case("gpt-5.6-sol", "gpt 5.6 sol")]
    #[case("gpt-5.4", "gpt 5.4 ")]
    #[case("gpt-5-mini-2025-08-07", "gpt 5 mini dated")]
    #[case("gpt-4-2024-04-09", "gpt 4  dated")]
    #[case("gpt-4-0613", "gpt 4 0613")]
    #[case("gpt-oss-120b", "no gpt version")]
    #[case("gpt-4o", "no gpt version")]
    #[case("gpt-5.", "no gpt version")]
    #[case("gpt-5-", "no gpt version")]
    #[case("gpt-5.1.2-sol", "no gpt version")]
    #[case("gpt", "no gpt version")]
    #[case("gpt-5.1-codex-max", "gpt 5.1 codex-max")]
    #[case("gpt-5.6-sol-pro", "gpt 5.6 sol-pro")]
    #[case("gpt-5.6-sol:batch", "gpt 5.6 sol:batch")]
    #[case("chatgpt-4o-latest", "unknown")]
    #[case("claude-opus-4-20250514", "claude 4 opus dated")]
    #[case("claude-haiku-4-5-20251001", "claude 4-5 haiku dated")]
    #[case("claude-opus-5.5", "claude 5.5 opus")]
    #[case("claude-4-opus", "claude 4 opus")]
    #[case("claude-3-5-sonnet-20241022", "claude 3-5 sonnet dated")]
    #[case("claude-3.5-sonnet", "claude 3.5 sonnet")]
    #[case("claude-opus-4-123", "no claude version")]
    #[case("claude-opus-4-5-fast", "no claude version")]
    #[case("claude-opus-4-5-20251101-v1:0", "no claude version")]
    #[case("claude-opus-4-20251399", "no claude version")]
    #[case("claude-fable-latest", "no claude version")]
    #[case("claude--4", "no claude version")]
    #[case("gemini-2.5-flash-lite", "gemini 2.5 flash-lite")]
    #[case("gemini-3.1-pro-preview", "gemini 3.1 pro-preview")]
    #[case("gemini-flash-latest", "no gemini version")]
    #[case("glm-5.1-air", "glm 5.1 air")]
    #[case("GLM-4.5-Air", "glm 4.5 Air")]
    #[case("glm-5.3", "glm 5.3 ")]
    #[case("glm-4.6v", "no glm version")]
    #[case("glm-5-2", "glm 5 2")]
    #[case("glm-5p3", "no glm version")]
    #[case("zai-glm-5-3", "unknown")]
    #[case("MiniMax-M3", "minimax 3 ")]
    #[case("MiniMax-M2.7-highspeed", "minimax 2.7 highspeed")]
    #[case("minimax-latest", "no minimax version")]
    #[case("qwen3-max", "qwen 3 max")]
    #[case("qwen-3-max", "qwen 3 max")]
    #[case("qwen3.8-27b", "qwen 3.8 27b")]
    #[case("qwen-plus", "no qwen version")]
    #[case("qwq-32b", "unknown")]
    #[case("mimo-v2-pro", "mimo 2 pro")]
    #[case("mimosa-v2-pro", "unknown")]
    #[case("deepseek-v4-pro-0813", "deepseek 4 pro-0813")]
    #[case("deepseek-v4", "deepseek 4 ")]
    #[case("deepseek-chat", "no deepseek version")]
    #[case("deepseek-r1-distill-qwen-32b", "no deepseek version")]
    #[case("openai/gpt-5.6-sol", "gpt 5.6 sol")]
    #[case("@cf/zai-org/glm-5.3-flash", "glm 5.3 flash")]
    #[case("us-gov.openai.gpt-5.6-sol", "gpt 5.6 sol")]
    #[case("qwen.qwen3-max", "qwen 3 max")]
    #[case("deepseek.v3-v1:0", "no deepseek version")]
    #[case("vendor4.gpt-5.6-sol", "unknown")]
    #[case("", "unknown")]
    #[case("gpt/", "unknown")]
    fn ids_are_read(#[case] id: &str, #[case] expected: &str) {
        assert_eq!(told(id), expected, "{id}");
    }

    #[rstest]
    #[case("openai/gpt-5.6-sol", "luna", Some("openai/gpt-5.6-luna"))]
    #[case("gpt-5-mini-2025-08-07", "", Some("gpt-5"))]
    #[case("MiniMax-M2.7-highspeed", "flash", Some("MiniMax-M2.7-flash"))]
    #[case("anthropic/claude-opus-4.5", "haiku", Some("anthropic/claude-haiku-4.5"))]
    #[case("us.anthropic.claude-opus-4-5-20251101", "haiku", Some("us.anthropic.claude-haiku-4-5"))]
    #[case("claude-3-5-sonnet-20241022", "haiku", Some("claude-3-5-haiku"))]
    #[case("Qwen-3-Max", "plus", Some("Qwen-3-plus"))]
    #[case("claude-opus-4", "sonnet-3", None)]
    #[case("claude-4-opus", "5-opus", None)]
    #[case("gpt-5-sol", "20250101", None)]
    #[case("gpt-5-sol", "../mini", None)]
    fn another_tier_is_spelled_as_the_parent_is(#[case] id: &str, #[case] tier: &str, #[case] expected: Option<&str>) {
        assert_eq!(Reading::of(id).unwrap().spell(tier).as_deref(), expected);
    }

    #[rstest]
    #[case("deepseek-v4-pro-0813", Some((0, true)))]
    #[case("deepseek-v4-PRO", Some((0, false)))]
    #[case("deepseek-v4", Some((1, false)))]
    #[case("deepseek-v3-0324", None)]
    #[case("deepseek-v4-pro-2507", None)]
    #[case("deepseek-v4-pro-0813-fast", None)]
    #[case("gpt-5-pro-0813", None)]
    fn a_tier_is_one_that_the_ladder_has(#[case] id: &str, #[case] expected: Option<(usize, bool)>) {
        let found = Reading::of(id).unwrap().find(&["pro", ""]);
        assert_eq!(found.map(|found| (found.place, found.dated)), expected);
        assert!(Family::ALL.is_sorted());
    }
}
