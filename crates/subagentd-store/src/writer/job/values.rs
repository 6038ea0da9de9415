//! Values bound to a job's query.

use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, Encode, Sqlite, Type};
use subagentd_core::id::ChildId;

use super::{Kind, Prepared, Subject};
use crate::error::StoreError;
use crate::words::{cursor, tail};

/// Values in the order of their numbers.
pub(super) struct Values(Result<SqliteArguments, StoreError>);

impl Values {
    pub(super) fn new() -> Self {
        Self(Ok(SqliteArguments::default()))
    }

    /// The child that a job is about: `$1` and `$2` of most.
    pub(super) fn about(child: ChildId) -> Self {
        Self::new().text(tail(child.run)).number(u64::from(child.index))
    }

    pub(super) fn text(self, text: impl Into<String>) -> Self {
        self.any(text.into())
    }

    pub(super) fn optional(self, text: Option<String>) -> Self {
        self.any(text)
    }

    /// The bits of the number: device numbers use all of them.
    pub(super) fn number(self, number: u64) -> Self {
        self.any(number.cast_signed())
    }

    pub(super) fn optional_number(self, number: Option<u64>) -> Self {
        self.any(number.map(u64::cast_signed))
    }

    /// To compare with, not to keep.
    pub(super) fn optional_cursor(self, number: Option<u64>) -> Self {
        self.any(number.map(cursor))
    }

    pub(super) fn flag(self, flag: bool) -> Self {
        self.any(flag)
    }

    pub(super) fn optional_flag(self, flag: Option<bool>) -> Self {
        self.any(flag)
    }

    fn any<'v, V: Encode<'v, Sqlite> + Type<Sqlite>>(self, value: V) -> Self {
        Self(self.0.and_then(|mut arguments| {
            arguments
                .add(value)
                .map_err(|error| StoreError::Unstorable { what: "a value", reason: error.to_string() })?;
            Ok(arguments)
        }))
    }

    pub(super) fn prepared(self, kind: Kind, subject: Subject) -> Result<Prepared, StoreError> {
        Ok(Prepared { kind, arguments: self.0?, subject })
    }
}
