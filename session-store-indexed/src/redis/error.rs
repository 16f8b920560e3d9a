//! From the client's errors to [`RemoteError`](crate::remote::RemoteError).

use redis::{ErrorKind, RedisError, ServerError, Value};
use session_model::storage::StorageKey;

use crate::remote::{RemoteError, Result, shown};

/// What a script says when chunks are missing.
pub(super) const DAMAGED: &str = "DAMAGED";

/// An error of the connection; the outcome of what was sent is unknown.
pub(super) fn of_client(error: &RedisError) -> RemoteError {
    match error.kind() {
        // Without its text: a server may repeat what it was sent.
        ErrorKind::AuthenticationFailed => {
            RemoteError::Denied("user or password is wrong".to_owned())
        }
        ErrorKind::Server(_) => {
            of_code(error.code().unwrap_or_default(), error.detail().unwrap_or_default())
        }
        ErrorKind::InvalidClientConfig | ErrorKind::UnexpectedReturnType | ErrorKind::Client => {
            RemoteError::Protocol(shown(&error.to_string()))
        }
        _ => RemoteError::Unavailable(shown(&error.to_string())),
    }
}

/// The value, or the server's error in its place.
pub(super) fn of_value(value: Value, key: &StorageKey) -> Result<Value> {
    match value {
        Value::ServerError(error) if error.code() == DAMAGED => {
            Err(RemoteError::Damaged(key.clone()))
        }
        Value::ServerError(error) => Err(match of_server(&error) {
            // A key of another type, or a field that no number is.
            RemoteError::Protocol(reason)
                if ["WRONGTYPE", "OVERSIZE"].contains(&error.code())
                    || error.details().is_some_and(|text| text.contains("script")) =>
            {
                RemoteError::Malformed { key: key.clone(), reason }
            }
            error => error,
        }),
        value => Ok(value),
    }
}

pub(super) fn of_server(error: &ServerError) -> RemoteError {
    of_code(error.code(), error.details().unwrap_or_default())
}

fn of_code(code: &str, detail: &str) -> RemoteError {
    let text = shown(&format!("{code} {detail}"));
    match code {
        "OOM" => RemoteError::Full(text),
        "READONLY" => RemoteError::ReadOnly(text),
        "NOPERM" | "NOAUTH" | "WRONGPASS" => RemoteError::Denied(text),
        "LOADING" | "BUSY" | "MISCONF" | "NOREPLICAS" | "TRYAGAIN" | "MASTERDOWN"
        | "UNKILLABLE" | "NOSCRIPT" => RemoteError::NotReady(text),
        "MOVED" | "ASK" | "CROSSSLOT" | "CLUSTERDOWN" => RemoteError::Unfit(format!(
            "it is a node of a Redis Cluster ({text}); give the address of a server of its own"
        )),
        // Redis 7.0 speaks so of a script that lacks a right.
        _ if detail.contains("executing the script can't") => RemoteError::Denied(text),
        _ if detail.contains("No permissions") => RemoteError::Denied(text),
        _ => RemoteError::Protocol(text),
    }
}

/// The answer has another shape than the scripts give.
pub(super) fn unexpected(what: &str) -> RemoteError {
    RemoteError::Protocol(format!("{what} has an unknown shape; is this prefix somebody else's?"))
}
