//! Scheduling of all threads of this process, as the kernel has it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Returns two settings: `scheduling`, the distinct policies with their priorities, and `threads`, how many threads have each
/// on which cores. Threads of the middleware are among them; one that ends meanwhile is left out.
#[must_use]
pub fn scheduling() -> BTreeMap<String, String> {
    let mut counted: BTreeMap<(String, String), u32> = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        if let Some(key) = of_thread(&task.path()) {
            *counted.entry(key).or_default() += 1;
        }
    }
    let policies: BTreeSet<&str> = counted.keys().map(|(policy, _)| policy.as_str()).collect();
    let threads = counted.iter().map(|((policy, cores), n)| format!("{n} of {policy} on {cores}"));
    let threads = threads.collect::<Vec<_>>().join("; ");
    let policies = policies.into_iter().collect::<Vec<_>>().join(", ");
    [("scheduling", policies), ("threads", threads)].map(|(name, text)| (name.to_owned(), text)).into()
}

/// Returns the policy with its priority, and the list of the allowed cores.
fn of_thread(task: &Path) -> Option<(String, String)> {
    let policy = policy(&fs::read_to_string(task.join("stat")).ok()?)?;
    let status = fs::read_to_string(task.join("status")).ok()?;
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim();
    Some((policy, cores.to_owned()))
}

/// Returns the policy and priority of a line of `/proc/PID/stat`: proc_pid_stat(5), fields 19, 40 and 41.
fn policy(stat: &str) -> Option<String> {
    // the name of the thread in parentheses may contain anything
    let fields: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    let (nice, priority) = (field(19)?, field(40)?);
    Some(match field(41)? {
        "0" if nice == "0" => "SCHED_OTHER".to_owned(),
        "0" => format!("SCHED_OTHER (nice {nice})"),
        "1" => format!("SCHED_FIFO {priority}"),
        "2" => format!("SCHED_RR {priority}"),
        "3" => format!("SCHED_BATCH (nice {nice})"),
        "5" => "SCHED_IDLE".to_owned(),
        "6" => "SCHED_DEADLINE".to_owned(),
        other => format!("policy {other}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line of a thread with this nice value, real-time priority and policy.
    fn stat(nice: &str, priority: &str, policy: &str) -> String {
        let mut fields = vec!["0"; 52];
        fields[18] = nice;
        fields[39] = priority;
        fields[40] = policy;
        format!("12 (a) thread) S {}", fields[3..].join(" "))
    }

    #[test]
    fn policy_and_priority_are_read_behind_any_name() {
        for (nice, priority, number, expected) in [
            ("0", "0", "0", "SCHED_OTHER"),
            ("-5", "0", "0", "SCHED_OTHER (nice -5)"),
            ("0", "80", "1", "SCHED_FIFO 80"),
            ("0", "7", "2", "SCHED_RR 7"),
            ("19", "0", "5", "SCHED_IDLE"),
        ] {
            assert_eq!(policy(&stat(nice, priority, number)).as_deref(), Some(expected));
        }
        assert_eq!(policy("12 (x) S 1"), None);
    }

    #[test]
    fn threads_of_this_process_are_counted() {
        let found = scheduling();
        assert!(found["scheduling"].contains("SCHED_"), "{found:?}");
        assert!(found["threads"].contains(" of SCHED_"), "{found:?}");
    }
}
