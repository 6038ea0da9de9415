//! The dialect's command line.

use std::ffi::OsString;

use crate::driver::{Asked, Files};

/// Tools that ship with pi as extensions of their own, and what loads each.
const SHIPPED: [(&str, &str); 2] = [("codemode", "builtin:codemode"), ("tool_search", "builtin:tool-search")];
/// The names of all tools of MCP servers begin so.
const MCP: &str = "mcp__";
/// Tools that reach all MCP servers at once.
const MCP_RESOURCES: [&str; 3] = ["list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"];

pub(super) fn argv(asked: &Asked, files: &Files) -> Vec<OsString> {
    let mut argv: Vec<OsString> = Vec::new();
    let mut pair = |flag: &str, value: OsString| argv.extend([OsString::from(flag), value]);
    let tools: Vec<&str> = names(&asked.tools).collect();
    pair("--mode", "rpc".into());
    pair("--provider", asked.provider.as_str().into());
    pair("--model", asked.model.as_str().into());
    pair("--thinking", asked.thinking.as_str().into());
    if !tools.is_empty() {
        pair("--tools", tools.join(",").into());
    }
    pair("--exclude-tools", excluded(&tools, &asked.excluded_tools).join(",").into());
    pair("--session-dir", files.session_dir.as_os_str().into());
    pair("--session-id", files.session_id.as_str().into());
    if let Some(fork) = &files.fork {
        pair("--fork", fork.as_os_str().into());
    }
    if let Some(extension) = &files.extension {
        pair("-e", extension.as_os_str().into());
    }
    for extension in extensions(&tools, &files.extensions) {
        pair("-e", extension);
    }
    if let Some(instructions) = &files.instructions {
        pair("--append-system-prompt", instructions.as_os_str().into());
    }
    if tools.is_empty() {
        // An empty value of --tools would leave the default selection in place.
        argv.push("--no-tools".into());
    }
    let off = ["--no-approve", "--no-extensions", "--no-skills", "--no-prompt-templates", "--no-themes"];
    argv.extend(off.map(OsString::from));
    // What holds in its directory was read when it was launched, and stands in the instructions.
    argv.push("--no-context-files".into());
    argv
}

/// Those that are names for pi too. It takes others for patterns, for several names or for changes of its own selection,
/// and so for more than was asked for; a tool that cannot be asked for is missing.
fn names(tools: &[String]) -> impl Iterator<Item = &str> {
    let is_name = |tool: &&str| !tool.is_empty() && !tool.contains(['*', ',']) && !tool.starts_with(['+', '-']);
    tools.iter().map(String::as_str).filter(is_name)
}

/// The list of allowed tools does not cover those of MCP servers unless it names one: pi keeps them for scripts. And what
/// is excluded beats that list, so the pattern must not stand beside a name of its kind.
fn excluded<'a>(tools: &[&str], withheld: &'a [String]) -> Vec<&'a str> {
    let mut excluded: Vec<&str> = names(withheld).filter(|name| !tools.contains(name)).collect();
    if !tools.iter().any(|tool| tool.starts_with(MCP)) {
        excluded.push("mcp__*");
    }
    excluded.extend(MCP_RESOURCES.into_iter().filter(|name| !tools.contains(name)));
    excluded
}

fn extensions(tools: &[&str], given: &[OsString]) -> Vec<OsString> {
    let needed =
        SHIPPED.iter().filter(|(tool, _)| tools.contains(tool)).map(|(_, extension)| OsString::from(extension));
    let mut extensions = given.to_vec();
    extensions.extend(needed.filter(|extension| !given.contains(extension)));
    extensions
}
