use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::task::Wake;
use std::thread;

use super::*;

/// Notes that it was woken; does something when nobody has it any more.
#[derive(Default)]
struct Told {
    woken: AtomicBool,
    gone: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Told {
    fn then(gone: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self { woken: AtomicBool::default(), gone: Mutex::new(Some(Box::new(gone))) })
    }

    fn was_woken(&self) -> bool {
        self.woken.swap(false, Ordering::SeqCst)
    }
}

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.gone.get_mut().unwrap().take().into_iter().for_each(|gone| gone());
    }
}

fn registered(stages: &Arc<Stages>, told: &Arc<Told>) -> Seat {
    let mut seat = Seat::take(stages);
    let waker = Waker::from(Arc::clone(told));
    assert!(seat.poll_reached(Stage::Over, &Context::from_waker(&waker)).is_pending());
    seat
}

#[test]
fn every_stage_is_told_to_those_who_wait_for_a_later_one() {
    let (stages, told) = (Arc::new(Stages::new()), Arc::new(Told::default()));
    let waker = Waker::from(Arc::clone(&told));
    let mut seat = registered(&stages, &told);
    for stage in [Stage::Draining, Stage::Over] {
        // Polled again without need, as connections are.
        assert!(seat.poll_reached(stage, &Context::from_waker(&waker)).is_pending());
        assert!(!told.was_woken());
        stages.advance(stage);
        assert!(told.was_woken(), "{stage:?}");
        assert!(seat.poll_reached(stage, &Context::from_waker(&waker)).is_ready());
        if stage < Stage::Over {
            assert!(seat.poll_reached(Stage::Over, &Context::from_waker(&waker)).is_pending());
        }
    }
    assert!(seat.poll_reached(Stage::Over, &Context::from_waker(Waker::noop())).is_ready());
}

#[test]
fn a_connection_that_moved_to_another_task_is_told_there() {
    let (stages, first, second) = (Arc::new(Stages::new()), Arc::default(), Arc::new(Told::default()));
    let mut seat = registered(&stages, &first);
    let waker = Waker::from(Arc::clone(&second));
    assert!(seat.poll_reached(Stage::Draining, &Context::from_waker(&waker)).is_pending());
    stages.advance(Stage::Draining);
    assert_eq!((first.was_woken(), second.was_woken()), (false, true));
}

/// Both have left the list; the first wakes the server, which looks, and only then the second goes on.
#[test]
fn of_two_connections_that_end_at_once_none_is_missed() {
    let stages = Arc::new(Stages::new());
    let server = Arc::new(Told::default());
    let waker = Waker::from(Arc::clone(&server));
    let cx = Context::from_waker(&waker);
    let ((left, has_left), (go, may_go), (ended, has_ended)) = (channel(), channel(), channel());
    let mut second = registered(
        &stages,
        &Told::then(move || {
            left.send(()).unwrap();
            may_go.recv().unwrap();
        }),
    );
    second.known = None;
    let mut first = registered(
        &stages,
        &Told::then(move || {
            thread::spawn(move || {
                drop(second);
                ended.send(()).unwrap();
            });
            has_left.recv().unwrap();
        }),
    );
    first.known = None;
    stages.register(&cx);
    drop(first);
    assert!(server.was_woken());
    stages.register(&cx);
    let seen = stages.connections();
    go.send(()).unwrap();
    has_ended.recv().unwrap();
    assert_eq!(stages.connections(), 0);
    assert!(seen == 0 || server.was_woken());
}
