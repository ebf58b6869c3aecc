//! A server with bad manners, written by hand. The first argument says which; the second, if any, is a socket on which it
//! tells what it sees, and whose end is its own: a test that fails leaves nothing behind.

use std::env;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, exit};

use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let manner = arguments.next().unwrap_or_default();
    let post = arguments.next().unwrap_or_default();
    let mut post = if post.is_empty() { None } else { Some(UnixStream::connect(post)?) };
    let told = post.as_ref().map(UnixStream::try_clone).transpose()?;
    let tell = |what: &str| match told.as_ref() {
        Some(mut post) => writeln!(post, "{what}"),
        None => Ok(()),
    };
    tell(&std::process::id().to_string())?;
    if manner == "parent" {
        // A child of its own, in the same group, with the same stderr and stdout.
        let post = env::args().nth(2).unwrap_or_default();
        Command::new(env::current_exe()?).args(["deaf", &post]).spawn()?;
    }
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        if request["id"].is_null() {
            tell(request["method"].as_str().unwrap_or_default())?;
            continue;
        }
        match manner.as_str() {
            "floods" => {
                let line = [b'x'; 1024];
                for _ in 0..4096 {
                    io::stderr().write_all(&line)?;
                    io::stderr().write_all(b"\n")?;
                }
                answer(&request)?;
            }
            "junk" => {
                say(b"not JSON at all\n\n{\"jsonrpc\":\"2.0\"}\n[]\n\xff\xfe\n{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\n")?;
                say(&vec![b'x'; 5 << 20])?;
                say(b"\n")?;
                answer(&request)?;
                say(b"null\n")?;
            }
            "quits" => {
                eprintln!("out of paper");
                exit(3);
            }
            "answers and quits" => {
                answer(&request)?;
                eprintln!("that was all");
                exit(4);
            }
            "reads no more" => {
                rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
                tell("reads no more")?;
                // Until it is told to go on.
                if let Some(post) = &mut post {
                    post.read_exact(&mut [0])?;
                }
                answer(&request)?;
                forever(&mut post);
            }
            "says no more" => {
                eprintln!("lost my voice");
                rustix::stdio::dup2_stdout(File::create("/dev/null")?)?;
                forever(&mut post);
            }
            _ => answer(&request)?,
        }
    }
    tell("end of input")?;
    if manner == "cleans up" {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut terminated = signal(SignalKind::terminate())?;
            tell("ready")?;
            terminated.recv().await;
            io::Result::Ok(())
        })?;
        eprintln!("cleaned up");
        exit(6);
    }
    if manner == "deaf" {
        forever(&mut post);
    }
    Ok(())
}

/// Until the test is over, at which nobody listens any more.
fn forever(post: &mut Option<UnixStream>) -> ! {
    if let Some(post) = post {
        let _ = io::copy(post, &mut io::sink());
    }
    exit(1);
}

fn say(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

fn answer(request: &Value) -> io::Result<()> {
    let result = json!({"resultType": "complete", "content": [{"type": "text", "text": "here"}]});
    say(format!("{}\n", json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).as_bytes())
}
