//! Where a child's extensions are on the disk.
//!
//! A package is never handed over as its source is written: pi would install a second copy of it for `-e`, over the
//! network, and leave it out without a word where there is none. What the user has installed is loaded instead.

use std::path::{Component, Path, PathBuf};

use crate::driver::Supply;

/// What pi's own extensions are called by.
const OWN: &str = "builtin:";
/// Beginnings of a source with a host.
const SCHEMES: [&str; 4] = ["https://", "http://", "ssh://", "git://"];
/// The host of a source that names none.
const USUAL_HOST: &str = "github.com";

pub(super) fn of(extension: &str, environment: &[(String, String)]) -> Supply {
    if extension.starts_with(OWN) {
        return Supply::Own;
    }
    if Path::new(extension).is_absolute() {
        return Supply::At(vec![PathBuf::from(extension)]);
    }
    let home = given(environment, "HOME").map(Path::new);
    let place = if let Some(spec) = extension.strip_prefix("npm:") {
        package_name(spec.trim()).map(|name| Path::new("npm/node_modules").join(name))
    } else if is_repository(extension) {
        repository(extension).map(|repository| Path::new("git").join(repository))
    } else if let Some(below) = extension.strip_prefix("~/") {
        return Supply::At(home.map(|home| home.join(below)).into_iter().collect());
    } else {
        // Written in the user's settings, which is what it is relative to.
        Some(PathBuf::from(extension))
    };
    Supply::At(folder(environment, home).zip(place).map(|(folder, place)| folder.join(place)).into_iter().collect())
}

/// pi's configuration folder.
fn folder(environment: &[(String, String)], home: Option<&Path>) -> Option<PathBuf> {
    match given(environment, "PI_CODING_AGENT_DIR") {
        Some(folder) => match folder.strip_prefix("~/") {
            Some(below) => Some(home?.join(below)),
            None => Some(PathBuf::from(folder)),
        },
        None => Some(home?.join(".pi/agent")),
    }
}

fn given<'a>(environment: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let value = environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    value.filter(|value| !value.is_empty())
}

/// `@scope/name@version` without its version.
fn package_name(spec: &str) -> Option<&str> {
    let from = usize::from(spec.starts_with('@'));
    let end = spec.get(from..)?.find('@').map_or(spec.len(), |at| at + from);
    spec.get(..end).filter(|name| is_inside(name))
}

fn is_repository(source: &str) -> bool {
    source.starts_with("git:") || SCHEMES.iter().any(|scheme| source.starts_with(scheme))
}

/// `host/path` of a repository, as pi names its copy.
fn repository(source: &str) -> Option<String> {
    let marked = source.strip_prefix("git:").filter(|rest| !rest.starts_with("//"));
    let url = marked.unwrap_or(source).trim();
    let scheme = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme));
    let (host, path) = match (scheme, marked) {
        (Some(rest), _) => {
            let (authority, path) = rest.split_once('/')?;
            let host = authority.rsplit('@').next()?;
            (host.split(':').next()?, path)
        }
        (None, None) => return None,
        (None, Some(_)) => match (url.strip_prefix("git@"), url.strip_prefix("github:")) {
            (Some(rest), _) => rest.split_once(':')?,
            (_, Some(path)) => (USUAL_HOST, path),
            _ => match url.split_once('/')? {
                (host, path) if host.contains('.') || host == "localhost" => (host, path),
                _ => (USUAL_HOST, url),
            },
        },
    };
    let path = path.split(['@', '#']).next()?.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let place = format!("{host}/{path}");
    is_inside(&place).then_some(place)
}

/// Whether it leads nowhere but below the folder that it is joined to.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn an_extension_is_where_pi_has_it() {
        let rows = [
            ("/x/tool.ts", "/x/tool.ts"),
            ("npm:tools", "/c/npm/node_modules/tools"),
            ("npm:tools@1.0.0", "/c/npm/node_modules/tools"),
            ("npm:@acme/tools", "/c/npm/node_modules/@acme/tools"),
            ("npm:@acme/tools@^1", "/c/npm/node_modules/@acme/tools"),
            ("git:github.com/acme/tools", "/c/git/github.com/acme/tools"),
            ("git:github.com/acme/tools@v1", "/c/git/github.com/acme/tools"),
            ("git:acme/tools", "/c/git/github.com/acme/tools"),
            ("git:github:acme/tools", "/c/git/github.com/acme/tools"),
            ("git:git@host.example:acme/tools.git@v1", "/c/git/host.example/acme/tools"),
            ("https://github.com/acme/tools", "/c/git/github.com/acme/tools"),
            ("https://github.com/acme/tools.git#v2", "/c/git/github.com/acme/tools"),
            ("git://host.example/a/b", "/c/git/host.example/a/b"),
            ("ssh://git@host.example:22/a/b@v1", "/c/git/host.example/a/b"),
            ("../tools", "/c/../tools"),
            ("~/tools", "/h/tools"),
        ];
        let environment = environment(&[("HOME", "/h"), ("PI_CODING_AGENT_DIR", "/c")]);
        for (source, place) in rows {
            assert_eq!(of(source, &environment), Supply::At(vec![place.into()]), "{source}");
        }
        assert_eq!(of("builtin:mcp", &environment), Supply::Own);
        for nowhere in ["npm:", "npm:../x", "npm:@a/../../x", "git:github.com/../../x", "https://host"] {
            assert_eq!(of(nowhere, &environment), Supply::At(Vec::new()), "{nowhere}");
        }
    }

    #[test]
    fn the_configuration_folder_is_the_childs() {
        type Row<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let rows: [Row<'_>; 4] = [
            (&[("HOME", "/h")], Some("/h/.pi/agent/npm/node_modules/x")),
            (&[("HOME", "/h"), ("PI_CODING_AGENT_DIR", "")], Some("/h/.pi/agent/npm/node_modules/x")),
            (&[("HOME", "/h"), ("PI_CODING_AGENT_DIR", "~/c")], Some("/h/c/npm/node_modules/x")),
            (&[], None),
        ];
        for (pairs, place) in rows {
            let found = of("npm:x", &environment(pairs));
            assert_eq!(found, Supply::At(place.map(PathBuf::from).into_iter().collect()), "{pairs:?}");
        }
    }
}
