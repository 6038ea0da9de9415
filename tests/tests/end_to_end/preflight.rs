//! What a launch decides: told ahead without a trace, bound by the settings, and taken once.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use subagentd_proto::error::Kind;
use subagentd_proto::method::{ProfileList, RunPreflight};
use subagentd_proto::profile;
use subagentd_proto::run::{Capture, CapturedConversation, CapturedInstructions, PreflightResponse, State};
use subagentd_tests::{Ask, Owner, Puppet, Script, Site, fault};

async fn preflight(owner: &Owner, ask: &Ask) -> PreflightResponse {
    owner.call::<RunPreflight>(ask.params.clone()).await.unwrap()
}

async fn refused(owner: &Owner, ask: &Ask) -> subagentd_proto::error::Fault {
    let ahead = fault(owner.call::<RunPreflight>(ask.params.clone()).await);
    assert_eq!(fault(owner.try_launch(ask).await), ahead, "a launch is refused in the same words");
    ahead
}

/// Adds what a host states to the environment that an ask has.
fn stating(mut ask: Ask, stated: Value) -> Ask {
    let environment = ask.params.capture.environment.take();
    ask.params.capture = Capture { environment, ..serde_json::from_value(stated).unwrap() };
    ask
}

fn text(path: impl AsRef<Path>) -> String {
    path.as_ref().to_str().unwrap().to_owned()
}

fn levels(id: &str) -> Value {
    json!({"provider": "acme", "id": id, "reasoning": true, "levels": ["off", "low", "medium", "high"]})
}

/// A host on the largest of three models, with a tool of an extension.
fn host() -> Value {
    json!({
        "parentModel": levels("claude-opus-4-5"),
        "parentThinking": "high",
        "models": [levels("claude-opus-4-5"), levels("claude-sonnet-4-5"), levels("claude-haiku-4-5")],
        "tools": [{"name": "read"}, {"name": "bash"}, {"name": "web", "supplier": {"kind": "package", "name": "npm:web"}, "effect": "none"}],
        "trusted": true,
    })
}

#[tokio::test]
async fn a_preflight_tells_what_the_launch_stores_and_leaves_no_trace() {
    let site = Site::new();
    fs::write(site.work().join("AGENTS.md"), "be brief\n").unwrap();
    fs::write(site.path("parent.jsonl"), "{\"type\":\"session\",\"id\":\"s\"}\n").unwrap();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let script = Script::new().say("done");
    let mut conversation = stating(site.play("debug", &script), host());
    conversation.params.capture.conversation =
        Some(CapturedConversation { path: text(site.path("parent.jsonl")), leaf: None });
    let mut asks = vec![
        site.play("explore", &script),
        site.play("worker", &script).task("another"),
        site.play("worker", &script).task(&"long ".repeat(20_000)).timeout(1_000),
        stating(site.play("worker", &script), host()),
        conversation,
        stating(site.play("reviewer", &script), json!({"trusted": true, "statedBy": "flag"})),
    ];
    asks[1].params.capture.environment = None;
    let mut ahead = Vec::new();
    for ask in &asks {
        ahead.push(preflight(&owner, ask).await);
        assert_eq!(preflight(&owner, ask).await, *ahead.last().unwrap(), "it is told again in the same words");
    }
    let kept = |name: &str| fs::read_dir(site.state().join(name)).unwrap().count();
    assert_eq!((kept("env"), kept("runs")), (0, 0));
    assert!(owner.list().await.is_empty());
    for (ask, ahead) in asks.iter().zip(&ahead) {
        let launched = owner.launch(ask).await;
        assert_eq!(launched.digest.as_ref(), Some(&ahead.digest), "{ask:?}");
        assert!(!ahead.decisions.definition.is_empty(), "{ahead:?}");
        let mut decisions = ahead.decisions.clone();
        decisions.definition.clear();
        assert_eq!((&launched.decisions, &launched.remarks), (&decisions, &ahead.remarks));
        let view = owner.wait(&launched.run).await;
        assert_eq!((view.state, &view.children[0].decisions), (State::Succeeded, &decisions));
        let answer = view.children[0].reference.as_ref().unwrap();
        assert!(answer.path.ends_with(&ahead.output), "{answer:?}");
    }
    let mut digests: Vec<_> = ahead.iter().map(|ahead| ahead.digest.as_str()).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), asks.len(), "each is another child");
    let keyed = asks[0].clone().key("k");
    let first = owner.launch(&keyed).await;
    assert_eq!(owner.launch(&keyed).await.digest, first.digest, "and a repeated launch has the stored one");
}

/// Writes down what the child was started with, by attempt.
const SHOW: &str = r#"
n=${SUBAGENTD_ATTEMPT##*.}
printf '%s\n' "$@" > "$END_TO_END_PUPPET/words.$n"
last=
for word in "$@"; do
    case $last in
        --append-system-prompt) cat "$word" > "$END_TO_END_PUPPET/instructions.$n" ;;
        --fork) cat "$word" > "$END_TO_END_PUPPET/conversation.$n" ;;
    esac
    last=$word
done
settle
"#;

#[tokio::test]
async fn what_changes_while_a_run_waits_touches_neither_it_nor_its_resume() {
    let site = Site::with(&[("limits.children", "1")]);
    let agents = site.directory("home/.pi/agent/agents");
    let agent = |words: &str, tools: &str| {
        fs::write(agents.join("mine.md"), format!("---\ntools: {tools}\ninherit_context: true\n---\n{words}\n"))
            .unwrap();
    };
    let standing = |words: &str| {
        fs::write(site.work().join("AGENTS.md"), format!("project {words}\n")).unwrap();
        fs::write(site.path("home/.pi/agent/AGENTS.md"), format!("user {words}\n")).unwrap();
    };
    let conversation = |words: &str| {
        let line = json!({"type": "session", "id": "s", "words": words});
        fs::write(site.path("parent.jsonl"), format!("{line}\n")).unwrap();
    };
    let all = |words: &str, tools: &str| {
        agent(words, tools);
        standing(words);
        conversation(words);
    };
    all("as of the launch", "read, grep, find, ls");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let holder = Puppet::new(&site, "gate; settle", "held");
    owner.begin(&site.puppet("explore", &holder)).await;
    let puppet = Puppet::new(&site, SHOW, "shown");
    let mut ask = stating(site.puppet("mine", &puppet), json!({"trusted": true}));
    ask.params.capture.conversation = Some(CapturedConversation { path: text(site.path("parent.jsonl")), leaf: None });
    let launched = owner.launch(&ask).await;
    assert_eq!((launched.state, launched.decisions.context.value.as_str()), (State::Queued, "parent"));
    let files = &launched.decisions.standing.as_ref().unwrap().reason;
    assert!(files.contains("work/AGENTS.md") && files.contains("agent/AGENTS.md"), "{files}");

    all("as of later", "read, bash");
    site.configure("[ceiling]\nagents = [\"explore\"]\ntools = [\"read\"]\n");
    assert_eq!(refused(&owner, &ask).await.kind, Kind::AboveCeiling, "what comes later is bound");
    holder.open_gate().await;
    let view = owner.wait(&launched.run).await;
    assert_eq!((view.state, &view.children[0].decisions), (State::Succeeded, &launched.decisions), "{view:?}");
    let shown = |name: &str| fs::read_to_string(puppet.folder().join(name)).unwrap();
    assert!(shown("conversation.1").contains("as of the launch"));
    owner.resume(&launched.run, &ask, Some("go on")).await.unwrap();
    assert_eq!(owner.wait(&launched.run).await.state, State::Succeeded);
    for attempt in ["1", "2"] {
        let words = shown(&format!("words.{attempt}"));
        assert!(words.contains("read,grep,find,ls") && !words.contains("bash"), "{words}");
        let instructions = shown(&format!("instructions.{attempt}"));
        assert_eq!(instructions.matches("as of the launch").count(), 3, "{instructions}");
        assert!(!instructions.contains("as of later"), "{instructions}");
        let user = instructions.find("user as of").unwrap();
        assert!(user < instructions.find("project as of").unwrap(), "{instructions}");
    }
}

#[tokio::test]
async fn a_host_names_the_instructions_of_its_own_directory_only() {
    let site = Site::new();
    fs::write(site.path("hosts.md"), "of the host\n").unwrap();
    let elsewhere = site.directory("work/elsewhere");
    fs::write(elsewhere.join("CLAUDE.md"), "of that directory\n").unwrap();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let instructions = |directory: &Path, trusted: bool| {
        let puppet = Puppet::new(&site, SHOW, "shown");
        let mut ask = stating(site.puppet("explore", &puppet), json!({"trusted": trusted})).directory(directory);
        ask.params.capture.instructions =
            Some(CapturedInstructions { directory: text(site.work()), files: vec![text(site.path("hosts.md"))] });
        (ask, puppet.folder().join("instructions.1"))
    };
    for (directory, trusted, wanted, not) in [
        (site.work(), false, Some("of the host"), "of that directory"),
        (elsewhere.clone(), true, Some("of that directory"), "of the host"),
        (elsewhere, false, None, "of that directory"),
    ] {
        let (ask, file) = instructions(&directory, trusted);
        let view = owner.run(&ask).await;
        assert_eq!(view.state, State::Succeeded, "{view:?}");
        let heard = fs::read_to_string(file).unwrap();
        assert!(wanted.is_none_or(|wanted| heard.contains(wanted)) && !heard.contains(not), "{directory:?}: {heard}");
        let standing = view.children[0].decisions.standing.clone().unwrap();
        assert_eq!(standing.value.is_some(), wanted.is_some());
        assert_eq!(standing.alternatives.len(), usize::from(wanted.is_none()), "{standing:?}");
    }
    let (mut ask, _) = instructions(&site.work(), true);
    let large = site.path("large.md");
    fs::write(&large, "x".repeat(1024 * 1024 + 1)).unwrap();
    ask.params.capture.instructions.as_mut().unwrap().files = vec![text(&large)];
    let refusal = refused(&owner, &ask).await;
    assert!(refusal.kind == Kind::Limit && refusal.message.contains("large.md"), "{refusal}");
}

#[tokio::test]
async fn ceilings_narrow_and_refuse_and_never_widen() {
    let site = Site::new();
    site.configure(
        "[ceiling]\ntools = [\"read\", \"bash\", \"web\"]\nthinking = \"low\"\n\
         [owners.\"host:*\".ceiling]\nagents = [\"explore\", \"debug\"]\ndeny_extensions = true\n",
    );
    let daemon = site.start();
    let (owner, host_owner) = (daemon.owner("me").await, daemon.owner("host:1").await);
    let ask = |agent: &str| {
        let mut ask = stating(site.ask(agent, "x"), host()).runtime("puppet");
        ask.params.capture.tools.as_mut().unwrap().push(serde_json::from_value(json!({"name": "write"})).unwrap());
        ask
    };
    let worker = preflight(&owner, &ask("worker")).await.decisions;
    assert_eq!(worker.tools.value, ["read", "bash", "web"]);
    let out = &worker.tools.alternatives[0];
    assert!(out.value == "write" && out.reason.contains("config.toml"), "{out:?}");
    assert_eq!((worker.model.value.as_str(), worker.thinking.value.as_str()), ("acme/claude-sonnet-4-5", "low"));
    assert_eq!(worker.thinking.source, "configuration", "{:?}", worker.thinking);
    let debug = preflight(&host_owner, &ask("debug")).await.decisions;
    assert_eq!(debug.tools.value, ["read", "bash"], "the owner's ceiling takes more");

    let refusal = refused(&host_owner, &ask("worker")).await;
    assert_eq!(refusal.kind, Kind::AboveCeiling);
    assert!(refusal.message.contains("`host:*`") && refusal.message.contains("worker"), "{refusal}");
    let mut high = ask("worker");
    high.params.thinking = Some("high".to_owned());
    assert_eq!(refused(&owner, &high).await.kind, Kind::AboveCeiling);
    high.params.thinking = Some("off".to_owned());
    assert_eq!(refused(&owner, &high).await.kind, Kind::ThinkingOffProhibited);
    assert!(owner.list().await.is_empty());
}

#[tokio::test]
async fn a_project_has_a_say_only_when_it_is_trusted() {
    let site = Site::new();
    let folder = site.directory("work/.subagentd");
    let write = |text: &str| fs::write(folder.join("config.toml"), text).unwrap();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let ask = |trusted: bool| {
        let mut stated = host();
        stated["trusted"] = json!(trusted);
        stating(site.ask("worker", "x"), stated).runtime("puppet")
    };
    let plain = preflight(&owner, &ask(true)).await;
    assert_eq!(plain.decisions.model.value, "acme/claude-sonnet-4-5");
    write(
        "[profiles.claude]\ngroup = \"size\"\ntiers = [{ name = \"opus\", size = \"XL\" }, { name = \"haiku\", size = \"L\" }]\n[tools.effects]\nweb = \"write\"\n[limits]\nchildren = 9\n",
    );
    assert_eq!(preflight(&owner, &ask(false)).await.decisions.model.value, "acme/claude-sonnet-4-5");
    let trusted = preflight(&owner, &ask(true)).await;
    assert_eq!(trusted.decisions.model.value, "acme/claude-haiku-4-5", "{:?}", trusted.decisions.model);
    assert_eq!(trusted.remarks.iter().filter(|code| *code == "settings.problems").count(), 1);
    let problem = &trusted.problems[0];
    assert!(problem.file.ends_with("work/.subagentd/config.toml") && problem.line == 6, "{problem:?}");
    assert_ne!(trusted.digest, plain.digest);

    let profiles = async |trusted: Option<bool>| {
        let params = profile::ListParams { directory: Some(text(site.work())), trusted };
        owner.call::<ProfileList>(params).await.unwrap()
    };
    let source =
        |list: &profile::ListResponse| list.profiles.iter().find(|one| one.family == "claude").unwrap().source.clone();
    assert_eq!(source(&profiles(None).await), "builtin");
    assert_eq!(source(&profiles(Some(true)).await), "project");
    write("[profiles.claude]\ngroup = \"sizes\"\n");
    let faulty = profiles(Some(true)).await.profiles.into_iter().find(|one| one.family == "claude").unwrap();
    assert!(faulty.group.is_none() && faulty.faults[0].contains("profiles.claude.group"), "{faulty:?}");
    let kept = preflight(&owner, &ask(true)).await.decisions;
    assert_eq!(
        (kept.model.value.as_str(), kept.model_reason.as_deref()),
        ("acme/claude-opus-4-5", Some("retained.profile-invalid"))
    );

    write("a = \n");
    assert_eq!(preflight(&owner, &ask(false)).await.digest, preflight(&owner, &ask(false)).await.digest);
    let refusal = refused(&owner, &ask(true)).await;
    assert_eq!((refusal.kind, refusal.at.unwrap().line), (Kind::SettingsBroken, Some(1)));
}

#[tokio::test]
async fn callers_without_a_host_get_what_is_said_of_them() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let ask = || site.ask("worker", "x").runtime("puppet");
    assert_eq!(refused(&owner, &ask()).await.kind, Kind::ModelUnavailable, "nobody names a model");
    let file = site.path("config/subagentd/config.toml");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("parent_model = \"acme/large-2\"\nparent_thinking = \"high\"\n{before}")).unwrap();
    let told = preflight(&owner, &ask()).await.decisions;
    assert_eq!((told.model.value.as_str(), told.model.source.as_str()), ("acme/large-2", "configuration"));
    assert_eq!(told.tools.value, ["read", "bash", "edit", "write"]);
    assert_eq!((told.tools.source.as_str(), told.trusted.unwrap().value), ("default", false));
    let flags = stating(ask(), json!({"tools": [{"name": "read"}], "trusted": true, "statedBy": "flag"}));
    let told = preflight(&owner, &flags).await.decisions;
    assert_eq!((told.tools.value.as_slice(), told.tools.source.as_str()), (["read".to_owned()].as_slice(), "flag"));
    assert_eq!(told.trusted.unwrap().source, "flag");
    let mut models = stating(ask(), json!({"models": [levels("small-1")]}));
    let refusal = refused(&owner, &models).await;
    assert_eq!(refusal.kind, Kind::ModelUnavailable);
    assert!(refusal.message.contains("parent_model"), "{refusal}");
    models.params.model = Some("acme/small-1".to_owned());
    preflight(&owner, &models).await;

    let debug = site.ask("debug", "x");
    assert_eq!(preflight(&owner, &debug).await.decisions.context.value, "fresh");
    let mut parent = debug;
    parent.params.context = Some("parent".to_owned());
    assert_eq!(refused(&owner, &parent).await.kind, Kind::ContextUnavailable);
    let refusal = refused(&owner, &stating(ask(), json!({"tools": [{"name": "a,b"}]}))).await;
    assert_eq!(refusal.kind, Kind::InvalidParams);
    assert!(refusal.message.contains("capture.tools[0].name"), "{refusal}");
}

#[tokio::test]
async fn the_command_line_explains_what_it_would_launch() {
    let site = Site::new();
    let folder = site.directory("work/.subagentd");
    fs::write(folder.join("config.toml"), "[ceiling]\nagents = [\"explore\"]\n").unwrap();
    let said = site.cli(&["explain", "worker", "mend it", "--parent-tools", "read,bash", "--json", "--detach"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let told: PreflightResponse = serde_json::from_value(said.document()).unwrap();
    assert_eq!(told.decisions.tools.source, "flag");
    let said = site.cli(&["explain", "worker", "mend it", "--trust-project"]).await;
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.err.contains(".subagentd/config.toml"), "{said:?}");
    let launched = site.cli(&["run", "worker", "mend it", "--parent-tools", "read,bash", "--json", "--detach"]).await;
    assert_eq!(launched.document()["digest"], told.digest, "{launched:?}");
    let profiles = site.cli(&["profiles", "--json"]).await;
    assert_eq!(profiles.document()["profiles"].as_array().unwrap().len(), 8);
}

/// How long a launch takes that brings a great deal with it; the figures are printed.
#[tokio::test]
async fn a_large_host_is_taken_whole() {
    const ROUNDS: usize = 20;
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let holder = Puppet::new(&site, "gate; settle", "held");
    owner.begin(&site.puppet("explore", &holder)).await;
    let models: Vec<Value> = (0..500).map(|n| levels(&format!("vendor/some-model-of-that-name-{n}"))).collect();
    let supplier = json!({"kind": "package", "name": "npm:@somebody/some-package"});
    let tool = |n: usize| json!({"name": format!("mcp__server__tool_{n}"), "supplier": supplier, "readOnlyHint": true});
    let tools: Vec<Value> = (0..200).map(tool).collect();
    let mut stated = host();
    stated["models"].as_array_mut().unwrap().extend(models);
    stated["tools"].as_array_mut().unwrap().extend(tools);
    let median = async |stated: Value, told: &str| {
        let ask = stating(site.ask("worker", "x").runtime("puppet"), stated);
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let launched = owner.launch(&ask).await;
            times.push(begun.elapsed());
            owner.cancel(&launched.run).await;
        }
        times.sort_unstable();
        println!("a launch with {told}: median {:?}, worst {:?}", times[ROUNDS / 2], times[ROUNDS - 1]);
        times[ROUNDS / 2]
    };
    let bytes = stated.to_string().len();
    median(json!({"parentModel": levels("claude-opus-4-5")}), "little").await;
    let large = median(stated, &format!("503 models and 203 tools ({bytes} bytes)")).await;
    assert!(large.as_millis() < 1_000, "{large:?}");
}
