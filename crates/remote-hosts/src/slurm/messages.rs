//! Messages of Slurm, and what to do about them.

use crate::client::steward_command::known_message;

/// Parts of messages, the cause, and the hint.
const KNOWN: &[(&[&str], &str, &str)] = &[
    (
        &["DUE TO TIME LIMIT"],
        "its job reached the time limit",
        "allocate the nodes for longer: `salloc --time`, or `sbatch --time`",
    ),
    (
        &["DUE TO NODE FAILURE", "Node failure on"],
        "its node failed",
        "allocate other nodes with `salloc --exclude`, and start a new experiment",
    ),
    (
        &["DUE TO PREEMPTION"],
        "its job was preempted",
        "allocate nodes again, then resume with `ddsmark run --resume DIR`",
    ),
    (
        &["Invalid job id", "has expired", "already completing or completed"],
        "its job has ended",
        "allocate nodes again with `salloc -N2`, or submit a script with `sbatch`",
    ),
    (
        &["Requested node configuration is not available"],
        "its node has fewer resources than the step needs",
        "allocate whole nodes with `salloc --exclusive`",
    ),
    (
        &["Could not establish a configuration source"],
        "Slurm is not configured there",
        "run ddsmark on a host where `sinfo` lists the nodes",
    ),
    (
        &["Unable to contact slurm controller"],
        "the controller of Slurm does not answer",
        "check it with `scontrol ping`, then repeat the command",
    ),
    (
        &["CANCELLED AT"],
        "Slurm cancelled its step",
        "resume with `ddsmark run --resume DIR`, in an allocation of the same nodes",
    ),
    (
        &["Exec format error"],
        "it cannot execute the copied program",
        "install ddsmark on the node: it has another architecture",
    ),
    (&["No space left on device"], "its file system is full", "free some space on the node"),
];

/// Returns the cause and the hint for the last lines that Slurm printed, if they are known.
#[must_use]
pub fn explain(lines: &[String]) -> Option<(String, String)> {
    known_message(KNOWN, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_message_has_a_cause_and_a_hint() {
        let of = |line: &str| explain(&["other".to_owned(), line.to_owned()]);
        for line in [
            "srun: error: Unable to confirm allocation for job 7: Invalid job id specified",
            "srun: error: Slurm job 7 has expired",
        ] {
            assert_eq!(of(line).expect("known").0, "its job has ended");
        }
        let line =
            "slurmstepd: error: *** STEP 7.1 ON n2 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***";
        let (cause, hint) = of(line).expect("known");
        assert!(cause.contains("time limit") && hint.contains("--time"), "{cause} {hint}");
        assert_eq!(of("srun: error: n2: task 0: Killed"), None);
    }
}
