//! Durations on the command line.

use jiff::SignedDuration;

/// Reads `90s`, `5m`, `1h 30m`, `250ms`; a bare `0` means no limit. Milliseconds.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    if text == "0" {
        return Ok(0);
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("say the unit: {text}s, {text}m or {text}h"));
    }
    let duration: SignedDuration = text.parse().map_err(|_| "write it like 90s, 5m, 1h30m or 250ms".to_owned())?;
    u64::try_from(duration.as_millis()).map_err(|_| "a duration cannot be negative".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let table = [
            ("0", Ok(0)),
            ("90s", Ok(90_000)),
            ("5m", Ok(300_000)),
            ("1h30m", Ok(5_400_000)),
            ("1h 30m", Ok(5_400_000)),
            ("250ms", Ok(250)),
            ("90", Err("say the unit: 90s, 90m or 90h".to_owned())),
            ("-5s", Err("a duration cannot be negative".to_owned())),
            ("soon", Err("write it like 90s, 5m, 1h30m or 250ms".to_owned())),
            ("", Err("write it like 90s, 5m, 1h30m or 250ms".to_owned())),
        ];
        for (text, wanted) in table {
            let wanted: Result<u64, String> = wanted;
            assert_eq!(parse(text), wanted, "{text:?}");
        }
    }
}
