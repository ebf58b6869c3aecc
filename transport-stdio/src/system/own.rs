//! The process's own stdin and stdout, taken away from the rest of the process.

#[cfg(unix)]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::AsFd;

    /// The original descriptors; their numbers now lead elsewhere: `println!` in a handler goes to stderr and
    /// cannot break the protocol, reading stdin finds its end at once.
    pub(crate) fn take() -> io::Result<(File, File)> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let nothing = OpenOptions::new().read(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(io::stderr().as_fd())?;
        Ok((input, output))
    }

    /// What a descriptor is opened for.
    #[cfg(any(feature = "smol", feature = "tokio"))]
    #[derive(Clone, Copy)]
    pub(crate) enum Access {
        Read,
        Write,
    }

    /// A pipe, opened anew without blocking: the flag belongs to the description, which others may share. `None` if
    /// it is none, or the system cannot do that.
    #[cfg(any(feature = "smol", feature = "tokio"))]
    pub(crate) fn non_blocking(file: &File, access: Access) -> Option<File> {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::OpenOptionsExt;

        let fifo = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(file).ok()?.st_mode).is_fifo();
        if !fifo || !cfg!(target_os = "linux") {
            return None;
        }
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let mut options = OpenOptions::new();
        // Opening a pipe with a name would wait for its other end, which may have come and gone.
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        match access {
            Access::Read => options.read(true),
            Access::Write => options.write(true),
        };
        options.open(path).ok()
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::{self, Stdin, Stdout};

    pub(crate) fn take() -> io::Result<(Stdin, Stdout)> {
        Ok((io::stdin(), io::stdout()))
    }
}

pub(crate) use system::*;
