//! What every measurement shares: alternating runs, the median of them, allocations a call, a table.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What one run of a side has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Calls in all.
    pub calls: usize,
    /// Calls under way at any time, at least one.
    pub in_flight: usize,
    /// Progress notifications before each answer: none or [`crate::load::PROGRESS_STEPS`].
    pub progress: u32,
    /// What is echoed.
    pub text: crate::load::Text,
}

impl Load {
    fn with_calls(self, calls: usize) -> Self {
        // Whole rounds, so that a side may give every slot the same number of calls.
        Self {
            calls: calls.max(1).next_multiple_of(self.in_flight),
            ..self
        }
    }
}

/// Something that is measured.
pub trait Side {
    /// The row's name.
    fn name(&self) -> String;

    /// Makes `load.calls` calls and checks every answer (and every progress notification); gives the time of the
    /// calls alone, without start and warm-up of its own.
    fn run(&mut self, load: Load) -> Result<Duration, Wrong>;

    /// Whether the calls happen in this process, so that counting its allocations says something.
    fn in_process(&self) -> bool {
        true
    }

    /// What there is to say below the table, of the runs since it was last asked.
    fn note(&mut self) -> Option<String> {
        None
    }
}

/// An answer was wrong, missing or one too many; or the side could not run. The measurement is void.
#[derive(Debug)]
pub struct Wrong(pub String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl Wrong {
    /// Says what was going on when `error` came.
    pub fn when<E: fmt::Display>(doing: &str) -> impl FnOnce(E) -> Self {
        move |error| Self(format!("{doing}: {error}"))
    }
}

/// How long and how often to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Measured runs a side.
    pub rounds: usize,
    /// What a run should take about.
    pub run_time: Duration,
}

/// What was seen of one side.
#[derive(Clone, Debug)]
pub struct Row {
    /// The side's name.
    pub name: String,
    /// Nanoseconds a call, one figure a run, sorted.
    pub nanos: Vec<f64>,
    /// Allocations a call and bytes a call, where they were counted.
    pub allocated: Option<(f64, f64)>,
}

impl Row {
    /// The median of the runs, nanoseconds a call.
    pub fn median(&self) -> f64 {
        let middle = self.nanos.len() / 2;
        match self.nanos.len() {
            0 => f64::NAN,
            odd if odd % 2 == 1 => self.nanos[middle],
            _ => f64::midpoint(self.nanos[middle - 1], self.nanos[middle]),
        }
    }
}

/// Warms every side up, runs them in turn (A B A B ...), and counts allocations in a run that is not timed.
pub fn measure(load: Load, plan: Plan, sides: &mut [Box<dyn Side>]) -> Result<Vec<Row>, Wrong> {
    let mut loads = Vec::with_capacity(sides.len());
    for side in &mut *sides {
        loads.push(calibrate(load, plan, side.as_mut())?);
    }
    let mut rows: Vec<_> = sides
        .iter()
        .map(|side| Row {
            name: side.name(),
            nanos: Vec::new(),
            allocated: None,
        })
        .collect();
    for _ in 0..plan.rounds {
        for ((side, load), row) in sides.iter_mut().zip(&loads).zip(&mut rows) {
            let took = run(side.as_mut(), *load)?;
            row.nanos.push(took.as_nanos() as f64 / load.calls as f64);
        }
    }
    for ((side, load), row) in sides.iter_mut().zip(&loads).zip(&mut rows) {
        row.nanos.sort_by(f64::total_cmp);
        if side.in_process() {
            let load = load.with_calls(load.calls.min(COUNTED_CALLS));
            let (outcome, counted) = count(|| run(side.as_mut(), load));
            outcome?;
            let calls = load.calls as f64;
            row.allocated = Some((counted.allocations as f64 / calls, counted.bytes as f64 / calls));
        }
    }
    Ok(rows)
}

/// Enough that what a run allocates once (tasks, lists) does not show in the figure a call.
const COUNTED_CALLS: usize = 20_000;

/// Doubles the calls until a run is long enough to reckon with; this is the warm-up too.
fn calibrate(load: Load, plan: Plan, side: &mut dyn Side) -> Result<Load, Wrong> {
    let mut load = load.with_calls(load.in_flight.max(16));
    loop {
        let took = run(side, load)?;
        if took * 4 >= plan.run_time {
            let factor = plan.run_time.as_secs_f64() / took.as_secs_f64();
            return Ok(load.with_calls((load.calls as f64 * factor) as usize));
        }
        load = load.with_calls(load.calls * 2);
    }
}

fn run(side: &mut dyn Side, load: Load) -> Result<Duration, Wrong> {
    side.run(load)
        .map_err(|Wrong(what)| Wrong(format!("{}: {what}", side.name())))
}

/// A Markdown table of `rows`; the last column is each row's speed in terms of the first row's.
pub fn table(title: &str, rows: &[Row]) -> String {
    let mut out = format!("### {title}\n\n");
    out.push_str("| side | calls/s | lowest .. highest | a call | allocations | allocated | speed |\n");
    out.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    let first = rows.first().map_or(f64::NAN, Row::median);
    for row in rows {
        let rate = |nanos: f64| thousands(1e9 / nanos);
        let (slowest, fastest) = (row.nanos.last(), row.nanos.first());
        let _ = writeln!(
            out,
            "| {} | {} | {} .. {} | {} | {} | {} | {:.2} |",
            row.name,
            rate(row.median()),
            slowest.map_or_else(String::new, |nanos| rate(*nanos)),
            fastest.map_or_else(String::new, |nanos| rate(*nanos)),
            duration(row.median()),
            row.allocated
                .map_or_else(|| "-".into(), |(allocations, _)| format!("{allocations:.1}")),
            row.allocated
                .map_or_else(|| "-".into(), |(_, bytes)| format!("{} B", thousands(bytes))),
            first / row.median(),
        );
    }
    out
}

fn duration(nanos: f64) -> String {
    if nanos < 10_000.0 {
        format!("{nanos:.0} ns")
    } else {
        format!("{:.1} us", nanos / 1e3)
    }
}

/// A whole number with its thousands apart: `1 234 567`.
pub(crate) fn thousands(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// What was allocated during a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Allocations, each growth of one in place or by a move being one more.
    pub allocations: u64,
    /// Bytes asked for, a growth with its whole new size.
    pub bytes: u64,
}

/// Runs `phase` and counts what every thread allocates meanwhile; nothing if [`CountingAllocator`] is not installed.
pub fn count<T>(phase: impl FnOnce() -> T) -> (T, Counted) {
    let before = (ALLOCATIONS.load(Relaxed), BYTES.load(Relaxed));
    COUNTING.store(true, Relaxed);
    let out = phase();
    COUNTING.store(false, Relaxed);
    let counted = Counted {
        allocations: ALLOCATIONS.load(Relaxed) - before.0,
        bytes: BYTES.load(Relaxed) - before.1,
    };
    (out, counted)
}

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, with a count that is kept only while [`count`] runs: timed runs pay one predictable branch
/// an allocation, whether a side allocates much or little.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

impl CountingAllocator {
    fn note(size: usize) {
        if COUNTING.load(Relaxed) {
            ALLOCATIONS.fetch_add(1, Relaxed);
            BYTES.fetch_add(size as u64, Relaxed);
        }
    }
}

// The only unsafe code here: `GlobalAlloc` is an unsafe trait, and there is no safe way to see allocations.
//
// SAFETY: every method hands its arguments to `System` unchanged and gives back what `System` gave, so `System`'s
// guarantees are ours and our caller's obligations are met towards it. `note` touches atomics alone: it neither
// allocates nor panics.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size());
        // SAFETY: as for the whole implementation.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size());
        // SAFETY: as for the whole implementation.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        Self::note(new_size);
        // SAFETY: as for the whole implementation.
        unsafe { System.realloc(at, layout, new_size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as for the whole implementation.
        unsafe { System.dealloc(at, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_run() {
        let row = |nanos: &[f64]| Row {
            name: String::new(),
            nanos: nanos.to_vec(),
            allocated: None,
        };
        assert_eq!(row(&[1.0, 2.0, 9.0]).median().to_bits(), 2f64.to_bits());
        assert_eq!(row(&[1.0, 2.0, 4.0, 9.0]).median().to_bits(), 3f64.to_bits());
    }

    #[test]
    fn figures_are_printed_with_their_thousands_apart() {
        assert_eq!(thousands(7.0), "7");
        assert_eq!(thousands(1_234_567.4), "1 234 567");
        assert_eq!(thousands(100_000.0), "100 000");
    }

    #[test]
    fn calls_come_in_whole_rounds() {
        let load = Load {
            calls: 0,
            in_flight: 64,
            progress: 0,
            text: crate::load::Text::Short,
        };
        assert_eq!(load.with_calls(65).calls, 128);
        assert_eq!(load.with_calls(0).calls, 64);
    }
}
