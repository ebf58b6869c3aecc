//! Where clients knock.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

/// Connections at one time, unless set.
const MAX_CONNECTIONS: usize = 128;
/// Clients that the system lets wait until they are accepted.
const BACKLOG: i32 = 128;

/// A listening Unix socket, and how many may use it at one time.
#[derive(Debug)]
#[must_use = "dropping it closes the socket"]
pub struct Listener {
    socket: UnixListener,
    max_connections: usize,
    file: Option<SocketFile>,
}

impl Listener {
    /// Makes a socket at `path`, which only processes of this user can connect to (mode 0600). The file is removed when this
    /// is dropped.
    ///
    /// A socket file that a server left behind is replaced: one that nobody listens on. One that somebody listens on
    /// is not, nor is any other kind of file. Two servers that find the same leftover at the same moment may both
    /// replace it; the later one then has the path.
    ///
    /// # Errors
    /// `AddrInUse`: somebody listens there. `AlreadyExists`: it is no socket. Or what the system says.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        remove_stale(path)?;
        let socket = socket()?;
        rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
        let file = SocketFile::new(path)?;
        // Before anybody can connect.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(Self { file: Some(file), ..Self::from(UnixListener::from(socket)) })
    }

    /// How many clients may be connected at one time, 128 unless set; with 0 nobody may. One more is turned away at
    /// once: its connection is closed.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// The socket, the limit, and what removes the file.
    pub(crate) fn into_parts(self) -> (UnixListener, usize, Option<SocketFile>) {
        (self.socket, self.max_connections, self.file)
    }
}

/// A listening socket made elsewhere: by a service manager, with other permissions, without a path.
impl From<UnixListener> for Listener {
    fn from(socket: UnixListener) -> Self {
        Self { socket, max_connections: MAX_CONNECTIONS, file: None }
    }
}

fn socket() -> io::Result<rustix::fd::OwnedFd> {
    // Where the system can do it at once, no child that is just being started inherits it.
    #[cfg(not(target_vendor = "apple"))]
    let flags = rustix::net::SocketFlags::CLOEXEC;
    #[cfg(target_vendor = "apple")]
    let flags = rustix::net::SocketFlags::empty();
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    Ok(socket)
}

/// Makes way for a new socket, unless somebody needs the old one.
fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => {}
        Ok(_) => return Err(io::Error::new(ErrorKind::AlreadyExists, "the path of the socket is taken")),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    // Without waiting: a listener with a full backlog is one that lives.
    let knock = UnixStream::from(socket()?);
    knock.set_nonblocking(true)?;
    match rustix::net::connect(&knock, &SocketAddrUnix::new(path)?) {
        Err(rustix::io::Errno::CONNREFUSED) => fs::remove_file(path),
        Ok(()) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INPROGRESS) => {
            Err(io::Error::new(ErrorKind::AddrInUse, "somebody listens on the socket"))
        }
        Err(error) => Err(error.into()),
    }
}

/// The file of a socket, removed at the end if it is still the same.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn new(path: &Path) -> io::Result<Self> {
        Ok(Self { path: std::path::absolute(path)?, identity: identity(path)? })
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
