use super::*;

#[test]
fn short_and_long_forms_mean_the_same() {
    for (short, long) in [
        (r#"{"say":"a"}"#, r#"{"say":{"text":"a"}}"#),
        (r#"{"say":"a","stop":"error","error":"x"}"#, r#"{"say":{"text":"a","stop":"error","error":"x"}}"#),
        (r#"{"tool":"ls"}"#, r#"{"tool":{"name":"ls","args":{},"result":null}}"#),
        (r#"{"sleep":5}"#, r#"{"sleep":{"ms":5,"ignoreEnd":false}}"#),
        (r#"{"touch":"p"}"#, r#"{"touch":{"path":"p"}}"#),
        (r#"{"exit":3}"#, r#"{"exit":{"code":3}}"#),
        (r#"{"die":"KILL"}"#, r#"{"die":{"signal":9}}"#),
        (r#"{"beat":"p"}"#, r#"{"beat":{"path":"p","ms":50}}"#),
        (r#"{"fork":[{"sleep":1}],"setsid":true}"#, r#"{"fork":{"steps":[{"sleep":1}],"setsid":true}}"#),
        (r#"{"background":[{"exit":1}]}"#, r#"{"fork":{"steps":[{"exit":1}],"group":true}}"#),
        (r#"{"background":[],"group":false}"#, r#"{"fork":{}}"#),
        (r#"{"forkLoop":9}"#, r#"{"forkLoop":{"ms":9,"width":1,"eachMs":0}}"#),
        (r#"{"ignore":["TERM"]}"#, r#"{"ignore":{"signals":["SIGTERM"],"ignoreInput":false}}"#),
        (r#"{"onTerm":[{"say":"a"}]}"#, r#"{"onTerm":{"steps":[{"say":{"text":"a"}}]}}"#),
        (r#"{"raw":"\\x41\\\\B"}"#, r#"{"raw":{"bytes":"A\\x5cB"}}"#),
        (r#"{"raw":"ab","times":2}"#, r#"{"raw":"abab"}"#),
        (r#"{"stderr":"a"}"#, r#"{"stderr":{"text":"a"}}"#),
        (r#"{"hang":{}}"#, r#"{"hang":120000}"#),
        (r#"{"listen":{}}"#, r#"{"listen":120000}"#),
        (r#"{"resumed":{"say":"a"}}"#, r#"{"resumed":{"say":{"text":"a"}}}"#),
    ] {
        assert_eq!(parse_line(short).unwrap(), parse_line(long).unwrap(), "{short}");
    }
}

#[test]
fn errors_name_the_line_and_the_reason() {
    let long = format!("{{\"fork\":[{{\"stderr\":\"{}\"}}]}}", "x".repeat(70_000));
    for (text, line, says) in [
        ("{\"say\":\"a\"}\n\n{\"shout\":1}", 3, "exactly one step, found [\"shout\"]"),
        ("[]", 1, "found a list"),
        ("{\"say\":\"a\",\"stop\":\"maybe\"}", 1, "stop is one of"),
        ("{\"sleep\":{\"seconds\":1}}", 1, "unknown field `seconds`"),
        ("{\"exit\":300}", 1, "exit:"),
        ("{\"die\":\"CHLD\"}", 1, "is none of"),
        ("{\"before\":{\"say\":\"a\"}}", 1, "cannot stand in before"),
        ("{\"say\":\"a\",\"exit\":1}", 1, "exactly one step"),
        ("{", 1, "EOF"),
        ("{\"ignore\":[\"ALRM\"]}", 1, "ignore: \"ALRM\" is none of"),
        ("{\"ignore\":[\"KILL\"]}", 1, "is none of"),
        ("{\"beat\":\"p\",\"ms\":0}", 1, "at least 1"),
        ("{\"fork\":[{\"sleep\":1},{\"say\":\"a\"}]}", 1, "fork: step 2: a grandchild speaks no dialect"),
        ("{\"fork\":[{\"fork\":[{\"tool\":\"ls\"}]}]}", 1, "fork: step 1: fork: step 1: a grandchild"),
        ("{\"fork\":[],\"loud\":true}", 1, "fork: unknown field `loud`"),
        ("{\"fork\":[],\"double\":true,\"wait\":true}", 1, "cannot be waited for"),
        (&long, 1, "at most 65536 are passed on"),
        ("{\"forkLoop\":31000}", 1, "ms at most 30000"),
        ("{\"forkLoop\":5,\"width\":33}", 1, "width is 1 to 32"),
        ("{\"forkLoop\":5,\"wait\":true}", 1, "unknown field `wait`"),
        ("{\"onTerm\":[{\"tool\":\"ls\"}]}", 1, "onTerm: step 1: tool, listen and onTerm"),
        ("{\"onTerm\":[{\"onTerm\":[]}]}", 1, "onTerm: step 1: tool, listen and onTerm"),
        ("{\"raw\":\"\\\\n\"}", 1, "two hex digits"),
        ("{\"raw\":\"\\\\xé\"}", 1, "two hex digits"),
        ("{\"raw\":\"a\\\\\"}", 1, "raw:"),
        ("{\"raw\":\"ab\",\"times\":4000000000}", 1, "more than 67108864 bytes"),
        ("{\"hang\":120001}", 1, "at most 120000"),
        ("{\"listen\":120001}", 1, "listen: ms is at most 120000"),
        ("{\"after\":{\"listen\":1}}", 1, "cannot stand in after"),
        ("{\"resumed\":{\"say\":\"a\"},\"exit\":1}", 1, "resumed stands alone"),
        ("{\"fork\":[{\"listen\":1}]}", 1, "a grandchild speaks no dialect"),
    ] {
        let (at, why) = Script::parse(text).unwrap_err();
        assert_eq!(at, line, "{text}");
        assert!(why.contains(says), "{text}: {why}");
    }
}
