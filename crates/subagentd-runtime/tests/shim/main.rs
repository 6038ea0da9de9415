//! Whole shims with a child that speaks pi's dialect. Test, shim and child are this program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says which one it is"
)]

mod attempt;
mod cases;
mod child;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("shim") => std::process::exit(subagentd_runtime::shim::main(args[1].as_ref())),
        Some("child") => child::run(&args[1], &args[2..]),
        Some("--list") => {}
        filter => run(filter.filter(|word| !word.starts_with('-')).unwrap_or_default()),
    }
}

fn run(filter: &str) {
    for (name, case) in cases::ALL {
        if name.contains(filter) {
            case();
            println!("test {name} ... ok");
        }
    }
}
