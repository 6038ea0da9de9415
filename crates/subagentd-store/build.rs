//! Cargo does not see new files in a folder that a macro reads.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
