//! Exclusion of cells: an unsupported combination that is excluded is not an error.

use crate::{Refusal, expansion::Expansion, many::Many, written::Selection};

impl Expansion<'_> {
    /// Rejects a combination that a driver does not support, or notes that it is left out. `cells` selects the
    /// combination: each factor given has one value. Does nothing if all cells of the selection are excluded.
    pub(crate) fn cannot(&mut self, driver: &str, cells: Selection, refusal: Refusal) -> Result<(), Refusal> {
        let cells = Selection { driver: only(driver.to_owned()), ..cells };
        let mut excluded = false;
        for (exclude, spared) in self.excludes.iter().zip(&mut self.spared) {
            if covers(exclude.get(), &cells) {
                (excluded, *spared) = (true, true);
            }
        }
        if excluded {
            return Ok(());
        }
        if !self.lenient {
            return Err(refusal);
        }
        self.note(driver, true, format!("{}; left out", refusal.error));
        Ok(())
    }
}

/// Returns a factor with this one value.
pub(crate) fn only<T>(value: T) -> Option<Many<T>> {
    Some(Many::unwritten([value]))
}

/// Returns whether an exclude covers all these cells: it names no other factor, and includes these values of each
/// one.
fn covers(exclude: &Selection, cells: &Selection) -> bool {
    fn settle<T: PartialEq>(excluded: &mut Option<Many<T>>, value: Option<&Many<T>>) {
        let known = |value: &T| excluded.iter().flat_map(Many::values).any(|known| known == value);
        if value.is_some_and(|value| value.values().all(known)) {
            *excluded = None;
        }
    }
    let mut open = exclude.clone();
    settle(&mut open.driver, cells.driver.as_ref());
    settle(&mut open.transport, cells.transport.as_ref());
    settle(&mut open.size, cells.size.as_ref());
    settle(&mut open.receive, cells.receive.as_ref());
    settle(&mut open.multicast, cells.multicast.as_ref());
    settle(&mut open.profile, cells.profile.as_ref());
    open == Selection::default()
}
