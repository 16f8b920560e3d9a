//! A proxy that swallows answers: what was sent takes effect, and nobody is told.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// Cut the connection at the next answer.
    pub(crate) cut: Arc<AtomicBool>,
}

impl Proxy {
    pub(crate) async fn start(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cut);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
                tokio::spawn(pass(client, server, Arc::clone(&flag)));
            }
        });
        Self { port, cut }
    }
}

async fn pass(mut client: TcpStream, mut server: TcpStream, cut: Arc<AtomicBool>) {
    let (mut from_client, mut from_server) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => match read {
                Ok(n) if n > 0 && server.write_all(&from_client[..n]).await.is_ok() => {}
                _ => return,
            },
            read = server.read(&mut from_server) => match read {
                Ok(n) if n > 0 && !cut.swap(false, Ordering::SeqCst)
                    && client.write_all(&from_server[..n]).await.is_ok() => {}
                _ => return,
            },
        }
    }
}
