//! Results that are missing where others follow one another regularly, as those of each night do.

use stats::median;

/// Minimum number of results that show how far apart they are.
const FEWEST: usize = 5;
/// Share of the distances that must be near the usual one, and how near, as a share of it.
const REGULAR: f64 = 0.75;
const NEAR: f64 = 0.25;

/// Distance of results that follow one another, and where some are missing.
#[derive(Debug, PartialEq)]
pub(super) struct Gaps {
    /// Usual distance in ns.
    pub every_ns: f64,
    /// Index of each result that follows a gap, and the number of results that are missing there.
    pub before: Vec<(usize, u64)>,
}

impl Gaps {
    /// Returns the gaps between results that started at these times in ns, in ascending order; `None` if there is no gap, or if the
    /// results do not follow one another regularly.
    pub fn between(starts_ns: &[u64]) -> Option<Self> {
        if starts_ns.len() < FEWEST {
            return None;
        }
        let distances: Vec<f64> =
            starts_ns.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect();
        let every_ns = median(&distances).filter(|ns| *ns > 0.0)?;
        let near = distances.iter().filter(|ns| (*ns / every_ns - 1.0).abs() <= NEAR).count();
        if (near as f64) < REGULAR * distances.len() as f64 {
            return None;
        }
        let missing = |(index, ns): (usize, &f64)| {
            let missing = (ns / every_ns).round() as u64;
            (missing > 1).then(|| (index + 1, missing - 1))
        };
        let before: Vec<(usize, u64)> = distances.iter().enumerate().filter_map(missing).collect();
        (!before.is_empty()).then_some(Self { every_ns, before })
    }

    /// Returns the usual distance with its unit.
    pub fn every(&self) -> String {
        let minutes = self.every_ns / 60e9;
        match minutes {
            90.0.. => format!("{:.0} h", minutes / 60.0),
            1.0..90.0 => format!("{minutes:.0} min"),
            _ => format!("{:.0} s", minutes * 60.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    fn between(hours: &[u64]) -> Option<Gaps> {
        Gaps::between(&hours.iter().map(|hour| hour * HOUR_NS).collect::<Vec<_>>())
    }

    #[test]
    fn nights_without_a_result_are_counted() {
        // The start of each night varies by an hour or two.
        let gaps = between(&[0, 25, 48, 71, 144, 168, 192, 242, 264, 288]).expect("gaps");
        assert_eq!((gaps.before.as_slice(), gaps.every().as_str()), (&[(4, 2), (7, 1)][..], "24 h"));
    }

    #[test]
    fn without_a_rhythm_nothing_is_missing() {
        assert_eq!(between(&[0, 24, 48, 72, 96]), None);
        assert_eq!(between(&[0, 1, 30, 31, 32, 90, 140]), None);
        assert_eq!(between(&[0, 24, 48, 120]), None, "too few");
        assert_eq!(between(&[5, 5, 5, 5, 9]), None);
    }
}
