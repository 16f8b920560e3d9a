//! A proxy before a server that does to connections what networks do.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// What happens to what passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Fault {
    None,
    /// The connection ends before a request reaches the server.
    CutBefore,
    /// The request takes effect, and the connection ends before the answer.
    CutAfter,
    /// The answer comes after the client's patience.
    Delay,
    /// The connection stays open, and nothing passes any more.
    HalfOpen,
}

impl Fault {
    pub const ALL: [Self; 5] =
        [Self::None, Self::CutBefore, Self::CutAfter, Self::Delay, Self::HalfOpen];
}

pub struct Proxy {
    pub port: u16,
    state: Arc<State>,
}

struct State {
    target: AtomicU16,
    fault: AtomicUsize,
    ended: AtomicBool,
}

impl State {
    fn fault(&self) -> Fault {
        Fault::ALL[self.fault.load(Ordering::SeqCst)]
    }
}

impl Proxy {
    pub fn start(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            target: target.into(),
            fault: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.ended.load(Ordering::SeqCst) {
                    return;
                }
                let target = shared.target.load(Ordering::SeqCst);
                // A server that is down: the client's connection ends.
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", target)))
                else {
                    continue;
                };
                let (to_client, to_server) = (client.try_clone(), server.try_clone());
                let (one, two) = (Arc::clone(&shared), Arc::clone(&shared));
                thread::spawn(move || pass(client, to_server.unwrap(), &one, true));
                thread::spawn(move || pass(server, to_client.unwrap(), &two, false));
            }
        });
        Self { port, state }
    }

    pub fn set(&self, fault: Fault) {
        self.state.fault.store(fault as usize, Ordering::SeqCst);
    }

    /// Sends new connections elsewhere.
    pub fn turn_to(&self, target: u16) {
        self.state.target.store(target, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.set(Fault::None);
        self.state.ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, state: &State, is_request: bool) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(read) if read > 0 => read,
            _ => break,
        };
        match state.fault() {
            Fault::CutBefore if is_request => break,
            Fault::CutAfter if !is_request => break,
            Fault::Delay if !is_request => thread::sleep(Duration::from_millis(400)),
            Fault::HalfOpen => continue,
            _ => {}
        }
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
