//! One program, started to be asked and ended with everything that it started.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};
use subagentd_core::outcome::{ERROR_BYTES, error_line};
use subagentd_core::plan::Environment;
use subagentd_runtime::process;

/// Output that is read of one program; one that writes more is ended. The largest list seen has 1.5 MB.
const OUTPUT_BYTES: usize = 32 * 1024 * 1024;
/// Time to leave by itself once its input is closed, which pi needs to give up its locks, and after a polite signal.
const GRACE: Duration = Duration::from_millis(500);
/// What lives on after so long of killing is left to the daemon.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two passes of killing.
const PASS: Duration = Duration::from_millis(2);

/// What reading gave.
pub(super) enum Output<'a> {
    /// Bytes of its standard output.
    Some(&'a [u8]),
    /// It closed its standard output, having written what an error line says, if anything.
    End,
}

/// Why reading stopped.
pub(super) enum Stop {
    /// Time is up.
    Late,
    /// It wrote more than [`OUTPUT_BYTES`].
    TooMuch,
    /// Whoever asked is gone.
    NobodyAsks,
    /// The system says so.
    System(io::Error),
}

/// A running program.
pub(super) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    /// Its last line on standard error, as far as it was read.
    complaint: Vec<u8>,
    read: usize,
}

impl Program {
    /// Starts it with this environment and no other, in `/`.
    pub(super) fn start(command: &[String], environment: &Environment) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(environment).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let (input, errors) = (child.stdin.take(), child.stderr.take());
        Ok(Self { child, input, output, errors, complaint: Vec::new(), read: 0 })
    }

    /// Writes to it; one that does not read will be late, and one that is gone ends its output.
    pub(super) fn say(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input {
            input.write_all(bytes).ok();
        }
    }

    /// Closes its standard input.
    pub(super) fn say_no_more(&mut self) {
        self.input = None;
    }

    /// Waits for its output, until the deadline or until `asker` is gone.
    pub(super) fn read<'a>(
        &mut self,
        buffer: &'a mut [u8],
        deadline: Instant,
        asker: BorrowedFd<'_>,
    ) -> Result<Output<'a>, Stop> {
        loop {
            let left = deadline.checked_duration_since(Instant::now()).ok_or(Stop::Late)?;
            let gone = PollFlags::HUP | PollFlags::RDHUP;
            let mut watched = vec![PollFd::from_borrowed_fd(asker, gone), PollFd::new(&self.output, PollFlags::IN)];
            if let Some(errors) = &self.errors {
                watched.push(PollFd::new(errors, PollFlags::IN));
            }
            match poll(&mut watched, Some(&time(left))) {
                Ok(0) => return Err(Stop::Late),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Stop::System(error.into())),
            }
            let mut ready = watched.iter().map(|one| !one.revents().is_empty());
            let (asker, output, errors) = (ready.next(), ready.next(), ready.next());
            if asker == Some(true) {
                return Err(Stop::NobodyAsks);
            }
            if errors == Some(true) {
                self.hear_complaint();
            }
            if output == Some(true) {
                let count = self.output.read(buffer).map_err(Stop::System)?;
                self.read = self.read.saturating_add(count);
                return match count {
                    0 => Ok(Output::End),
                    _ if self.read > OUTPUT_BYTES => Err(Stop::TooMuch),
                    count => Ok(Output::Some(buffer.get(..count).unwrap_or_default())),
                };
            }
        }
    }

    fn hear_complaint(&mut self) {
        let mut bytes = [0; 4096];
        let count = self.errors.as_mut().map_or(0, |errors| errors.read(&mut bytes).unwrap_or(0));
        if count == 0 {
            self.errors = None;
        }
        self.complaint.extend_from_slice(bytes.get(..count).unwrap_or_default());
        // The last line is all that is told.
        let spare = self.complaint.len().saturating_sub(4 * ERROR_BYTES);
        self.complaint.drain(..spare);
    }

    /// How it ended, after it closed its output: half a sentence.
    pub(super) fn end_in_words(&mut self) -> String {
        let status = self.wait_for_end(GRACE);
        while self.errors.as_ref().is_some_and(|errors| is_readable(errors.as_fd())) {
            self.hear_complaint();
        }
        let how = match status {
            Some(status) => match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => format!("ended with exit code {code}"),
                (None, Some(signal)) => format!("was ended by signal {signal}"),
                (None, None) => "ended".to_owned(),
            },
            None => "closed its output".to_owned(),
        };
        let text = String::from_utf8_lossy(&self.complaint);
        match text.lines().map(str::trim).rfind(|line| !line.is_empty()) {
            Some(line) => format!("{how}: {}", error_line(line)),
            None => how,
        }
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    fn wait_for_end(&self, patience: Duration) -> Option<WaitStatus> {
        let pid = self.pid()?;
        let gone: OwnedFd = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let mut watched = [PollFd::new(&gone, PollFlags::IN)];
        // Late or interrupted: the next question tells.
        poll(&mut watched, Some(&time(patience))).ok();
        rustix::process::waitpid(Some(pid), WaitOptions::NOHANG).ok().flatten().map(|(_, status)| status)
    }

    /// Ends it and all that it started. This process must be a sub-reaper with no children but these.
    pub(super) fn end(mut self) {
        self.say_no_more();
        if self.wait_for_end(GRACE).is_none()
            && let Some(pid) = self.pid().filter(|_| !process::is_gone(self.child.id()))
        {
            // Not reaped yet, so the id is still its own.
            rustix::process::kill_process(pid, Signal::TERM).ok();
            self.wait_for_end(GRACE);
        }
        let deadline = Instant::now() + PATIENCE;
        // Only direct children are killed; those of theirs become direct ones. Nobody is left when there is none to
        // wait for.
        while Instant::now() < deadline {
            for child in process::direct_children().unwrap_or_default() {
                rustix::process::kill_process(child, Signal::KILL).ok();
            }
            loop {
                match rustix::process::wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                    Ok(None) => break,
                    Err(_) => return,
                }
            }
            std::thread::sleep(PASS);
        }
    }
}

fn is_readable(descriptor: BorrowedFd<'_>) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
    poll(&mut watched, Some(&time(Duration::ZERO))).is_ok_and(|ready| ready > 0)
}

fn time(length: Duration) -> Timespec {
    // A wait that is too long for the kernel's form is cut to an hour.
    let length = length.min(Duration::from_secs(3_600));
    Timespec { tv_sec: i64::try_from(length.as_secs()).unwrap_or(3_600), tv_nsec: i64::from(length.subsec_nanos()) }
}
