//! Tests of the table of factors.

use std::collections::BTreeSet;

use driver_abi::description::ReceiveMode;

use crate::{
    factors::{
        Factors, Workload,
        cells::{gather_curves, gather_series},
        content_filter::{FilterSpec, KeyFilter},
        group::{GroupSpec, ReceiveGroup},
        placement::Placement,
        rows::FACTORS,
        table::{Compared, Factor, Form},
        topology::Topology,
        value::{Kind, Value},
    },
    syntax::units::{Size, Time},
};

fn row(key: &str) -> &'static Factor {
    FACTORS.iter().find(|row| row.key == key).expect("a row")
}

/// Returns a value of the factor that is not its default.
fn other_value(row: &Factor) -> Value {
    match row.kind().expect("a key") {
        Kind::Text => "other".to_owned().into(),
        Kind::Size => Size(4096).into(),
        Kind::Number => 7_u32.into(),
        Kind::Flag => ((row.default)() != Some(true.into())).into(),
        Kind::Time => Time(5_000).into(),
        Kind::Receive => ReceiveMode::Polling.into(),
        Kind::Group => GroupSpec(Some(ReceiveGroup::new(8, 5_000))).into(),
        Kind::Filter => FilterSpec(Some(KeyFilter { first: 3, last: 5 })).into(),
        Kind::Join => crate::factors::discovery::Join::Late.into(),
        Kind::Topology => Topology::Mesh { writers: 2, readers: 3 }.into(),
        Kind::LinkRate => crate::syntax::link_values::LinkRate(Some(10_000_000)).into(),
        Kind::LinkDelay => crate::syntax::link_values::LinkDelay(1_000_000).into(),
        Kind::Scale => crate::factors::scale::Scale::new(2.0).expect("a scale").into(),
        Kind::LinkLoss => crate::syntax::link_values::LinkLoss(1_000).into(),
        Kind::Placement => Placement { entries: vec![("writer".to_owned(), "h1".to_owned())] }.into(),
        kind => panic!("`{}` of the kind {kind:?} is not set by itself", row.key),
    }
}

#[test]
fn each_factor_is_compared_or_part_of_another_one() {
    let elsewhere = FACTORS.iter().filter(|row| matches!(row.compared, Compared::Elsewhere));
    assert_eq!(elsewhere.map(|row| row.key).collect::<Vec<_>>(), ["arrival", "trace", "batch_samples"]);
}

#[test]
fn each_key_is_unique_and_described() {
    let keys: BTreeSet<&str> = FACTORS.iter().map(|row| row.key).collect();
    assert_eq!(keys.len(), FACTORS.len());
    for row in FACTORS.iter() {
        assert!(!row.agent.is_empty(), "{}", row.key);
        let described = !row.about.is_empty() && !row.brief.is_empty();
        assert!(described || matches!(row.form, Form::Table(_)), "{}", row.key);
    }
}

#[test]
fn each_factor_that_is_set_is_matched_compared_and_named() {
    let cell = Factors::default();
    for row in FACTORS.iter() {
        let Some(set) = row.set else { continue };
        let value = other_value(row);
        let mut other = cell.clone();
        set(&mut other, &value);
        assert!(row.is_of(&other, &value) && !row.is_of(&cell, &value), "{}", row.key);
        assert!(!row.same(&cell, &other), "{}", row.key);
        assert_ne!(cell.fields(false), other.fields(false), "{}", row.key);
        assert_eq!(cell.shares_curve(&other), row.shares.curve, "{}", row.key);
        let groups = |cells: [&Factors; 2]| gather_curves(cells, |cell| (cell, ())).len();
        assert_eq!(groups([&cell, &other]) == 1, row.shares.curve, "{}", row.key);
        // Setting one property of a link creates the link, with all of its properties.
        let is_one = gather_series([&cell, &other], |cell| (cell, row.key, ())).len() == 1;
        assert_eq!(is_one, cell.differs_only_in(&other, row.key), "{}", row.key);
        assert_eq!(gather_series([&cell, &other], |cell| (cell, "", ())).len(), 2, "{}", row.key);
        let ids = crate::factors::ids(&[cell.clone(), other.clone()]);
        assert_ne!(ids[0], ids[1], "{}", row.key);
        let Some(default) = (row.default)() else { continue };
        assert!(row.is_of(&cell, &default), "{}", row.key);
        set(&mut other, &default);
        assert_eq!(other, cell, "{}", row.key);
    }
}

#[test]
fn groups_are_left_to_streams_that_a_waitset_takes_and_delays_to_those_that_are_polled_for() {
    for workload in Workload::ALL {
        for receive in ReceiveMode::ALL {
            let mut cell = Factors { workload: *workload, receive: *receive, ..Factors::default() };
            cell.queues.receive_group = Some(ReceiveGroup::new(8, 5_000));
            cell.queues.polling_delay_ns = Some(7_000);
            cell.queues.send_samples = Some(9);
            FACTORS.iter().for_each(|row| row.settle(&mut cell));
            let stream = *workload != Workload::Latency;
            let has = stream && *receive == ReceiveMode::Waitset;
            assert_eq!(cell.queues.receive_group.is_some(), has, "{workload} {receive}");
            let has = stream && *receive == ReceiveMode::Polling;
            assert_eq!(cell.queues.polling_delay_ns.is_some(), has, "{workload} {receive}");
            assert_eq!(cell.queues.send_samples, Some(9));
        }
    }
}

#[test]
fn a_group_is_that_of_its_cell() {
    let group = GroupSpec(Some(ReceiveGroup::new(8, 5_000)));
    let mut cell = Factors::default();
    let is_of = |cell: &Factors, group: GroupSpec| row("receive_group").is_of(cell, &group.into());
    assert!(is_of(&cell, GroupSpec(None)) && !is_of(&cell, group));
    cell.queues.receive_group = group.0;
    assert!(is_of(&cell, group) && !is_of(&cell, GroupSpec(None)));
}
