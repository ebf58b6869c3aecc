//! Drives a server that was written with another implementation, over stdio, with the client of the sdk.
//!
//! ```text
//! drive python|npm COMMAND [ARGUMENT...]
//! ```
//!
//! The server offers what `README.md` lists. One line a step, `PASS name` or `FAIL name: reason`, then `N passed, M failed`;
//! the exit code is 0 when nothing failed.

mod calls;
mod changes;
mod ending;
mod offers;
mod peer;
mod person;
mod questions;
mod tally;

use std::env;
use std::process::ExitCode;

use peer::{Kind, Peer};
use tally::Tally;

fn main() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let kind = match words.next().and_then(|word| word.into_string().ok()).as_deref() {
        Some("python") => Kind::Python,
        Some("npm") => Kind::Npm,
        _ => return usage(),
    };
    let command: Vec<_> = words.collect();
    if command.is_empty() {
        return usage();
    }
    smol::block_on(async {
        let mut tally = Tally::default();
        let peer = match Peer::launch(kind, &command) {
            Ok(peer) => peer,
            Err(error) => {
                eprintln!("the server cannot be launched: {error}");
                return ExitCode::FAILURE;
            }
        };
        offers::steps(&mut tally, &peer).await;
        calls::steps(&mut tally, &peer).await;
        questions::steps(&mut tally, &peer).await;
        changes::steps(&mut tally, &peer).await;
        ending::steps(&mut tally, peer, &command).await;
        tally.end()
    })
}

fn usage() -> ExitCode {
    eprintln!("usage: drive python|npm COMMAND [ARGUMENT...]");
    ExitCode::from(2)
}
