//! CPU time, memory and switches of an agent while it measures.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::FileExt as _,
};

use nix::{
    sched::sched_getcpu,
    sys::{
        resource::{UsageWho, getrusage},
        time::TimeVal,
    },
};
use results::{Idle, Interface, Sockets, Usage};

use crate::{clock::now_ns, counters::Counters};

/// What a process uses while traffic flows: from before the first sample that is recorded to after the last one.
///
/// A driving role calls [`begin`](Self::begin) and [`end`](Self::end) around its traffic. A serving role does not know in advance when
/// its traffic begins and ends: [`look`](Self::look) is called between two slices of its work. Until a recorded sample arrives, or the
/// plan begins, each look replaces the reading of the begin; once the measured time is over, the first slice without a new sample ends
/// the window. So no reading falls between the first sample and the last one that came in time. Samples that come later are
/// neither in the window nor in its count.
#[derive(Debug)]
pub struct TrafficMeter {
    interface: String,
    threads: Threads,
    duration_ns: u64,
    plan_ns: Option<u64>,
    phase: Phase,
    begin: Reading,
    /// The reading, and the samples until then.
    end: Option<(Reading, u64)>,
    counters: [Counters; 2],
    idle: Option<Idle>,
}

/// Traffic, as a serving role has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was recorded.
    Before,
    /// The measured time, until then.
    During { end_ns: u64 },
    /// The measured time is over, and so many samples were recorded.
    After { recorded: u64 },
    /// The end was read.
    Over,
}

/// The longest wait of a serving role for samples.
pub const LONGEST_WAIT_NS: u64 = 20_000_000;
/// The shortest one, where none is due. A wait shorter than the kernel's tick makes the kernel set a timer for each sample, which a
/// virtual machine has to leave the guest for.
pub const SHORTEST_WAIT_NS: u64 = 1_000_000;

impl TrafficMeter {
    /// Creates the meter of traffic of this duration, before it begins; `plan_ns`: begin of its plan, if there is one.
    #[must_use]
    pub fn new(interface: &str, duration_ns: u64, plan_ns: Option<u64>) -> Self {
        let counters = Counters::read(interface);
        let threads = Threads::open();
        let begin = Reading::of(&threads);
        Self {
            interface: interface.to_owned(),
            duration_ns,
            plan_ns,
            phase: Phase::Before,
            begin,
            end: None,
            counters: [counters.clone(), counters],
            threads,
            idle: None,
        }
    }

    /// Reads the begin: the traffic of a driving role begins now.
    pub fn begin(&mut self) {
        self.begin = Reading::of(&self.threads);
    }

    /// Reads the end: the traffic of a driving role has ended, after so many samples.
    pub fn end(&mut self, samples: u64) {
        self.end = Some((Reading::after(), samples));
        self.phase = Phase::Over;
    }

    /// Reads the begin or the end of a serving role's traffic where it is time to. `recorded`: samples so far.
    pub fn look(&mut self, recorded: u64, now_ns: u64) {
        match self.phase {
            Phase::Before => {
                let begun = recorded > 0 || self.plan_ns.is_some_and(|plan_ns| now_ns >= plan_ns);
                if begun {
                    let begin_ns = self.plan_ns.unwrap_or(now_ns);
                    self.phase = Phase::During { end_ns: begin_ns.saturating_add(self.duration_ns) };
                } else {
                    self.begin();
                }
            }
            Phase::During { end_ns } if now_ns >= end_ns => self.phase = Phase::After { recorded },
            Phase::After { recorded: before } if recorded == before => self.end(recorded),
            Phase::After { .. } => self.phase = Phase::After { recorded },
            Phase::During { .. } | Phase::Over => {}
        }
    }

    /// The writer has ended: of a serving role the first slice without a new sample is the end from now on, also where the measured time
    /// is not over since the first one came. `recorded`: samples so far.
    pub const fn drains(&mut self, recorded: u64) {
        self.duration_ns = 0;
        if matches!(self.phase, Phase::During { .. }) {
            self.phase = Phase::After { recorded };
        }
    }

    /// How long a serving role may wait for samples before the next look, in ns.
    #[must_use]
    pub fn wait_ns(&self) -> u64 {
        match self.phase {
            Phase::Before | Phase::After { .. } => SHORTEST_WAIT_NS,
            Phase::During { end_ns } => {
                end_ns.saturating_sub(now_ns()).clamp(SHORTEST_WAIT_NS, LONGEST_WAIT_NS)
            }
            Phase::Over => LONGEST_WAIT_NS,
        }
    }

    /// Reads the end, if it was not, and the counters of the network; of a serving role after its drain.
    pub fn finish(&mut self, recorded: u64) {
        if self.end.is_none() {
            self.end(recorded);
        }
        self.counters[1] = Counters::read(&self.interface);
    }

    /// Reads what the process used since `since`, while it waited without traffic.
    pub fn idle_since(&mut self, since: &Reading) {
        let usage = since.until(&Reading::after());
        self.idle = Some(Idle {
            elapsed_ns: usage.elapsed_ns,
            used_ns: usage.user_ns + usage.system_ns,
            run_delay_ns: usage.run_delay_ns,
        });
    }

    /// What was used, and counted meanwhile; none before the end was read.
    #[must_use]
    pub fn report(&self) -> Option<(Usage, Option<Sockets>, Option<Interface>)> {
        let (end, samples) = self.end.as_ref()?;
        let usage = Usage { samples: *samples, idle: self.idle.clone(), ..self.begin.until(end) };
        let [a, b] = &self.counters;
        let (sockets, interface) = a.until(b);
        Some((usage, sockets, interface))
    }
}

/// A reading of what the process has used, to be compared with a later one.
#[derive(Debug)]
pub struct Reading {
    at_ns: u64,
    usage: Usage,
    driving_ns: Option<u64>,
    waited: Option<Waited>,
}

/// For how long each thread has waited for a core, in ns.
type Waited = BTreeMap<String, u64>;

impl Reading {
    /// Reads now, of all threads that there are, before something that is measured: what reading takes is not in it.
    #[must_use]
    pub fn before() -> Self {
        Self::of(&Threads::open())
    }

    /// Reads now, of all threads that there are, after something that is measured: what reading takes is not in it.
    fn after() -> Self {
        // first what is counted of the whole process: finding its threads takes a while
        let (at_ns, usage) = (now_ns(), usage());
        let threads = Threads::open();
        Self { at_ns, usage, driving_ns: threads.driving_ns(), waited: threads.waited() }
    }

    /// Reads now, of these threads. Must be called by the thread that drives.
    fn of(threads: &Threads) -> Self {
        let (driving_ns, waited) = (threads.driving_ns(), threads.waited());
        Self { driving_ns, waited, usage: usage(), at_ns: now_ns() }
    }

    /// What was used from this reading to a later one.
    #[must_use]
    pub fn until(&self, later: &Self) -> Usage {
        let (a, b) = (&self.usage, &later.usage);
        Usage {
            elapsed_ns: later.at_ns - self.at_ns,
            user_ns: b.user_ns.saturating_sub(a.user_ns),
            system_ns: b.system_ns.saturating_sub(a.system_ns),
            samples: 0,
            idle: None,
            voluntary_switches: b.voluntary_switches - a.voluntary_switches,
            involuntary_switches: b.involuntary_switches - a.involuntary_switches,
            run_delay_ns: self.waited.as_ref().zip(later.waited.as_ref()).map(|(a, b)| {
                // a thread that is new has waited all of it; of one that has ended nothing is known
                b.iter().map(|(thread, ns)| ns.saturating_sub(a.get(thread).copied().unwrap_or(0))).sum()
            }),
            driving_ns: self.driving_ns.zip(later.driving_ns).map(|(a, b)| b.saturating_sub(a)),
            core: b.core,
            minor_faults: b.minor_faults - a.minor_faults,
            major_faults: b.major_faults - a.major_faults,
            max_resident_bytes: b.max_resident_bytes,
        }
    }
}

/// The files with the times of this process's threads, open: to find and open them takes longer than to read them.
#[derive(Debug)]
struct Threads {
    /// By thread. None where the kernel keeps no times.
    files: Option<BTreeMap<String, File>>,
    driving: Option<File>,
}

impl Threads {
    /// Opens those of all threads; the caller's is the driving one.
    fn open() -> Self {
        let threads = fs::read_dir("/proc/self/task").ok().map(|threads| {
            let file = |thread: fs::DirEntry| {
                // one that has just ended has none
                let file = File::open(thread.path().join("schedstat")).ok()?;
                Some((thread.file_name().to_string_lossy().into_owned(), file))
            };
            threads.flatten().filter_map(file).collect::<BTreeMap<_, _>>()
        });
        Self {
            files: threads.filter(|files| !files.is_empty()),
            driving: File::open("/proc/thread-self/schedstat").ok(),
        }
    }

    /// For how long each thread has waited for a core.
    fn waited(&self) -> Option<Waited> {
        let waited = self.files.as_ref()?.iter();
        Some(waited.filter_map(|(thread, file)| Some((thread.clone(), times(file)?.1))).collect())
    }

    /// Of the driving thread: time on a core, and time waiting for one.
    fn driving_ns(&self) -> Option<u64> {
        let (used_ns, waited_ns) = times(self.driving.as_ref()?)?;
        used_ns.checked_add(waited_ns)
    }
}

/// Of a `schedstat`: time on a core, and time waiting for one. None of a thread that has ended.
fn times(file: &File) -> Option<(u64, u64)> {
    let mut text = [0; 64];
    let length = file.read_at(&mut text, 0).ok()?;
    let mut figures = std::str::from_utf8(&text[..length]).ok()?.split_whitespace();
    Some((figures.next()?.parse().ok()?, figures.next()?.parse().ok()?))
}

fn usage() -> Usage {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Usage::default() };
    let ns = |time: TimeVal| {
        time.tv_sec().cast_unsigned() * 1_000_000_000 + time.tv_usec().cast_unsigned() * 1_000
    };
    Usage {
        elapsed_ns: 0,
        samples: 0,
        idle: None,
        user_ns: ns(usage.user_time()),
        system_ns: ns(usage.system_time()),
        voluntary_switches: usage.voluntary_context_switches().cast_unsigned(),
        involuntary_switches: usage.involuntary_context_switches().cast_unsigned(),
        run_delay_ns: None,
        driving_ns: None,
        core: sched_getcpu().ok().and_then(|core| u32::try_from(core).ok()),
        minor_faults: usage.minor_page_faults().cast_unsigned(),
        major_faults: usage.major_page_faults().cast_unsigned(),
        max_resident_bytes: usage.max_rss().cast_unsigned() * 1024,
    }
}

#[cfg(test)]
mod tests {
    use nix::{sched::sched_getaffinity, unistd::Pid};

    use super::*;

    fn spin(duration_ns: u64) {
        let begin = now_ns();
        while now_ns() - begin < duration_ns {}
    }

    #[test]
    fn usage_between_two_readings_is_of_this_thread_and_process() {
        let mut meter = TrafficMeter::new("lo", 20_000_000, None);
        meter.begin();
        spin(20_000_000);
        meter.end(7);
        meter.finish(9);
        let (usage, sockets, interface) = meter.report().expect("it has ended");
        assert!(usage.elapsed_ns >= 20_000_000 && usage.samples == 7, "{usage:?}");
        // this thread did nothing but want its core; the kernel counts by its tick
        assert!(usage.driving_ns.expect("the kernel says") > 5_000_000, "{usage:?}");
        assert!(usage.user_ns + usage.system_ns > 0);
        let allowed = sched_getaffinity(Pid::this()).expect("the kernel says");
        assert!(allowed.is_set(usage.core.expect("the kernel says") as usize).expect("a core"));
        assert!(sockets.is_some());
        assert_eq!(interface.expect("every host has a loopback").name, "lo");
    }

    const MS: u64 = 1_000_000;

    /// Looks at these times after the order, with so many samples recorded. The looks that read the begin, and the samples at the end.
    fn looked(plan_ns: Option<u64>, looks: &[(u64, u64)]) -> (Vec<u64>, TrafficMeter) {
        let mut meter = TrafficMeter::new("lo", 20 * MS, plan_ns);
        let mut read = Vec::new();
        for &(at_ns, recorded) in looks {
            let before = meter.begin.at_ns;
            meter.look(recorded, at_ns * MS);
            if meter.begin.at_ns != before {
                read.push(at_ns);
            }
        }
        (read, meter)
    }

    #[test]
    fn window_of_a_serving_role_is_from_before_the_first_sample_to_the_first_quiet_slice() {
        // waits, receives, works off what came, is quiet, and gets one more
        let looks =
            [(2, 0), (28, 0), (30, 5), (40, 100), (51, 110), (52, 115), (53, 120), (54, 120), (60, 121)];
        for plan_ns in [None, Some(30 * MS)] {
            let (read, mut meter) = looked(plan_ns, &looks);
            assert_eq!((read, meter.phase), (vec![2, 28], Phase::Over));
            meter.finish(121);
            assert_eq!(
                meter.report().expect("it has ended").0.samples,
                120,
                "a straggler is not in the count"
            );
        }
        // while it is not quiet there is no end
        assert!(looked(None, &looks[..7]).1.report().is_none());
        // the first sample came late, and its writer has ended
        let (_, mut meter) = looked(None, &looks[..4]);
        meter.drains(100);
        meter.look(110, 41 * MS);
        assert!(meter.report().is_none());
        meter.look(110, 42 * MS);
        assert_eq!(meter.report().expect("it has ended").0.samples, 110);
        // a plan begins without a sample
        let (read, meter) = looked(Some(30 * MS), &[(28, 0), (31, 0), (49, 0), (51, 0), (52, 0)]);
        assert_eq!((read, meter.phase), (vec![28], Phase::Over));
    }

    #[test]
    fn window_of_a_serving_role_without_samples_ends_with_the_drain() {
        let (_, mut meter) = looked(None, &[(1, 0), (2, 0)]);
        assert!(meter.report().is_none());
        meter.finish(0);
        assert_eq!(meter.report().expect("it has ended").0.samples, 0);
    }
}
