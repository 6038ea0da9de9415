//! The dialect's command line.

use std::ffi::OsString;

use crate::driver::{Asked, Files};

pub(super) fn argv(asked: &Asked, files: &Files) -> Vec<OsString> {
    let mut argv: Vec<OsString> = Vec::new();
    let mut pair = |flag: &str, value: OsString| argv.extend([OsString::from(flag), value]);
    pair("--mode", "rpc".into());
    pair("--provider", asked.provider.as_str().into());
    pair("--model", asked.model.as_str().into());
    pair("--thinking", asked.thinking.as_str().into());
    if !asked.tools.is_empty() {
        pair("--tools", asked.tools.join(",").into());
    }
    pair("--session-dir", files.session_dir.as_os_str().into());
    pair("--session-id", files.session_id.as_str().into());
    if let Some(fork) = &files.fork {
        pair("--fork", fork.as_os_str().into());
    }
    if let Some(extension) = &files.extension {
        pair("-e", extension.as_os_str().into());
    }
    if let Some(instructions) = &files.instructions {
        pair("--append-system-prompt", instructions.as_os_str().into());
    }
    if asked.tools.is_empty() {
        // An empty value of --tools would leave the default selection in place.
        argv.push("--no-tools".into());
    }
    let off = ["--no-approve", "--no-extensions", "--no-skills", "--no-prompt-templates", "--no-themes"];
    argv.extend(off.map(OsString::from));
    argv
}
