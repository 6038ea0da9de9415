//! What the resolver settles, checked in the real pi: the routed model, suppliers of tools and providers, and all of it
//! as of the request.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use subagentd_proto::error::Kind;
use subagentd_proto::run::{
    CapturedConversation, CapturedInstructions, CapturedModel, CapturedTool, LaunchResponse, RunView, State, Supplier,
};
use subagentd_tests::{Ask, Faux, Owner, Pi, Script, Site, fault};

/// Tests of the client in pi bring these: an extension with the provider `acme` and tools, and an MCP server.
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../clients/pi/test");
/// What a parent that knows no other tools has.
const PLAIN: [&str; 4] = ["read", "bash", "edit", "write"];

fn of_client(name: &str) -> String {
    Path::new(CLIENT).canonicalize().unwrap().join(name).to_str().unwrap().to_owned()
}

fn acme() -> Supplier {
    Supplier::File(of_client("supplier.ts"))
}

fn model(provider: &str, id: &str) -> CapturedModel {
    let levels = ["off", "minimal", "low", "medium", "high"].map(str::to_owned).into();
    CapturedModel { provider: provider.to_owned(), id: id.to_owned(), reasoning: true, levels }
}

fn tool(name: &str, supplier: Option<Supplier>) -> CapturedTool {
    CapturedTool { name: name.to_owned(), supplier, ..CapturedTool::default() }
}

/// A launch by a parent on this model, which can run these.
fn of_parent(mut ask: Ask, parent: &CapturedModel, models: &[CapturedModel]) -> Ask {
    ask.params.model = None;
    ask.params.capture.parent_model = Some(parent.clone());
    ask.params.capture.models = Some(models.to_vec());
    ask
}

/// A launch by a parent with pi's own tools and these.
fn with_tools(mut ask: Ask, tools: &[(&str, Supplier)]) -> Ask {
    let supplied = tools.iter().map(|(name, supplier)| tool(name, Some(supplier.clone())));
    ask.params.capture.tools = Some(PLAIN.map(|name| tool(name, None)).into_iter().chain(supplied).collect());
    ask
}

/// An agent of the user's.
fn define(pi: &Pi, name: &str, keys: &str) {
    let folder = pi.directory("pi/agents");
    let text = format!("---\ndescription: An agent of a test.\n{keys}\n---\n\nThe body of {name}.\n");
    fs::write(folder.join(format!("{name}.md")), text).unwrap();
}

fn call(name: &str) -> Value {
    json!({ "tools": [{ "name": name, "arguments": {} }] })
}

/// What it calls, as far as it can.
fn calls(name: &str) -> Faux {
    Faux::new().step(call(name)).say("{{toolResult}}")
}

async fn end(owner: &Owner, launched: &LaunchResponse) -> (RunView, String) {
    let view = owner.wait(&launched.run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    let text = owner.text(&launched.run).await.0;
    (view, text)
}

fn reported_tools(view: &RunView) -> Vec<String> {
    view.children[0].reported.as_ref().unwrap().tools.clone().unwrap()
}

/// Its tool calls, and whether each failed.
fn failures(view: &RunView) -> Vec<(String, bool)> {
    let facts = fs::read_to_string(Path::new(view.children[0].folder.as_deref().unwrap()).join("facts.jsonl")).unwrap();
    let facts = facts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    facts.map(|fact| (fact["name"].as_str().unwrap().to_owned(), fact["isError"] == true)).collect()
}

/// The one place is taken until the run is cancelled.
async fn hold(pi: &Pi, owner: &Owner) -> String {
    owner.begin(&Site::play(pi, "explore", &Script::new().sleep_long()).runtime("offline")).await
}

#[tokio::test]
async fn a_worker_of_a_large_parent_runs_on_the_routed_model() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let ids = ["gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna"];
    let models = ids.map(|id| model("faux", id));
    let faux = || {
        let models = ids.map(|id| json!({ "id": id, "reasoning": true }));
        Faux::new().member("models", json!(models)).say("{{model}}")
    };
    for (agent, id) in [("worker", "gpt-5.6-terra"), ("explore", "gpt-5.6-luna")] {
        let launched = owner.launch(&of_parent(pi.play(agent, &faux()), &models[0], &models)).await;
        let exact = format!("faux/{id}");
        assert_eq!(launched.decisions.model.value, exact, "{agent}: {launched:#?}");
        let (view, text) = end(&owner, &launched).await;
        let reported = view.children[0].reported.as_ref().unwrap();
        assert_eq!(reported.model.as_deref(), Some(exact.as_str()), "{agent}: {view:#?}");
        assert_eq!(reported.thinking.as_deref(), Some(launched.decisions.thinking.value.as_str()), "{agent}");
        assert_eq!(text, id, "{agent}: the model that was asked");
    }
}

#[tokio::test]
async fn an_explicit_model_that_the_parent_cannot_run_is_refused_before_anything_starts() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    define(&pi, "named", "tools: read\nmodel: faux/faux-1");
    let models = [model("faux", "gpt-5.6-sol"), model("faux", "gpt-5.6-luna")];
    let parent = |agent: &str| of_parent(pi.play(agent, &Faux::new().say("never")), &models[0], &models);
    // pi itself has this one; the host says that it may not be used.
    for (mut ask, in_call) in [(parent("worker"), Some("faux/faux-1")), (parent("named"), None)] {
        ask.params.model = in_call.map(str::to_owned);
        let refusal = fault(owner.try_launch(&ask).await);
        assert_eq!(refusal.kind, Kind::ModelUnavailable, "{refusal}");
        assert!(refusal.message.contains("faux-1"), "{refusal}");
    }
    assert!(owner.list().await.is_empty() && pi.attempts().is_empty(), "nothing was started");
}

#[tokio::test]
async fn a_tool_of_the_parents_extension_works_in_a_worker() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    define(&pi, "lookup", "tools: read, acme_lookup");
    let parent = |ask: Ask| with_tools(ask, &[("acme_lookup", acme()), ("acme_delete", acme())]);
    let launched = owner.launch(&parent(pi.play("worker", &calls("acme_lookup")))).await;
    let (view, text) = end(&owner, &launched).await;
    assert_eq!(text, "acme_lookup of acme");
    assert_eq!(reported_tools(&view), [&PLAIN[..], &["acme_lookup", "acme_delete"]].concat());
    assert_eq!(view.children[0].tools_missing, [""; 0]);

    // What the extension brings besides is not there.
    let launched = owner.launch(&parent(pi.play("lookup", &calls("acme_delete")))).await;
    assert_eq!(launched.decisions.withheld, ["acme_delete"], "{launched:#?}");
    let (view, text) = end(&owner, &launched).await;
    assert!(text.contains("acme_delete not found"), "{text}");
    assert_eq!(reported_tools(&view), ["read", "acme_lookup"]);
}

#[tokio::test]
async fn a_retained_model_of_an_extensions_provider_runs() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let parent = CapturedModel { provider: "acme".to_owned(), id: "acme-large".to_owned(), ..CapturedModel::default() };
    let ask = || of_parent(pi.play("worker", &Faux::new()), &parent, std::slice::from_ref(&parent));
    let mut supplied = ask();
    supplied.params.capture.providers = BTreeMap::from([("acme".to_owned(), acme())]);
    let launched = owner.launch(&supplied).await;
    assert_eq!(launched.decisions.model.value, "acme/acme-large");
    let (view, text) = end(&owner, &launched).await;
    assert_eq!(text, "acme-large of acme answers");
    let reported = view.children[0].reported.as_ref().unwrap();
    assert_eq!(reported.model.as_deref(), Some("acme/acme-large"));
    assert_eq!(reported.tools.as_deref().unwrap(), PLAIN, "its tools were not asked for");

    // A host that forgets to say who supplies it gets no other model in its place.
    let view = owner.run(&ask()).await;
    assert_eq!(view.state, State::Failed, "{view:#?}");
}

/// A package as `pi install` leaves it, with one tool.
fn install(pi: &Pi, name: &str, tool: &str) -> Supplier {
    let folder = pi.directory(&format!("pi/npm/node_modules/{name}/extensions"));
    fs::write(folder.join("../package.json"), json!({ "name": name, "version": "1.0.0" }).to_string()).unwrap();
    let text = format!(
        "export default (pi) => pi.registerTool({{ name: '{tool}', label: '{tool}', description: '{tool}', \
         parameters: {{ type: 'object', properties: {{}} }}, \
         execute: async () => ({{ content: [{{ type: 'text', text: '{tool} of a package' }}] }}) }});"
    );
    fs::write(folder.join("tool.js"), text).unwrap();
    Supplier::Package(format!("npm:{name}"))
}

#[tokio::test]
async fn an_installed_package_supplies_its_tools_unless_it_is_excluded() {
    let Some(pi) = Pi::site().await else { return };
    let kept = install(&pi, "@acme/kept", "kept_tool");
    let excluded = install(&pi, "@acme/excluded", "excluded_tool");
    let file = pi.path("config/subagentd/config.toml");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("excluded_extension_packages = [\"npm:@acme/excluded\"]\n{before}")).unwrap();
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let tools = [("kept_tool", kept.clone()), ("excluded_tool", excluded)];
    let faux = Faux::new().step(call("kept_tool")).step(call("excluded_tool")).say("{{toolResult}}");
    let launched = owner.launch(&with_tools(pi.play("worker", &faux), &tools)).await;
    assert_eq!(launched.decisions.suppliers, [kept], "{launched:#?}");
    let (view, text) = end(&owner, &launched).await;
    assert!(text.contains("excluded_tool not found"), "{text}");
    assert_eq!(reported_tools(&view), [&PLAIN[..], &["kept_tool"]].concat());
    assert_eq!(failures(&view), [("kept_tool".to_owned(), false), ("excluded_tool".to_owned(), true)]);

    // What is not installed any more is missing, and nothing is fetched in its place.
    fs::remove_dir_all(pi.path("pi/npm")).unwrap();
    let view = owner.run(&with_tools(pi.play("worker", &Faux::new().say("without")), &tools)).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    assert_eq!(view.children[0].tools_missing, ["kept_tool"]);
    assert!(view.children[0].remarks.contains(&"extension.missing".to_owned()), "{view:#?}");
}

#[tokio::test]
async fn an_extension_that_breaks_ends_the_start_with_its_words() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let path = pi.path("breaks.ts");
    fs::write(&path, "export default function () { throw new Error('no luck today'); }").unwrap();
    let supplier = Supplier::File(path.to_str().unwrap().to_owned());
    let view = owner.run(&with_tools(pi.play("worker", &Faux::new().say("never")), &[("broken", supplier)])).await;
    assert_eq!(view.state, State::Failed, "{view:#?}");
    let error = view.children[0].error.as_deref().unwrap();
    assert!(error.contains("no luck today"), "{error}");
}

/// A host's conversation with these words, as pi keeps one.
fn conversation(pi: &Pi, words: &str) -> PathBuf {
    let at = "2026-01-01T00:00:00.000Z";
    let session = json!({ "type": "session", "version": 3, "id": "host", "timestamp": at, "cwd": pi.work() });
    let message = json!({ "role": "user", "content": words, "timestamp": 1 });
    let entry = json!({ "type": "message", "id": "e1", "parentId": null, "timestamp": at, "message": message });
    let file = pi.path("parent.jsonl");
    fs::write(&file, format!("{session}\n{entry}\n")).unwrap();
    file
}

#[tokio::test]
async fn what_changes_while_a_run_waits_does_not_reach_its_child() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let parent = conversation(&pi, "the parent's first words");
    let (agents, tool) = (pi.work().join("AGENTS.md"), pi.path("supplier.ts"));
    fs::write(&agents, "OLD-STANDING\n").unwrap();
    fs::copy(of_client("supplier.ts"), &tool).unwrap();
    define(&pi, "steady", "tools: read, acme_lookup");
    let owner = daemon.owner("me").await;
    let holder = hold(&pi, &owner).await;
    let faux = Faux::new().say("{{users}}\n{{system}}");
    let supplier = Supplier::File(tool.to_str().unwrap().to_owned());
    let mut ask = with_tools(pi.play("steady", &faux), &[("acme_lookup", supplier)]);
    ask.params.context = Some("parent".to_owned());
    let capture = &mut ask.params.capture;
    capture.conversation = Some(CapturedConversation { path: parent.to_str().unwrap().to_owned(), leaf: None });
    let directory = pi.work().to_str().unwrap().to_owned();
    capture.instructions = Some(CapturedInstructions { directory, files: vec![agents.to_str().unwrap().to_owned()] });
    let launched = owner.launch(&ask).await;
    assert_eq!(launched.state, State::Queued);

    let before = fs::read_to_string(&parent).unwrap();
    let entry = before.lines().last().unwrap();
    let more = entry.replace("e1", "e2").replace("null", "\"e1\"").replace("the parent's first words", "NEW-WORDS");
    fs::write(&parent, format!("{before}{more}\n")).unwrap();
    fs::write(&agents, "NEW-STANDING\n").unwrap();
    define(&pi, "steady", "tools: bash");
    pi.settings(&json!({ "defaultTools": ["+codemode"], "defaultThinkingLevel": "high" }));
    fs::remove_file(&tool).unwrap();
    owner.cancel(&holder).await;

    let (view, text) = end(&owner, &launched).await;
    assert!(text.starts_with("the parent's first words | the task\n"), "{text}");
    assert!(text.contains("OLD-STANDING") && !text.contains("NEW-"), "{text}");
    assert!(text.contains("The body of steady."), "{text}");
    assert_eq!(text.matches("OLD-STANDING").count(), 1, "pi itself reads no such file: {text}");
    assert_eq!(reported_tools(&view), ["read"]);
    assert_eq!(view.children[0].tools_missing, ["acme_lookup"], "its extension is gone, which is said");

    // A resumed child hears the same.
    owner.resume(&launched.run, &ask, Some("go on")).await.unwrap();
    let (_, text) = end(&owner, &launched).await;
    assert!(text.contains("OLD-STANDING") && !text.contains("NEW-"), "{text}");
}

#[tokio::test]
async fn an_mcp_tool_outside_the_list_is_out_of_reach_of_scripts() {
    let Some(pi) = Pi::site().await else { return };
    let node = &pi.command_line()[0];
    let server = json!({ "command": node, "args": [of_client("mcp-server.ts")] });
    fs::write(pi.path("pi/mcp.json"), json!({ "mcpServers": { "stand": server } }).to_string()).unwrap();
    define(&pi, "narrow", "tools: read, codemode, mcp__stand__listed, mcp__stand__*");
    define(&pi, "resources", "tools: read, codemode, read_mcp_resource");
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let builtin = |name: &str| Supplier::Builtin(name.to_owned());
    let tools = [
        ("codemode", builtin("codemode")),
        ("mcp__stand__listed", builtin("mcp")),
        ("mcp__stand__unlisted", builtin("mcp")),
        ("read_mcp_resource", builtin("mcp")),
    ];
    let code = "return ALL_TOOLS.map(({ name }) => name).sort().join();";
    let script = json!({ "tools": [{ "name": "codemode", "arguments": { "code": code } }] });
    let table = [
        // A pattern is no name of a tool.
        ("narrow", "mcp__stand__listed,read", &["mcp__stand__*"][..]),
        ("resources", "read,read_mcp_resource", &[]),
    ];
    for (agent, reach, missing) in table {
        let faux = Faux::new().step(script.clone()).say("{{toolResult}}");
        let launched = owner.launch(&with_tools(pi.play(agent, &faux), &tools)).await;
        let (view, text) = end(&owner, &launched).await;
        assert_eq!(text.lines().last(), Some(reach), "{agent}: {text}");
        let child = &view.children[0];
        assert_eq!(child.tools_missing, missing, "{agent}: its server connected after the start: {child:#?}");
        assert_eq!(reported_tools(&view), ["read", "codemode"]);
        assert!(!child.remarks.contains(&"tools.changed".to_owned()), "{agent}: {child:#?}");
    }
}
