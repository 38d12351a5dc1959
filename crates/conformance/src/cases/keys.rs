//! Cases on the keys of samples and on their instances.

use std::time::Duration;

use driver_abi::UNSUPPORTED;
use driver_host::{Participant, TypeKind};

use super::CaseSpec;
use crate::{
    CaseResult, Stop, broken,
    endpoint::{PairConfig, writer_config},
    fixture::{Fixture, PATIENCE, Pair, write},
    not_applicable,
    sample::numbered,
};

pub const CASES: &[CaseSpec] = &[
    CaseSpec {
        id: "keys",
        section: "ddsmark_sample",
        promise: "the key of a keyed sample arrives unchanged",
        observes: &[],
        run: keys,
    },
    CaseSpec {
        id: "instances",
        section: "writer_write()",
        promise: "samples of 100 instances arrive with their keys, and in order within each instance",
        observes: &[],
        run: instances,
    },
];

/// Creates a matched pair with the keyed type.
fn keyed_pair(fixture: &Fixture<'_>, participant: &Participant) -> Result<Pair, Stop> {
    if !fixture.driver.description().type_kinds.iter().any(|kind| kind == "keyed") {
        return not_applicable("no keyed type is declared");
    }
    let pair_config = PairConfig { type_kind: TypeKind::Keyed, ..fixture.pair_config(64) };
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
    let mut pair = keyed_pair(fixture, &participant)?;
    for (number, key) in (0..).zip([0, 1, 7, 0x0102_0304, u32::MAX, 1]) {
        let written = numbered(number, 64);
        write(&pair.writer, key, &written)?;
        match pair.inlet.receive(1, PATIENCE)?.first() {
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
    let mut pair = keyed_pair(fixture, &participant)?;
    let mut next = [0; INSTANCES];
    let mut arrived = 0;
    for first in (0..SAMPLES).step_by(WINDOW as usize) {
        for number in first..first + WINDOW {
            write(&pair.writer, key_of(number) as u32, &numbered(number, 64))?;
        }
        let quiet = if may_lose { Duration::from_millis(100) } else { PATIENCE };
        let got = pair.inlet.receive(WINDOW as usize, quiet)?;
        for got in &got {
            let Some(number) = got.number() else { return broken("a sample that was not written arrived") };
            let key = key_of(number);
            if got.key as usize != key {
                return broken(format!("sample {number} with key {key} arrived with key {}", got.key));
            }
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
    if arrived == 0 {
        return broken("no sample arrived");
    }
    pair.close()
}
