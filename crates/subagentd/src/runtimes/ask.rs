//! Asking each question once, whoever wants to know, and remembering what was answered.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use futures_util::future::{BoxFuture, FutureExt as _, Shared};
use tokio::sync::Semaphore;

use super::cache::Cache;
use super::{Findings, Question};

/// Programs that are asked at once: each may be a whole pi, with 110 MB. Others wait.
const AT_ONCE: usize = 2;
/// Questions that are asked or wait to be; further ones are answered with a refusal that is not remembered.
const QUESTIONS: usize = 32;

type Flight = Shared<BoxFuture<'static, Arc<Findings>>>;

/// Asks and remembers.
pub(super) struct Asker {
    inner: Arc<Inner>,
}

struct Inner {
    state: PathBuf,
    /// Read from its file when first needed: the daemon's start does not wait for it.
    cache: OnceLock<Mutex<Cache>>,
    flights: Mutex<HashMap<String, Flight>>,
    places: Semaphore,
    /// Two at once would write each other's file.
    writing: Mutex<()>,
}

impl Asker {
    pub(super) fn new(state: &Path) -> Self {
        let inner = Inner {
            state: state.to_owned(),
            cache: OnceLock::new(),
            flights: Mutex::default(),
            places: Semaphore::new(AT_ONCE),
            writing: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What was answered before and still holds. May read a file.
    pub(super) fn known(&self, key: &str) -> Option<Arc<Findings>> {
        self.inner.cache().get(key)
    }

    /// Asks, or waits for the answer that somebody else is waiting for. To stop waiting does not stop the asking.
    pub(super) async fn ask(&self, question: Arc<dyn Question>) -> Arc<Findings> {
        self.flight(question).await
    }

    fn flight(&self, question: Arc<dyn Question>) -> Flight {
        let mut flights = locked(&self.inner.flights);
        if let Some(flight) = flights.get(question.key()) {
            return flight.clone();
        }
        if flights.len() >= QUESTIONS {
            let name = question.runtime();
            let busy =
                Findings::unusable(format!("{name} could not be asked: {QUESTIONS} others wait; try again later"));
            return futures_util::future::ready(Arc::new(busy)).boxed().shared();
        }
        let key = question.key().to_owned();
        let inner = Arc::clone(&self.inner);
        let flight = async move { inner.find_out(question).await }.boxed().shared();
        flights.insert(key, flight.clone());
        tokio::spawn(flight.clone());
        flight
    }
}

impl Inner {
    fn cache(&self) -> MutexGuard<'_, Cache> {
        locked(self.cache.get_or_init(|| Mutex::new(Cache::read(&self.state))))
    }

    async fn find_out(self: Arc<Self>, question: Arc<dyn Question>) -> Arc<Findings> {
        // Ends when its place comes: those before it are bounded in time.
        let place = self.places.acquire().await;
        let began = Instant::now();
        let findings = Arc::new(question.ask().await);
        drop(place);
        let (runtime, usable) = (question.runtime(), findings.usable);
        let models = findings.models.as_ref().map_or(0, Vec::len);
        tracing::info!(runtime, usable, models, took_ms = began.elapsed().as_millis(), "asked a runtime");
        let file = Arc::clone(&self);
        let (key, kept) = (question.key().to_owned(), Arc::clone(&findings));
        let written = tokio::task::spawn_blocking(move || file.remember(&key, kept)).await;
        if let Err(error) = written.map_err(std::io::Error::other).and_then(|written| written) {
            tracing::warn!(%error, "the runtimes' answers could not be kept for the next daemon");
        }
        locked(&self.flights).remove(question.key());
        findings
    }

    fn remember(&self, key: &str, findings: Arc<Findings>) -> std::io::Result<()> {
        let usable = findings.usable;
        self.cache().keep(key, findings);
        let _one_at_a_time = locked(&self.writing);
        let lasting = self.cache().lasting();
        if usable { lasting.write(&self.state) } else { Ok(()) }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in between leaves the data half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Notify;

    /// Answers when it is told to, and counts.
    struct Slow {
        key: String,
        asked: AtomicUsize,
        go: Notify,
    }

    impl Question for Slow {
        fn runtime(&self) -> &str {
            "slow"
        }

        fn key(&self) -> &str {
            &self.key
        }

        fn ask(&self) -> BoxFuture<'_, Findings> {
            let number = self.asked.fetch_add(1, Ordering::Relaxed);
            async move {
                self.go.notified().await;
                Findings::usable(&format!("answer {number}"))
            }
            .boxed()
        }
    }

    fn slow(key: &str) -> Arc<Slow> {
        Arc::new(Slow { key: key.to_owned(), asked: AtomicUsize::new(0), go: Notify::new() })
    }

    #[tokio::test]
    async fn one_question_is_asked_once_however_many_wait() {
        let state = tempfile::tempdir().unwrap();
        let asker = Asker::new(state.path());
        let question = slow("one");
        let flights: Vec<Flight> = (0..10).map(|_| asker.flight(question.clone())).collect();
        // One that is given up changes nothing for the others.
        drop(asker.ask(question.clone()));
        question.go.notify_one();
        for flight in flights {
            assert_eq!(flight.await.reason, "answer 0");
        }
        assert_eq!(question.asked.load(Ordering::Relaxed), 1);
        assert_eq!(asker.known("one").unwrap().reason, "answer 0");
        assert_eq!(Asker::new(state.path()).known("one").unwrap().reason, "answer 0", "the next daemon");
        // Asked again on purpose: the newer answer counts.
        question.go.notify_one();
        assert_eq!(asker.ask(question.clone()).await.reason, "answer 1");
        assert_eq!(asker.known("one").unwrap().reason, "answer 1");
    }

    #[tokio::test]
    async fn too_many_questions_are_refused_and_not_remembered() {
        let state = tempfile::tempdir().unwrap();
        let asker = Asker::new(state.path());
        let questions: Vec<_> = (0..QUESTIONS).map(|number| slow(&number.to_string())).collect();
        let flights: Vec<Flight> = questions.iter().map(|question| asker.flight(question.clone())).collect();
        let refused = asker.ask(slow("more")).await;
        assert!(!refused.usable && refused.reason.contains("try again"), "{}", refused.reason);
        assert!(asker.known("more").is_none());
        questions.iter().for_each(|question| question.go.notify_one());
        for flight in flights {
            assert!(flight.await.usable);
        }
    }
}
