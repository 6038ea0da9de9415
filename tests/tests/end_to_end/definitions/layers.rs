//! Which of several files counts: of the user, of packages, of a project; and what is shown and advised of them.

use super::*;

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
    let opens = Opens::of(&site.work().join(".pi/agents"));
    assert_eq!(decided(&owner, &explore).await.agent_source, "builtin");
    assert_eq!(refusal(&owner, &ours).await.kind, Kind::UnknownAgent);
    catalog(&site, &["--directory", site.work().to_str().unwrap()]).await;
    assert!(!opens.any(), "it was opened");
    assert_eq!(refusal(&owner, &trusted(explore.clone())).await.kind, Kind::AgentDisabled);
    assert_eq!(decided(&owner, &trusted(ours.clone())).await.agent_source, "project");
    assert!(opens.any(), "it was not opened");
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
    let config = site.path("config/subagentd/config.toml");
    let before = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{before}[ceiling]\nagents = [\"explore\"]\n")).unwrap();
    let text = site.cli(&["agents", "--task", "Implement the fix"]).await.out;
    assert!(
        text.contains("- worker (builtin): outside the ceiling") && text.contains("Recommendation: none"),
        "{text}"
    );
    fs::write(&config, format!("{before}[ceiling]\nagents = 7\n")).unwrap();
    let refused = site.cli(&["agents", "--task", "Implement the fix"]).await;
    assert!(refused.code != Some(0) && refused.err.contains("ceiling.agents"), "{refused:?}");
    let faults = catalog(&site, &[]).await["faults"].clone();
    assert!(faults[0].as_str().is_some_and(|fault| fault.contains("ceiling.agents")), "{faults}");
    fs::write(&config, before).unwrap();
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
