//! The writer task: the only one that changes the database.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::Message;
use super::job::{Answer, Job};
use crate::error::{StoreError, own_fault, words};
use crate::request::Settled;
use crate::sql;

/// Jobs of one commit. More wait for the next one.
const BATCH: usize = 64;
/// Jobs kept at hand while the storage is in trouble. Beyond it they stay in the queue, and whoever adds to that waits.
const HELD: usize = 1_024;
/// Between two tries of a failing storage: the first wait, doubled up to the second.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// After so long without a job the log is emptied once: a reader that starts then has nothing to follow.
const IDLE: Duration = Duration::from_secs(30);

type Stored = Result<Answer, StoreError>;

pub(super) struct Task {
    connection: SqliteConnection,
    path: Arc<Path>,
    queue: mpsc::Receiver<Message>,
    newest: watch::Sender<u64>,
    healthy: watch::Sender<bool>,
    trouble: watch::Sender<Option<Arc<str>>>,
    finishing: bool,
}

impl Task {
    pub(super) fn new(
        connection: SqliteConnection,
        path: Arc<Path>,
        queue: mpsc::Receiver<Message>,
        newest: watch::Sender<u64>,
        healthy: watch::Sender<bool>,
        trouble: watch::Sender<Option<Arc<str>>>,
    ) -> Self {
        Self { connection, path, queue, newest, healthy, trouble, finishing: false }
    }

    /// Stores jobs until told to finish, or until nobody is left who could queue one.
    pub(super) async fn run(mut self) -> Option<SqliteConnection> {
        let mut messages = Vec::with_capacity(BATCH);
        let mut logged = false;
        while !self.finishing && self.receive(&mut messages, logged).await > 0 {
            let jobs = self.take(&mut messages).await;
            self.store(jobs).await;
            logged = true;
        }
        Some(self.connection)
    }

    /// Waits for messages; 0 when none can come any more. Cancel-safe inside: `recv_many` takes nothing when dropped.
    async fn receive(&mut self, messages: &mut Vec<Message>, logged: bool) -> usize {
        if logged {
            if let Ok(received) = timeout(IDLE, self.queue.recv_many(messages, BATCH)).await {
                return received;
            }
            self.empty_log().await;
        }
        self.queue.recv_many(messages, BATCH).await
    }

    /// The jobs among the messages; those behind the word to finish are dropped, which their receipts report.
    async fn take(&mut self, messages: &mut Vec<Message>) -> Vec<Job> {
        let mut jobs = Vec::with_capacity(messages.len());
        for message in messages.drain(..) {
            match message {
                Message::Job(job) if !self.finishing => jobs.push(job),
                Message::Job(_) => {}
                Message::Finish => self.finishing = true,
                #[cfg(test)]
                Message::Limit(pages, done) => {
                    let pragma = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
                    sqlx::query(pragma).execute(&mut self.connection).await.unwrap();
                    done.send(()).unwrap();
                }
            }
        }
        jobs
    }

    async fn store(&mut self, jobs: Vec<Job>) {
        let stored = match jobs.as_slice() {
            [] => return,
            [job] => self.alone(job).await.map(|stored| vec![stored]),
            jobs => self.together(jobs).await,
        };
        match stored {
            Ok(stored) => {
                for (job, stored) in jobs.into_iter().zip(stored) {
                    self.answer(job, stored);
                }
            }
            Err(error) => self.recover(jobs, &error).await,
        }
    }

    /// Stores one job in a transaction of its own. An error is the storage's; the job's own fault is its answer.
    async fn alone(&mut self, job: &Job) -> Result<Stored, sqlx::Error> {
        let prepared = &job.prepared;
        let ran = self.query(prepared.kind.statement().alone, prepared.arguments.clone()).await;
        match ran {
            Ok(rows) => Ok(prepared.answer(&rows)),
            Err(error) => {
                self.roll_back().await;
                if own_fault(&error) { Ok(Err(StoreError::Refused(words(&error)))) } else { Err(error) }
            }
        }
    }

    /// Stores several jobs in one transaction, each in its savepoint.
    async fn together(&mut self, jobs: &[Job]) -> Result<Vec<Stored>, sqlx::Error> {
        let stored = self.try_together(jobs).await;
        if stored.is_err() {
            self.roll_back().await;
        }
        stored
    }

    async fn try_together(&mut self, jobs: &[Job]) -> Result<Vec<Stored>, sqlx::Error> {
        self.query(sql::BEGIN, SqliteArguments::default()).await?;
        let mut stored = Vec::with_capacity(jobs.len());
        for job in jobs {
            let prepared = &job.prepared;
            let ran = self.query(prepared.kind.statement().together, prepared.arguments.clone()).await;
            stored.push(match ran {
                Ok(rows) => prepared.answer(&rows),
                Err(error) if own_fault(&error) => {
                    self.query(sql::UNDO_JOB, SqliteArguments::default()).await?;
                    Err(StoreError::Refused(words(&error)))
                }
                Err(error) => return Err(error),
            });
        }
        self.query(sql::COMMIT, SqliteArguments::default()).await?;
        Ok(stored)
    }

    /// Runs every statement of a query. Not `fetch_one`, nor `fetch_optional`: they stop after the first row, before the
    /// statements behind it.
    async fn query(
        &mut self,
        statements: &'static str,
        arguments: SqliteArguments,
    ) -> Result<Vec<SqliteRow>, sqlx::Error> {
        sqlx::query_with(statements, arguments).fetch_all(&mut self.connection).await
    }

    async fn roll_back(&mut self) {
        // After some errors SQLite has rolled back by itself, and this one finds nothing to do.
        if let Err(error) = self.query(sql::ROLLBACK, SqliteArguments::default()).await {
            tracing::debug!(error = words(&error), "nothing to roll back");
        }
    }

    /// The word comes after the row: a notice's number is published once it is committed.
    fn answer(&self, job: Job, stored: Stored) {
        if let Ok(Answer::Settled(Settled::Stored { notice: Some(seq) })) = stored {
            self.newest.send_if_modified(|newest| {
                seq > *newest && {
                    *newest = seq;
                    true
                }
            });
        }
        // Nobody may be waiting any more; the job holds all the same.
        drop(job.reply.send(stored));
    }

    /// Works off jobs whose commit failed: launches are refused, all others are tried one by one, in order, until each
    /// is stored. Meanwhile no launch is admitted.
    async fn recover(&mut self, jobs: Vec<Job>, error: &sqlx::Error) {
        self.report(error);
        let mut held = VecDeque::with_capacity(jobs.len());
        for job in jobs {
            self.hold(job, &mut held);
        }
        // Whoever waits in the queue must hear soon, so that a lock of somebody else's is not waited for now.
        self.be_patient(sql::IMPATIENT).await;
        let mut pause = FIRST_PAUSE;
        loop {
            let tried = match held.front() {
                Some(job) => self.alone(job).await.map(Some),
                // All were refused: is it over? Without asking, the next ones would have to find out.
                None => self.query(sql::TRY, SqliteArguments::default()).await.map(|_| None),
            };
            let error = match tried {
                Ok(Some(stored)) => {
                    if let Some(job) = held.pop_front() {
                        self.answer(job, stored);
                    }
                    pause = FIRST_PAUSE;
                    continue;
                }
                Ok(None) => break,
                Err(error) => error,
            };
            self.roll_back().await;
            self.report(&error);
            if self.finishing || matches!(error, sqlx::Error::WorkerCrashed) {
                self.give_up(held);
                return;
            }
            self.wait(pause, &mut held).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.be_patient(sql::PATIENT).await;
        self.trouble.send_replace(None);
        self.healthy.send_replace(true);
        tracing::info!(path = %self.path.display(), "commits are tried again");
    }

    async fn be_patient(&mut self, how: &'static str) {
        if let Err(error) = self.query(how, SqliteArguments::default()).await {
            tracing::warn!(path = %self.path.display(), reason = words(&error), "the time to wait for locks stays");
        }
    }

    fn report(&self, error: &sqlx::Error) {
        let reason = words(error);
        if self.healthy.send_replace(false) {
            tracing::error!(path = %self.path.display(), reason, "a commit failed");
        }
        self.trouble.send_replace(Some(reason.into()));
    }

    /// Keeps a job for another try; a launch is refused instead.
    fn hold(&self, job: Job, held: &mut VecDeque<Job>) {
        if job.prepared.kind.is_launch() {
            let reason = self.trouble.borrow().as_deref().unwrap_or_default().to_owned();
            self.answer(job, Err(StoreError::unavailable(&self.path, reason)));
        } else {
            held.push_back(job);
        }
    }

    /// Lets time pass and takes in what arrives, so that launches hear at once.
    async fn wait(&mut self, pause: Duration, held: &mut VecDeque<Job>) {
        let until = Instant::now() + pause;
        loop {
            if held.len() >= HELD {
                tokio::time::sleep_until(until).await;
                return;
            }
            // Cancel-safe: `recv` takes nothing when it is dropped.
            match timeout_at(until, self.queue.recv()).await {
                Err(_) => return,
                Ok(None) => {
                    self.finishing = true;
                    return;
                }
                Ok(Some(message)) => {
                    for job in self.take(&mut vec![message]).await {
                        self.hold(job, held);
                    }
                    if self.finishing {
                        return;
                    }
                }
            }
        }
    }

    /// The end with jobs that were never stored. What they told of is still there to be found at the next start.
    fn give_up(&mut self, held: VecDeque<Job>) {
        self.finishing = true;
        let reason = self.trouble.borrow().as_deref().unwrap_or_default().to_owned();
        tracing::error!(path = %self.path.display(), jobs = held.len(), reason, "closed with jobs that were not stored");
        for job in held {
            self.answer(job, Err(StoreError::unavailable(&self.path, &reason)));
        }
    }

    async fn empty_log(&mut self) {
        if let Err(error) = self.query(sql::CHECKPOINT, SqliteArguments::default()).await {
            tracing::warn!(path = %self.path.display(), reason = words(&error), "the log could not be emptied");
        }
    }
}
