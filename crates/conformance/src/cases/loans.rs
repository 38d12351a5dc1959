//! Case on memory that a driver lends for writing.

use driver_abi::{FEATURE_WRITER_LOANS, TOO_LARGE, UNSUPPORTED};
use driver_host::{Loan, TypeKind, Writer};

use super::{CaseSpec, lifecycle::rejected};
use crate::{
    CaseResult, Stop, broken,
    endpoint::{PairConfig, writer_config},
    fixture::{Fixture, TIME_LIMIT, until_some},
    sample::numbered,
};

/// Cases on memory that a driver lends for writing.
pub const CASES: &[CaseSpec] = cases! {
    "loans" loans, "2, writer_loan()" =>
        "loans do not overlap and have their size; published loans arrive, discarded ones can be loaned again; \
         without the feature they fail with DDSMARK_UNSUPPORTED";
};

const SIZE: u64 = 4_096;
/// Number of loans: more than any pool holds, if no loan returns to it.
const ROUNDS: u64 = 2_000;

fn loans(fixture: &Fixture<'_>) -> CaseResult {
    let mut pair_config = PairConfig { loans: true, ..fixture.pair_config(SIZE) };
    if fixture.driver.description().type_kinds.iter().any(|kind| kind == "plain") {
        pair_config.type_kind = TypeKind::Plain;
    }
    let participant = fixture.open()?;
    if !fixture.driver.has(FEATURE_WRITER_LOANS) {
        let unsupported = "DDSMARK_UNSUPPORTED";
        let opened = participant.writer(&writer_config(&fixture.topic(), &pair_config));
        rejected("a writer with undeclared loans", UNSUPPORTED, unsupported, opened)?;
        let writer = fixture.writer(&participant, &fixture.topic(), &fixture.pair_config(SIZE))?;
        rejected("an undeclared loan", UNSUPPORTED, unsupported, writer.loan(SIZE))?;
        return Ok(writer.close()?);
    }
    let mut pair = fixture.pair(&participant, &pair_config)?;
    let writer = &pair.writer;
    rejected("a loan larger than its writer allows", TOO_LARGE, "DDSMARK_TOO_LARGE", writer.loan(SIZE + 1))?;
    for round in 0..ROUNDS {
        borrow(writer, round)?.discard()?;
    }
    for round in (0..ROUNDS).step_by(2) {
        let mut first = borrow(writer, round)?;
        // a pool may have one loan only
        let mut second = writer.loan(SIZE)?;
        if let Some(second) = &mut second {
            second.bytes().copy_from_slice(&numbered(round + 1, SIZE as usize));
        }
        fail_if!(first.bytes() != numbered(round, SIZE as usize), "a write to a loan changed another loan");
        for (number, loan) in (round..).zip([Some(first), second].into_iter().flatten()) {
            publish(loan)?;
            match pair.inlet.receive(1, TIME_LIMIT)?.first() {
                None => return broken(format!("sample {number} was published, but did not arrive")),
                Some(got) if got.payload != numbered(number, SIZE as usize) => {
                    return broken(format!("sample {number} was published, but arrived changed"));
                }
                Some(_) => {}
            }
        }
    }
    pair.close()
}

/// Takes a loan, and fills it with the sample of this number.
fn borrow(writer: &Writer, number: u64) -> Result<Loan<'_>, Stop> {
    let mut loan = until_some("no loan was available", || writer.loan(SIZE))?;
    loan.bytes().copy_from_slice(&numbered(number, SIZE as usize));
    Ok(loan)
}

fn publish(loan: Loan<'_>) -> CaseResult {
    let mut left = Some(loan);
    until_some("a published loan was not accepted", || {
        left = left.take().map_or(Ok(None), |loan| loan.publish(0))?;
        Ok(left.is_none().then_some(()))
    })
}
