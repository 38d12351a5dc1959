use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::*;

const READERS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-4 * expected.abs().max(1e-4), "{found}, not {expected}");
}

/// Returns blocks with a true curve. Each block has a factor of its own, and each value its own noise, both relative.
fn simulated(seed: u64, blocks: usize, sd: [f64; 2], truth: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || {
        let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    };
    (0..blocks)
        .map(|_| {
            let host = 1.0 + sd[0] * normal();
            READERS.iter().map(|readers| truth(*readers) * host * (1.0 + sd[1] * normal())).collect()
        })
        .collect()
}

#[test]
fn slope_and_interval_of_lines_are_those_of_students_t() {
    // Slopes 1, 2 and 3: mean 2, standard error 1/sqrt(3), t(0.975, 2) = 4.302653.
    let levels = [1.0, 2.0, 4.0];
    let block = |slope: f64, offset: f64| levels.iter().map(|x| offset + slope * x).collect::<Vec<f64>>();
    let found = law(&levels, &[block(1.0, 9.0), block(2.0, 2.0), block(3.0, 100.0)]);
    let Some(Law::Linear { slope }) = found else { panic!("{found:?}") };
    close(slope.value, 2.0);
    close(slope.interval.low, 2.0 - 4.302_653 / 3.0_f64.sqrt());
    close(slope.interval.high, 2.0 + 4.302_653 / 3.0_f64.sqrt());
}

#[test]
fn least_squares_agree_with_a_published_example() {
    // Anscombe's quartet, I: all of its sets have the slope 0.500. F. J. Anscombe, Graphs in Statistical Analysis, 1973.
    let x: Vec<f64> = (4..=14).map(f64::from).collect();
    let y = [4.26, 5.68, 7.24, 4.82, 6.95, 8.81, 8.04, 8.33, 10.84, 7.58, 9.96];
    let slope = dot(&weights(&[&ones(&x)], &x).expect("a slope"), &y);
    assert!((slope - 0.500_091).abs() < 1e-6, "{slope}");
    // Set II is a parabola: -5.995735 + 2.780839 x - 0.126713 x^2.
    let y = [3.10, 4.74, 6.13, 7.26, 8.14, 8.77, 9.14, 9.26, 9.13, 8.74, 8.10];
    let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
    let curvature = dot(&weights(&[&ones(&x), &x], &squares).expect("a curvature"), &y);
    assert!((curvature - -0.126_713).abs() < 1e-6, "{curvature}");
}

#[test]
fn exact_curves_are_recognized() {
    let twice = |of: &dyn Fn(f64) -> f64| {
        let block: Vec<f64> = READERS.iter().map(|x| of(*x)).collect();
        law(&READERS, &[block.clone(), block.iter().map(|value| value * 1.01).collect()])
    };
    assert!(matches!(twice(&|x| 300.0 + 40.0 * x), Some(Law::Linear { .. })));
    let Some(Law::Power { exponent }) = twice(&|x| 5.0 * x.powf(1.8)) else { panic!("no power law") };
    close(exponent.value, 1.8);
    let bent = twice(&|x| 100.0 + 2.0 * x.min(6.0) + 50.0 * (x - 6.0).max(0.0));
    let Some(Law::Bends { at, before, after }) = bent else { panic!("{bent:?}") };
    close(at, 6.0);
    close(before.value, 2.0 * 1.005);
    close(after.value, 50.0 * 1.005);
    // Up and down again: the slopes of neither law describe it.
    let waves = twice(&|x| 100.0 + 60.0 * (x / 2.0).cos() + x * x);
    assert!(!matches!(waves, Some(Law::Linear { .. } | Law::Power { .. })), "{waves:?}");
}

#[test]
fn small_curvature_does_not_refute_a_line() {
    // At most 2 % beside the line.
    let block = |scale: f64| -> Vec<f64> {
        READERS.iter().map(|x| scale * (500.0 + 20.0 * x + 0.3 * x * x)).collect()
    };
    let found = law(&READERS, &[block(1.0), block(1.001), block(0.999)]);
    assert!(matches!(found, Some(Law::Linear { .. })), "{found:?}");
}

#[test]
fn too_little_has_no_law() {
    let block = vec![1.0, 2.0, 3.0];
    assert_eq!(law(&[1.0, 2.0, 3.0], std::slice::from_ref(&block)), None, "one block has no interval");
    assert_eq!(law(&[1.0, 2.0], &[vec![1.0, 2.0], vec![1.0, 2.1]]), None, "two levels lie on a line");
    assert_eq!(law(&[], &[]), None);
}

#[test]
#[should_panic(expected = "incomplete")]
fn block_without_a_level_is_rejected() {
    let _ = law(&[1.0, 2.0, 3.0], &[vec![1.0, 2.0], vec![1.0, 2.0, 3.0]]);
}

#[test]
#[should_panic(expected = "not ascending")]
fn equal_levels_are_rejected() {
    let _ = law(&[1.0, 1.0, 3.0], &[vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 3.0]]);
}

/// Returns how many of 2,000 simulated experiments select the law, and how many intervals of these include the truth.
fn coverage(
    blocks: usize,
    sd: [f64; 2],
    truth: impl Fn(f64) -> f64,
    of: impl Fn(Law) -> Option<Estimate>,
    value: f64,
) -> (usize, usize) {
    let estimates: Vec<Estimate> = (0..2_000)
        .filter_map(|seed| of(law(&READERS, &simulated(7_000 + seed, blocks, sd, &truth))?))
        .collect();
    let includes = |estimate: &&Estimate| estimate.interval.low <= value && value <= estimate.interval.high;
    (estimates.len(), estimates.iter().filter(includes).count())
}

#[test]
fn intervals_include_the_truth_as_often_as_they_say() {
    let linear = |law| if let Law::Linear { slope } = law { Some(slope) } else { None };
    let power = |law| if let Law::Power { exponent } = law { Some(exponent) } else { None };
    // Drift of the host between the blocks is larger than the noise within a block, as on shared machines.
    for (blocks, sd) in [(3, [0.0, 0.03]), (3, [0.1, 0.02]), (6, [0.05, 0.05]), (10, [0.02, 0.01])] {
        let (selected, included) = coverage(blocks, sd, |x| 400.0 + 60.0 * x, linear, 60.0);
        assert!(selected >= 1_900, "{blocks} blocks, {sd:?}: {selected} are lines");
        let share = included as f64 / selected as f64;
        assert!((0.93..=0.97).contains(&share), "{blocks} blocks, {sd:?}: {share}");
    }
    for (blocks, sd) in [(6, [0.1, 0.02]), (10, [0.02, 0.05])] {
        let (selected, included) = coverage(blocks, sd, |x| 9.0 * x.powf(1.7), power, 1.7);
        assert!(selected >= 1_850, "{blocks} blocks, {sd:?}: {selected} are power laws");
        let share = included as f64 / selected as f64;
        assert!((0.93..=0.97).contains(&share), "{blocks} blocks, {sd:?}: {share}");
    }
}

#[test]
fn bend_is_found_where_it_is() {
    let truth = |x: f64| 200.0 + 5.0 * x + 60.0 * (x - 6.0).max(0.0);
    let found = (0..500).filter(|seed| {
        let law = law(&READERS, &simulated(90_000 + seed, 6, [0.02, 0.01], truth));
        matches!(law, Some(Law::Bends { at, .. }) if (4.0..=8.0).contains(&at))
    });
    let found = found.count();
    assert!(found >= 475, "{found} of 500");
}
