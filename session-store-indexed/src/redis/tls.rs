//! Certificates that are not the system's.

use std::{fs, path::PathBuf};

use redis::{ClientTlsConfig, TlsCertificates};

use super::InvalidAddress;

/// Files of certificates, in PEM.
#[derive(Clone, Debug, Default)]
pub(super) struct TlsFiles {
    ca: Option<PathBuf>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl TlsFiles {
    /// Sets the file of `ca`, `cert` or `key`.
    pub(super) fn set(&mut self, name: &str, file: String) {
        let place = match name {
            "ca" => &mut self.ca,
            "cert" => &mut self.cert,
            _ => &mut self.key,
        };
        *place = Some(file.into());
    }

    pub(super) fn check(&self, is_secure: bool) -> Result<(), InvalidAddress> {
        if self.cert.is_some() != self.key.is_some() {
            return Err(InvalidAddress { reason: "`cert` and `key` go together" });
        }
        if !is_secure && (self.ca.is_some() || self.cert.is_some()) {
            return Err(InvalidAddress { reason: "certificates are for rediss:// only" });
        }
        Ok(())
    }

    /// Reads the files; `None` if there are none.
    pub(super) fn read(&self) -> Result<Option<TlsCertificates>, InvalidAddress> {
        let read = |file: &PathBuf| {
            let reason = "the file that `ca`, `cert` or `key` names cannot be read";
            fs::read(file).map_err(|_| InvalidAddress { reason })
        };
        let root_cert = self.ca.as_ref().map(read).transpose()?;
        let client_tls = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => {
                Some(ClientTlsConfig { client_cert: read(cert)?, client_key: read(key)? })
            }
            _ => None,
        };
        let is_any = root_cert.is_some() || client_tls.is_some();
        Ok(is_any.then_some(TlsCertificates { client_tls, root_cert }))
    }
}
