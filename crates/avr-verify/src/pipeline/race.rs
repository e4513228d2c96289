//! The race of two strategies for the same goals: the one that decides all of them with less work wins, and the first one where both do
//! as much.
//!
//! Work is counted in abstract steps and expanded states, so that the winner is the same on any machine and for any number of threads.
//! The second strategy begins when the first one has done some work, and gives up in the end. Where there is one thread for both, they
//! alternate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tvar::{Exhausted, Progress, Watch};

/// The work of the first strategy before the second one begins: what is decided sooner takes no second thread.
const HEAD_START: u64 = 8_000;
/// The most work of the second strategy.
const MOST_WORK: u64 = 1_500_000;
/// The work of the second strategy, at least, where a limit on work ended the first one sooner.
const LEAST_WORK: u64 = 500_000;
/// The work of a stint, where they alternate.
const STINT: u64 = 4_000;
/// The states that are expanded between two looks at the limits, at least.
const EXPANDED_PER_LOOK: u64 = 32;

/// A runner of a race, in the order in which ties are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Runner {
    First,
    Second,
}

impl Runner {
    fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// The end of a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Every goal is decided.
    Decided,
    /// Some goal is not, because a limit on work was reached.
    Limited,
    /// Some goal is not, whatever the work.
    Stuck,
    /// The time or memory is used up, or the user interrupted; nothing counts any more.
    Stopped,
}

/// The work of a runner so far, and its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lane {
    work: u64,
    end: Option<End>,
}

#[derive(Debug)]
struct Lanes {
    first: Lane,
    second: Lane,
    /// The runner that may run, where they alternate.
    running: Runner,
}

impl Lanes {
    fn of(&mut self, runner: Runner) -> &mut Lane {
        match runner {
            Runner::First => &mut self.first,
            Runner::Second => &mut self.second,
        }
    }

    /// True if a runner cannot win any more, or has done as much as it may.
    fn has_lost(&mut self, runner: Runner) -> bool {
        let (work, other) = (self.of(runner).work, *self.of(runner.other()));
        let is_beaten = match other.end {
            None => false,
            Some(End::Decided) => (work, runner) > (other.work, runner.other()),
            Some(End::Limited) => runner == Runner::Second && work >= other.work.max(LEAST_WORK),
            Some(End::Stuck) => false,
            Some(End::Stopped) => true,
        };
        is_beaten || runner == Runner::Second && work > MOST_WORK
    }

    /// The work of the first runner beyond its head start.
    fn lead(&self) -> u64 {
        self.first.work.saturating_sub(HEAD_START)
    }
}

/// A race.
#[derive(Debug)]
pub(crate) struct Race {
    lanes: Mutex<Lanes>,
    changed: Condvar,
    alternates: bool,
}

impl Race {
    /// A race that has not begun; on one thread the runners alternate.
    pub(crate) fn new(alternates: bool) -> Self {
        let lanes = Lanes { first: Lane::default(), second: Lane::default(), running: Runner::First };
        Self { lanes: Mutex::new(lanes), changed: Condvar::new(), alternates }
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        // A runner that panicked has ended all the same.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the second runner may begin; false if it need not.
    pub(crate) fn may_begin(&self) -> bool {
        let mut lanes = self.lanes();
        while lanes.first.end.is_none() && (lanes.lead() == 0 || self.alternates && lanes.running != Runner::Second) {
            lanes = self.changed.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
        let is_over = lanes.first.end == Some(End::Decided) && lanes.lead() == 0;
        !is_over && !lanes.has_lost(Runner::Second)
    }

    /// Takes note of the work of a runner, waits for its stint, and tells whether it goes on.
    fn goes_on(&self, runner: Runner, work: u64) -> bool {
        let mut lanes = self.lanes();
        lanes.of(runner).work = work;
        self.changed.notify_all();
        while self.alternates && !lanes.has_lost(runner) && lanes.of(runner.other()).end.is_none() {
            let is_over = match runner {
                Runner::First => lanes.lead() > lanes.second.work + STINT,
                Runner::Second => lanes.second.work >= lanes.lead(),
            };
            if lanes.running == runner && is_over {
                lanes.running = runner.other();
                self.changed.notify_all();
            }
            if lanes.running == runner {
                break;
            }
            lanes = self.changed.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
        !lanes.has_lost(runner)
    }

    fn has_lost(&self, runner: Runner) -> bool {
        self.lanes().has_lost(runner)
    }

    /// The first or only end of a runner.
    pub(crate) fn end(&self, runner: Runner, end: End) {
        self.lanes().of(runner).end.get_or_insert(end);
        self.changed.notify_all();
    }

    /// The winner, when both have ended: the runner whose outcome counts.
    pub(crate) fn winner(&self) -> Runner {
        let lanes = self.lanes();
        let has_decided = lanes.second.end == Some(End::Decided);
        let is_first = match lanes.first.end {
            Some(End::Decided) => lanes.first.work <= lanes.second.work,
            Some(End::Limited | End::Stuck) | None => false,
            Some(End::Stopped) => true,
        };
        if has_decided && !is_first { Runner::Second } else { Runner::First }
    }
}

/// The watch of a runner, which ends its work when it has lost.
pub(crate) struct RunnerWatch<'a> {
    race: &'a Race,
    runner: Runner,
    watch: &'a dyn Watch,
    looks: AtomicU64,
}

impl<'a> RunnerWatch<'a> {
    /// The watch of a runner beside the limits of the caller.
    pub(crate) fn new(race: &'a Race, runner: Runner, watch: &'a dyn Watch) -> Self {
        Self { race, runner, watch, looks: AtomicU64::new(0) }
    }
}

impl Watch for RunnerWatch<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let limit = match self.runner {
            Runner::First => self.watch.check(progress),
            // The limits on work, and reports of progress, are about the first runner.
            Runner::Second => self.watch.cancelled().then_some(Exhausted::Interrupted),
        };
        let looks = 1 + self.looks.fetch_add(1, Ordering::Relaxed);
        let work = progress.steps + EXPANDED_PER_LOOK * looks;
        limit.or_else(|| (!self.race.goes_on(self.runner, work)).then_some(Exhausted::Interrupted))
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled() || self.race.has_lost(self.runner)
    }
}

/// The end of a runner that something went wrong in, so that nobody waits for it.
pub(crate) struct EndsAnyway<'a>(pub(crate) &'a Race, pub(crate) Runner);

impl Drop for EndsAnyway<'_> {
    fn drop(&mut self) {
        self.0.end(self.1, End::Stopped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// The work of a look.
    const STEP: u64 = 700;

    /// The winner when each of two runners comes to its end after so much work, and the work that each has done.
    fn raced(ends: [(u64, End); 2], alternates: bool) -> (Runner, [u64; 2]) {
        let race = Race::new(alternates);
        let run = |runner: Runner, (most, end): (u64, End)| {
            let _end = EndsAnyway(&race, runner);
            if runner == Runner::Second && !race.may_begin() {
                race.end(runner, End::Stuck);
                return 0;
            }
            let mut work = 0;
            loop {
                work += STEP;
                if !race.goes_on(runner, work) {
                    race.end(runner, if runner == Runner::First { End::Limited } else { End::Stuck });
                    break work;
                }
                if work >= most {
                    race.end(runner, end);
                    break work;
                }
            }
        };
        let work = thread::scope(|scope| {
            let second = scope.spawn(|| run(Runner::Second, ends[1]));
            let first = run(Runner::First, ends[0]);
            [first, second.join().expect("it ends")]
        });
        (race.winner(), work)
    }

    #[test]
    fn the_least_work_wins_on_any_number_of_threads() {
        use End::{Decided, Limited, Stuck};
        use Runner::{First, Second};
        let cases = [
            ([(5_000, Decided), (700, Decided)], First),
            ([(100_000, Decided), (20_000, Decided)], Second),
            ([(100_100, Decided), (100_100, Decided)], First),
            ([(100_800, Decided), (100_100, Decided)], Second),
            ([(100_000, Decided), (200_000, Decided)], First),
            ([(100_000, Decided), (20_000, Stuck)], First),
            ([(20_000, Stuck), (1_000_000, Decided)], Second),
            ([(700, Stuck), (700, Decided)], Second),
            ([(20_000, Stuck), (2 * MOST_WORK, Decided)], First),
            ([(20_000, Limited), (450_000, Decided)], Second),
            ([(700_000, Limited), (650_000, Decided)], Second),
        ];
        for (ends, winner) in cases {
            for alternates in [false, true] {
                for _ in 0..5 {
                    assert_eq!(raced(ends, alternates).0, winner, "{ends:?}, {alternates}");
                }
            }
        }
    }

    /// On several threads, one that the clock ends late may have let the other go on for longer.
    #[test]
    fn on_one_thread_little_more_is_done_after_the_clock_ended_one() {
        let ends = [(20_000, End::Limited), (550_000, End::Decided)];
        assert_eq!(raced(ends, true).0, Runner::First);
    }

    #[test]
    fn a_tie_goes_to_the_first() {
        let won = |first: u64, second: u64| {
            let race = Race::new(false);
            let lane = |work| Lane { work, end: Some(End::Decided) };
            (race.lanes().first, race.lanes().second) = (lane(first), lane(second));
            (race.winner(), race.has_lost(Runner::First), race.has_lost(Runner::Second))
        };
        assert_eq!(won(100_000, 100_000), (Runner::First, false, true));
        assert_eq!(won(100_001, 100_000), (Runner::Second, true, false));
        assert_eq!(won(99_999, 100_000), (Runner::First, false, true));
    }

    #[test]
    fn on_one_thread_neither_does_much_more_than_twice_the_least_work() {
        let most = 2 * 50_000 + HEAD_START + 2 * STINT + 2 * STEP;
        for ends in
            [[(50_000, End::Decided), (900_000, End::Decided)], [(900_000, End::Decided), (50_000, End::Decided)]]
        {
            let (_, [first, second]) = raced(ends, true);
            assert!(first + second <= most, "{first} and {second}");
        }
    }

    #[test]
    fn what_is_stopped_or_panics_lets_the_other_go() {
        let (winner, [_, second]) = raced([(50_000, End::Stopped), (900_000, End::Decided)], true);
        assert!(winner == Runner::First && second < 100_000);
        for panics in [Runner::First, Runner::Second] {
            let race = Race::new(true);
            let panicked = thread::scope(|scope| {
                let run = |runner: Runner| {
                    let _end = EndsAnyway(&race, runner);
                    let looks = (1..1_000).map(|look| race.goes_on(runner, look * STEP));
                    looks.take_while(|goes_on| *goes_on).enumerate().for_each(|(look, _)| {
                        assert!(runner != panics || look < 30, "on purpose");
                    });
                };
                let runners = [Runner::First, Runner::Second].map(|runner| scope.spawn(move || run(runner)));
                runners.map(|runner| runner.join().is_err())
            });
            assert_eq!(panicked.iter().filter(|panicked| **panicked).count(), 1, "{panics:?}");
        }
    }
}
