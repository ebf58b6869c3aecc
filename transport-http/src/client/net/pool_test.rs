use std::future::{pending, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use sansio_mcp_memory::Lab;

use super::*;
use crate::client::net::io::Connecting;

fn pool(lab: &Lab, url: &str, connector: impl Fn() -> Connecting + Send + Sync + 'static) -> Pool {
    let endpoint = url.parse().unwrap();
    Pool::new(Box::new(connector), &endpoint, &Options::new(), Arc::new(lab.clock()), Spawned::default())
}

#[test]
fn a_connection_that_does_not_come_is_given_up_for_all_that_wait() {
    let made = Arc::new(AtomicUsize::new(0));
    for (url, attempts) in [("http://x/", 2), ("https://x/", 1)] {
        let lab = Lab::new();
        made.store(0, Ordering::Relaxed);
        let counted = Arc::clone(&made);
        let mut pool = pool(&lab, url, move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Box::pin(pending())
        });
        let both = [pool.call(Request::default()), pool.call(Request::default())];
        let both = both.map(|exchange| lab.spawn(exchange));
        for exchange in both {
            let Err(error) = lab.run(exchange) else { panic!() };
            assert!(error.to_string().contains("there is no connection"), "{error}");
        }
        assert_eq!(made.load(Ordering::Relaxed), attempts);
        assert_eq!(lab.clock().elapsed(), Duration::from_secs(10));
    }
}

#[test]
fn an_attempt_that_is_given_up_is_made_by_the_next() {
    let lab = Lab::new();
    let made = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&made);
    let mut pool = pool(&lab, "https://x/", move || match counted.fetch_add(1, Ordering::Relaxed) {
        0 => Box::pin(pending()),
        _ => Box::pin(ready(Err(io::ErrorKind::ConnectionRefused.into()))),
    });
    let (mut first, second) = (pool.call(Request::default()), pool.call(Request::default()));
    assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let second = lab.spawn(second);
    lab.run_until_idle();
    assert_eq!(made.load(Ordering::Relaxed), 1);
    drop(first);
    let Err(error) = lab.run(second) else { panic!() };
    assert!(error.to_string().contains("refused"), "{error}");
    assert_eq!((made.load(Ordering::Relaxed), lab.clock().elapsed()), (2, Duration::ZERO));
}
