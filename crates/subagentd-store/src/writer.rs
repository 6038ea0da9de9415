//! The handle of the writer task: every change of the database is a job in its queue.

mod job;
mod receipt;
mod task;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::sqlite::SqliteConnection;
use subagentd_core::id::{AttemptId, ChildId};
use subagentd_core::life::State;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::error::StoreError;
use crate::request::{
    Acknowledge, Begun, Intended, NewAttempt, NewContinuation, NewIntent, NewRun, Requeue, Resumed, Settled,
    Settlement, Spawned, SteerReceipt, Submitted,
};
use job::{FromAnswer, Job, Prepared};
pub use receipt::Receipt;
use task::Task;

/// Jobs that wait for the writer. When it is full, whoever queues the next one waits for a place, in order.
pub const QUEUE: usize = 1_024;

/// Changes the database. Queueing a job is the first await and keeps the order of the calls; its commit is the second:
/// `let receipt = writer.settle(..).await;` and later `receipt.await?`. A dropped receipt drops no job.
#[derive(Debug, Clone)]
pub struct Writer {
    queue: mpsc::Sender<Message>,
    newest: watch::Receiver<u64>,
    healthy: watch::Receiver<bool>,
    trouble: watch::Receiver<Option<Arc<str>>>,
    path: Arc<Path>,
}

/// What the task is told.
#[derive(Debug)]
pub(crate) enum Message {
    /// Store this.
    Job(Job),
    /// Store what came before and end.
    Finish,
    /// Let the database grow to so many pages at most: a full disk on order.
    #[cfg(test)]
    Limit(u32, oneshot::Sender<()>),
}

/// Starts the writer task; it gives the connection back when it ends by [`Message::Finish`].
pub(crate) fn start(
    connection: SqliteConnection,
    path: PathBuf,
    newest: u64,
) -> (Writer, JoinHandle<Option<SqliteConnection>>) {
    let (queue, jobs) = mpsc::channel(QUEUE);
    let (newest_in, newest) = watch::channel(newest);
    let (healthy_in, healthy) = watch::channel(true);
    let (trouble_in, trouble) = watch::channel(None);
    let path: Arc<Path> = path.into();
    let task = Task::new(connection, Arc::clone(&path), jobs, newest_in, healthy_in, trouble_in);
    let writer = Writer { queue, newest, healthy, trouble, path };
    (writer, tokio::spawn(task.run()))
}

impl Writer {
    /// Stores a launch: run, children, plans, tasks and key. While the storage is in trouble it is refused at once.
    pub async fn submit(&self, run: NewRun) -> Receipt<Submitted> {
        match self.in_trouble() {
            Some(error) => Receipt::refused(error),
            None => self.queue(job::submit(&run)).await,
        }
    }

    /// Puts a child that has settled back into the queue, with what it is told then. A launch again: while the storage is
    /// in trouble it is refused at once.
    pub async fn resume(&self, new: NewContinuation) -> Receipt<Resumed> {
        match self.in_trouble() {
            Some(error) => Receipt::refused(error),
            None => self.queue(job::resume(new)).await,
        }
    }

    /// Takes a child out of the queue: attempt, lease and states.
    pub async fn begin_attempt(&self, new: NewAttempt) -> Receipt<Begun> {
        self.queue(job::begin_attempt(&new)).await
    }

    /// Stores the process of an attempt's shim; nothing if the attempt has ended.
    pub async fn spawned(&self, spawned: Spawned) -> Receipt<()> {
        self.queue(job::spawned(spawned)).await
    }

    /// The child was verified and has its prompt; nothing if it is not `starting` in this attempt.
    pub async fn running(&self, attempt: AttemptId, run_state: State, at_ms: u64) -> Receipt<()> {
        self.queue(job::running(attempt, run_state, at_ms)).await
    }

    /// Puts a child back into the queue; nothing if it is not `starting` in this attempt.
    pub async fn requeue(&self, requeue: Requeue) -> Receipt<()> {
        self.queue(job::requeue(requeue)).await
    }

    /// Stores an intent before it is sent; a second cancel or pause gets the first one's number.
    pub async fn intend(&self, intent: NewIntent) -> Receipt<Intended> {
        self.queue(job::intend(intent)).await
    }

    /// A shim confirmed a cancel or a pause; nothing if it had before.
    pub async fn confirm(&self, child: ChildId, number: u32, at_ms: u64) -> Receipt<()> {
        self.queue(job::confirm(child, number, at_ms)).await
    }

    /// A steer came so far. Nothing if it had come further or is closed; nor, while a pause is stored, if the child has not
    /// got it: the next attempt may.
    pub async fn receipt(&self, steer: SteerReceipt) -> Receipt<()> {
        self.queue(job::receipt(steer)).await
    }

    /// Gives up the scope that a settled child kept; nothing if it kept none.
    pub async fn release(&self, child: ChildId) -> Receipt<()> {
        self.queue(job::release(child)).await
    }

    /// Stores an end, or a pause, and all that follows from it. An end is never overwritten, nor a pause by a pause.
    pub async fn settle(&self, settlement: Settlement) -> Receipt<Settled> {
        self.queue(job::settle(&settlement)).await
    }

    /// Acknowledges notices; the answer is how many had not been before.
    pub async fn acknowledge(&self, acknowledge: Acknowledge) -> Receipt<u64> {
        self.queue(job::acknowledge(&acknowledge)).await
    }

    /// The highest number of a notice, published after its commit.
    #[must_use]
    pub fn newest_notice(&self) -> watch::Receiver<u64> {
        self.newest.clone()
    }

    /// Whether the last commit went well. When the sender is gone the writer has ended: nothing can be stored any more.
    #[must_use]
    pub fn healthy(&self) -> watch::Receiver<bool> {
        self.healthy.clone()
    }

    pub(crate) async fn finish(&self) {
        // A writer that is gone has finished.
        drop(self.queue.send(Message::Finish).await);
    }

    #[cfg(test)]
    pub(crate) async fn limit_pages(&self, pages: u32) {
        let (done, is_done) = oneshot::channel();
        assert!(self.queue.send(Message::Limit(pages, done)).await.is_ok());
        is_done.await.unwrap();
    }

    fn in_trouble(&self) -> Option<StoreError> {
        self.trouble.borrow().as_deref().map(|reason| StoreError::unavailable(&self.path, reason))
    }

    async fn queue<T: FromAnswer>(&self, prepared: Result<Prepared, StoreError>) -> Receipt<T> {
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Receipt::refused(error),
        };
        let (reply, receipt) = oneshot::channel();
        let job = Job { prepared, reply };
        match self.queue.send(Message::Job(job)).await {
            Ok(()) => Receipt::waiting(receipt),
            Err(_) => Receipt::refused(StoreError::Closed),
        }
    }
}
