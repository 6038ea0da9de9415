//! `inbox`: what ended and was not seen yet.

use std::collections::{BTreeSet, HashMap};

use subagentd_proto::inbox::{AckParams, AckResponse, ListParams, ListResponse, Notice};
use subagentd_proto::limits::{ACK_NUMBERS, PAGE_ROWS};
use subagentd_proto::method::{InboxAck, InboxList, RunList};
use subagentd_proto::run;

use crate::args::{Ack, Inbox, InboxAction};
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::{Failure, Problem};
use crate::hints::Hints;
use crate::output::Screen;
use crate::render::inbox as render;
use crate::render::time::Clock;
use crate::render::words;

pub(crate) async fn inbox(args: Inbox, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach_stored(caller).await?;
    match args.action {
        None => show(daemon.as_ref(), args.all, screen).await,
        Some(InboxAction::List { all }) => show(daemon.as_ref(), all, screen).await,
        Some(InboxAction::Ack(ack)) => acknowledge(daemon.as_ref(), ack, screen).await,
    }
}

/// One page, the oldest first: whoever has more unseen notices than that acknowledges some, then looks again.
async fn show(daemon: Option<&Daemon<'_>>, all: bool, screen: &Screen) -> Result<Exit, Failure> {
    let mut response = match daemon {
        Some(daemon) => page(daemon, None, all).await?,
        None => ListResponse { notices: Vec::new(), next_after: None },
    };
    if screen.json {
        screen.document(&response)?;
        return Ok(Exit::Succeeded);
    }
    if let Some(daemon) = daemon {
        entitle(daemon, &mut response.notices).await;
    }
    screen.text(&if response.notices.is_empty() {
        "Nothing new.\n".to_owned()
    } else {
        render::inbox(&response, screen, &Clock::local())
    })?;
    if response.next_after.is_some() {
        screen.note(&format!("There are more than {PAGE_ROWS}; later ones are not shown."));
    }
    if !all && !response.notices.is_empty() {
        screen.hints(
            &Hints::default()
                .and("result RUN", "read an answer, and mark it as seen")
                .and("show RUN", "why one ended so, and mark it as seen")
                .and("inbox ack --all", "mark all as seen"),
        );
    }
    Ok(Exit::Succeeded)
}

/// A notice has only the title that was given; the newest runs tell what the others were about. Those that are older
/// stay without: a person can ask for each by `show`.
async fn entitle(daemon: &Daemon<'_>, notices: &mut [Notice]) {
    if notices.iter().all(|notice| notice.title.is_some()) {
        return;
    }
    let owner = Some(daemon.owner().to_owned());
    let params = run::ListParams { cursor: None, limit: Some(PAGE_ROWS), states: Vec::new(), owner };
    let Ok(known) = daemon.call::<RunList>(params).await else { return };
    let titles: HashMap<String, String> = known.runs.into_iter().map(|run| (run.run, run.title)).collect();
    for notice in notices.iter_mut().filter(|notice| notice.title.is_none()) {
        notice.title = titles.get(&notice.run).cloned();
    }
}

async fn acknowledge(daemon: Option<&Daemon<'_>>, ack: Ack, screen: &Screen) -> Result<Exit, Failure> {
    let mut acknowledged = 0;
    let mut unknown = Vec::new();
    if let Some(daemon) = daemon {
        if ack.all {
            acknowledged = acknowledge_all(daemon).await?;
        } else {
            for seqs in ack.seqs.chunks(ACK_NUMBERS) {
                acknowledged += send(daemon, seqs.to_vec()).await?;
            }
            unknown = strangers(daemon, &ack.seqs, acknowledged).await?;
        }
    } else {
        unknown = ack.seqs;
    }
    if !unknown.is_empty() {
        return Err(no_such(&unknown, acknowledged).into());
    }
    screen.result(&AckResponse { acknowledged }, || match acknowledged {
        0 => "Nothing to mark: all of it was seen before.\n".to_owned(),
        1 => "Marked 1 notice as seen.\n".to_owned(),
        many => format!("Marked {many} notices as seen.\n"),
    })?;
    Ok(Exit::Succeeded)
}

/// Those of the numbers that are no notice of this owner. Where all were newly marked, none is looked for.
async fn strangers(daemon: &Daemon<'_>, seqs: &[u64], acknowledged: u64) -> Result<Vec<u64>, Failure> {
    let asked: BTreeSet<u64> = seqs.iter().copied().collect();
    let mut strangers = Vec::new();
    if asked.len() as u64 == acknowledged {
        return Ok(strangers);
    }
    for seq in asked {
        let params = ListParams { after: Some(seq.saturating_sub(1)), limit: Some(1), acknowledged: true };
        let found = daemon.call::<InboxList>(params).await?.notices;
        if found.first().is_none_or(|notice| notice.seq != seq) {
            strangers.push(seq);
        }
    }
    Ok(strangers)
}

fn no_such(seqs: &[u64], acknowledged: u64) -> Problem {
    let numbers: Vec<String> = seqs.iter().map(u64::to_string).collect();
    let marked = match acknowledged {
        0 => String::new(),
        _ => format!(" {} marked as seen.", words::count(acknowledged, "other one was", "others were")),
    };
    let message = format!("There is no notice {} of yours.{marked}", numbers.join(", "));
    Problem::new(Exit::NotFound, "notFound", message)
        .next(Hints::default().and("inbox --all", "those there are, column NO"))
}

/// Page after page, each only once: notices that come meanwhile are later ones and stop nothing.
async fn acknowledge_all(daemon: &Daemon<'_>) -> Result<u64, Failure> {
    let mut acknowledged = 0;
    let mut after = None;
    loop {
        let response = page(daemon, after, false).await?;
        let seqs: Vec<u64> = response.notices.iter().map(|notice: &Notice| notice.seq).collect();
        if !seqs.is_empty() {
            acknowledged += send(daemon, seqs).await?;
        }
        match response.next_after {
            Some(next) if after.is_none_or(|after| next > after) => after = Some(next),
            _ => return Ok(acknowledged),
        }
    }
}

async fn page(daemon: &Daemon<'_>, after: Option<u64>, acknowledged: bool) -> Result<ListResponse, Failure> {
    let params = ListParams { after, limit: Some(PAGE_ROWS), acknowledged };
    daemon.call::<InboxList>(params).await
}

async fn send(daemon: &Daemon<'_>, seqs: Vec<u64>) -> Result<u64, Failure> {
    let params = AckParams { up_to: None, seqs };
    Ok(daemon.call::<InboxAck>(params).await?.acknowledged)
}
