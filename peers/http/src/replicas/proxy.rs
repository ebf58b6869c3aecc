//! nginx: one process, all its files in one folder, listening on the loopback alone.

use std::fmt::Write;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use smol::net::TcpStream;
use smol::process::{Child, Command};

use crate::until::LOOKS;

/// Killed when it is dropped.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    log: PathBuf,
    child: Child,
}

/// A request that the proxy handed on, and that is over.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    pub(crate) tool: String,
    /// The replicas that it was tried on; the last one answered.
    pub(crate) replicas: Vec<SocketAddr>,
}

impl Proxy {
    /// Starts it, and waits until it takes connections.
    pub(crate) async fn open(nginx: &Path, folder: &Path, replicas: &[SocketAddr]) -> io::Result<Self> {
        let folder = fs::canonicalize(folder)?;
        // Somebody else might take the port meanwhile; then nginx says so, and this fails.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        fs::write(folder.join("nginx.conf"), configuration(address, replicas))?;
        let log = folder.join("access.log");
        fs::write(&log, "")?;
        let mut command = Command::new(nginx);
        command.arg("-p").arg(&folder).args(["-c", "nginx.conf", "-e", "error.log"]);
        let mut child = command.stdin(Stdio::null()).kill_on_drop(true).spawn()?;
        loop {
            if let Some(status) = child.try_status()? {
                return Err(io::Error::other(format!("nginx is gone: {status}")));
            }
            if TcpStream::connect(address).await.is_ok() {
                return Ok(Self { address, log, child });
            }
            smol::Timer::after(LOOKS).await;
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// What was handed on so far.
    fn hops(&self) -> Vec<Hop> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        // A line that is being written has no end yet.
        log.split_inclusive('\n').filter(|line| line.ends_with('\n')).filter_map(Hop::read).collect()
    }

    /// Where the log stands.
    pub(crate) fn mark(&self) -> usize {
        self.hops().len()
    }

    /// The requests for a tool since then, once there are as many.
    pub(crate) async fn since(&self, mark: usize, tool: &str, count: usize) -> Vec<Hop> {
        loop {
            let hops: Vec<_> = self.hops().into_iter().skip(mark).filter(|hop| hop.tool == tool).collect();
            if hops.len() >= count {
                return hops;
            }
            smol::Timer::after(LOOKS).await;
        }
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_status().is_ok_and(|status| status.is_none())
    }
}

impl Hop {
    fn read(line: &str) -> Option<Self> {
        let (tool, replicas) = line.trim_end().split_once(' ')?;
        let replicas = replicas.split(", ").filter_map(|replica| replica.parse().ok()).collect();
        Some(Self { tool: tool.to_owned(), replicas })
    }
}

/// Round-robin is what it does unless told otherwise. Events come through as they are sent because the servers say so in
/// their answers. A replica that does not take a connection is passed over for that request, and never for longer.
fn configuration(address: SocketAddr, replicas: &[SocketAddr]) -> String {
    let mut servers = String::new();
    for replica in replicas {
        let _ = writeln!(servers, "        server {replica} max_fails=0;");
    }
    format!(
        "daemon off;
master_process off;
pid nginx.pid;
events {{ worker_connections 1024; }}
http {{
    log_format hop '$http_mcp_name $upstream_addr';
    access_log access.log hop;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    upstream shops {{
{servers}        keepalive 16;
    }}
    server {{
        listen {address};
        location /mcp {{
            proxy_pass http://shops;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_set_header Host $http_host;
        }}
    }}
}}
"
    )
}
