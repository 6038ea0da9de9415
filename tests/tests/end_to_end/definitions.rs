//! Agents as their files describe them: in the listing, in a launch, and in what the child is started with.

mod layers;

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, inotify, mknodat};
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

/// Tells whether a directory or a file in it was opened.
struct Opens(OwnedFd);

impl Opens {
    fn of(path: &Path) -> Self {
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&watch, path, inotify::WatchFlags::OPEN).unwrap();
        Self(watch)
    }

    fn any(&self) -> bool {
        rustix::io::read(&self.0, &mut [0; 4096]).is_ok()
    }
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
    let place = format!("{}:3:2:", user(&site, "tab.md").display());
    assert!(screen.contains("Cannot be launched\n") && screen.replace('\n', " ").contains(&place), "{screen}");
}
