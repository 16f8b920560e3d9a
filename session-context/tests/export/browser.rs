//! A real Chromium without a window, whose only way out is a listener of ours.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::TempDir;

/// Path of the browser's program, as `cargo xtask test` gives it.
const BINARY: &str = "SESSION_TEST_CHROMIUM";

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Where a browser goes for itself; no page of the tests names them.
const OWN_HOSTS: [&str; 3] = [".google.com", ".googleapis.com", ".gvt1.com"];

/// What a page did.
#[derive(Debug)]
pub struct Visit {
    /// The document after its scripts have run.
    pub document: String,
    /// The first lines of all requests but those of the browser for itself.
    pub requests: Vec<String>,
}

/// Opens a page from the disk and lets its scripts run.
pub fn visit(page: &str, args: &[&str]) -> Visit {
    let dir = tempfile::tempdir().unwrap();
    let proxy = Proxy::start();
    let output = command(&dir, page, proxy.port)
        .args(args)
        .args(["--virtual-time-budget=8000", "--dump-dom"])
        .arg(url(&dir))
        .output()
        .unwrap();
    let document = String::from_utf8(output.stdout).unwrap();
    assert!(!document.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Visit { document, requests: proxy.seen.lock().unwrap().clone() }
}

fn command(dir: &TempDir, page: &str, port: u16) -> Command {
    std::fs::write(dir.path().join("page.html"), page).unwrap();
    let mut command = Command::new(binary());
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-component-update"])
        .args(["--disable-sync", "--disable-default-apps", "--disable-extensions"])
        .args(["--disable-client-side-phishing-detection", "--no-pings"])
        .arg("--disable-features=OptimizationHints,MediaRouter,Translate")
        .arg(format!("--user-data-dir={}", dir.path().join("profile").display()))
        .arg(format!("--proxy-server=http://127.0.0.1:{port}"))
        // Without this the machine itself is reached past the proxy.
        .arg("--proxy-bypass-list=<-loopback>")
        .stdin(Stdio::null());
    command
}

fn url(dir: &TempDir) -> String {
    format!("file://{}", dir.path().join("page.html").display())
}

fn binary() -> PathBuf {
    if let Some(binary) = env::var_os(BINARY) {
        return binary.into();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .flat_map(|dir| NAMES.map(|name| dir.join(name)))
        .find(|program| Path::new(program).is_file());
    found.unwrap_or_else(|| panic!("no Chromium is there; `cargo xtask test` installs one"))
}

/// Takes requests and answers none.
struct Proxy {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        // It ends with the test's process; nobody waits for it.
        thread::spawn(move || {
            for line in listener.incoming().flatten().map(first_line) {
                // A browser looks for updates and the time, whatever it is told.
                if !OWN_HOSTS.iter().any(|host| line.contains(host)) {
                    all.lock().unwrap().push(line);
                }
            }
        });
        Self { port, seen }
    }
}

fn first_line(stream: TcpStream) -> String {
    let mut line = String::new();
    let mut reader = BufReader::new(stream);
    let _ = reader.read_line(&mut line);
    let _ = reader.get_mut().write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    line.trim_end().to_owned()
}
