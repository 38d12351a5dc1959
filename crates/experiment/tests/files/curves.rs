//! Cells that belong to one curve, and so to one table.

use experiment::{FACTORS, Factors, Qos};

use crate::{plan, with};

#[test]
fn sizes_loads_and_batches_are_points_of_one_curve() {
    let text = with("batch_bytes = [0, 4096]\n");
    let cells = plan(&text, &["workload=latency,throughput", "factors.size=64,65000"]).cells;
    assert!(cells.len() >= 4);
    for cell in &cells {
        assert!(cells[0].factors.shares_curve(&cell.factors), "{}", cell.id);
    }
    // The default queues of the two sizes differ.
    let limit = |factors: &Factors| factors.qos.max_samples;
    assert!(cells.iter().any(|cell| limit(&cell.factors) != limit(&cells[0].factors)));
}

#[test]
fn other_requested_policies_are_another_curve() {
    let cell = plan(&with(""), &[]).cells.remove(0).factors;
    for qos in [
        Qos { max_samples: Some(7), ..cell.qos.clone() },
        Qos { history_depth: Some(7), ..cell.qos.clone() },
        Qos { durability: None, ..cell.qos.clone() },
    ] {
        assert!(!cell.shares_curve(&Factors { qos, ..cell.clone() }));
    }
    let env = [("X".to_owned(), None)].into();
    assert!(!cell.shares_curve(&Factors { env, ..cell.clone() }));
    assert!(!cell.shares_socket(&Factors { multicast: true, ..cell.clone() }));
    assert!(cell.shares_socket(&Factors { driver: "other".to_owned(), ..cell.clone() }));
}

#[test]
fn keys_and_places_are_unique() {
    for (index, row) in FACTORS.iter().enumerate() {
        assert!(FACTORS[..index].iter().all(|other| other.key != row.key), "{}", row.key);
    }
}
