//! Commands and code that people ran beside the agent.

use crate::record::record;

record! {
    /// A message of role `bashExecution`.
    pub struct BashExecutionMessage {
        /// The command line.
        command: String = "command",
        /// What it printed.
        output: String = "output",
        /// Its exit code, if it ended by itself.
        exit_code: Option<i64> = "exitCode",
        /// Whether it was cancelled.
        cancelled: bool = "cancelled",
        /// Whether `output` is cut.
        truncated: bool = "truncated",
        /// Where the whole output lies.
        full_output_path: Option<String> = "fullOutputPath",
        /// Milliseconds since the epoch.
        timestamp: Option<i64> = "timestamp",
        /// Whether a model never sees it.
        exclude_from_context: Option<bool> = "excludeFromContext",
    }
}

record! {
    /// A message of role `pythonExecution`.
    pub struct PythonExecutionMessage {
        /// The code.
        code: String = "code",
        /// What it printed.
        output: String = "output",
        /// Its exit code, if it ended by itself.
        exit_code: Option<i64> = "exitCode",
        /// Whether it was cancelled.
        cancelled: bool = "cancelled",
        /// Whether `output` is cut.
        truncated: bool = "truncated",
        /// Where the whole output lies.
        full_output_path: Option<String> = "fullOutputPath",
        /// Milliseconds since the epoch.
        timestamp: Option<i64> = "timestamp",
        /// Whether a model never sees it.
        exclude_from_context: Option<bool> = "excludeFromContext",
    }
}
