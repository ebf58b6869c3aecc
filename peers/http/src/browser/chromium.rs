//! A headless Chromium with one page.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use smol::process::Child;

/// All of its processes are ended when it is dropped.
pub(crate) struct Chromium {
    child: Child,
    group: Option<Pid>,
}

/// Names end at this machine, and nothing else is looked up or fetched.
const OPTIONS: [&str; 9] = [
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP *.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

impl Chromium {
    pub(crate) fn open(program: &Path, folder: &Path, page: &str) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(OPTIONS);
        if rustix::process::getuid().is_root() {
            // It refuses to run otherwise.
            command.arg("--no-sandbox");
        }
        command.arg(format!("--user-data-dir={}", folder.join("profile").display())).arg(page);
        let log = std::fs::File::create(folder.join("error.log"))?;
        command.process_group(0);
        let mut command = smol::process::Command::from(command);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(Self { child, group })
    }

    pub(crate) async fn close(&mut self) -> io::Result<()> {
        self.end();
        self.child.status().await?;
        Ok(())
    }

    /// Its processes are a group, which is not there any more once all of them have gone.
    fn end(&mut self) {
        if let Some(group) = self.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.end();
    }
}
