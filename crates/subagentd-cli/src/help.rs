//! What `--help` teaches by example. Every command says which document `--json` prints; the names are those of the wire.

pub(crate) const PROGRAM: &str = "\
Examples:
  subagentd-cli agents                      see which agents there are
  subagentd-cli models                      see which models they can use
  subagentd-cli run explore \"where are stale sockets removed?\"
                                            wait, then see where the answer is
  subagentd-cli result 1a2b3c4d | less      read the answer
  subagentd-cli run debug --detach - < report.txt
                                            hand over work and go on
  subagentd-cli list                        see what works, waits or needs you
  subagentd-cli wait 1a2b3c4d --timeout 5m  wait again, or elsewhere
  subagentd-cli steer 1a2b3c4d \"skip the tests\"
                                            tell it something while it works
  subagentd-cli pause 1a2b3c4d              let it settle, to go on later
  subagentd-cli resume 1a2b3c4d             go on with it
  subagentd-cli cancel 1a2b3c4d             end a run

RUN is a run's id or any unique ending of at least 6 hex digits; lists show 8.
Ctrl-C ends the waiting, never a run. The daemon is started when it is needed.
Results go to standard output, hints and errors to standard error.
--json: one document, see each command; an error is one too, on standard output:
  {\"error\": {\"kind\", \"message\", \"retryable\", \"hint\"?, \"at\"?, \"run\"?}}";

pub(crate) const RUN: &str = "\
Examples:
  subagentd-cli run explore \"where is the config read?\"
  subagentd-cli run worker --detach --title \"fix CI\" - < task.md
  subagentd-cli run debug --timeout 20m --key nightly-1 \"why does it hang?\"
  subagentd-cli run explore -- \"-x: what does this flag do?\"

While it waits, a terminal shows how far the run is; a pipe gets a line for each
change. Ctrl-C ends the waiting, never the run. What the exit code tells is in
`subagentd-cli --help`. A terminal gets an answer of up to 20 lines and 2 KiB
itself; a longer one, and a pipe, the file that holds it.
--json: the reply of run/wait (WaitResponse); with --detach that of run/launch
(LaunchResponse).";

pub(crate) const EXPLAIN: &str = "\
Every value with who set it and why, what fell through, what would be loaded,
and the files that the agent is made of. Nothing is stored or started.

Examples:
  subagentd-cli explain worker
  subagentd-cli explain worker \"mend the build\" --trust-project
  subagentd-cli explain explore --parent-tools read,grep,web_search

The digest covers every value and the task: that of the run is the same, unless
something changed in between. Options are those of `run`; --key and --title have
no part in it. The exit code is 3 where the launch would be refused.
--json: the reply of run/preflight (PreflightResponse).";

pub(crate) const PROFILES: &str = "\
A ladder has the tiers of a family of models, the most capable first. An agent
that names no model gets a tier of its parent's family, by its role. What you or
a trusted project write under [profiles.FAMILY] takes the place of that ladder
as a whole; a ladder with a mistake routes nobody until it is mended.

Examples:
  subagentd-cli profiles
  subagentd-cli profiles --trust-project

--json: the reply of profile/list (ListResponse).";

pub(crate) const LIST: &str = "\
Without an option: what of yours ended badly and was not seen yet, what is
paused, what works, what waits and for what, and the newest of what is done.
Other owners' runs are there too, but what needs them is theirs to see. SINCE
tells when the state began that is shown. With --long, or in a wide terminal
when they differ, a column tells where each works.
States: queued, starting, running, paused, succeeded, failed, cancelled,
timed_out, budget_exhausted, interrupted, rejected.

Examples:
  subagentd-cli list
  subagentd-cli list --state queued,running
  subagentd-cli list --agent worker --limit 5
  subagentd-cli list --all | less

--json: the reply of run/list (ListResponse): the newest 20, or as the options
say; never grouped.";

pub(crate) const SHOW: &str = "\
Examples:
  subagentd-cli show 1a2b3c4d
  subagentd-cli show 1a2b3c4d --json | jq .children[0].decisions.model

Of a run at work it tells what it does now; of one that has started, where its
logs are. It marks the notice of your own run's end as seen.
--json: the reply of run/get (RunView).";

pub(crate) const WAIT: &str = "\
Examples:
  subagentd-cli wait 1a2b3c4d
  subagentd-cli wait 1a2b3c4d --timeout 5m || echo \"not yet, or not well\"
  subagentd-cli wait 1a2b3c4d 9f8e7d6c && echo \"both ended well\"

A terminal shows how far the run is; a pipe gets a line for each change. Ctrl-C
ends the waiting, never the run. Several are waited for in the order given.
What the exit code tells is in `subagentd-cli --help`; 11 means that the time is
up or that it is paused. Of several runs it is the first that is not 0.
A daemon that crashes meanwhile is started again. One that somebody stops is
waited for, 60 s on a terminal and 10 s elsewhere: then the exit code is 9.
--json: the reply of run/wait (WaitResponse); of several one on each line.";

pub(crate) const STEER: &str = "\
Examples:
  subagentd-cli steer 1a2b3c4d \"the new API is in src/v2\"
  subagentd-cli steer 1a2b3c4d --after \"then run the tests\"
  git diff | subagentd-cli steer 1a2b3c4d
  subagentd-cli steer 1a2b3c4d -- \"--fast is gone, use --quick\"

It is heard after the tool calls under way; with --after, when the run would
otherwise be done. A run that waits or is paused hears it when it goes on; one
that has ended is told more by `resume`. `show` tells what was heard since.
At most 64 KiB. The exit code is 1 when it ended without hearing it.
--json: the reply of run/steer (SteerResponse).";

pub(crate) const PAUSE: &str = "\
Examples:
  subagentd-cli pause 1a2b3c4d
  subagentd-cli pause 1a2b3c4d && subagentd-cli wait 1a2b3c4d

It returns when the wish is stored; the run settles where it is, and then holds
neither a place nor its directory. `wait` ends with exit code 11 once it is
paused, `resume` goes on with it.
--json: the reply of run/pause (PauseResponse).";

pub(crate) const RESUME: &str = "\
Examples:
  subagentd-cli resume 1a2b3c4d
  subagentd-cli resume 1a2b3c4d \"the key is set now, try again\"
  subagentd-cli resume 1a2b3c4d --detach - < review.md
  subagentd-cli resume 1a2b3c4d --take-over

It goes on in its conversation, with its agent, model, tools and directory, and
with the environment of this shell. One that is paused or was interrupted can
just go on; one that has ended needs to be told what to do now.
It waits like `run`: Ctrl-C ends the waiting, never the run, and the exit code
tells how it ended.
--json: the reply of run/wait (WaitResponse); with --detach that of run/resume
(ResumeResponse).";

pub(crate) const CANCEL: &str = "\
Examples:
  subagentd-cli cancel 1a2b3c4d
  subagentd-cli cancel 1a2b3c4d 9f8e7d6c
  subagentd-cli cancel 1a2b3c4d && subagentd-cli wait 1a2b3c4d

It returns when the wish is stored; `wait` tells when the last process is gone.
Of several runs the exit code is the first that is not 0.
--json: the reply of run/cancel (CancelResponse); of several one on each line.";

pub(crate) const RESULT: &str = "\
Examples:
  subagentd-cli result 1a2b3c4d | less
  cp \"$(subagentd-cli result 1a2b3c4d --path)\" answer.md

The exit code is 1 when the run did not succeed: what there is of an answer is
printed all the same, and standard error tells how far it can be trusted.
It marks the notice of your own run's end as seen.
--json: the reply of run/result (ResultResponse), with the first 256 KiB of the
text; with --path without text.";

pub(crate) const INBOX: &str = "\
Examples:
  subagentd-cli inbox
  subagentd-cli inbox list --all
  subagentd-cli inbox ack 3 4
  subagentd-cli inbox ack --all

Looking marks nothing as seen; `show`, `result` and `wait` do.
--json: the reply of inbox/list (ListResponse).";

pub(crate) const ACK: &str = "\
Examples:
  subagentd-cli inbox ack 3 4
  subagentd-cli inbox ack --all

A number that is none of yours is told with exit code 4; the others are marked.
--json: the reply of inbox/ack (AckResponse).";

pub(crate) const AGENTS: &str = "\
Agents that may write wait for each other in one directory; those that only read
do not. A file of yours lies over a shipped one of the same name, a project's
over both, field by field: the table tells what is hidden. What a project brings
counts only where you say that you trust it, for a launch as well as here. An
agent whose file has a mistake is not replaced by another one of its name.

Examples:
  subagentd-cli agents
  subagentd-cli agents --trust-project --scope project
  subagentd-cli agents --task \"review the last commit, change nothing\"

With --task it prints what a model is told: all agents, and at the end advice
for the task. Nothing is launched, and the task is not kept.
--json: the reply of agent/catalog (CatalogResponse); with --task that of
agent/list (ListResponse).";

pub(crate) const MODELS: &str = "\
A runtime is looked for with the variables of this shell: its PATH, home and
keys. What it can run is asked once, and again when one of its files changed.

Examples:
  subagentd-cli models
  subagentd-cli models --runtime pi --refresh
  subagentd-cli run explore --model acme/large-2 --thinking high \"…\"

--json: the reply of model/list (ListResponse).";

pub(crate) const LEASE: &str = "\
A run that may write holds its workspace until its last process is gone.

Examples:
  subagentd-cli lease list
  subagentd-cli lease release 1a2b3c4d";

pub(crate) const LEASE_LIST: &str = "--json: the reply of lease/list (ListResponse).";

pub(crate) const LEASE_RELEASE: &str = "\
For a run that has ended and left processes that could not be ended. See first
that they are gone: the next writer starts at once. A run at work keeps its own:
the exit code is then 3. It is 0 for a run that holds none.
--json: the reply of lease/release (ReleaseResponse).";

pub(crate) const DAEMON: &str = "\
Commands start it when they need it. Stopping it stops no run.";

pub(crate) const DAEMON_START: &str = "--json: the reply of daemon/status (StatusResponse).";

pub(crate) const DAEMON_STOP: &str = "\
It also removes what a daemon that was killed left behind.
--json: the reply of daemon/stop (StopResponse); where none ran,
{\"running\": false}.";

pub(crate) const DAEMON_STATUS: &str = "\
The exit code is 9 when none runs.
--json: the reply of daemon/status (StatusResponse).";
