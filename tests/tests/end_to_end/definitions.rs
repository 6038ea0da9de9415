//! Agents as their files describe them: in the listing, in a launch, and in what the child is started with.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use subagentd_proto::agent::ListParams;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits::ADVICE_TASK_BYTES;
use subagentd_proto::method::AgentList;
use subagentd_proto::run::{Decisions, State};
use subagentd_tests::{Ask, Owner, Puppet, Script, Site, fault};

/// Keeps the child's command line and its standing instructions.
const KEEP: &str = r#"
printf '%s\n' "$@" > "$END_TO_END_PUPPET/argv"
( while [ $# -gt 0 ]; do
    [ "$1" != --append-system-prompt ] || cp "$2" "$END_TO_END_PUPPET/instructions"
    shift
done )
"#;

/// Makes a file, and the directory it is in.
fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

fn user(site: &Site, name: &str) -> PathBuf {
    site.path("home/.pi/agent/agents").join(name)
}

fn project(site: &Site, name: &str) -> PathBuf {
    site.work().join(".pi/agents").join(name)
}

fn trusted(mut ask: Ask) -> Ask {
    ask.params.capture.trusted = Some(true);
    ask
}

/// The document of `agents`.
async fn catalog(site: &Site, options: &[&str]) -> Value {
    let said = site.cli(&[&["agents", "--json"], options].concat()).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    said.document()
}

fn agent<'a>(catalog: &'a Value, name: &str) -> &'a Value {
    let agents = catalog["agents"].as_array().unwrap();
    agents.iter().find(|agent| agent["name"] == name).unwrap_or_else(|| panic!("no {name}: {catalog}"))
}

/// What was decided for a launch that is accepted.
async fn decided(owner: &Owner, ask: &Ask) -> Decisions {
    owner.launch(ask).await.decisions
}

async fn refusal(owner: &Owner, ask: &Ask) -> Fault {
    fault(owner.try_launch(ask).await)
}

/// Starts a child of an agent and gives its command line and its instructions.
async fn started_with(site: &Site, owner: &Owner, name: &str) -> (Vec<String>, String) {
    let puppet = Puppet::new(site, "settle", "done").before(KEEP);
    let view = owner.run(&site.puppet(name, &puppet)).await;
    let argv = fs::read_to_string(puppet.folder().join("argv")).unwrap_or_else(|error| panic!("{error}: {view:?}"));
    let instructions = fs::read_to_string(puppet.folder().join("instructions")).unwrap_or_default();
    (argv.lines().map(str::to_owned).collect(), instructions)
}

/// F10.
#[tokio::test]
async fn a_file_written_elsewhere_is_the_same_agent() {
    let site = Site::new();
    let plain = "---\ndescription: Audits\ntools: read, grep, find, ls\nmodel: offline/search\n---\nOne.\n\nTwo.\n";
    let windows = plain.replace('\n', "\r\n");
    let spellings = [
        plain.to_owned(),
        windows.clone(),
        plain.replacen('\n', "\r\n", 3),
        format!("\u{feff}{plain}"),
        format!("\u{feff}{windows}"),
        plain.trim_end().to_owned(),
        plain.replace("---\n", "--- \t\n"),
    ];
    for (number, text) in spellings.iter().enumerate() {
        write(&user(&site, &format!("a{number}.md")), text);
    }
    write(&user(&site, "bytes.md"), b"---\ndescription: \xff\n---\nOne.\n");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let catalog = catalog(&site, &[]).await;
    let (_, first) = started_with(&site, &owner, "a0").await;
    assert!(first.contains("One.\n\nTwo.") && !first.contains(['\r', '\u{feff}']), "{first:?}");
    assert!(!first.contains("Audits") && !first.contains("---\n"), "{first:?}");
    for number in 0..spellings.len() {
        let name = format!("a{number}");
        let shown = agent(&catalog, &name);
        for member in ["description", "tools", "model", "class", "problems"] {
            assert_eq!(shown[member], agent(&catalog, "a0")[member], "{name}");
        }
        assert_eq!(started_with(&site, &owner, &name).await.1, first, "{name}");
    }
    let broken = refusal(&owner, &site.ask("bytes", "x")).await;
    assert_eq!((broken.kind, broken.at.unwrap().line), (Kind::AgentBroken, Some(2)));
    assert!(broken.message.contains("bytes.md") && broken.message.contains("byte 17"), "{}", broken.message);
}

/// F12: what the listing shows is what the child gets on its command line.
#[tokio::test]
async fn a_list_is_shown_as_the_child_gets_it() {
    let site = Site::new();
    let lines = [
        ("commas", "tools: read, grep, bash", Some("read,grep,bash")),
        ("flow", "tools: [read, grep, bash]", Some("read,grep,bash")),
        ("block", "tools:\n  - read\n  - grep\n  - bash", Some("read,grep,bash")),
        ("one", "tools: read", Some("read")),
        ("blank", "tools: \"\"", Some("")),
        ("empty", "tools: []", Some("")),
        ("gaps", "tools: \"read,,grep \"", Some("read,grep")),
        ("twice", "tools: [read, read]", Some("read")),
        ("null", "tools:", None),
        ("absent", "description: none", None),
    ];
    let wrong = ["false", "none", "3", "[read, 3, null]", "{read: true}"];
    for (name, line, _) in lines {
        write(&user(&site, &format!("{name}.md")), format!("---\n{line}\n---\nLook.\n"));
    }
    for (number, value) in wrong.iter().enumerate() {
        write(&user(&site, &format!("wrong{number}.md")), format!("---\ntools: {value}\n---\nLook.\n"));
    }
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let catalog = catalog(&site, &[]).await;
    for (name, line, expected) in lines {
        let shown = agent(&catalog, name)["tools"]
            .as_array()
            .map(|tools| tools.iter().map(|tool| tool.as_str().unwrap()).collect::<Vec<_>>().join(","));
        assert_eq!(shown.as_deref(), expected, "{line}");
        let (argv, _) = started_with(&site, &owner, name).await;
        let given = argv.iter().position(|word| word == "--tools").map(|place| argv[place + 1].as_str());
        let nothing = argv.iter().any(|word| word == "--no-tools");
        match expected {
            None => assert!(given.is_some(), "those of its parent: {argv:?}"),
            Some("") => assert!(nothing && given.is_none(), "{line}: {argv:?}"),
            Some(tools) => assert_eq!(given, Some(tools), "{line}: {argv:?}"),
        }
    }
    for (number, value) in wrong.iter().enumerate() {
        let name = format!("wrong{number}");
        let refused = refusal(&owner, &site.ask(&name, "x")).await;
        let at = refused.at.clone().unwrap();
        assert_eq!((refused.kind, at.line), (Kind::AgentBroken, Some(2)), "{value}: {refused}");
        assert_eq!(at.path, user(&site, &format!("{name}.md")).to_str().unwrap());
        assert_eq!(agent(&catalog, &name)["launchable"], false);
    }
}

/// F13.
#[tokio::test]
async fn a_name_is_the_text_that_the_file_has() {
    let site = Site::new();
    let names = ["yes", "no", "on", "null", "~", "123", "1e3", "0x10", "2024-01-01", "true"];
    for name in names {
        write(&user(&site, &format!("{name}.md")), format!("---\nname: {name}\n---\nLook.\n"));
    }
    write(&user(&site, "left.md"), "---\nname: right\n---\nLook.\n");
    write(&user(&site, "Twin.md"), "One.");
    write(&user(&site, "twin.md"), "Two.");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let script = Script::new().say("here");
    for name in names {
        let view = owner.run(&site.play(name, &script)).await;
        assert_eq!((view.children[0].agent.as_str(), view.state), (name, State::Succeeded));
    }
    let catalog = catalog(&site, &[]).await;
    let told = agent(&catalog, "left")["problems"][0]["message"].as_str().unwrap();
    assert!(told.contains("`left`") && told.contains("`right`"), "{told}");
    assert_eq!(refusal(&owner, &site.ask("right", "x")).await.kind, Kind::UnknownAgent);
    let twins = refusal(&owner, &site.ask("TWIN", "x")).await;
    assert_eq!(twins.kind, Kind::AgentBroken);
    assert!(twins.message.contains("Twin.md") && twins.message.contains("twin.md"), "{twins}");
}

/// F14.
#[tokio::test]
async fn no_file_is_half_read() {
    let site = Site::new();
    let long = format!("---\n{}---\nLook.\n", "# filling\n".repeat(104_000));
    let table = [
        ("colon", "---\ndescription: Review: security and style\n---\nLook.\n", Some(2)),
        ("doubled", "---\nmodel: a/b\nmodel: a/c\n---\nLook.\n", Some(3)),
        ("second", "---\ntools: [read]\n---\nAbove.\n\n---\nmodel: a/b\n---\nBelow.\n", None),
        ("endless", "---\ntools: [read]\nLook.\n", Some(1)),
        ("tab", "---\ntools:\n\t- read\n---\nLook.\n", Some(3)),
        ("colour", "---\ncolour: red\ntools: [read]\n---\nLook.\n", None),
        ("long", &long, Some(6_555)),
        ("hash", "---\ndescription:\n# a remark\ntools: [read]\n---\nLook.\n", None),
    ];
    for (name, text, _) in table {
        write(&user(&site, &format!("{name}.md")), text);
    }
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let catalog = catalog(&site, &[]).await;
    for (name, _, line) in table {
        let shown = agent(&catalog, name);
        let errors: Vec<_> = shown["problems"].as_array().map(Vec::as_slice).unwrap_or_default().iter().collect();
        let first = errors.iter().find(|problem| problem["severity"] == "error");
        match line {
            Some(line) => {
                assert_eq!(shown["launchable"], false, "{shown}");
                assert_eq!(first.and_then(|problem| problem["line"].as_u64()), Some(line), "{shown}");
                let refused = refusal(&owner, &site.ask(name, "x")).await;
                assert_eq!((refused.kind, refused.at.unwrap().line), (Kind::AgentBroken, Some(line)), "{name}");
            }
            None => {
                assert_eq!((&shown["launchable"], first), (&Value::Bool(true), None), "{shown}");
                let decisions = decided(&owner, &site.ask(name, "x")).await;
                assert_eq!(decisions.tools.value, ["read"], "{name}");
            }
        }
    }
    let warned = agent(&catalog, "colour")["problems"][0].clone();
    assert_eq!((&warned["severity"], &warned["line"]), (&Value::from("warning"), &Value::from(2)));
    let screen = site.cli(&["agents"]).await.out;
    let place = format!("{}:3:1:", user(&site, "tab.md").display());
    assert!(screen.contains("Cannot be launched\n") && screen.replace('\n', " ").contains(&place), "{screen}");
}

/// F15.
#[tokio::test]
async fn a_name_leads_nowhere_else_and_what_hides_what_is_shown() {
    let site = Site::new();
    write(&user(&site, "../x.md"), "Outside.");
    write(&user(&site, "a/b.md"), "Below.");
    write(&user(&site, ".hidden.md"), "Hidden.");
    write(&site.path("elsewhere/linked.md"), "---\ndescription: linked\n---\n");
    write(&user(&site, "reviewer.md"), "---\ndescription: mine\naliases: critic\n---\n");
    write(&project(&site, "reviewer.md"), "---\ndescription: ours\n---\n");
    symlink(site.path("elsewhere/linked.md"), user(&site, "linked.md")).unwrap();
    symlink(site.path("elsewhere/linked.md"), project(&site, "out.md")).unwrap();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let long = "a".repeat(300);
    for (name, kind) in [
        ("../x", Kind::UnknownAgent),
        ("a/b", Kind::UnknownAgent),
        (".hidden", Kind::UnknownAgent),
        ("a\0b", Kind::UnknownAgent),
        (long.as_str(), Kind::Limit),
    ] {
        assert_eq!(refusal(&owner, &trusted(site.ask(name, "x"))).await.kind, kind, "{name:?}");
    }
    assert_eq!(decided(&owner, &site.ask("linked", "x")).await.agent_source, "user");
    let out = refusal(&owner, &trusted(site.ask("out", "x"))).await;
    assert!(out.kind == Kind::AgentBroken && out.message.contains("leads out of the project"), "{out}");

    assert_eq!(decided(&owner, &site.ask("critic", "x")).await.agent_source, "user");
    assert_eq!(decided(&owner, &trusted(site.ask("reviewer", "x"))).await.agent_source, "project");
    let catalog = catalog(&site, &["--trust-project"]).await;
    let shown = agent(&catalog, "reviewer");
    assert_eq!((&shown["source"], &shown["description"]), (&Value::from("project"), &Value::from("ours")));
    let parts = shown["definition"].as_array().unwrap();
    let places: Vec<_> = parts.iter().map(|part| part["source"].as_str().unwrap()).collect();
    assert_eq!(places, ["builtin", "user", "project"]);
    assert_eq!(parts[2]["file"], project(&site, "reviewer.md").to_str().unwrap());
    let screen = site.cli(&["agents", "--trust-project"]).await.out;
    assert!(screen.contains("(hides user, hides builtin; also called critic)"), "{screen}");
    let text = site.cli(&["agents", "--trust-project", "--task", "x"]).await.out;
    assert!(text.contains(&format!("over user {}: hides its description", user(&site, "reviewer.md").display())));
}

#[tokio::test]
async fn a_broken_file_never_lets_another_one_stand_in() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let file = user(&site, "explore.md");
    let ask = site.ask("explore", "look");
    assert_eq!(decided(&owner, &ask).await.agent_source, "builtin");
    write(&file, "---\ntools: 7\n---\n");
    let refused = refusal(&owner, &ask).await;
    assert_eq!((refused.kind, refused.at.unwrap().path.as_str()), (Kind::AgentBroken, file.to_str().unwrap()));
    fs::remove_file(&file).unwrap();
    pipe(&file);
    let refused = refusal(&owner, &ask).await;
    assert!(refused.kind == Kind::AgentBroken && refused.message.contains("cannot be read"), "{refused}");
    // Who knows what is in there?
    fs::rename(file.parent().unwrap(), site.path("kept")).unwrap();
    write(file.parent().unwrap(), "");
    let refused = refusal(&owner, &ask).await;
    assert!(refused.kind == Kind::AgentBroken && refused.message.contains("agent/agents"), "{refused}");
    let faults = catalog(&site, &[]).await["faults"].clone();
    assert!(faults[0].as_str().is_some_and(|fault| fault.contains("agent/agents")), "{faults}");
    fs::remove_file(file.parent().unwrap()).unwrap();
    write(&file, "---\ndescription: mended\n---\n");
    assert_eq!(decided(&owner, &ask).await.agent_source, "user");
    assert_eq!(owner.list().await.len(), 2, "nothing else was launched");
}

#[tokio::test]
async fn nothing_of_a_project_counts_before_it_is_trusted() {
    let site = Site::new();
    write(&project(&site, "explore.md"), "---\nenabled: false\n---\n");
    write(&project(&site, "ours.md"), "Ours.");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let (explore, ours) = (site.ask("explore", "look"), site.ask("ours", "look"));
    assert_eq!(decided(&owner, &explore).await.agent_source, "builtin");
    assert_eq!(refusal(&owner, &ours).await.kind, Kind::UnknownAgent);
    assert_eq!(refusal(&owner, &trusted(explore.clone())).await.kind, Kind::AgentDisabled);
    assert_eq!(decided(&owner, &trusted(ours.clone())).await.agent_source, "project");
    let below = site.directory("work/below");
    assert_eq!(refusal(&owner, &trusted(ours.directory(below))).await.kind, Kind::UnknownAgent, "another workspace");
    let work = site.work();
    let here = ["--directory", work.to_str().unwrap()];
    assert!(!catalog(&site, &here).await.to_string().contains("\"ours\""));
    assert!(catalog(&site, &["--trust-project", "--scope", "user"]).await.to_string().contains("\"builtin\""));

    fs::remove_dir_all(site.work().join(".pi/agents")).unwrap();
    pipe(&site.work().join(".pi/agents"));
    assert_eq!(decided(&owner, &explore).await.agent_source, "builtin");
    assert!(catalog(&site, &here).await["faults"].is_null());
    assert_eq!(refusal(&owner, &trusted(explore)).await.kind, Kind::AgentBroken);
}

/// W4.
#[tokio::test]
async fn a_launch_right_after_a_write_has_what_was_written() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let file = user(&site, "mine.md");
    for tool in ["read", "grep"].into_iter().cycle().take(20) {
        write(&file, format!("---\ntools: [{tool}]\n---\n"));
        assert_eq!(decided(&owner, &site.ask("mine", "look")).await.tools.value, [tool]);
    }
}

#[tokio::test]
async fn a_run_that_waits_keeps_the_definition_it_was_launched_with() {
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let first = Puppet::new(&site, "gate; settle", "first");
    owner.begin(&site.puppet("explore", &first)).await;
    let file = user(&site, "mine.md");
    write(&file, "---\ntools: [read, grep, find, ls]\n---\nAs it was.\n");
    let puppet = Puppet::new(&site, "settle", "second").before(KEEP);
    let launched = owner.launch(&site.puppet("mine", &puppet)).await;
    assert_eq!(launched.state, State::Queued);
    write(&file, "---\ntools: [bash]\nenabled: false\nmodel: other/one\n---\nAs it is now.\n");
    first.open_gate().await;
    let view = owner.wait(&launched.run).await;
    assert_eq!((view.state, &view.children[0].decisions), (State::Succeeded, &launched.decisions), "{view:?}");
    let kept = |name: &str| fs::read_to_string(puppet.folder().join(name)).unwrap();
    assert!(kept("argv").contains("\nread,grep,find,ls\n"), "{}", kept("argv"));
    assert!(kept("instructions").contains("As it was.") && !kept("instructions").contains("As it is now."));
    assert_eq!(refusal(&owner, &site.ask("mine", "x")).await.kind, Kind::AgentDisabled);
}

#[tokio::test]
async fn advice_names_a_fitting_agent_and_repeats_nothing() {
    const PLANTED: &str = "planted-words-of-a-task";
    let site = Site::with(&[("log.level", "trace")]);
    let daemon = site.start();
    for (task, line) in [
        ("Implement the fix", "- Recommended: worker (builtin)"),
        ("Review only; do not edit files", "- Recommended: explore (builtin)"),
        ("Look into this", "- Recommendation: none"),
    ] {
        let text = site.cli(&["agents", "--task", &format!("{task} ({PLANTED})")]).await.out;
        let section = text.split("\n\n").last().unwrap();
        assert!(section.starts_with("Task-aware advisory routing:\n") && section.contains(line), "{task}: {text}");
        assert!(!text.contains(PLANTED), "{text}");
    }
    let blank = site.cli(&["agents", "--task", " "]).await.out;
    assert!(blank.starts_with("Executable agents:\n") && !blank.contains("advisory"), "{blank}");
    let owner = daemon.owner("me").await;
    let ask = |task: String| ListParams { task: Some(task), ..ListParams::default() };
    owner.call::<AgentList>(ask("x".repeat(ADVICE_TASK_BYTES))).await.unwrap();
    let long = fault(owner.call::<AgentList>(ask(format!("{PLANTED}{}", "x".repeat(ADVICE_TASK_BYTES)))).await);
    assert!(long.kind == Kind::Limit && !long.message.contains(PLANTED), "{long}");
    let scope = ListParams { agent_scope: Some("all".to_owned()), ..ask(PLANTED.to_owned()) };
    assert_eq!(fault(owner.call::<AgentList>(scope).await).kind, Kind::InvalidParams);
    assert!(owner.list().await.is_empty(), "advice launches nothing");
    assert!(!site.logs().contains(PLANTED));
}

#[tokio::test]
async fn packages_lie_over_the_shipped_agents_once_they_are_on() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let explore = site.ask("explore", "look");
    assert_eq!(decided(&owner, &explore).await.agent_source, "builtin");
    drop(owner);
    daemon.stop().await;
    site.configure("[agents]\npackages = [\"handoff\", \"ours\", \"handof\"]\n");
    write(&site.path("config/subagentd/packages/ours/extra.md"), "---\ndescription: extra\n---\n");
    write(&user(&site, "code.md"), "---\nthinking: off\n---\n");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    assert_eq!(decided(&owner, &explore).await.agent_source, "package");
    assert_eq!(decided(&owner, &site.ask("extra", "x")).await.agent_source, "package");
    let catalog = catalog(&site, &[]).await;
    let layers: Vec<_> = agent(&catalog, "explore")["definition"].as_array().unwrap().iter().collect();
    assert_eq!(layers.iter().map(|part| part["source"].as_str().unwrap()).collect::<Vec<_>>(), ["builtin", "package"]);
    assert_eq!(agent(&catalog, "code")["source"], "user");
    let faults = catalog["faults"].as_array().unwrap();
    assert!(faults.len() == 1 && faults[0].as_str().unwrap().contains("`handof`"), "{faults:?}");
}
