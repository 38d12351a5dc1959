//! Places of labels: names at line ends, and words where they cover least.

use crate::canvas::Position;

/// Moves labels of these heights apart so that none covers another, each as little as possible, inside of `low` to `high`. Returns the
/// upper edge of each.
///
/// If there is no space for all, the last ones lie on each other at the end.
pub(crate) fn spread(wanted: &[f64], heights: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    // Upper edge of each in the order, if all lie below each other.
    let mut stacked = vec![0.0];
    stacked.extend(order.iter().scan(0.0, |edge, index| {
        *edge += heights[*index];
        Some(*edge)
    }));
    // Groups that touch: first member in the order, number of members, sum of the wanted positions of the first one.
    let mut groups: Vec<(usize, usize, f64)> = Vec::new();
    let start = |group: &(usize, usize, f64)| {
        let height = stacked[group.0 + group.1] - stacked[group.0];
        (group.2 / group.1 as f64).clamp(low, (high - height).max(low))
    };
    for (place, index) in order.iter().enumerate() {
        groups.push((place, 1, wanted[*index]));
        while let [.., before, last] = groups.as_slice() {
            let height = stacked[last.0] - stacked[before.0];
            if start(before) + height <= start(last) {
                break;
            }
            let sum = before.2 + last.2 - last.1 as f64 * height;
            let joined = (before.0, before.1 + last.1, sum);
            groups.truncate(groups.len() - 2);
            groups.push(joined);
        }
    }
    let mut places = vec![0.0; wanted.len()];
    for group in &groups {
        for member in group.0..group.0 + group.1 {
            let edge = start(group) + stacked[member] - stacked[group.0];
            places[order[member]] = edge.min((high - heights[order[member]]).max(low));
        }
    }
    places
}

/// Distance in px at which a label could be taken for that of another line.
const NEAR: f64 = 9.0;

/// Box in px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    /// Creates a box of this width and height below and right of a position.
    pub const fn at((left, top): Position, width: f64, height: f64) -> Self {
        Self { left, top, right: left + width, bottom: top + height }
    }

    fn overlap(&self, other: &Self) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }

    fn contains(&self, (x, y): Position) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }
}

/// Lines and labels that further labels should not cover.
#[derive(Debug, Default)]
pub(crate) struct Occupied {
    /// Points of lines, with the number of their line.
    points: Vec<(Position, usize)>,
    labels: Vec<Area>,
}

impl Occupied {
    /// Adds a line through points. Its number says which labels belong to it.
    pub fn line(&mut self, points: &[Position], number: usize) {
        for pair in points.windows(2) {
            let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
            let length = ((x2 - x1).powi(2) + (y2 - y1).powi(2)).sqrt();
            let steps = (length / 4.0).clamp(1.0, 200.0) as usize;
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let at = (x1 + share * (x2 - x1), y1 + share * (y2 - y1));
                self.points.push((at, number));
            }
        }
        self.points.extend(points.first().map(|point| (*point, number)));
    }

    /// Returns the candidate that covers least inside of `frame`, the first one of equals, and occupies it; `None`
    /// if all lie mostly on other labels or outside. A place near other lines than `own` is worse: there it could be
    /// taken for a label of theirs.
    pub fn place(&mut self, candidates: &[Area], frame: Area, own: &[usize]) -> Option<Area> {
        let cost = |area: &Area| {
            let size = (area.right - area.left) * (area.bottom - area.top);
            let outside = 1.0 - area.overlap(&frame) / size;
            let covered: f64 = self.labels.iter().map(|label| area.overlap(label)).sum::<f64>() / size;
            let near = Area {
                left: area.left - NEAR,
                top: area.top - NEAR,
                right: area.right + NEAR,
                bottom: area.bottom + NEAR,
            };
            let points = self.points.iter().map(|(point, number)| match () {
                () if area.contains(*point) => 1.0,
                () if near.contains(*point) && !own.contains(number) => 0.3,
                () => 0.0,
            });
            (outside + covered < 0.2).then_some(points.sum::<f64>() + 100.0 * (outside + covered))
        };
        let costs = candidates.iter().filter_map(|area| Some((*area, cost(area)?)));
        let (best, _) = costs.min_by(|a, b| a.1.total_cmp(&b.1))?;
        self.labels.push(best);
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn labels_that_touch_move_apart_around_their_middle() {
        assert_eq!(spread(&[50.0, 52.0], &[15.0; 2], 0.0, 115.0), [43.5, 58.5]);
        assert_eq!(spread(&[52.0, 50.0, 90.0], &[15.0; 3], 0.0, 115.0), [58.5, 43.5, 90.0]);
        assert_eq!(spread(&[98.0, 99.0], &[15.0; 2], 0.0, 115.0), [85.0, 100.0]);
        assert_eq!(spread(&[], &[], 0.0, 115.0), Vec::<f64>::new());
        assert_eq!(spread(&[50.0, 50.0], &[43.0, 15.0], 0.0, 115.0), [28.5, 71.5]);
        assert_eq!(spread(&[90.0, 60.0], &[43.0, 15.0], 0.0, 115.0), [72.0, 57.0]);
        assert_eq!(spread(&[0.0, 0.0, 0.0], &[43.0; 3], 0.0, 100.0), [0.0, 43.0, 57.0]);
    }

    #[test]
    fn a_label_takes_the_free_place() {
        let area = |top: f64| Area::at((0.0, top), 40.0, 14.0);
        let frame = Area { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };
        let mut occupied = Occupied::default();
        occupied.line(&[(0.0, 10.0), (100.0, 10.0)], 0);
        assert_eq!(occupied.place(&[area(4.0), area(40.0)], frame, &[0]), Some(area(40.0)));
        assert_eq!(occupied.place(&[area(42.0)], frame, &[0]), None);
        assert_eq!(occupied.place(&[area(200.0)], frame, &[0]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn labels_keep_their_distance_and_order(
            labels in prop::collection::vec((0.0..300.0_f64, 15.0..25.0_f64), 0..12),
        ) {
            let (wanted, heights): (Vec<f64>, Vec<f64>) = labels.into_iter().unzip();
            let places = spread(&wanted, &heights, 0.0, 300.0);
            let mut sorted: Vec<(f64, f64)> = places.iter().copied().zip(heights.iter().copied()).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            for pair in sorted.windows(2) {
                prop_assert!(pair[1].0 - pair[0].0 >= pair[0].1 - 1e-6, "{:?}", places);
            }
            let is_inside = |(place, height): &(f64, f64)| *place >= 0.0 && place + height <= 300.0 + 1e-6;
            prop_assert!(sorted.iter().all(is_inside), "{:?}", places);
            for (a, one) in wanted.iter().enumerate() {
                for (b, two) in wanted.iter().enumerate() {
                    prop_assert!(one >= two || places[a] < places[b]);
                }
            }
        }
    }
}
