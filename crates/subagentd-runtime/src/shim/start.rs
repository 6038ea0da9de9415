//! Starting a child, and starting it again when others were in its way.

use std::time::{Duration, Instant};

use super::child::{self, Child};
use super::control::Control;
use super::ending::Ending;
use super::limits::Limits;
use super::session::{CHUNK, Session, WORKSPACE_LOOK};
use super::setup::{Prepared, Setup};
use super::sinks::Sinks;
use super::{conversation, extension};
use crate::driver::{self, Asked, Dialect, Files, Phase as DriverPhase, STEERS};
use crate::folder;
use crate::format::{Delivery, End, Phase, Receipt, Word};
use subagentd_core::life::Reason;

/// Remark: an extension that brings tools or the provider is not there any more. Its tools are missing (G1); without its
/// provider the verification refuses the child.
const EXTENSION_MISSING: &str = "extension.missing";

/// What a child is told that goes on without a word of its caller.
const GO_ON: &str = "You were interrupted. Go on with your task from where you stopped.";

/// What a second start needs. There is at most one, and none once the prompt may be on its way.
pub(super) struct Again {
    asked: Asked,
    environment: Vec<(String, String)>,
    /// What the child was told meanwhile: a driver that is given up must not count it as unheard. At most [`STEERS`];
    /// further ones are undelivered at once.
    steers: Vec<(u32, String, Delivery)>,
    /// The child is being ended for it.
    wanted: bool,
}

/// Runs the child and gives its end.
pub(super) fn run(setup: &Setup, prepared: Prepared) -> End {
    match begin(setup, prepared) {
        Ok(session) => session.until_the_end(),
        Err(error) => super::refused(Reason::StartFailed, error),
    }
}

fn begin(setup: &Setup, prepared: Prepared) -> Result<Session<'_>, String> {
    let Prepared { control, listener, task, environment } = prepared;
    let mut asked = Asked {
        provider: setup.request.provider.clone(),
        model: setup.request.model.clone(),
        thinking: setup.request.thinking.clone(),
        tools: setup.request.tools.clone(),
        excluded_tools: setup.request.excluded_tools.clone(),
        prompt: String::new(),
    };
    asked.prompt = prompt(setup, &*driver::begin(asked.clone()), task)?;
    let mut sinks =
        Sinks::open(setup).map_err(|error| format!("the attempt's working records cannot be made: {error}"))?;
    let Started { child, driver, remark } = start(setup, &environment, asked.clone())?;
    sinks.watch_for(driver.contention());
    let now = Instant::now();
    let mut session = Session {
        setup,
        child,
        driver,
        control: Control::new(listener, control),
        sinks,
        again: Some(Again { asked, environment, steers: Vec::new(), wanted: false }),
        limits: Limits::new(setup.request.limits, now),
        ending: ending(setup),
        phase: Phase::Starting,
        cause: None,
        settlement: None,
        answer: None,
        tools_missing: Vec::new(),
        remarks: remark.map(str::to_owned).into_iter().collect(),
        started_at_ms: super::now_ms(),
        gone_at: None,
        alone: false,
        buffer: vec![0; CHUNK],
        workspace_at: now + WORKSPACE_LOOK,
        workspace_fault: None,
        tools: Vec::new(),
        last_event_at_ms: None,
        progressed: false,
        told_at: now,
    };
    session.greet();
    Ok(session)
}

/// What the child is told first.
fn prompt(setup: &Setup, dialect: &dyn Dialect, task: String) -> Result<String, String> {
    let Some(resume) = &setup.request.resume else { return Ok(task) };
    let told = conversation::has_task(setup, dialect, &task)
        .map_err(|error| format!("the conversation cannot be looked at: {error}"))?;
    Ok(match (told, &resume.text) {
        (true, Some(text)) => text.clone(),
        (true, None) => GO_ON.to_owned(),
        (false, Some(text)) => format!("{task}\n\n{text}"),
        (false, None) => task,
    })
}

struct Started {
    child: Child,
    driver: Box<dyn Dialect>,
    /// What was odd about it.
    remark: Option<&'static str>,
}

fn start(setup: &Setup, environment: &[(String, String)], asked: Asked) -> Result<Started, String> {
    let driver = driver::begin(asked);
    let mut files = files(setup, &*driver)?;
    files.extensions = extension::supplied(&setup.request.extensions, &*driver, environment);
    let remark = (files.extensions.len() < setup.request.extensions.len()).then_some(EXTENSION_MISSING);
    let child = child::start(setup, environment, &driver.argv(&files))?;
    Ok(Started { child, driver, remark })
}

fn files(setup: &Setup, dialect: &dyn Dialect) -> Result<Files, String> {
    let instructions = setup.path.join(folder::INSTRUCTIONS);
    let conversation = conversation::place(setup, dialect)?;
    let extension = dialect.extension().map(|extension| extension::place(setup, extension)).transpose()?;
    Ok(Files {
        session_dir: conversation.folder,
        session_id: conversation.id,
        fork: conversation.fork,
        // A path that does not exist would be taken for the text itself.
        instructions: instructions.is_file().then_some(instructions),
        extension,
        extensions: Vec::new(),
    })
}

fn ending(setup: &Setup) -> Ending {
    Ending::new(Duration::from_millis(setup.request.limits.grace_ms))
}

impl Session<'_> {
    /// Takes a steer: to the driver, or into keeping while the child may be started again.
    pub(super) fn steer(&mut self, intent: u32, text: String, delivery: Delivery) {
        match &mut self.again {
            None => self.driver.steer(intent, &text, delivery),
            Some(again) if again.steers.len() < STEERS => again.steers.push((intent, text, delivery)),
            Some(_) => self.control.say(&Word::Steered { intent, receipt: Receipt::Undelivered }),
        }
        self.take_events();
    }

    /// From now on there is no second start: the driver gets what was kept for it.
    pub(super) fn commit(&mut self) {
        if let Some(again) = self.again.take() {
            self.hand_over(again.steers);
        }
    }

    fn hand_over(&mut self, steers: Vec<(u32, String, Delivery)>) {
        for (intent, text, delivery) in steers {
            self.driver.steer(intent, &text, delivery);
        }
        self.take_events();
    }

    /// Before a byte of the prompt is written: a child that met others at its start is ended and started again. It said
    /// so before its first record, so that nothing was asked of it yet. A second one that says it goes on, remarked.
    pub(super) fn look_at_start(&mut self) {
        if self.again.is_some() && !self.gives_up() && self.driver.phase() != DriverPhase::Verifying {
            self.commit();
        }
    }

    /// Whether the child is given up for a second start, which begins with closing its input.
    pub(super) fn gives_up(&mut self) -> bool {
        let Some(again) = &mut self.again else { return false };
        if !again.wanted && self.sinks.saw_watched() && self.cause.is_none() && self.settlement.is_none() {
            again.wanted = true;
            let means = self.ending.settled(Instant::now());
            self.apply(means);
        }
        self.is_given_up()
    }

    /// Starts the child anew once it is gone, if that is what it was ended for, or what it died of.
    pub(super) fn starts_again(&mut self) -> bool {
        let contended = self.sinks.saw_watched();
        if self.again.is_none() || !contended || self.cause.is_some() || self.settlement.is_some() || !self.alone {
            self.commit();
            return false;
        }
        let Some(Again { asked, environment, steers, .. }) = self.again.take() else { return false };
        match start(self.setup, &environment, asked) {
            Ok(Started { child, driver, .. }) => {
                self.remark("start.retried");
                (self.child, self.driver) = (child, driver);
                self.ending = ending(self.setup);
                (self.gone_at, self.alone) = (None, false);
                self.limits.child_started(Instant::now());
                self.sinks.watch_for(self.driver.contention());
            }
            Err(error) => super::log(format_args!("the child could not be started again: {error}")),
        }
        self.hand_over(steers);
        self.gone_at.is_none()
    }

    fn is_given_up(&self) -> bool {
        self.again.as_ref().is_some_and(|again| again.wanted)
    }
}
