//! What the model tests share: an engine and a naive model of it are given the same commands and must answer alike, whatever
//! they are and in whatever order. Commands come from bytes that proptest or a seed chose.

use std::fmt::Debug;
use std::marker::PhantomData;

use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use crate::bytes::{Bytes, seeded};

/// An operation read from bytes. What it applies to is a number that the model's state resolves.
pub(crate) trait Operation: Copy + Debug + 'static {
    /// `None` when the bytes are used up.
    fn from_bytes(bytes: &mut Bytes<'_>) -> Option<Self>;

    /// Any.
    fn any() -> BoxedStrategy<Self> {
        any::<[u8; BYTES]>().prop_map(|bytes| Self::from_bytes(&mut Bytes(&bytes)).unwrap()).boxed()
    }

    /// Some, each with a whim that is true with this probability.
    fn some(whim: f64, most: usize) -> BoxedStrategy<Vec<(Self, bool)>> {
        prop::collection::vec((Self::any(), prop::bool::weighted(whim)), 1..most).boxed()
    }
}

/// How many bytes an operation takes.
const BYTES: usize = 3;

/// The reference.
pub(crate) trait Reference: Clone + Debug + 'static {
    type Setup: Copy + Debug;
    type Op: Operation;
    /// An operation that is resolved.
    type Command: Clone + Debug;
    /// What a command answers.
    type Seen: Clone + PartialEq + Debug;

    fn setups() -> BoxedStrategy<Self::Setup>;
    fn of(setup: Self::Setup) -> Self;
    fn setup(&self) -> Self::Setup;
    fn resolve(&mut self, op: Self::Op) -> Self::Command;
    fn run(&mut self, command: &Self::Command) -> Self::Seen;

    /// What the engine is told the time is, in nanoseconds.
    fn told(&self) -> u64 {
        0
    }

    fn step(&mut self, op: Self::Op) -> (Self::Command, Self::Seen) {
        let command = self.resolve(op);
        let seen = self.run(&command);
        (command, seen)
    }
}

/// The engine.
pub(crate) trait Engine: Sized + 'static {
    type Model: Reference;

    fn of(setup: <Self::Model as Reference>::Setup) -> Self;
    fn run(&mut self, told: u64, command: &Command<Self>) -> Seen<Self>;
    /// What holds at any moment.
    fn check(&self, model: &Self::Model);
    /// Brings everything to its end: nothing is left.
    fn end(self, model: Self::Model);
}

pub(crate) type Setup<E> = <<E as Engine>::Model as Reference>::Setup;
pub(crate) type Command<E> = <<E as Engine>::Model as Reference>::Command;
pub(crate) type Seen<E> = <<E as Engine>::Model as Reference>::Seen;

/// One command to both, which answer alike.
pub(crate) fn both<E: Engine>(engine: &mut E, model: &mut E::Model, command: &Command<E>) -> Seen<E> {
    let expected = model.run(command);
    follow(engine, model, command, &expected);
    expected
}

/// The engine does what the model has done.
fn follow<E: Engine>(engine: &mut E, model: &E::Model, command: &Command<E>, expected: &Seen<E>) {
    assert_eq!(&engine.run(model.told(), command), expected, "{command:?}");
    engine.check(model);
}

/// A long run of a seed. `note` is shown each step and says whether to go on; everything that was answered is returned.
pub(crate) fn soak<E: Engine>(
    setup: Setup<E>,
    seed: u64,
    steps: usize,
    note: impl FnMut(&E::Model, &Command<E>, &Seen<E>) -> bool,
) -> Vec<String> {
    replay::<E>(setup, &seeded(seed, steps * BYTES), note)
}

/// A run of the operations that these bytes say.
pub(crate) fn replay<E: Engine>(
    setup: Setup<E>,
    bytes: &[u8],
    mut note: impl FnMut(&E::Model, &Command<E>, &Seen<E>) -> bool,
) -> Vec<String> {
    let mut bytes = Bytes(bytes);
    let (mut model, mut engine) = (E::Model::of(setup), E::of(setup));
    let mut trace = Vec::new();
    while let Some(op) = <E::Model as Reference>::Op::from_bytes(&mut bytes) {
        let (command, expected) = model.step(op);
        follow(&mut engine, &model, &command, &expected);
        trace.push(format!("{command:?} {expected:?}"));
        if !note(&model, &command, &expected) {
            break;
        }
    }
    engine.end(model);
    trace
}

/// The model as proptest drives it, and what it did last.
#[derive(Clone, Debug)]
pub(crate) struct Driven<M: Reference> {
    model: M,
    last: Option<(M::Command, M::Seen)>,
}

/// The test that proptest runs.
pub(crate) struct Machine<E>(PhantomData<E>);

impl<E: Engine> ReferenceStateMachine for Machine<E> {
    type State = Driven<E::Model>;
    type Transition = <E::Model as Reference>::Op;

    fn init_state() -> BoxedStrategy<Self::State> {
        E::Model::setups().prop_map(|setup| Driven { model: E::Model::of(setup), last: None }).boxed()
    }

    fn transitions(_: &Self::State) -> BoxedStrategy<Self::Transition> {
        Operation::any()
    }

    fn apply(mut state: Self::State, op: &Self::Transition) -> Self::State {
        state.last = Some(state.model.step(*op));
        state
    }
}

impl<E: Engine> StateMachineTest for Machine<E> {
    type SystemUnderTest = E;
    type Reference = Self;

    fn init_test(state: &Driven<E::Model>) -> E {
        E::of(state.model.setup())
    }

    fn apply(mut engine: E, state: &Driven<E::Model>, _: <Self as ReferenceStateMachine>::Transition) -> E {
        if let Some((command, expected)) = &state.last {
            follow(&mut engine, &state.model, command, expected);
        }
        engine
    }

    fn teardown(engine: E, state: Driven<E::Model>) {
        engine.end(state.model);
    }
}

/// Regressions are written down as tests, not kept in files.
pub(crate) fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}
