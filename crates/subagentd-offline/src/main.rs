//! The program around [`subagentd_offline::run`].

use std::process::exit;

fn main() {
    exit(subagentd_offline::run(std::env::args_os().skip(1)));
}
