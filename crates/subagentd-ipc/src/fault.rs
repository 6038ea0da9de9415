//! [`Fault`] and the error object of the wire, both ways.

use jsonrpsee_types::{ErrorObject, ErrorObjectOwned, Id};
use serde_json::value::RawValue;
use subagentd_proto::error::{ErrorData, Fault, Kind};

/// One kind for each class, for errors that come without `data`.
const CLASSES: [Kind; 8] = [
    Kind::Parse,
    Kind::InvalidRequest,
    Kind::MethodNotFound,
    Kind::InvalidParams,
    Kind::Internal,
    Kind::Batch,
    Kind::Subscriptions,
    Kind::RequestSize,
];

pub(crate) fn to_error(fault: &Fault) -> ErrorObjectOwned {
    ErrorObject::owned(fault.kind.code() as i32, fault.message.clone(), Some(fault.data()))
}

pub(crate) fn from_error(error: &ErrorObject<'_>) -> Fault {
    let data = error.data().and_then(|data| serde_json::from_str::<ErrorData>(data.get()).ok());
    let class = || CLASSES.into_iter().find(|kind| kind.code() as i32 == error.code());
    Fault {
        kind: data.as_ref().map_or_else(|| class().unwrap_or(Kind::Unknown), |data| data.kind),
        message: error.message().to_owned(),
        at: data.and_then(|data| data.at),
    }
}

/// The answer that refuses a request.
pub(crate) fn refusal(id: Id<'_>, fault: &Fault) -> Box<RawValue> {
    jsonrpsee_core::server::MethodResponse::error(id, to_error(fault)).into_json()
}
