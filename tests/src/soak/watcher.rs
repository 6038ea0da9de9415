//! A client that watches its inbox, acknowledges some of what it is told, and looks whether what ended is really gone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use subagentd_ipc::client::{Client, Items};
use subagentd_proto::inbox::{AckParams, Notice, WatchParams};
use subagentd_proto::method::{InboxAck, InboxWatch};

use super::board::Board;
use super::dice::Dice;
use super::history::Offer;
use super::line::Line;
use super::rig::Rig;

/// How often it is looked whether everything is over.
const LOOK: Duration = Duration::from_millis(50);

/// The watcher of one owner.
pub(super) struct Watcher {
    pub(super) rig: Arc<Rig>,
    pub(super) board: Arc<Board>,
    pub(super) owner: String,
    pub(super) dice: Dice,
}

impl Watcher {
    /// Watches until everything is over, through all daemons.
    pub(super) async fn run(mut self) {
        let mut line = Line::new(&self.rig, &self.board, &self.owner);
        while let Some(client) = line.client().await {
            // Before the watch is opened: what was confirmed by now must not come again.
            let confirmed = self.board.notes().acknowledged.clone();
            if let Ok(items) = client.subscribe::<InboxWatch>(WatchParams { after: None }).await {
                self.follow(&client, items, &confirmed).await;
            } else {
                tokio::time::sleep(LOOK / 10).await;
            }
        }
    }

    async fn follow(&mut self, client: &Client, mut items: Items<Notice>, confirmed: &BTreeSet<u64>) {
        let mut sent = Vec::new();
        loop {
            match tokio::time::timeout(LOOK, items.next()).await {
                Err(_) if self.board.is_over() => return,
                Err(_) => {}
                Ok(Some(Ok(notice))) => {
                    sent.push(notice.seq);
                    self.take(&notice, confirmed);
                    self.acknowledge(client, notice.seq, &sent).await;
                }
                Ok(Some(Err(_)) | None) => return,
            }
        }
    }

    fn take(&mut self, notice: &Notice, confirmed: &BTreeSet<u64>) {
        let offer = Offer {
            seq: notice.seq,
            owner: self.owner.clone(),
            run: notice.run.clone(),
            state: notice.state,
            after_acknowledgement: confirmed.contains(&notice.seq),
        };
        let mut notes = self.board.notes();
        notes.offers.push(offer);
        let first = notes.ended.insert(notice.run.clone());
        drop(notes);
        if first && self.dice.chance(25) {
            self.look_for_life(&notice.run);
        }
    }

    /// An end is announced when its tree is gone, not before.
    fn look_for_life(&self, run: &str) {
        let of_run = |mark: &str| mark.split_once('/').is_some_and(|(marked, _)| marked == run);
        for process in self.rig.children() {
            if process.attempt.as_deref().is_some_and(of_run) {
                let what = format!(
                    "{run} was announced as ended while process {} of it lived: {:?}",
                    process.pid, process.command
                );
                self.board.trouble(what);
            }
        }
    }

    async fn acknowledge(&mut self, client: &Client, seq: u64, sent: &[u64]) {
        let (params, covered) = match self.dice.below(100) {
            0..50 => (AckParams { up_to: None, seqs: vec![seq] }, vec![seq]),
            50..70 => (AckParams { up_to: Some(seq), seqs: Vec::new() }, sent.to_vec()),
            _ => return,
        };
        if client.call::<InboxAck>(params).await.is_ok() {
            self.board.notes().acknowledged.extend(covered);
        }
    }
}
