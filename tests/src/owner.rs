//! A client of the daemon, as a host program would be one.

use subagentd_ipc::client::{CallError, Client, Items};
use subagentd_proto::error::Fault;
use subagentd_proto::inbox::{self, AckParams, Cursor, Notice, WatchParams};
use subagentd_proto::limits::PAGE_ROWS;
use subagentd_proto::method::{
    InboxAck, InboxList, InboxWatch, Method, RunCancel, RunGet, RunLaunch, RunList, RunPause, RunResult, RunResume,
    RunSteer, RunWait,
};
use subagentd_proto::run::{
    CancelParams, CancelResponse, Delivery, GetParams, LaunchResponse, ListParams, PauseParams, PauseResponse, Receipt,
    ResultParams, ResultResponse, ResumeParams, ResumeResponse, RunSummary, RunView, State, SteerParams, SteerResponse,
    WaitParams,
};

use crate::ask::Ask;
use crate::wait::{until, within};

/// A connection that has greeted.
#[derive(Debug)]
pub struct Owner {
    /// The connection.
    pub client: Client,
    /// The store's identity.
    pub store: String,
}

impl Owner {
    /// Greets as `name`.
    pub async fn greet(client: Client, name: &str) -> Self {
        let hello = within("daemon/hello", client.hello(name, "end-to-end", "1")).await.unwrap();
        Self { client, store: hello.store }
    }

    /// Calls a method.
    ///
    /// # Errors
    /// As the daemon answers.
    pub async fn call<M: Method>(&self, params: M::Params) -> Result<M::Response, CallError> {
        within(M::NAME, self.client.call::<M>(params)).await
    }

    /// Launches what has to be accepted.
    pub async fn launch(&self, ask: &Ask) -> LaunchResponse {
        self.try_launch(ask).await.unwrap()
    }

    /// Launches what may be refused.
    ///
    /// # Errors
    /// The refusal.
    pub async fn try_launch(&self, ask: &Ask) -> Result<LaunchResponse, CallError> {
        self.call::<RunLaunch>(ask.params.clone()).await
    }

    /// Launches and waits for the end.
    pub async fn run(&self, ask: &Ask) -> RunView {
        let launched = self.launch(ask).await;
        self.wait(&launched.run).await
    }

    /// One run.
    pub async fn get(&self, run: &str) -> RunView {
        self.call::<RunGet>(GetParams { run: run.to_owned() }).await.unwrap()
    }

    /// Waits for a run's end.
    pub async fn wait(&self, run: &str) -> RunView {
        let answer = self.call::<RunWait>(WaitParams { run: run.to_owned(), ..WaitParams::default() }).await.unwrap();
        assert!(answer.ended, "the run goes on: {:?}", answer.run);
        answer.run
    }

    /// Waits until a run is in this state. No event tells, so it is looked at again and again.
    pub async fn until(&self, run: &str, state: State) -> RunView {
        until(&format!("{run} is {state:?}"), async || {
            let view = self.get(run).await;
            assert!(view.state == state || !view.state.is_end(), "ended instead of being {state:?}: {view:?}");
            (view.state == state).then_some(view)
        })
        .await
    }

    /// Launches and waits until the child is at work.
    pub async fn begin(&self, ask: &Ask) -> String {
        let run = self.launch(ask).await.run;
        self.until(&run, State::Running).await;
        run
    }

    /// Cancels.
    pub async fn cancel(&self, run: &str) -> CancelResponse {
        self.call::<RunCancel>(CancelParams { run: run.to_owned() }).await.unwrap()
    }

    /// Tells the child something, after the tools under way or at its end.
    ///
    /// # Errors
    /// The refusal.
    pub async fn steer(&self, run: &str, text: &str, delivery: Delivery) -> Result<SteerResponse, CallError> {
        let delivery = Some(delivery);
        self.call::<RunSteer>(SteerParams { run: run.to_owned(), child: None, text: text.to_owned(), delivery }).await
    }

    /// The receipts of all that the child was told, in order.
    pub async fn receipts(&self, run: &str) -> Vec<Receipt> {
        self.get(run).await.children[0].steers.iter().map(|steer| steer.receipt).collect()
    }

    /// Pauses.
    ///
    /// # Errors
    /// The refusal.
    pub async fn pause(&self, run: &str) -> Result<PauseResponse, CallError> {
        self.call::<RunPause>(PauseParams { run: run.to_owned() }).await
    }

    /// Goes on with what a launch of this ask has begun, in the environment that the ask has.
    ///
    /// # Errors
    /// The refusal.
    pub async fn resume(&self, run: &str, ask: &Ask, text: Option<&str>) -> Result<ResumeResponse, CallError> {
        let capture = ask.params.capture.clone();
        let text = text.map(str::to_owned);
        self.call::<RunResume>(ResumeParams { run: run.to_owned(), text, capture, ..ResumeParams::default() }).await
    }

    /// The reference of an answer.
    ///
    /// # Errors
    /// When there is none.
    pub async fn result(&self, run: &str) -> Result<ResultResponse, CallError> {
        self.call::<RunResult>(ResultParams { run: run.to_owned(), ..ResultParams::default() }).await
    }

    /// An answer's text, slice by slice, and the number of slices.
    pub async fn text(&self, run: &str) -> (String, usize) {
        let (mut text, mut slices, mut next) = (String::new(), 0, Some(0));
        while let Some(offset) = next {
            let params = ResultParams { run: run.to_owned(), offset: Some(offset), ..ResultParams::default() };
            let slice = self.call::<RunResult>(params).await.unwrap().text.unwrap();
            assert_eq!(slice.offset, offset);
            text.push_str(&slice.text);
            next = slice.next_offset;
            slices += 1;
        }
        (text, slices)
    }

    /// Every run there is, newest first.
    pub async fn list(&self) -> Vec<RunSummary> {
        let params = ListParams { limit: Some(PAGE_ROWS), ..ListParams::default() };
        let page = self.call::<RunList>(params).await.unwrap();
        assert_eq!(page.next_cursor, None, "a test with so many runs has to page");
        page.runs
    }

    /// Unacknowledged notices, oldest first.
    pub async fn inbox(&self) -> Vec<Notice> {
        let params = inbox::ListParams { limit: Some(PAGE_ROWS), ..inbox::ListParams::default() };
        self.call::<InboxList>(params).await.unwrap().notices
    }

    /// Acknowledges what this connection was sent, up to a number.
    pub async fn ack_up_to(&self, seq: u64) -> u64 {
        self.call::<InboxAck>(AckParams { up_to: Some(seq), seqs: Vec::new() }).await.unwrap().acknowledged
    }

    /// Acknowledges by number.
    pub async fn ack(&self, seqs: &[u64]) -> u64 {
        self.call::<InboxAck>(AckParams { up_to: None, seqs: seqs.to_vec() }).await.unwrap().acknowledged
    }

    /// Watches the inbox, from the beginning or from a cursor.
    pub async fn watch(&self, after: Option<Cursor>) -> Watch {
        Watch(within("inbox/watch", self.client.subscribe::<InboxWatch>(WatchParams { after })).await.unwrap())
    }
}

/// An open watch of an inbox.
#[derive(Debug)]
pub struct Watch(Items<Notice>);

impl Watch {
    /// The next notice.
    pub async fn next(&mut self) -> Notice {
        within("a notice", self.0.next()).await.expect("the watch goes on").unwrap()
    }

    /// A notice that is there already or comes within the time.
    pub async fn next_within(&mut self, time: std::time::Duration) -> Option<Notice> {
        tokio::time::timeout(time, self.0.next()).await.ok()?.map(Result::unwrap)
    }
}

/// The refusal of a call that must not succeed.
pub fn fault<T: std::fmt::Debug>(answer: Result<T, CallError>) -> Fault {
    match answer {
        Err(CallError::Fault(fault)) => fault,
        other => panic!("no refusal: {other:?}"),
    }
}
