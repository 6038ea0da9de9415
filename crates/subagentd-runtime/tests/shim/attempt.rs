//! An attempt in a state directory of its own, from the daemon's side.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use subagentd_core::id::{AttemptId, ChildId, RunId};
use subagentd_core::outcome::Outcome;
use subagentd_core::plan::{Program, TimeLimits};
use subagentd_core::workspace::RootIdentity;
use subagentd_runtime::folder::{self, Places};
use subagentd_runtime::format::{
    Conversation, Delivery, End, Order, Phase, REQUEST_FORMAT, Receipt, Request, TaskText, Word,
};
use subagentd_runtime::{files, spawn};
use tempfile::TempDir;

/// For each wait; far above what is needed.
const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) struct Attempt {
    state: TempDir,
    pub(crate) work: TempDir,
    pub(crate) request: Request,
}

impl Attempt {
    pub(crate) fn new(manner: &str) -> Self {
        let state = tempfile::tempdir().unwrap();
        let work = tempfile::tempdir().unwrap();
        Places::new(state.path()).make().unwrap();
        let run: RunId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        let root = work.path().metadata().unwrap();
        let request = Request {
            format: REQUEST_FORMAT,
            attempt: AttemptId { child: ChildId { run, index: 0 }, number: 2 },
            program: Program { path: std::env::current_exe().unwrap(), args: vec!["child".into(), manner.into()] },
            directory: work.path().to_owned(),
            root: work.path().to_owned(),
            identity: RootIdentity { device: root.dev(), inode: root.ino() },
            exclusive: false,
            environment: None,
            umask: None,
            open_files: Some(300),
            resource_limits: BTreeMap::new(),
            provider: "p".into(),
            model: "m".into(),
            thinking: "off".into(),
            tools: vec!["read".into()],
            extensions: Vec::new(),
            excluded_tools: Vec::new(),
            resume: None,
            task: TaskText::Inline("begin".into()),
            conversation: Conversation::default(),
            answer: "result.md".into(),
            earlier_answer: None,
            spool: Places::new(state.path()).spool(),
            limits: TimeLimits {
                first_event_ms: 15_000,
                idle_ms: 15_000,
                tool_call_ms: 15_000,
                total_ms: 18_000,
                grace_ms: 300,
            },
        };
        Self { state, work, request }
    }

    pub(crate) fn run_folder(&self) -> PathBuf {
        Places::new(self.state.path()).run(self.request.attempt.child.run)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        Places::new(self.state.path()).attempt(self.request.attempt)
    }

    pub(crate) fn prepare(&self) {
        Places::new(self.state.path()).prepare(&self.request, "").unwrap();
    }

    pub(crate) fn start(&self) -> Line {
        self.prepare();
        self.start_prepared()
    }

    pub(crate) fn start_prepared(&self) -> Line {
        Line::new(spawn::spawn(&self.folder()).unwrap().control)
    }

    /// Another connection, as that of a daemon that was started anew.
    pub(crate) fn connect(&self) -> Line {
        Line::new(UnixStream::connect(self.folder().join(folder::CONTROL)).unwrap())
    }

    /// What the child left in its directory.
    pub(crate) fn left(&self, name: &str) -> String {
        std::fs::read_to_string(self.work.path().join(name)).unwrap()
    }

    pub(crate) fn outcome(&self, line: &mut Line) -> Outcome {
        while line.next().is_some() {}
        // The shim's own limits bound this wait, and its record is published before it lets go.
        let lock = std::fs::File::open(self.folder().join(folder::LOCK)).unwrap();
        lock.lock().unwrap();
        let spool = files::open_folder(&self.request.spool).unwrap();
        let record = folder::read_record(&spool, &self.request.attempt.record());
        match record.unwrap_or_else(|error| panic!("{error}: {:?}", folder::last_log_line(&self.folder()))).end {
            End::Ended(outcome) => *outcome,
            End::BusyElsewhere => panic!("busy elsewhere"),
        }
    }
}

/// A control connection.
pub(crate) struct Line {
    reader: BufReader<UnixStream>,
    pub(crate) heard: Vec<Word>,
}

impl Line {
    fn new(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Self { reader: BufReader::new(stream), heard: Vec::new() }
    }

    pub(crate) fn order(&mut self, order: &Order) {
        self.orders(std::slice::from_ref(order));
    }

    /// In one piece, so that the shim has all of them or none.
    pub(crate) fn orders(&mut self, orders: &[Order]) {
        let lines = orders.iter().map(|order| serde_json::to_string(order).unwrap() + "\n");
        match self.reader.get_mut().write_all(lines.collect::<String>().as_bytes()) {
            // A shim that is done hears nothing more.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
    }

    pub(crate) fn steer(&mut self, intent: u32, text: &str) {
        self.order(&Order::Steer { intent, text: text.into(), delivery: Delivery::Steer });
    }

    /// The next word but progress; none at the end.
    pub(crate) fn next(&mut self) -> Option<Word> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            assert!(Instant::now() < deadline, "heard {:?}", self.heard);
            let mut line = String::new();
            match self.reader.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                // What was not read by the shim is lost with it.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{error}; heard {:?}", self.heard),
            }
            let word: Word = serde_json::from_str(&line).unwrap();
            if !matches!(word, Word::Progress(_)) {
                self.heard.push(word.clone());
                return Some(word);
            }
        }
    }

    /// Waits for a word that passes the test.
    pub(crate) fn until(&mut self, test: impl Fn(&Word) -> bool) {
        loop {
            match self.next() {
                Some(word) if test(&word) => return,
                Some(_) => {}
                None => panic!("the connection ended; heard {:?}", self.heard),
            }
        }
    }

    pub(crate) fn until_running(&mut self) {
        self.until(|word| matches!(word, Word::Phase { phase: Phase::Running, .. }));
    }

    pub(crate) fn until_receipt(&mut self, intent: u32, receipt: Receipt) {
        self.until(|word| *word == Word::Steered { intent, receipt });
    }

    pub(crate) fn receipts(&self) -> Vec<(u32, Receipt)> {
        let receipt = |word: &Word| match word {
            Word::Steered { intent, receipt } => Some((*intent, *receipt)),
            _ => None,
        };
        self.heard.iter().filter_map(receipt).collect()
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
