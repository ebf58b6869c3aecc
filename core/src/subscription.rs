//! What subscriptions tell of, and what one of them is interested in (basic/patterns/subscriptions).

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::model::SubscriptionFilter;

/// Something that a subscription tells of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Change<'a> {
    /// The list of tools changed: `notifications/tools/list_changed`.
    Tools,
    /// The list of prompts changed: `notifications/prompts/list_changed`.
    Prompts,
    /// The list of resources changed: `notifications/resources/list_changed`.
    Resources,
    /// The resource of this URI, or a part of it, was updated: `notifications/resources/updated`.
    Resource(&'a str),
}

impl Change<'_> {
    /// The method of the notification.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
        }
    }
}

/// A [`Change`] that owns its URI.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Changed {
    /// See [`Change::Tools`].
    Tools,
    /// See [`Change::Prompts`].
    Prompts,
    /// See [`Change::Resources`].
    Resources,
    /// See [`Change::Resource`].
    Resource(Box<str>),
}

impl Changed {
    /// The same, borrowed.
    pub fn as_change(&self) -> Change<'_> {
        match self {
            Self::Tools => Change::Tools,
            Self::Prompts => Change::Prompts,
            Self::Resources => Change::Resources,
            Self::Resource(uri) => Change::Resource(uri),
        }
    }
}

impl From<Change<'_>> for Changed {
    fn from(change: Change<'_>) -> Self {
        match change {
            Change::Tools => Self::Tools,
            Change::Prompts => Self::Prompts,
            Change::Resources => Self::Resources,
            Change::Resource(uri) => Self::Resource(uri.into()),
        }
    }
}

/// Whether a resource is a part of another by their URIs: the other's goes on with a path, a query or a fragment. A
/// server that tells of updates may name a part of what was subscribed to (server/resources, "Subscriptions").
pub fn is_part_of(uri: &str, whole: &str) -> bool {
    let Some(rest) = uri.strip_prefix(whole).filter(|rest| !rest.is_empty() && !whole.is_empty()) else {
        return false;
    };
    whole.ends_with('/') || rest.starts_with(['/', '?', '#'])
}

/// One of the things an [`Interest`] names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Topic(u32);

const TOOLS: u32 = 0;
const PROMPTS: u32 = 1;
const RESOURCES: u32 = 2;
/// The first that stands for a resource.
const FIRST_URI: u32 = 3;

impl Topic {
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// What one subscription asked for, and of which of it a notification waits. Each waits once at most: equal ones
/// coalesce.
#[derive(Debug, Default)]
pub(crate) struct Interest {
    /// By topic: asked for.
    kinds: [bool; FIRST_URI as usize],
    /// By topic: a notification waits.
    waiting_kinds: [bool; FIRST_URI as usize],
    /// Resources, sorted, and whether a notification waits.
    resources: Vec<(Box<str>, bool)>,
    waiting: usize,
}

impl Interest {
    pub(crate) fn of(filter: &SubscriptionFilter) -> Self {
        let uris = filter.resource_subscriptions.iter().flatten();
        let mut named: Vec<(Box<str>, bool)> = uris.map(|uri| (uri.as_str().into(), false)).collect();
        named.sort_unstable();
        named.dedup();
        let yes = |wanted: Option<bool>| wanted == Some(true);
        Self {
            kinds: [
                yes(filter.tools_list_changed),
                yes(filter.prompts_list_changed),
                yes(filter.resources_list_changed),
            ],
            waiting_kinds: [false; FIRST_URI as usize],
            resources: named,
            waiting: 0,
        }
    }

    /// How many resources are named.
    pub(crate) fn named(&self) -> usize {
        self.resources.len()
    }

    /// Bytes of the URIs.
    pub(crate) fn size(&self) -> usize {
        self.resources.iter().map(|(uri, _)| uri.len() + size_of::<(Box<str>, bool)>()).sum()
    }

    /// How many notifications wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The topic of a change, if it was asked for.
    pub(crate) fn topic(&self, change: Change<'_>) -> Option<Topic> {
        let kind = match change {
            Change::Tools => TOOLS,
            Change::Prompts => PROMPTS,
            Change::Resources => RESOURCES,
            Change::Resource(uri) => {
                let place = self.resources.binary_search_by(|(known, _)| (**known).cmp(uri)).ok()?;
                return Some(Topic(FIRST_URI + u32::try_from(place).ok()?));
            }
        };
        self.kinds.get(kind as usize).is_some_and(|asked| *asked).then_some(Topic(kind))
    }

    /// The topic of the resource that was asked for and that this one is a part of, the innermost if there are several
    /// (see [`is_part_of`]).
    pub(crate) fn whole(&self, uri: &str) -> Option<Topic> {
        let mut head = uri;
        loop {
            // In this order every whole comes before its parts, so what is found is it or shares more with the URI.
            let place = self.resources.partition_point(|(known, _)| **known <= *head).checked_sub(1)?;
            let known = &*self.resources.get(place)?.0;
            if is_part_of(uri, known) {
                return Some(Topic(FIRST_URI + u32::try_from(place).ok()?));
            }
            // Any other is shorter than both.
            let common = known.bytes().zip(head.bytes()).take_while(|(a, b)| a == b).count();
            let mut end = common.min(known.len().saturating_sub(1));
            while !head.is_char_boundary(end) {
                end -= 1;
            }
            if end == 0 {
                return None;
            }
            head = head.get(..end)?;
        }
    }

    /// The topics of all resources whose URI `matches`.
    pub(crate) fn resources(&self, matches: &dyn Fn(&str) -> bool) -> Vec<Topic> {
        let matching = self.resources.iter().zip(FIRST_URI..).filter(|((uri, _), _)| matches(uri));
        matching.map(|(_, topic)| Topic(topic)).collect()
    }

    /// What a topic stands for.
    pub(crate) fn change(&self, topic: Topic) -> Option<Change<'_>> {
        Some(match topic.0 {
            TOOLS => Change::Tools,
            PROMPTS => Change::Prompts,
            RESOURCES => Change::Resources,
            uri => Change::Resource(&self.resources.get((uri - FIRST_URI) as usize)?.0),
        })
    }

    fn place(&mut self, topic: Topic) -> Option<&mut bool> {
        match topic.0.checked_sub(FIRST_URI) {
            None => self.waiting_kinds.get_mut(topic.0 as usize),
            Some(uri) => self.resources.get_mut(uri as usize).map(|(_, waiting)| waiting),
        }
    }

    /// Whether a notification of this topic waits.
    pub(crate) fn waits(&self, topic: Topic) -> bool {
        match topic.0.checked_sub(FIRST_URI) {
            None => self.waiting_kinds.get(topic.0 as usize).is_some_and(|waiting| *waiting),
            Some(uri) => self.resources.get(uri as usize).is_some_and(|(_, waiting)| *waiting),
        }
    }

    /// A notification of this topic waits from now on.
    pub(crate) fn wait(&mut self, topic: Topic) {
        if let Some(place) = self.place(topic)
            && !core::mem::replace(place, true)
        {
            self.waiting += 1;
        }
    }

    /// It has been taken.
    pub(crate) fn taken(&mut self, topic: Topic) {
        if let Some(place) = self.place(topic)
            && core::mem::replace(place, false)
        {
            self.waiting -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interest() -> Interest {
        let uris = ["b", "a", "b", "a/1"].map(Into::into).to_vec();
        let filter = SubscriptionFilter::default().with_tools_list_changed(true);
        Interest::of(&filter.with_resources_list_changed(true).with_resource_subscriptions(uris))
    }

    #[test]
    fn only_what_was_asked_for_has_a_topic() {
        let interest = interest();
        assert!(interest.topic(Change::Tools).is_some());
        assert!(interest.topic(Change::Prompts).is_none());
        for uri in ["a", "b", "a/1"] {
            let topic = interest.topic(Change::Resource(uri)).unwrap();
            assert_eq!(interest.change(topic), Some(Change::Resource(uri)));
            assert_eq!(Topic::from_number(topic.number()), topic);
        }
        assert!(interest.topic(Change::Resource("a/")).is_none());
        assert_eq!(interest.resources(&|uri| uri.starts_with('a')).len(), 2);
    }

    #[test]
    fn a_part_belongs_to_the_innermost_whole() {
        let uris = ["a://x", "a://x/y", "a://x/y/z!", "a://é/", "", "b", "a://x/"];
        let uris = uris.into_iter().map(Into::into).collect::<Vec<_>>();
        let interest = Interest::of(&SubscriptionFilter::default().with_resource_subscriptions(uris));
        for (part, whole) in [
            ("a://x/y/1", Some("a://x/y")),
            ("a://x/y?q", Some("a://x/y")),
            ("a://x/yy", Some("a://x/")),
            ("a://x/y/z", Some("a://x/y")),
            ("a://x/y/z!!", Some("a://x/y")),
            ("a://x/y/zz/é", Some("a://x/y")),
            ("a://x#f", Some("a://x")),
            ("a://é/è", Some("a://é/")),
            ("b/1", Some("b")),
            ("a://xx", None),
            ("bb", None),
            ("a://è/", None),
            ("", None),
            ("a", None),
            ("c/1", None),
        ] {
            let found = interest.whole(part).and_then(|topic| interest.change(topic));
            assert_eq!(found, whole.map(Change::Resource), "{part}");
        }
    }

    #[test]
    fn each_waits_once_until_it_is_taken() {
        let mut interest = interest();
        let a = interest.topic(Change::Resource("a")).unwrap();
        let tools = interest.topic(Change::Tools).unwrap();
        interest.wait(a);
        interest.wait(a);
        interest.wait(tools);
        assert_eq!((interest.waiting(), interest.waits(a)), (2, true));
        interest.taken(a);
        interest.taken(a);
        assert_eq!((interest.waiting(), interest.waits(a), interest.waits(tools)), (1, false, true));
    }
}
