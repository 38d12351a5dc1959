//! Checks of a whole system before it is written: sizes, processes, policies that cannot match, limits of a run.

use std::collections::BTreeSet;

use experiment::{MAX_FLOWS, MAX_PROCESSES, MAX_TRACE_SAMPLES, MIN_SIZE_BYTES, SizeDistribution};

use crate::{
    error::ImportError,
    system::{Sends, System, Topic, mean_bytes},
};

impl System {
    /// Returns the system with names and sizes that an experiment can have, and notes about changes.
    ///
    /// # Errors
    /// Returns an error if a run cannot have this system: no topics, too many, names that clash, policies that cannot match.
    pub fn checked(self) -> Result<Self, ImportError> {
        let mut system = self.with_plain_names()?;
        if system.topics.is_empty() {
            return Err(ImportError::new("no topic with traffic is left", "import a source that has one"));
        }
        system.check_limits()?;
        let mut notes = Vec::new();
        for topic in &mut system.topics {
            topic.check_policies()?;
            if let Some(least) = topic.raise_sizes() {
                let reason = format!("samples of {least} B have {MIN_SIZE_BYTES} B, the header of ddsmark");
                notes.push((format!("size of `{}`", topic.name), reason));
            }
            let own: Vec<String> =
                topic.to.iter().filter(|name| topic.from.contains(name)).cloned().collect();
            if !own.is_empty() {
                if own.len() == topic.to.len() {
                    let message =
                        format!("topic `{}` is read by the process that writes it only", topic.name);
                    return Err(ImportError::new(
                        message,
                        "leave it out: its samples need not leave the process",
                    ));
                }
                topic.to.retain(|name| !own.contains(name));
                let reason = format!(
                    "`{}` also writes it: samples within a process need not use the transport",
                    own.join("`, `")
                );
                notes.push((format!("reader of `{}`", topic.name), reason));
            }
        }
        for (item, reason) in notes {
            system.not_applied(item, reason);
        }
        Ok(system)
    }

    fn check_limits(&self) -> Result<(), ImportError> {
        let topics: u64 = self.topics.iter().map(Topic::number).sum();
        if topics > MAX_FLOWS as u64 {
            let message = format!("{topics} topics are too many: a run has at most {MAX_FLOWS}");
            return Err(ImportError::new(message, "import a part of the system"));
        }
        let processes: BTreeSet<&String> =
            self.topics.iter().flat_map(|topic| topic.from.iter().chain(&topic.to)).collect();
        if processes.len() > MAX_PROCESSES {
            let message =
                format!("{} processes are too many: a run has at most {MAX_PROCESSES}", processes.len());
            return Err(ImportError::new(
                message,
                "put several nodes in a process, as with `--processes file`",
            ));
        }
        let times = self.topics.iter().map(|topic| match &topic.sends {
            Sends::Recorded(recorded) => recorded.times_ns.len() as u64 * topic.number(),
            Sends::Rate(_) => 0,
        });
        let times: u64 = times.sum();
        if times > MAX_TRACE_SAMPLES as u64 {
            let message =
                format!("{times} recorded times are too many: a run has at most {MAX_TRACE_SAMPLES}");
            return Err(ImportError::new(
                message,
                "import a part with `--for`, or mean rates with `--rates`",
            ));
        }
        Ok(())
    }
}

impl Topic {
    /// Raises sizes to that of the header. Returns the smallest one before, if it is less.
    fn raise_sizes(&mut self) -> Option<u64> {
        let values = match (&mut self.sizes, &mut self.sends) {
            (Some(SizeDistribution::Values { values, .. }), _) => &mut values[..],
            (None, Sends::Recorded(recorded)) => &mut recorded.sizes_bytes[..],
            _ => &mut [],
        };
        let all = || values.iter().copied().chain([self.size_bytes]);
        let least = all().min().filter(|least| *least < MIN_SIZE_BYTES)?;
        values.iter_mut().for_each(|size| *size = (*size).max(MIN_SIZE_BYTES));
        self.size_bytes = match (&self.sizes, &self.sends) {
            (Some(sizes), _) => sizes.mean_bytes(),
            (None, Sends::Recorded(recorded)) => mean_bytes(&recorded.sizes_bytes).max(MIN_SIZE_BYTES),
            (None, Sends::Rate(_)) => MIN_SIZE_BYTES,
        };
        Some(least)
    }

    /// Rejects policies with which the endpoints would not match.
    fn check_policies(&self) -> Result<(), ImportError> {
        let Some((_, offered, requested)) = self.qos.writer.mismatch(&self.qos.reader) else {
            return Ok(());
        };
        let names = |names: &[String], default: &str| {
            if names.is_empty() { default.to_owned() } else { names.join("`, `") }
        };
        let (from, to) = (names(&self.from, "writer"), names(&self.to, "reader"));
        let message = format!(
            "topic `{}`: the {offered} writer in `{from}` does not match the {requested} reader in `{to}`",
            self.name
        );
        Err(ImportError::new(message, "give both the same policy, or the writer the stronger one"))
    }
}

#[cfg(test)]
mod tests {
    use experiment::Rate;

    use super::*;
    use crate::{
        qos::{Durability, EndpointQos, Reliability, TopicQos},
        system::RecordedSends,
    };

    fn topic(size: u64) -> Topic {
        Topic::new("scan", size, Sends::Rate(Rate::every(1_000_000)))
    }

    fn checked(topic: Topic) -> Result<System, ImportError> {
        System { topics: vec![topic], ..System::default() }.checked()
    }

    #[test]
    fn sample_below_the_header_is_noted() {
        let system = checked(topic(8)).expect("a system");
        assert_eq!(system.topics[0].size_bytes, 16);
        let sizes = SizeDistribution::Values { values: vec![4, 100], weights: vec![1, 1] };
        let sends = Sends::Rate(Rate::every(1_000));
        let recorded = Topic::recorded("c", vec![0, 1_000, 2_000], vec![100, 4, 64]);
        let topics = vec![Topic::with_sizes("b", sizes, sends), recorded];
        let drawn = System { topics, ..System::default() }.checked().expect("raised sizes");
        let Sends::Recorded(recorded) = &drawn.topics[1].sends else { panic!("{drawn:?}") };
        assert_eq!((drawn.topics[1].size_bytes, &recorded.sizes_bytes[..]), (60, &[100, 16, 64][..]));
        let raised = SizeDistribution::Values { values: vec![16, 100], weights: vec![1, 1] };
        assert_eq!((drawn.topics[0].size_bytes, &drawn.topics[0].sizes), (58, &Some(raised)));
        assert_eq!(system.not_applied[0].reason, "samples of 8 B have 16 B, the header of ddsmark");
        assert_eq!(checked(topic(16)).expect("a system").not_applied, []);
    }

    #[test]
    fn endpoints_that_cannot_match_are_named() {
        let mut lossy = topic(16);
        lossy.from = vec!["lidar".into()];
        lossy.qos = TopicQos::both(EndpointQos::of_rmw());
        lossy.qos.writer.reliability = Some(Reliability::BestEffort);
        let error = checked(lossy.clone()).expect_err("no match");
        assert_eq!(
            error.message,
            "topic `scan`: the best_effort writer in `lidar` does not match the reliable reader in `reader`"
        );
        lossy.qos.reader.reliability = None;
        lossy.qos.reader.durability = Some(Durability::TransientLocal);
        assert!(checked(lossy).expect_err("no match").message.contains("volatile writer"));
    }

    #[test]
    fn process_does_not_read_its_own_topic() {
        let mut own = topic(16);
        own.from = vec!["a_b".into()];
        own.to = vec!["a_b".into(), "c".into()];
        let system = checked(own.clone()).expect("a system");
        assert_eq!(system.topics[0].to, ["c"]);
        assert_eq!(system.not_applied[0].item, "reader of `scan`");
        own.to.pop();
        assert!(checked(own).is_err());
    }

    #[test]
    fn limits_of_a_run_are_kept() {
        let mut many = topic(16);
        many.count = Some(1_001);
        assert!(checked(many).expect_err("too many").message.starts_with("1001 topics"));
        let mut crowded = topic(16);
        crowded.to = (0..201).map(|index| format!("p{index}")).collect();
        assert!(checked(crowded).expect_err("too many").message.starts_with("201 processes"));
        let mut long = topic(16);
        long.sends = Sends::Recorded(RecordedSends { times_ns: vec![0; 4_000_001], sizes_bytes: Vec::new() });
        assert!(checked(long).expect_err("too many").hint.contains("--for"));
        assert!(System::default().checked().is_err());
    }
}
