//! Groups of items that are alike, in one pass.

use std::collections::BTreeMap;

/// Groups items that are alike, in the order of the first item of each group. Alike items have the same key; of items with the
/// same key, `alike` compares each with the first one of a group.
pub fn gather<T, K: Ord>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
    alike: impl Fn(&T, &T) -> bool,
) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut by_key: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for item in items {
        let known = by_key.entry(key(&item)).or_default();
        match known.iter().find(|index| alike(&groups[**index][0], &item)) {
            Some(index) => groups[*index].push(item),
            None => {
                known.push(groups.len());
                groups.push(vec![item]);
            }
        }
    }
    groups
}

/// Returns the items in order, each once.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    gather(items, |_| (), PartialEq::eq).into_iter().filter_map(|alike| alike.into_iter().next()).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn groups_keep_the_order_of_their_first_items() {
        let groups = gather([3, 14, 23, 4, 13], |n| n % 10, |_, _| true);
        assert_eq!(groups, [vec![3, 23, 13], vec![14, 4]]);
        let groups = gather([3, 14, 23, 4, 13], |_| (), |a, b| a % 10 == b % 10);
        assert_eq!(groups, [vec![3, 23, 13], vec![14, 4]]);
    }

    #[test]
    fn ten_thousand_items_are_compared_once_each() {
        let compared = Cell::new(0);
        let alike = |a: &u32, b: &u32| {
            compared.set(compared.get() + 1);
            a / 2 == b / 2
        };
        assert_eq!(gather(0..10_000, |n| n / 2, alike).len(), 5_000);
        assert_eq!(compared.get(), 5_000);
    }
}
