//! Cases on the disposal of instances. A driver passes no samples without data, so a disposal shows only by what a reader does with an
//! instance afterwards.

use std::{thread, time::Duration};

use driver_abi::FEATURE_INSTANCES;
use driver_host::{DriverError, Participant, TypeKind, Writer};
use experiment::{Policy, QosDuration, Support};

use super::{
    CaseSpec,
    effects::{NOTHING, SECTION, counted, ms, numbers, pair_config, takes_when_asked},
    limits::accepts,
};
use crate::{
    CaseResult, Stop,
    fixture::{Fixture, write},
    no_effect, not_applicable,
    sample::numbered,
};

/// Cases on the disposal of instances.
pub const CASES: &[CaseSpec] = cases! {
    "autodispose" autodispose, SECTION =>
        "with `autodispose_unregistered`, unregistering an instance disposes of it, and without it does not, as the removal of its \
         samples or the end of its deadline at a reader shows";
};

/// Samples that are written and not taken.
const SAMPLES: u64 = 3;
/// Key of their instance.
const KEY: u32 = 1;

/// Treatment of a disposed instance by a reader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// It removes the samples (READER_DATA_LIFECYCLE).
    Removal,
    /// It expects no further samples, so that no deadline is missed (DEADLINE).
    Deadline,
}

impl Sign {
    const ALL: [Self; 2] = [Self::Removal, Self::Deadline];

    const fn policy(self) -> Policy {
        match self {
            Self::Removal => Policy::ReaderDataLifecycle,
            Self::Deadline => Policy::Deadline,
        }
    }

    /// Returns what shows that the instance was not disposed of.
    const fn absence(self) -> &'static str {
        match self {
            Self::Removal => "its samples remained",
            Self::Deadline => "its deadline was still missed",
        }
    }

    /// Returns whether the reader shows a disposal after `end` of the instance.
    fn shows(
        self,
        fixture: &Fixture<'_>,
        participant: &Participant,
        autodispose: bool,
        end: fn(&Writer, u32) -> Result<(), DriverError>,
    ) -> Result<bool, Stop> {
        let mut pair_config = pair_config(fixture, |qos| {
            qos.autodispose_unregistered = Some(autodispose);
            match self {
                Self::Removal => {
                    qos.autopurge_nowriter_ns = Some(QosDuration::INFINITE);
                    qos.autopurge_disposed_ns = ms(100);
                }
                Self::Deadline => qos.deadline_ns = ms(100),
            }
        });
        pair_config.type_kind = TypeKind::Keyed;
        takes_when_asked(&pair_config)?;
        accepts(fixture, participant, &pair_config)?;
        let mut pair = fixture.pair(participant, &pair_config)?;
        for number in 0..SAMPLES {
            write(&pair.writer, KEY, &numbered(number, 64))?;
        }
        let missed = || {
            let ends = counted(&pair, "deadline_missed")?;
            Ok::<_, Stop>(ends.into_iter().find(|(end, _)| *end == "reader").map_or(0, |(_, count)| count))
        };
        thread::sleep(NOTHING);
        let before = missed()?;
        end(&pair.writer, KEY)?;
        // What is on its way arrives.
        thread::sleep(Duration::from_millis(200));
        let begin = missed()?;
        thread::sleep(2 * NOTHING);
        let shown = match self {
            Self::Removal => numbers(&pair.inlet.receive(SAMPLES as usize, NOTHING)?).is_empty(),
            Self::Deadline => before > 0 && missed()? == begin,
        };
        pair.close()?;
        Ok(shown)
    }
}

fn autodispose(fixture: &Fixture<'_>) -> CaseResult {
    fixture.needs_reliable()?;
    fixture.needs_keys()?;
    skip_if!(
        !fixture.driver.has(FEATURE_INSTANCES),
        "the driver declares no functions that dispose of instances and unregister them"
    );
    let participant = fixture.open()?;
    for sign in Sign::ALL {
        if fixture.support(sign.policy()) == Support::Unsupported {
            continue;
        }
        let shows = |autodispose, end| sign.shows(fixture, &participant, autodispose, end);
        if !shows(false, Writer::dispose)? {
            continue;
        }
        no_effect_if!(
            !shows(true, Writer::unregister)?,
            "an unregistered instance was not disposed of: {}",
            sign.absence()
        );
        match (sign, shows(false, Writer::unregister)?) {
            (_, false) => return Ok(()),
            (Sign::Removal, true) => {
                return no_effect(
                    "without `autodispose_unregistered`, an unregistered instance was disposed of, too",
                );
            }
            // A deadline may end with the last writer of an instance, too.
            (Sign::Deadline, true) => {}
        }
    }
    not_applicable(
        "readers of this middleware do not show whether an instance was disposed of or has no writer",
    )
}
