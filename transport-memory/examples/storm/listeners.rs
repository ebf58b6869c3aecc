//! Who listens in the storm: at once, slowly, never, or again after each loss. Whoever is still listening when all is quiet
//! knows the newest of everything.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::{pending, ready};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sansio_mcp::subscription::{Change, Changed};
use sansio_mcp_memory::sim::Dice;
use sansio_mcp_memory::{Lab, Task};
use sansio_mcp_sdk::client::{
    Client, ListenEnd, ListenEvent, ListenSpec, Relisten, RelistenEvent, RelistenLimits,
};

/// What can change: the lists of tools and of resources, and resources.
pub(super) const TOPICS: [&str; 5] = ["tools", "resources", "price://1", "price://2", "stock://1"];

/// How often each topic has changed: what a listener would find if it looked.
#[derive(Clone, Default)]
pub(super) struct Versions(Rc<RefCell<[u64; TOPICS.len()]>>);

impl Versions {
    /// A change is made: to be told of after this.
    pub(super) fn changed(&self, topic: usize) {
        if let Some(version) = self.0.borrow_mut().get_mut(topic) {
            *version += 1;
        }
    }

    fn of(&self, topic: usize) -> u64 {
        self.0.borrow().get(topic).copied().unwrap_or_default()
    }

    #[allow(clippy::unused_self, reason = "reads as what of them changed")]
    pub(super) fn change(&self, topic: usize) -> Change<'static> {
        match topic {
            0 => Change::Tools,
            1 => Change::Resources,
            uri => Change::Resource(TOPICS[uri]),
        }
    }
}

/// How a listener reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reads {
    AtOnce,
    /// With such a pause after each item.
    Slowly(Duration),
    /// Nothing after the acknowledgement.
    Never,
}

/// What a listener knows.
#[derive(Default)]
struct Knows {
    /// By topic; empty before the acknowledgement.
    versions: BTreeMap<usize, u64>,
    acknowledged: bool,
    ended: Option<&'static str>,
}

pub(super) struct Listener {
    topics: BTreeSet<usize>,
    reads: Reads,
    knows: Rc<RefCell<Knows>>,
    task: Task<()>,
}

/// The clients that are there to listen on, by a number of each.
pub(super) type Clients = Arc<Mutex<BTreeMap<u64, Client>>>;

fn spec(topics: &BTreeSet<usize>) -> ListenSpec {
    topics.iter().fold(ListenSpec::new(), |spec, topic| match topic {
        0 => spec.tools(),
        1 => spec.resources(),
        uri => spec.resource(TOPICS[*uri]),
    })
}

impl Knows {
    /// Looks at everything.
    fn all(&mut self, topics: &BTreeSet<usize>, versions: &Versions) {
        self.acknowledged = true;
        self.versions = topics.iter().map(|topic| (*topic, versions.of(*topic))).collect();
    }

    /// Looks at what has changed, which was asked for.
    fn one(&mut self, change: &Changed, versions: &Versions) {
        let topic = match change {
            Changed::Tools => Some(0),
            Changed::Resources => Some(1),
            Changed::Resource(uri) => TOPICS.iter().position(|topic| *topic == &**uri),
            _ => None,
        };
        let topic = topic.filter(|topic| self.versions.contains_key(topic));
        let topic =
            topic.unwrap_or_else(|| panic!("{change:?} before the acknowledgement, or not asked for"));
        self.versions.insert(topic, versions.of(topic));
    }

    fn over(&mut self, end: &ListenEnd) {
        assert_eq!(self.ended, None, "ended twice");
        let known = ["GRACEFUL", "CANCELLED", "LOST", "CLOSED", "SERVER_BUSY", "TIMED_OUT_TOTAL"];
        assert!(known.contains(&end.code()), "{end:?}");
        self.ended = Some(end.code());
    }
}

impl Listener {
    /// On one client.
    pub(super) fn on(client: &Client, lab: &Lab, dice: &Dice, versions: &Versions) -> Self {
        let topics = some_topics(dice);
        let reads = match dice.below(4) {
            0 | 1 => Reads::AtOnce,
            2 => Reads::Slowly(Duration::from_millis(1 << dice.below(14))),
            _ => Reads::Never,
        };
        let mut spec = spec(&topics);
        if dice.one_in(3) {
            spec = spec.acknowledged_within(Some(Duration::from_secs(2)));
        }
        let mut subscription = client.listen(spec);
        let knows = Rc::new(RefCell::new(Knows::default()));
        let (seen, asked, versions, sleeper) =
            (Rc::clone(&knows), topics.clone(), versions.clone(), lab.clone());
        let task = lab.spawn(async move {
            while let Some(event) = subscription.next().await {
                match event {
                    ListenEvent::Acknowledged(agreed) => {
                        assert_eq!(agreed.declined, []);
                        seen.borrow_mut().all(&asked, &versions);
                    }
                    ListenEvent::Changed(change) => seen.borrow_mut().one(&change, &versions),
                    ListenEvent::Ended(end) => {
                        seen.borrow_mut().over(&end);
                        assert_eq!(subscription.next().await, None, "nothing follows the end");
                        return;
                    }
                    other => panic!("{other:?}"),
                }
                match reads {
                    Reads::AtOnce => {}
                    Reads::Slowly(pause) => sleeper.sleep(pause).await,
                    Reads::Never => pending().await,
                }
            }
            panic!("nothing follows, and it has not ended");
        });
        Self { topics, reads, knows, task }
    }

    /// On whatever client there is, and on another when that is lost.
    pub(super) fn again(clients: &Clients, lab: &Lab, dice: &Dice, versions: &Versions) -> Self {
        let topics = some_topics(dice);
        let limits = RelistenLimits::default().with_attempts(1_000_000);
        let limits = limits.with_pauses(Duration::from_millis(50), Duration::from_mins(10));
        let clients = Arc::clone(clients);
        let mut turn = 0_usize;
        let mut relisten = Relisten::new(spec(&topics), Arc::new(lab.clock()), limits, move || {
            turn += 1;
            let mut clients = clients.lock().expect("a lock");
            clients.retain(|_, client| !client.is_closed());
            let next = clients.values().nth(turn % clients.len().max(1)).cloned();
            ready(next.ok_or("nobody is connected"))
        });
        let knows = Rc::new(RefCell::new(Knows::default()));
        let (seen, asked, versions) = (Rc::clone(&knows), topics.clone(), versions.clone());
        let task = lab.spawn(async move {
            while let Some(event) = relisten.next().await {
                match event {
                    RelistenEvent::Opened(_) => seen.borrow_mut().all(&asked, &versions),
                    RelistenEvent::Changed(change) => seen.borrow_mut().one(&change, &versions),
                    RelistenEvent::Interrupted(_) => *seen.borrow_mut() = Knows::default(),
                    RelistenEvent::Ended(end) => {
                        assert_eq!(end.code(), "CANCELLED", "only who closes its client gives up");
                        seen.borrow_mut().over(&end);
                    }
                    other => panic!("{other:?}"),
                }
            }
        });
        Self { topics, reads: Reads::AtOnce, knows, task }
    }

    /// How it ended, once.
    pub(super) fn ended(&self) -> Option<&'static str> {
        self.knows.borrow().ended
    }

    pub(super) fn is_acknowledged(&self) -> bool {
        self.knows.borrow().acknowledged
    }

    /// Nothing is on the way any more: if it listens, it has missed nothing.
    pub(super) fn is_up_to_date(&self, versions: &Versions) {
        let knows = self.knows.borrow();
        if knows.ended.is_none() && knows.acknowledged && self.reads != Reads::Never {
            let now: BTreeMap<usize, u64> =
                self.topics.iter().map(|topic| (*topic, versions.of(*topic))).collect();
            assert_eq!(knows.versions, now, "{:?} has missed a change", self.reads);
        }
    }

    /// It will read to the end, if there is one.
    pub(super) fn reads_on(&self) -> bool {
        self.reads != Reads::Never
    }

    pub(super) fn leave(&self) {
        self.task.abort();
    }
}

fn some_topics(dice: &Dice) -> BTreeSet<usize> {
    let mut topics: BTreeSet<usize> = (0..TOPICS.len()).filter(|_| dice.one_in(2)).collect();
    topics.insert(dice.below(TOPICS.len()));
    topics
}
