//! CPU time, memory and context switches of an agent during the measurement.

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

use crate::base::{clock::now_ns, counters::Counters, memory::peak_memory_bytes};

/// Resource usage of a process while traffic flows: from before the first recorded sample to after the last one.
///
/// A driving role calls [`begin`](Self::begin) and [`end`](Self::end) around its traffic. A serving role does not
/// know in advance when its traffic starts and ends. It calls [`look`](Self::look) between two slices of its work:
///
/// - Until a recorded sample arrives, or the schedule starts, each call replaces the initial reading.
/// - After the measurement time, the first slice without a new sample ends the metered time.
///
/// No reading therefore falls between the first sample and the last one that arrived in time. Later samples are
/// neither in the metered time nor in its sample count.
#[derive(Debug)]
pub struct TrafficMeter {
    interface: String,
    threads: Threads,
    duration_ns: u64,
    plan_ns: Option<u64>,
    phase: Phase,
    begin: ResourceSnapshot,
    /// Final reading, and the number of samples until then.
    end: Option<(ResourceSnapshot, u64)>,
    counters: [Counters; 2],
    idle: Option<Idle>,
}

/// Traffic phase of a serving role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No sample recorded.
    Before,
    /// Measurement time, until `end_ns`.
    During { end_ns: u64 },
    /// Measurement time over, with this number of samples recorded so far.
    After { recorded: u64 },
    /// Final reading taken.
    Over,
}

/// Longest wait of a serving role for samples, in ns.
pub const LONGEST_WAIT_NS: u64 = 20_000_000;
/// Shortest wait of a serving role in ns, used where no sample is due. With a wait shorter than its tick, the
/// kernel sets a timer for each sample, which makes a virtual machine exit the guest.
pub const SHORTEST_WAIT_NS: u64 = 1_000_000;

impl TrafficMeter {
    /// Creates the meter of traffic that lasts `duration_ns`. `plan_ns`: start of its schedule, if there is one.
    #[must_use]
    pub fn new(interface: &str, duration_ns: u64, plan_ns: Option<u64>) -> Self {
        let counters = Counters::read(interface);
        let threads = Threads::open();
        let begin = ResourceSnapshot::of_threads(&threads);
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

    /// Takes the initial reading: the traffic of a driving role starts now.
    pub fn begin(&mut self) {
        self.begin = ResourceSnapshot::of_threads(&self.threads);
    }

    /// Takes the final reading: the traffic of a driving role has ended after this number of samples.
    pub fn end(&mut self, samples: u64) {
        self.end = Some((ResourceSnapshot::after(), samples));
        self.phase = Phase::Over;
    }

    /// Takes the initial or the final reading of a serving role when it is due. `recorded`: samples so far.
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

    /// Records that the writer has ended. From now on, the first slice without a new sample ends the metered time of a
    /// serving role, even if `duration_ns` has not passed since the first sample. `recorded`: samples so far.
    pub const fn drains(&mut self, recorded: u64) {
        self.duration_ns = 0;
        if matches!(self.phase, Phase::During { .. }) {
            self.phase = Phase::After { recorded };
        }
    }

    /// Returns how long a serving role may wait for samples before the next [`look`](Self::look), in ns.
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

    /// Takes the final reading, if it is missing, and the network counters. Called after the drain for a serving
    /// role.
    pub fn finish(&mut self, recorded: u64) {
        if self.end.is_none() {
            self.end(recorded);
        }
        self.counters[1] = Counters::read(&self.interface);
    }

    /// Records the usage since `since`, while the process waited without traffic.
    pub fn idle_since(&mut self, since: &ResourceSnapshot) {
        let usage = since.until(&ResourceSnapshot::after());
        self.idle = Some(Idle {
            elapsed_ns: usage.elapsed_ns,
            used_ns: usage.user_ns + usage.system_ns,
            run_delay_ns: usage.run_delay_ns,
        });
    }

    /// Returns the usage of the metered time and the network counters; `None` before the final reading.
    #[must_use]
    pub fn report(&self) -> Option<(Usage, Option<Sockets>, Option<Interface>)> {
        let (end, samples) = self.end.as_ref()?;
        let usage = Usage { samples: *samples, idle: self.idle.clone(), ..self.begin.until(end) };
        let [a, b] = &self.counters;
        let (sockets, interface) = a.until(b);
        Some((usage, sockets, interface))
    }
}

/// Snapshot of the resources that the process has used.
#[derive(Debug)]
pub struct ResourceSnapshot {
    at_ns: u64,
    usage: Usage,
    driving_ns: Option<u64>,
    waited: Option<Waited>,
}

/// Time that each thread has waited for a core, in ns, by thread id.
type Waited = BTreeMap<String, u64>;

impl ResourceSnapshot {
    /// Takes a snapshot with all current threads before a measurement, which excludes the cost of the snapshot.
    #[must_use]
    pub fn before() -> Self {
        Self::of_threads(&Threads::open())
    }

    /// Takes a snapshot with all current threads after a measurement, which excludes the cost of the snapshot.
    fn after() -> Self {
        // values of the whole process first: finding its threads takes time. The time last: it contains that of the usage.
        let (usage, at_ns) = (usage(), now_ns());
        let threads = Threads::open();
        Self { at_ns, usage, driving_ns: threads.driving_ns(), waited: threads.waited() }
    }

    /// Takes a snapshot with these threads. Must be called by the driving thread.
    fn of_threads(threads: &Threads) -> Self {
        let (driving_ns, waited) = (threads.driving_ns(), threads.waited());
        // The time first: it contains that of the usage.
        let at_ns = now_ns();
        Self { at_ns, usage: usage(), driving_ns, waited }
    }

    /// Returns the usage from this snapshot to a later one.
    #[must_use]
    pub fn until(&self, later: &Self) -> Usage {
        let (a, b) = (&self.usage, &later.usage);
        Usage {
            elapsed_ns: later.at_ns - self.at_ns,
            run_delay_ns: self.waited.as_ref().zip(later.waited.as_ref()).map(|(a, b)| {
                // a new thread has waited within the interval only; nothing is known of a thread that has ended
                b.iter().map(|(thread, ns)| ns.saturating_sub(a.get(thread).copied().unwrap_or(0))).sum()
            }),
            driving_ns: self.driving_ns.zip(later.driving_ns).map(|(a, b)| b.saturating_sub(a)),
            peak_memory_bytes: peak_memory_bytes(),
            ..b.since(a)
        }
    }
}

/// Open files with the times of this process's threads: finding and opening them takes longer than reading.
#[derive(Debug)]
struct Threads {
    /// Files by thread id; `None` if the kernel provides no times.
    files: Option<BTreeMap<String, File>>,
    driving: Option<File>,
}

impl Threads {
    /// Opens the files of all threads; the caller's thread is the driving one.
    fn open() -> Self {
        let threads = fs::read_dir("/proc/self/task").ok().map(|threads| {
            let file = |thread: fs::DirEntry| {
                // a thread that has just ended has no file
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

    /// Returns how long each thread has waited for a core, in ns.
    fn waited(&self) -> Option<Waited> {
        let waited = self.files.as_ref()?.iter();
        Some(waited.filter_map(|(thread, file)| Some((thread.clone(), times(file)?.1))).collect())
    }

    /// Returns the time of the driving thread on a core plus its time waiting for one, in ns.
    fn driving_ns(&self) -> Option<u64> {
        let (used_ns, waited_ns) = times(self.driving.as_ref()?)?;
        used_ns.checked_add(waited_ns)
    }
}

/// Parses a `schedstat` file: time on a core and time waiting for one, in ns; `None` for a thread that has ended.
fn times(file: &File) -> Option<(u64, u64)> {
    let mut text = [0; 64];
    let length = file.read_at(&mut text, 0).ok()?;
    let mut fields = std::str::from_utf8(&text[..length]).ok()?.split_whitespace();
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Returns the time in which the calling thread was on a core or waited for one, in ns; `None` if the kernel does not report it.
#[must_use]
pub fn thread_ns() -> Option<u64> {
    let (used_ns, waited_ns) = times(&File::open("/proc/thread-self/schedstat").ok()?)?;
    used_ns.checked_add(waited_ns)
}

/// Returns the CPU time of this process since its start, in ns.
#[must_use]
pub fn cpu_ns() -> u64 {
    let usage = usage();
    usage.user_ns + usage.system_ns
}

fn usage() -> Usage {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Usage::default() };
    let ns = |time: TimeVal| {
        time.tv_sec().cast_unsigned() * 1_000_000_000 + time.tv_usec().cast_unsigned() * 1_000
    };
    Usage {
        user_ns: ns(usage.user_time()),
        system_ns: ns(usage.system_time()),
        voluntary_switches: usage.voluntary_context_switches().cast_unsigned(),
        involuntary_switches: usage.involuntary_context_switches().cast_unsigned(),
        core: sched_getcpu().ok().and_then(|core| u32::try_from(core).ok()),
        minor_faults: usage.minor_page_faults().cast_unsigned(),
        major_faults: usage.major_page_faults().cast_unsigned(),
        ..Usage::default()
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
        // this thread only spins; the kernel accounts by tick
        assert!(usage.driving_ns.expect("the kernel says") > 5_000_000, "{usage:?}");
        assert!(usage.user_ns + usage.system_ns > 0);
        let allowed = sched_getaffinity(Pid::this()).expect("the kernel says");
        assert!(allowed.is_set(usage.core.expect("the kernel says") as usize).expect("a core"));
        assert!(sockets.is_some());
        assert_eq!(interface.expect("every host has a loopback").name, "lo");
    }

    const MS: u64 = 1_000_000;

    /// Looks at these times in ms, with these numbers of samples. Returns the times of looks that replaced the
    /// initial reading, and the meter.
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
        // waits, receives, processes the backlog, is quiet, and receives one more
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
        // no end before a quiet slice
        assert!(looked(None, &looks[..7]).1.report().is_none());
        // the first sample arrived late, and its writer has ended
        let (_, mut meter) = looked(None, &looks[..4]);
        meter.drains(100);
        meter.look(110, 41 * MS);
        assert!(meter.report().is_none());
        meter.look(110, 42 * MS);
        assert_eq!(meter.report().expect("it has ended").0.samples, 110);
        // a schedule starts without a sample
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
