//! Which agents a client has: the definition files of its user, its packages and its project, as they are right now.
//!
//! They are looked at for each request. What was read before is taken again only while every directory and file looks
//! as it did then and none of them was written a moment before; nothing is watched. All of it blocks: the file system
//! may be slow.

mod cache;
mod place;
mod read;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use subagentd_core::definition::{AgentScope, Catalog, Content, Sources};
use subagentd_core::plan::Environment;

use crate::settings::Agents;
use cache::{Cache, Entry, Key, Stamp};
use read::Listing;

/// A file that was written less than this before it was read may be written again without looking any different: a file
/// system's clock has its own steps. It is read each time until it is older.
const SETTLED: Duration = Duration::from_secs(2);

/// Whose agents are meant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CatalogRequest<'a> {
    /// The client's variables: they tell its home and its pi.
    pub environment: &'a Environment,
    /// The root of the workspace; `None` means no project.
    pub project: Option<&'a Path>,
    /// Whether the request says that this project is trusted. Otherwise nothing of it is looked at.
    pub trusted: bool,
    /// Which layers take part.
    pub scope: AgentScope,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Definitions {
    settings: Agents,
    settled: Duration,
    cache: Mutex<Cache>,
}

impl Definitions {
    /// Where to look is a matter of the settings and of each request.
    #[must_use]
    pub(crate) fn new(settings: &Agents) -> Self {
        Self { settings: settings.clone(), settled: SETTLED, cache: Mutex::default() }
    }

    /// The agents there are for a request. What cannot be read is in it as broken agents and faults.
    #[must_use]
    pub(crate) fn catalog(&self, request: &CatalogRequest<'_>) -> Arc<Catalog> {
        let key = Key { places: place::places(&self.settings, request), scope: request.scope };
        let known = self.cached(|cache| cache.get(&key));
        if let Some(entry) = known.filter(|entry| entry.holds()) {
            return Arc::clone(&entry.catalog);
        }
        let entry = self.read(key, request);
        let catalog = Arc::clone(&entry.catalog);
        if entry.lasts() {
            self.cached(|cache| cache.keep(entry));
        }
        catalog
    }

    fn read(&self, key: Key, request: &CatalogRequest<'_>) -> Entry {
        // What is written from now on looks newer than anything that is seen here.
        let begun = SystemTime::now();
        let mut sources = Sources {
            packages: self.settings.packages.clone(),
            project_trusted: request.trusted,
            scope: request.scope,
            ..Sources::default()
        };
        let mut seen = Vec::new();
        for place in &key.places {
            let told = sources.faults.len();
            seen.push((place.path.clone(), Stamp::of(&place.path)));
            match read::list(place) {
                Listing::Absent => sources.faults.extend(place.absent()),
                Listing::Unread(reason) => sources.unread.push(place.unread(reason)),
                Listing::Files(files) => {
                    if files.is_empty() {
                        sources.faults.extend(place.empty());
                    }
                    for (file, stamp) in files {
                        seen.push((file.path.clone().into(), stamp));
                        sources.files.push(file);
                    }
                }
            }
            // Told with its directory, which says more than that it is missing.
            sources.packages.retain(|name| told == sources.faults.len() || place.package.as_ref() != Some(name));
        }
        let bytes = sources.files.iter().map(|file| match &file.content {
            Content::Bytes(bytes) => Some(bytes.len()),
            Content::Unreadable(_) => None,
        });
        // What could not be read may be readable the next time, and nothing has to look different then.
        let bytes = bytes.sum::<Option<usize>>().filter(|_| sources.unread.is_empty());
        let settled = seen.iter().flat_map(|(_, stamp)| stamp).all(|stamp| stamp.is_older(begun, self.settled));
        Entry { key, seen, catalog: Arc::new(Catalog::build(&sources)), bytes: bytes.filter(|_| settled) }
    }

    fn cached<T>(&self, use_it: impl FnOnce(&mut Cache) -> T) -> T {
        // What another thread was about to keep is whole or absent.
        use_it(&mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
