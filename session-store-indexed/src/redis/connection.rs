//! One connection for all calls, made anew after an error.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use redis::{
    AsyncConnectionConfig, Cmd, Pipeline, RedisError, Script, ServerErrorKind, Value,
    aio::MultiplexedConnection,
};
use session_model::storage::StorageKey;

use super::{
    InvalidAddress, RedisAddress,
    address::Finder,
    diagnose,
    error::{of_client, of_server, of_value, unexpected},
};
use crate::remote::{RemoteError, Result};

type Connection = Arc<MultiplexedConnection>;

pub(super) struct Link {
    address: RedisAddress,
    finder: Finder,
    config: AsyncConnectionConfig,
    timeout: Duration,
    open: Mutex<Option<Connection>>,
}

impl Link {
    pub(super) fn new(address: &RedisAddress, timeout: Duration) -> Result<Self, InvalidAddress> {
        let finder = address.finder()?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(timeout))
            .set_response_timeout(Some(timeout));
        Ok(Self { address: address.clone(), finder, config, timeout, open: Mutex::new(None) })
    }

    /// How long an answer may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sends commands in one go and answers one value a command; errors of the server are values.
    pub(super) async fn send(&self, pipeline: &Pipeline) -> Result<Vec<Value>> {
        let connection = self.connection().await?;
        let mut sender = MultiplexedConnection::clone(&connection);
        match sender.send_packed_commands(pipeline, 0, pipeline.len()).await {
            Ok(answers) if answers.len() == pipeline.len() => {
                // A primary that became a replica: another server may be the primary now.
                if answers.iter().any(is_read_only) {
                    self.close(&connection);
                }
                Ok(answers)
            }
            Ok(_) => Err(unexpected("a pipeline's answer")),
            Err(error) => {
                self.close(&connection);
                Err(self.refused(&error).await)
            }
        }
    }

    /// Names what a connection failed for.
    async fn refused(&self, error: &RedisError) -> RemoteError {
        let address = match &self.finder {
            Finder::One(client) => Some(client.get_connection_info().addr()),
            #[cfg(feature = "redis-sentinel")]
            Finder::Sentinels(..) => None,
        };
        diagnose::of_connect(address, error).await
    }

    /// Sends one command.
    pub(super) async fn command(&self, command: Cmd) -> Result<Value> {
        let mut pipeline = Pipeline::with_capacity(1);
        pipeline.add_command(command);
        match self.send(&pipeline).await?.pop() {
            Some(Value::ServerError(error)) => Err(of_server(&error)),
            value => Ok(value.unwrap_or_default()),
        }
    }

    /// Runs a script many times, and loads it first if the server does not know it.
    pub(super) async fn run(&self, script: &Script, calls: &Pipeline) -> Result<Vec<Value>> {
        let answers = self.send(calls).await?;
        if !answers.iter().any(is_unknown_script) {
            return Ok(answers);
        }
        let connection = self.connection().await?;
        let loaded = script.load_async(&mut MultiplexedConnection::clone(&connection)).await;
        if let Err(error) = loaded {
            self.close(&connection);
            return Err(of_client(&error));
        }
        // Calls that were done the first time are answered as sent again.
        self.send(calls).await
    }

    /// Runs a script once.
    pub(super) async fn run_one(
        &self,
        script: &Script,
        call: Cmd,
        about: &StorageKey,
    ) -> Result<Value> {
        let mut pipeline = Pipeline::with_capacity(1);
        pipeline.add_command(call);
        let answer = self.run(script, &pipeline).await?.pop();
        of_value(answer.unwrap_or_default(), about)
    }

    async fn connection(&self) -> Result<Connection> {
        if let Some(open) = self.open().as_ref() {
            return Ok(Arc::clone(open));
        }
        let made = match &self.finder {
            Finder::One(client) => {
                client.get_multiplexed_async_connection_with_config(&self.config).await
            }
            #[cfg(feature = "redis-sentinel")]
            Finder::Sentinels(sentinels, certificates) => {
                sentinels.connect(certificates.as_ref(), &self.config).await
            }
        };
        let made = match made {
            Ok(made) => Arc::new(made),
            Err(error) => return Err(self.refused(&error).await),
        };
        // Another call may have connected meanwhile; one connection keeps calls in order.
        Ok(Arc::clone(self.open().get_or_insert(made)))
    }

    fn close(&self, broken: &Connection) {
        let mut open = self.open();
        if open.as_ref().is_some_and(|current| Arc::ptr_eq(current, broken)) {
            *open = None;
        }
    }

    fn open(&self) -> MutexGuard<'_, Option<Connection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.address, f)
    }
}

fn is_unknown_script(value: &Value) -> bool {
    matches!(value, Value::ServerError(error) if error.kind() == Some(ServerErrorKind::NoScript))
}

fn is_read_only(value: &Value) -> bool {
    matches!(value, Value::ServerError(error) if error.code() == "READONLY")
}

/// A call of a script, its arguments still to come.
pub(super) fn call(script: &Script, keys: &[String]) -> Cmd {
    let mut call = redis::cmd("EVALSHA");
    call.arg(script.get_hash()).arg(keys.len()).arg(keys);
    call
}
