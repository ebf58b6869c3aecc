//! Ten thousand connections of random bytes.

use sansio_mcp_http::server::Config;
use serde_json::json;

use crate::rig::{Rig, call, post, until};

/// A generator that needs no more than to differ (xorshift64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).unwrap()
    }
}

/// Random bytes, or a good request in which something is random.
fn noise(dice: &mut Dice, good: &[u8]) -> Vec<u8> {
    let noise: Vec<u8> = (0..dice.below(300)).map(|_| dice.roll().to_le_bytes()[0]).collect();
    match dice.below(6) {
        0 => noise,
        1 => [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), noise].concat(),
        2 => [good, &noise].concat(),
        // The head holds, the body does not.
        3 => {
            let body = good.windows(4).position(|part| part == b"\r\n\r\n").unwrap() + 4;
            let mut bytes = good.to_vec();
            for byte in &mut bytes[body..] {
                if dice.below(8) == 0 {
                    *byte = dice.roll().to_le_bytes()[0];
                }
            }
            bytes
        }
        4 => {
            let mut bytes = good.to_vec();
            for _ in 0..=dice.below(4) {
                let at = dice.below(bytes.len());
                bytes[at] = dice.roll().to_le_bytes()[0];
            }
            bytes
        }
        _ => {
            let at = dice.below(good.len());
            [&good[..at], &noise, &good[at..]].concat()
        }
    }
}

fn ten_thousand(rig: &Rig) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let good = post(&call("echo", &json!({"text": "good"})));
    let mut answers = 0;
    for _ in 0..10_000 {
        let mut wire = rig.connect();
        wire.send(&noise(&mut dice, &good));
        wire.end();
        answers += usize::from(!wire.rest().is_empty());
    }
    assert!(answers > 1000, "{answers} answers");
    until(|| rig.log.cleaned() == rig.log.started());
    rig.assert_free();
    rig.assert_serves();
}

#[test]
fn random_bytes_are_answered_or_closed_and_leave_nothing_on_smol() {
    ten_thousand(&Rig::on_smol(Config::new()));
}

#[test]
#[cfg(feature = "tokio")]
fn random_bytes_are_answered_or_closed_and_leave_nothing_on_tokio() {
    ten_thousand(&Rig::on_tokio(Config::new()));
}
