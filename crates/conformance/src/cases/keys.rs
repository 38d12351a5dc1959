//! Cases on the keys of samples and on their instances.

use std::{ops::RangeInclusive, time::Duration};

use driver_abi::{FEATURE_CONTENT_FILTER, UNSUPPORTED};
use driver_host::{Participant, TypeKind};

use super::{CaseSpec, lifecycle::rejected};
use crate::{
    CaseResult, Stop, broken,
    endpoint::{PairConfig, reader_config, writer_config},
    fixture::{Fixture, Pair, TIME_LIMIT, write},
    not_applicable,
    sample::numbered,
};

/// Cases on the keys of samples and on their instances.
pub const CASES: &[CaseSpec] = cases! {
    "keys" keys, "ddsmark_sample" =>
        "the key of a keyed sample arrives unchanged";
    "instances" instances, "writer_write()" =>
        "samples of 100 instances arrive with their keys, and in order within each instance";
    "content-filter" content_filter, "reader_open()" =>
        "a reader with a content filter receives all samples that it includes and no other; without the feature it fails \
         with DDSMARK_UNSUPPORTED";
};

/// Time in which no further sample arrives.
const QUIET: Duration = Duration::from_millis(100);

/// Creates a matched pair with the keyed type.
fn keyed_pair(
    fixture: &Fixture<'_>,
    participant: &Participant,
    content_filter: Option<&str>,
) -> Result<Pair, Stop> {
    fixture.needs_keys()?;
    let pair_config = PairConfig {
        type_kind: TypeKind::Keyed,
        content_filter: content_filter.map(ToOwned::to_owned),
        ..fixture.pair_config(64)
    };
    match participant.writer(&writer_config(&fixture.topic(), &pair_config)) {
        // the default transport carries all types
        Err(error) if error.status == UNSUPPORTED && !fixture.is_default_transport() => {
            return not_applicable(error.to_string());
        }
        other => drop(other?),
    }
    fixture.pair(participant, &pair_config)
}

fn keys(fixture: &Fixture<'_>) -> CaseResult {
    let participant = fixture.open()?;
    let mut pair = keyed_pair(fixture, &participant, None)?;
    for (number, key) in (0..).zip([0, 1, 7, 0x0102_0304, u32::MAX, 1]) {
        let written = numbered(number, 64);
        write(&pair.writer, key, &written)?;
        match pair.inlet.receive(1, TIME_LIMIT)?.first() {
            None => return broken(format!("the sample with key {key} did not arrive")),
            Some(got) if got.key != key => return broken(format!("key {key} arrived as {}", got.key)),
            Some(got) if got.payload != written => {
                return broken(format!("the payload of the sample with key {key} changed"));
            }
            Some(_) => {}
        }
    }
    pair.close()
}

fn instances(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 2_000;
    const WINDOW: u64 = 10;
    const INSTANCES: usize = 100;
    // two samples of an instance are outstanding at a time
    let key_of = |number: u64| (number / 2) as usize % INSTANCES;
    let participant = fixture.open()?;
    let may_lose = !fixture.reliable();
    let mut pair = keyed_pair(fixture, &participant, None)?;
    let mut next = [0; INSTANCES];
    let mut arrived = 0;
    for first in (0..SAMPLES).step_by(WINDOW as usize) {
        for number in first..first + WINDOW {
            write(&pair.writer, key_of(number) as u32, &numbered(number, 64))?;
        }
        let quiet = if may_lose { QUIET } else { TIME_LIMIT };
        let got = pair.inlet.receive(WINDOW as usize, quiet)?;
        for got in &got {
            let Some(number) = got.number() else { return broken("a sample that was not written arrived") };
            let key = key_of(number);
            fail_if!(got.key as usize != key, "sample {number} with key {key} arrived with key {}", got.key);
            if number < next[key] {
                let newest = next[key] - 1;
                return broken(format!("sample {number} of instance {key} arrived after sample {newest}"));
            }
            next[key] = number + 1;
        }
        if !may_lose && got.len() < WINDOW as usize {
            let missing = WINDOW - got.len() as u64;
            return broken(format!("{missing} of samples {first} to {} did not arrive", first + WINDOW - 1));
        }
        arrived += got.len();
    }
    fail_if!(arrived == 0, "no sample arrived");
    pair.close()
}

/// Filters, each with the keys that it includes.
const FILTERS: [(&str, RangeInclusive<u32>); 4] = [
    ("key = 3", 3..=3),
    ("key BETWEEN 3 AND 5", 3..=5),
    ("key >= 8 AND key <= 9", 8..=9),
    ("key BETWEEN 0 AND 4294967295", 0..=u32::MAX),
];

fn content_filter(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 60;
    let participant = fixture.open()?;
    if !fixture.driver.has(FEATURE_CONTENT_FILTER) {
        let filter = Some("key = 3".to_owned());
        let pair_config = PairConfig { content_filter: filter, ..fixture.pair_config(64) };
        let opened = participant.reader(&reader_config(&fixture.topic(), &pair_config));
        return rejected("an undeclared content filter", UNSUPPORTED, "DDSMARK_UNSUPPORTED", opened);
    }
    for (filter, keys) in FILTERS {
        let mut pair = keyed_pair(fixture, &participant, Some(filter))?;
        for number in 0..SAMPLES {
            let key = (number % 10) as u32;
            write(&pair.writer, key, &numbered(number, 64))?;
            if !keys.contains(&key) {
                continue;
            }
            match pair.inlet.receive(1, TIME_LIMIT)?.first() {
                None => {
                    return broken(format!(
                        "filter `{filter}`: sample {number} with key {key} did not arrive"
                    ));
                }
                Some(got) if !keys.contains(&got.key) => {
                    return broken(format!("filter `{filter}`: a sample with key {} arrived", got.key));
                }
                Some(got) if got.number() != Some(number) => {
                    return broken(format!("filter `{filter}`: another sample arrived than sample {number}"));
                }
                Some(_) => {}
            }
        }
        if let Some(got) = pair.inlet.receive(1, QUIET)?.first() {
            return broken(format!("filter `{filter}`: a further sample with key {} arrived", got.key));
        }
        pair.close()?;
    }
    Ok(())
}
