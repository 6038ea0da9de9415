//! The extensions inside a child: ours is in this program, in the attempt's folder, and the same in both.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::setup::Setup;
use crate::driver::{Dialect, Extension, Supply};
use crate::files;

/// Puts it where the child reads it and looks that it is there: a regular file with exactly this text. An earlier start in
/// this folder may have left one, and a child can write where it stands.
pub(super) fn place(setup: &Setup, extension: Extension) -> Result<PathBuf, String> {
    let Extension { name, text } = extension;
    let path = setup.path.join(name);
    let fault = |error: io::Error| format!("the extension {} cannot be used: {error}", path.display());
    match files::create_file_in(&setup.folder, name) {
        Ok(mut file) => file.write_all(text.as_bytes()).map_err(fault)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(fault(error)),
    }
    let there = files::read_in(&setup.folder, name, text.len()).map_err(fault)?;
    if there == text.as_bytes() { Ok(path) } else { Err(fault(io::Error::other("it was changed"))) }
}

/// Those of the others that are there. A child would not start with one that is not.
pub(super) fn supplied(
    extensions: &[String],
    dialect: &dyn Dialect,
    environment: &[(String, String)],
) -> Vec<OsString> {
    let place = |extension: &String| match dialect.supply(extension, environment) {
        Supply::Own => Some(extension.into()),
        Supply::At(places) => {
            let found = places.into_iter().find(|place| place.exists()).map(OsString::from);
            if found.is_none() {
                super::log(format_args!("the extension {extension} is not there and is left out"));
            }
            found
        }
    };
    extensions.iter().filter_map(place).collect()
}
