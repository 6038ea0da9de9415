//! What a child gets to know (F23 by decision A11), told by its own tools.

use std::fs;
use std::path::Path;

use subagentd_proto::run::State;
use subagentd_tests::{LOOP, Pi, Provider, Turn};

#[tokio::test]
async fn a_child_knows_its_client_and_not_its_daemon() {
    let Some(mut pi) = Pi::with(&[("log.level", "trace")]).await else { return };
    let provider = Provider::start();
    pi.connect(&provider);
    let told = pi.directory("told");
    let arguments = "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; echo; done 2>/dev/null";
    let command = format!(
        "env >'{0}/env'; {arguments} >'{0}/arguments'; pwd -P >'{0}/pwd'; umask >'{0}/umask'; ulimit -s >'{0}/stack'",
        told.display()
    );
    provider.script("tell all", &[Turn::Bash(command), Turn::Say("told")]);
    pi.set("PLANTED_DAEMON", "s3cret-d");
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let path = format!("{}:/of/the/client", pi.ask("x", "x").params.capture.environment.unwrap().variables["PATH"]);
    let mut ask = pi.bare("worker", "tell all").variable("PLANTED_CLIENT", "s3cret-c").variable("PATH", &path);
    ask.params.model = Some(LOOP.to_owned());
    for name in
        ["TERM_PROGRAM", "LISTEN_FDS", "NOTIFY_SOCKET", "GIT_DIR", "NODE_OPTIONS", "ELECTRON_RUN_AS_NODE", "VSCODE_PID"]
    {
        ask = ask.variable(name, "of-the-client");
    }
    let environment = ask.params.capture.environment.as_mut().unwrap();
    environment.umask = Some(0o027);
    environment.limits.insert("stack".to_owned(), 4 << 20);
    let view = owner.run(&ask).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    let read = |name: &str| fs::read_to_string(told.join(name)).unwrap();
    let environment = read("env");
    let has = |line: &str| environment.lines().any(|found| found == line);
    assert!(has("PLANTED_CLIENT=s3cret-c"), "{environment}");
    // pi puts its own folder of programs before or behind it.
    assert!(environment.lines().any(|line| line.starts_with("PATH=") && line.contains(&path)), "{environment}");
    assert!(has(&format!("SUBAGENTD_ATTEMPT={}/0.1", view.run)), "{environment}");
    assert!(!environment.contains("s3cret-d") && !environment.contains("of-the-client"), "{environment}");
    assert!(!read("arguments").contains("s3cret"), "{}", read("arguments"));
    assert_eq!(read("pwd").trim_end(), pi.work().to_str().unwrap());
    assert_eq!((read("umask").trim_end(), read("stack").trim_end()), ("0027", "4096"));
    daemon.stop().await;
    let logs = pi.logs();
    assert!(logs.contains("DEBUG") && !logs.contains("s3cret"), "the most talkative log names no value");
    // Values stand in the files of environments alone, which nobody else can read.
    for file in super::below(&pi.state()).into_iter().filter(|path| path.is_file()) {
        let kept = fs::read(&file).unwrap();
        let holds = kept.windows(6).any(|bytes| bytes == b"s3cret");
        assert!(!holds || is_private_environment(&pi.state(), &file), "{} holds a secret", file.display());
    }
}

fn is_private_environment(state: &Path, file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.starts_with(state.join("env")) && file.metadata().unwrap().permissions().mode() & 0o077 == 0
}
