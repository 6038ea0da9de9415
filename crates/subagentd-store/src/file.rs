//! The database file: looked at without a trace before it is opened, and made whole under another name.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use uuid::Uuid;

use crate::error::{damaged, words};
use crate::{OpenError, network, sql};

/// The database's name in the state directory.
pub const FILE: &str = "subagentd.db";
/// Where it is made: renamed once it is whole, so that nobody ever meets half a database.
const UNFINISHED: &str = "subagentd.db.new";
/// `subd`, in the header of every database of ours.
pub(crate) const APPLICATION: u32 = 0x7375_6264;
/// Up to here, in bytes, a file is checked whole at every start (about 2 ms). Beyond it only the way to the newest row
/// of every table is read, since a start must not take longer with every run; `doctor` checks the rest.
const CHECKED_WHOLE: u64 = 2 * 1024 * 1024;

pub(crate) static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

/// Number of the schema in the file's header: how many migrations there are. It is raised and brought to the disk
/// *before* a migration runs, so that the header alone tells a newer file, whatever its log holds.
fn schema() -> i64 {
    i64::try_from(MIGRATIONS.iter().count()).unwrap_or(i64::MAX)
}

/// Options that every connection shares. sqlx waits 5 s for a lock and checks foreign keys by itself.
pub(crate) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).create_if_missing(false).disable_statement_logging()
}

/// Makes sure that a database of ours is there, readable for its owner only. Any other file is left as it is.
pub(crate) async fn prepare(directory: &Path, path: &Path) -> Result<(), OpenError> {
    if let Some(system) = network::system(directory).map_err(during(directory, "examined"))? {
        return Err(OpenError::Network { path: directory.to_owned(), system });
    }
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            Err(OpenError::NotDatabase { path: path.to_owned(), what: "no regular file".to_owned() })
        }
        Ok(found) => {
            examine(path, found.len()).await?;
            keep_private(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(directory, path).await,
        Err(source) => Err(during(path, "examined")(source)),
    }
}

/// Applies the migrations that a file lacks.
pub(crate) async fn migrate(path: &Path, connection: &mut SqliteConnection) -> Result<(), OpenError> {
    let failed = |source| OpenError::Database { path: path.to_owned(), source };
    let stored: i64 = sqlx::query("PRAGMA user_version")
        .fetch_one(&mut *connection)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(failed)?;
    if stored < schema() {
        raise(connection).await.map_err(failed)?;
        sqlx::query(sql::CHECKPOINT).execute(&mut *connection).await.map_err(failed)?;
    }
    MIGRATIONS.run(connection).await.map_err(|error| match error {
        MigrateError::VersionMismatch(version) => OpenError::Damaged {
            path: path.to_owned(),
            what: format!("its migration {version} is not the one of this program"),
        },
        MigrateError::VersionMissing(found) => newer(path, found),
        error => failed(sqlx::Error::Migrate(Box::new(error))),
    })
}

async fn raise(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query(AssertSqlSafe(format!("PRAGMA user_version = {}", schema()))).execute(connection).await.map(drop)
}

fn newer(path: &Path, found: i64) -> OpenError {
    OpenError::Newer {
        path: path.to_owned(),
        found,
        known: MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default(),
    }
}

/// Looks at a file in ways that change neither it nor what lies beside it.
async fn examine(path: &Path, bytes: u64) -> Result<(), OpenError> {
    let header = Header::read(path)?;
    if header.application != APPLICATION {
        return Err(OpenError::Foreign { path: path.to_owned(), found: header.application });
    }
    if i64::from(header.schema) > schema() {
        return Err(OpenError::Newer { path: path.to_owned(), found: i64::from(header.schema), known: schema() });
    }
    let log = beside(path, "-wal");
    let logged = fs::metadata(&log).is_ok_and(|found| found.len() > 0);
    // With a log the file alone may rightly be short: a checkpoint was under way.
    if !logged && header.bytes() > bytes {
        return Err(OpenError::Damaged { path: path.to_owned(), what: format!("{bytes} bytes of {}", header.bytes()) });
    }

    let shared = beside(path, "-shm");
    let had_shared = shared.exists();
    let looked = look(path, logged, bytes).await;
    // A read-only connection that follows the log makes the shared memory file and leaves it behind.
    if !had_shared
        && let Err(source) = fs::remove_file(&shared)
        && source.kind() != io::ErrorKind::NotFound
    {
        return Err(during(&shared, "removed")(source));
    }
    match looked {
        Ok(Look::Whole { newest }) if MIGRATIONS.version_exists(newest) => Ok(()),
        Ok(Look::Whole { newest }) => Err(newer(path, newest)),
        Ok(Look::Broken(what)) => Err(OpenError::Damaged { path: path.to_owned(), what }),
        Err(error) if damaged(&error) => Err(OpenError::Damaged { path: path.to_owned(), what: words(&error) }),
        Err(source) => Err(OpenError::Database { path: path.to_owned(), source }),
    }
}

enum Look {
    Whole { newest: i64 },
    Broken(String),
}

/// Reads through SQLite: without a log as a file that nobody changes, which makes no file beside it.
async fn look(path: &Path, logged: bool, bytes: u64) -> Result<Look, sqlx::Error> {
    let mut connection = options(path).read_only(true).immutable(!logged).connect().await?;
    let looked = async {
        let newest: Option<i64> = sqlx::query(sql::NEWEST_MIGRATION).fetch_one(&mut connection).await?.try_get(0)?;
        let Some(newest) = newest else {
            return Ok(Look::Broken("it has no schema".to_owned()));
        };
        // Another schema has other tables.
        if !MIGRATIONS.version_exists(newest) {
            return Ok(Look::Whole { newest });
        }
        if bytes > CHECKED_WHOLE {
            for (_, statements) in sql::ROOTS_CHECKS.into_iter().filter(|(migration, _)| *migration <= newest) {
                sqlx::query(statements).fetch_all(&mut connection).await?;
            }
            return Ok(Look::Whole { newest });
        }
        let verdict: String = sqlx::query(sql::QUICK_CHECK).fetch_one(&mut connection).await?.try_get(0)?;
        Ok(match verdict.as_str() {
            "ok" => Look::Whole { newest },
            _ => Look::Broken(verdict),
        })
    }
    .await;
    connection.close().await?;
    looked
}

/// What the first hundred bytes of an SQLite file say (its file format, section 1.3).
struct Header {
    page: u64,
    pages: u32,
    schema: i32,
    application: u32,
}

impl Header {
    fn read(path: &Path) -> Result<Self, OpenError> {
        let mut header = Vec::with_capacity(100);
        File::open(path).and_then(|file| file.take(100).read_to_end(&mut header)).map_err(during(path, "read"))?;
        let not = |what: &str| OpenError::NotDatabase { path: path.to_owned(), what: what.to_owned() };
        if header.is_empty() {
            return Err(not("it is empty"));
        }
        if !header.starts_with(b"SQLite format 3\0") {
            return Err(not("its head is another format's"));
        }
        let number = |at: usize| header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
        let page = header.get(16..18).and_then(|bytes| bytes.try_into().ok());
        match (page.map(u16::from_be_bytes), number(28), number(60), number(68)) {
            (Some(page), Some(pages), Some(schema), Some(application)) => Ok(Self {
                // The largest size does not fit into the field and is written as 1.
                page: if page == 1 { 65_536 } else { u64::from(page) },
                pages,
                schema: schema.cast_signed(),
                application,
            }),
            _ => Err(not("it ends inside its head")),
        }
    }

    fn bytes(&self) -> u64 {
        self.page * u64::from(self.pages)
    }
}

async fn create(directory: &Path, path: &Path) -> Result<(), OpenError> {
    let unfinished = directory.join(UNFINISHED);
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(during(&unfinished, "removed")(error)),
        _ => {}
    }
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .map_err(during(&unfinished, "made"))?;
    fill(&unfinished).await.map_err(|source| OpenError::Database { path: unfinished.clone(), source })?;
    file.sync_all()
        .and_then(|()| fs::rename(&unfinished, path))
        .and_then(|()| File::open(directory)?.sync_all())
        .map_err(during(path, "made"))
}

/// Without a journal and without syncs: until the rename the file does not count.
async fn fill(path: &Path) -> Result<(), sqlx::Error> {
    let mut connection =
        options(path).journal_mode(SqliteJournalMode::Memory).synchronous(SqliteSynchronous::Off).connect().await?;
    sqlx::query(AssertSqlSafe(format!("PRAGMA application_id = {APPLICATION}"))).execute(&mut connection).await?;
    raise(&mut connection).await?;
    MIGRATIONS.run(&mut connection).await?;
    let identity = Uuid::now_v7();
    let made_at_ms = identity.get_timestamp().map_or(0, |at| {
        let (seconds, nanoseconds) = at.to_unix();
        seconds * 1_000 + u64::from(nanoseconds) / 1_000_000
    });
    sqlx::query(sql::NEW_IDENTITY)
        .bind(identity.to_string())
        .bind(made_at_ms.cast_signed())
        .execute(&mut connection)
        .await?;
    connection.close().await
}

/// SQLite gives its log and shared memory the file's own mode.
fn keep_private(path: &Path) -> Result<(), OpenError> {
    for path in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        match fs::set_permissions(&path, Permissions::from_mode(0o600)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(during(&path, "made private")(error)),
            _ => {}
        }
    }
    Ok(())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn during(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| OpenError::System { path, action, source }
}
