//! The plain blocking server: read a line, answer it with the bare chain, write a line.
//!
//! `batched` (as by default) flushes when no further complete line is at hand; `each-line` after every answer. It speaks
//! 2026-07-28, without a handshake.

use std::io::{self, BufRead, BufReader, BufWriter, Write};

use memchr::memchr;
use sansio_mcp_bench::bare_chain::{Refused, answer};

/// What a pipe holds.
const CHUNK: usize = 64 * 1024;

fn main() -> io::Result<()> {
    let flush_each_line = match std::env::args().nth(1).as_deref() {
        None | Some("batched") => false,
        Some("each-line") => true,
        Some(other) => return Err(io::Error::other(format!("not a mode: {other}"))),
    };
    let mut input = BufReader::with_capacity(CHUNK, io::stdin().lock());
    // Standard output would be flushed at every line end; a duplicate of its descriptor is not.
    let mut output = BufWriter::with_capacity(CHUNK, unbuffered_stdout()?);
    let (mut line, mut response) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return output.flush();
        }
        response.clear();
        if let Err(refused) = answer(line.trim_ascii_end(), &mut response) {
            refuse(&refused, &mut response)?;
        }
        response.push(b'\n');
        output.write_all(&response)?;
        if flush_each_line || memchr(b'\n', input.buffer()).is_none() {
            output.flush()?;
        }
    }
}

#[cfg(unix)]
fn unbuffered_stdout() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd;

    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(not(unix))]
fn unbuffered_stdout() -> io::Result<io::StdoutLock<'static>> {
    Ok(io::stdout().lock())
}

fn refuse(refused: &Refused, response: &mut Vec<u8>) -> io::Result<()> {
    let error = serde_json::json!({ "code": refused.code(), "message": refused.to_string() });
    write!(response, r#"{{"jsonrpc":"2.0","error":{error}}}"#)
}
