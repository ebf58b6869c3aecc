//! Three bookshops with one key behind nginx, which hands each request to the next of them.
//!
//! ```text
//! replicas NGINX BOOKSHOP FOLDER
//! ```
//!
//! One line a step, `PASS name` or `FAIL name: reason`, then `N passed, M failed`; the exit code is 0 when nothing failed.
//! What it starts it ends, also when it is interrupted. `FOLDER` is for nginx's configuration and logs.

mod fleet;
mod losses;
mod proxy;
#[path = "../raw.rs"]
mod raw;
mod rolling;
mod rounds;
#[path = "../shop.rs"]
mod shop;
mod states;
#[path = "../../../servers/src/tally.rs"]
mod tally;
#[path = "../until.rs"]
mod until;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use fleet::Fleet;
use smol::future::or;
use tally::Tally;

fn main() -> ExitCode {
    let words: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [nginx, bookshop, folder] = &*words else {
        eprintln!("usage: replicas NGINX BOOKSHOP FOLDER");
        return ExitCode::from(2);
    };
    let steps = async {
        let mut fleet = match Fleet::open(nginx, bookshop, folder).await {
            Ok(fleet) => fleet,
            Err(error) => {
                eprintln!("the replicas cannot be started: {error}");
                return ExitCode::FAILURE;
            }
        };
        let mut tally = Tally::default();
        rounds::steps(&mut tally, &mut fleet).await;
        states::steps(&mut tally, &fleet).await;
        losses::steps(&mut tally, &mut fleet).await;
        rolling::steps(&mut tally, &mut fleet).await;
        tally.end()
    };
    smol::block_on(or(steps, until::interrupted()))
}
