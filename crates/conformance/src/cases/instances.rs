//! Cases on the effect of policies about what a reader keeps and in which order it passes samples on.

use std::{thread, time::Duration};

use driver_abi::{FEATURE_LOCATORS, UNSUPPORTED};
use driver_host::TypeKind;
use experiment::{DestinationOrder, Durability, History, Liveliness, Presentation, Qos, QosDuration, Scope};

use super::{
    CaseSpec,
    effects::{NOTHING, SECTION, counted, ms, numbers, pair_config, takes_when_asked},
};
use crate::{
    CaseResult, Stop, broken,
    fixture::{Fixture, TIME_LIMIT, until_matched, write, write_all},
    no_effect, not_applicable,
    sample::numbered,
};

/// Cases on what a reader keeps, and on the order of samples.
pub const CASES: &[CaseSpec] = cases! {
    "liveliness-asserted" liveliness_asserted, SECTION =>
        "a writer that writes within `liveliness_lease`, or whose liveliness is automatic, is not counted as not alive";
    "durability-service" durability_service, SECTION =>
        "a late joiner of a `transient_local` writer receives `service_history_depth` samples";
    "durable-store" durable_store, SECTION =>
        "a driver that accepts `transient` keeps samples for readers that are opened after the writer was closed";
    "destination-order" destination_order, SECTION =>
        "with `by_source_timestamp`, a late reader receives the samples of two writers in the order of their writing";
    "presentation-order" presentation_order, SECTION =>
        "with ordered access to the topic, a reader receives the samples of several instances in the order of their \
         writing";
    "autopurge" autopurge, SECTION =>
        "samples whose writer was closed are removed after `autopurge_nowriter` and `autopurge_disposed`";
};

fn liveliness_asserted(fixture: &Fixture<'_>) -> CaseResult {
    const NAME: &str = "liveliness_lost";
    let participant = fixture.open()?;
    for kind in [Liveliness::ManualByTopic, Liveliness::Automatic] {
        let pair_config = pair_config(fixture, |qos| {
            qos.liveliness = Some(kind);
            qos.liveliness_lease_ns = ms(1_000);
        });
        let mut pair = fixture.pair(&participant, &pair_config)?;
        let Some(before) = counted(&pair, NAME)?.into_iter().map(|(_, count)| count).max() else {
            return not_applicable(format!("`{NAME}` is not counted"));
        };
        for number in 0..40 {
            if kind == Liveliness::ManualByTopic {
                write(&pair.writer, 0, &numbered(number, 64))?;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let lost = counted(&pair, NAME)?.into_iter().map(|(_, count)| count).max().unwrap_or(before);
        if lost > 0 {
            let why = if kind == Liveliness::Automatic {
                "its liveliness is automatic"
            } else {
                "it wrote within its lease"
            };
            return broken(format!("`{NAME}` of a writer is {lost}, although {why}"));
        }
        pair.inlet.receive(40, NOTHING)?;
        pair.close()?;
    }
    Ok(())
}

fn durability_service(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 5;
    fixture.needs_reliable()?;
    let participant = fixture.open()?;
    let kept = |depth: i32| {
        let pair_config = pair_config(fixture, |qos| {
            qos.durability = Some(Durability::TransientLocal);
            qos.service_history = Some(History::KeepLast);
            qos.service_history_depth = Some(depth);
        });
        let topic = fixture.topic();
        let writer = fixture.writer(&participant, &topic, &pair_config)?;
        write_all(&writer, 0..SAMPLES, 64)?;
        let mut inlet = fixture.inlet(&participant, &topic, &pair_config)?;
        fixture.match_up(&writer.monitor(), &*inlet.end())?;
        let got = numbers(&inlet.receive(SAMPLES as usize, Duration::from_secs(1))?);
        writer.close()?;
        inlet.close()?;
        Ok::<_, Stop>(got)
    };
    let (two, all) = (kept(2)?, kept(SAMPLES as i32)?);
    fail_if!(
        all != [0, 1, 2, 3, 4],
        "with a depth of {SAMPLES}, a late joiner received {all:?} of samples 0 to 4"
    );
    no_effect_if!(two != [3, 4], "with a depth of 2, a late joiner received {two:?} of samples 0 to 4");
    Ok(())
}

fn durable_store(fixture: &Fixture<'_>) -> CaseResult {
    fixture.needs_reliable()?;
    let participant = fixture.open()?;
    let topic = fixture.topic();
    let pair_config = pair_config(fixture, |qos| qos.durability = Some(Durability::Transient));
    let writer = match participant.writer(&crate::endpoint::writer_config(&topic, &pair_config)) {
        Ok(writer) => writer,
        Err(error) if error.status == UNSUPPORTED && fixture.probes => return no_effect(error.text),
        Err(error) if error.status == UNSUPPORTED => return not_applicable(error.text),
        Err(error) => return Err(error.into()),
    };
    write_all(&writer, 0..3, 64)?;
    writer.close()?;
    let mut inlet = fixture.inlet(&participant, &topic, &pair_config)?;
    let got = numbers(&inlet.receive(3, 5 * NOTHING)?);
    inlet.close()?;
    no_effect_if!(got.is_empty(), "a reader that was opened after the writer was closed received nothing");
    Ok(())
}

fn destination_order(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 12;
    fixture.needs_reliable()?;
    skip_if!(
        fixture.driver.has(FEATURE_LOCATORS),
        "without discovery, a late reader receives no earlier samples"
    );
    let participant = fixture.open()?;
    let received = |order: DestinationOrder| {
        let pair_config = pair_config(fixture, |qos| {
            qos.durability = Some(Durability::TransientLocal);
            qos.service_history = fixture.service_history();
            qos.destination_order = Some(order);
        });
        takes_when_asked(&pair_config)?;
        let topic = fixture.topic();
        let writers = [
            fixture.writer(&participant, &topic, &pair_config)?,
            fixture.writer(&participant, &topic, &pair_config)?,
        ];
        for number in 0..SAMPLES {
            write(&writers[number as usize % 2], 0, &numbered(number, 64))?;
            thread::sleep(Duration::from_millis(2)); // the source timestamps differ
        }
        let mut inlet = fixture.inlet(&participant, &topic, &pair_config)?;
        until_matched("late reader", || Ok((inlet.end().matched()? == 2).then_some(())))?;
        thread::sleep(NOTHING);
        let got = numbers(&inlet.receive(SAMPLES as usize, NOTHING)?);
        inlet.close()?;
        writers.into_iter().try_for_each(driver_host::Writer::close)?;
        Ok::<_, Stop>(got)
    };
    let by_source = received(DestinationOrder::BySourceTimestamp)?;
    no_effect_if!(
        by_source.last() != Some(&(SAMPLES - 1)) || !by_source.is_sorted(),
        "a late reader received the samples of two writers as {by_source:?}"
    );
    skip_if!(
        received(DestinationOrder::ByReceptionTimestamp)?.is_sorted(),
        "a late reader receives samples in the order of their writing without the policy, too"
    );
    Ok(())
}

fn presentation_order(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 12;
    fixture.needs_reliable()?;
    fixture.needs_keys()?;
    let participant = fixture.open()?;
    let received = |presentation: Option<Presentation>| {
        let mut pair_config = pair_config(fixture, |qos| qos.presentation = presentation);
        pair_config.type_kind = TypeKind::Keyed;
        takes_when_asked(&pair_config)?;
        let mut pair = fixture.pair(&participant, &pair_config)?;
        for number in 0..SAMPLES {
            write(&pair.writer, number as u32 % 3, &numbered(number, 64))?;
        }
        thread::sleep(NOTHING);
        let got = numbers(&pair.inlet.receive(SAMPLES as usize, TIME_LIMIT)?);
        pair.close()?;
        Ok::<_, Stop>(got)
    };
    skip_if!(
        received(None)?.is_sorted(),
        "the samples of several instances arrive in the order of their writing without the policy, too"
    );
    let of_topic = Presentation { scope: Scope::Topic, coherent_access: false, ordered_access: true };
    let got = received(Some(of_topic))?;
    no_effect_if!(
        got.len() != SAMPLES as usize || !got.is_sorted(),
        "the samples of three instances arrived as {got:?}"
    );
    Ok(())
}

fn autopurge(fixture: &Fixture<'_>) -> CaseResult {
    const SAMPLES: u64 = 3;
    fixture.needs_reliable()?;
    let participant = fixture.open()?;
    let kept = |delay: Option<QosDuration>| {
        let pair_config = pair_config(fixture, |qos: &mut Qos| {
            qos.autopurge_nowriter_ns = delay;
            qos.autopurge_disposed_ns = delay;
        });
        takes_when_asked(&pair_config)?;
        let mut pair = fixture.pair(&participant, &pair_config)?;
        write_all(&pair.writer, 0..SAMPLES, 64)?;
        thread::sleep(NOTHING);
        pair.writer.close()?;
        thread::sleep(3 * NOTHING);
        let got = numbers(&pair.inlet.receive(SAMPLES as usize, NOTHING)?).len() as u64;
        pair.inlet.close()?;
        Ok::<_, Stop>(got)
    };
    skip_if!(
        kept(None)? < SAMPLES,
        "samples whose writer was closed do not remain without the policy, either"
    );
    let got = kept(ms(100))?;
    no_effect_if!(
        got > 0,
        "{got} of {SAMPLES} samples remained for 1.2 s after their writer was closed, with delays of 100 ms"
    );
    Ok(())
}
