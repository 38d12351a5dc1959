//! Cases on policies that a writer offers and a reader requests: DDS 1.4 section 2.2.3.

use std::thread;

use experiment::{
    DestinationOrder, Durability, Liveliness, Ownership, Presentation, Qos, QosDuration, Reliability, Scope,
};

use super::{
    CaseSpec,
    effects::{NOTHING, pair_config},
};
use crate::{
    CaseResult,
    endpoint::{End, PairConfig},
    fixture::{Fixture, until_matched},
};

macro_rules! offers {
    ($($id:literal: $name:ident $field:ident $weaker:expr, $stronger:expr;)*) => {
        /// Cases on offered and requested policies.
        pub const CASES: &[CaseSpec] = &[$(CaseSpec {
            id: $id,
            section: "DDSMARK_SUPPORT_MATCHED_ONLY",
            promise: "a writer does not match a reader that requests more than it offers, but one that requests as much",
            run: $name,
        }),*];

        $(fn $name(fixture: &Fixture<'_>) -> CaseResult {
            unmatched(fixture, |qos| qos.$field = Some($weaker), |qos| qos.$field = Some($stronger))
        })*
    };
}

offers! {
    "match-reliability": reliability reliability Reliability::BestEffort, Reliability::Reliable;
    "match-durability": durability durability Durability::Volatile, Durability::TransientLocal;
    "match-deadline": deadline deadline_ns QosDuration::Ns(40_000_000_000), QosDuration::Ns(20_000_000_000);
    "match-latency-budget": latency_budget latency_budget_ns QosDuration::Ns(2_000_000), QosDuration::Ns(1_000_000);
    "match-liveliness": liveliness liveliness Liveliness::Automatic, Liveliness::ManualByTopic;
    "match-ownership": ownership ownership Ownership::Shared, Ownership::Exclusive;
    "match-presentation": presentation presentation ordered(Scope::Instance), ordered(Scope::Topic);
    "match-destination-order": destination_order destination_order
        DestinationOrder::ByReceptionTimestamp, DestinationOrder::BySourceTimestamp;
}

const fn ordered(scope: Scope) -> Presentation {
    Presentation { scope, coherent_access: false, ordered_access: true }
}

/// Checks that a writer with `weaker` matches a reader with `weaker`, but none with `stronger`.
fn unmatched(
    fixture: &Fixture<'_>,
    weaker: impl FnOnce(&mut Qos) + Copy,
    stronger: impl FnOnce(&mut Qos) + Copy,
) -> CaseResult {
    fixture.needs_discovery()?;
    let with = |change: &dyn Fn(&mut Qos)| -> PairConfig {
        let mut config = pair_config(fixture, |qos| change(qos));
        if config.qos.reliability == Some(Reliability::BestEffort) {
            config.qos.max_blocking_ns = None;
        }
        config
    };
    let (weak, strong) = (with(&|qos| weaker(qos)), with(&|qos| stronger(qos)));
    let participant = fixture.open()?;
    let topic = fixture.topic();
    let stranger = fixture.inlet(&participant, &topic, &strong)?;
    let friend = fixture.inlet(&participant, &topic, &weak)?;
    let writer = fixture.writer(&participant, &topic, &weak)?;
    until_matched("compatible reader", || {
        let (writers, readers) = (friend.end().matched()?, End::matched(&writer.monitor())?);
        Ok((writers == 1 && readers > 0).then_some(()))
    })?;
    thread::sleep(NOTHING);
    let (writers, readers) = (stranger.end().matched()?, End::matched(&writer.monitor())?);
    no_effect_if!(
        (writers, readers) != (0, 1),
        "the writer is matched with {readers} readers, of which 1 requests what it offers; the other reader is matched \
             with {writers} writers"
    );
    stranger.close()?;
    friend.close()?;
    Ok(writer.close()?)
}
