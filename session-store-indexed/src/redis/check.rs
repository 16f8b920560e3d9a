//! What a server says of itself, and what is wrong with that.

use std::collections::BTreeMap;

use crate::remote::{Check, RemoteError};

/// Reads the answer to `INFO`; a server that lacks commands is an error.
pub(super) fn of_info(info: &str) -> Result<Check, RemoteError> {
    let fields: BTreeMap<_, _> = info.lines().filter_map(|line| line.split_once(':')).collect();
    let field = |name: &str| fields.get(name).copied().unwrap_or_default();
    let version = field("redis_version");
    let writable = field("role") != "slave";
    let mut warnings = Vec::new();
    if number(version) < (6, 2) {
        let old = format!("Redis {version} is too old; 6.2 is the oldest that works");
        return Err(RemoteError::Unfit(old));
    }
    // It would send most sessions to other nodes, which this client does not follow.
    if field("cluster_enabled") == "1" {
        let cluster = "it is a node of a Redis Cluster; give the address of a server of its own";
        return Err(RemoteError::Unfit(cluster.to_owned()));
    }
    if field("maxmemory_policy") != "noeviction" {
        warnings.push(format!(
            "maxmemory-policy is {}, which drops sessions when memory is short: set noeviction",
            field("maxmemory_policy")
        ));
    }
    if field("aof_enabled") != "1" {
        warnings.push(
            "appendonly is off, so a restart loses what was published: set appendonly yes"
                .to_owned(),
        );
    }
    if field("aof_last_write_status") == "err" {
        warnings.push("the append-only file cannot be written: look at the disk".to_owned());
    }
    if !writable {
        warnings.push("this server is a replica: use the address of the primary".to_owned());
    }
    Ok(Check { version: version.to_owned(), writable, warnings })
}

fn number(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_server_has_no_warnings() {
        let info = "# Server\r\nredis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\n\
                    aof_enabled:1\r\naof_last_write_status:ok\r\nrole:master\r\n";
        let check = Check { version: "7.0.15".to_owned(), writable: true, warnings: Vec::new() };
        assert_eq!(of_info(info), Ok(check));
    }

    #[test]
    fn everything_that_loses_data_is_named() {
        let info = "redis_version:6.2.0\nmaxmemory_policy:allkeys-lru\naof_enabled:0\n\
                    aof_last_write_status:err\nrole:slave\n";
        let check = of_info(info).unwrap();
        assert!(!check.writable);
        let named: Vec<_> =
            check.warnings.iter().map(|text| text.split(' ').next().unwrap()).collect();
        assert_eq!(named, ["maxmemory-policy", "appendonly", "the", "this"]);
    }

    #[test]
    fn a_node_of_a_cluster_is_refused() {
        let info = "redis_version:7.0.15\nrole:master\ncluster_enabled:";
        assert!(of_info(&format!("{info}0\n")).is_ok());
        let error = of_info(&format!("{info}1\n")).unwrap_err().to_string();
        assert!(error.contains("node of a Redis Cluster"), "{error}");
    }

    #[test]
    fn a_server_without_the_commands_is_refused() {
        for version in ["6.0.16", "5.0.7", "", "x"] {
            let error = of_info(&format!("redis_version:{version}\nrole:master\n")).unwrap_err();
            let old = format!("Redis {version} is too old; 6.2 is the oldest that works");
            assert_eq!(error, RemoteError::Unfit(old));
        }
    }
}
