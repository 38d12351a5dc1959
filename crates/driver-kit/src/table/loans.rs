//! Loans of a writer that the host holds.
use crate::error::{Error, Result};

/// Loans that the host holds. A loan stays in its slot, so that its bytes do not move.
pub(super) struct Loans<L> {
    pub(super) slots: Box<[Option<L>]>,
    pub(super) bytes: Box<[*mut u8]>,
}

/// Maximum number of simultaneous loans of one writer.
pub(super) const LOANS: usize = 16;

impl<L: AsMut<[u8]>> Loans<L> {
    pub(super) fn new(slots: usize) -> Self {
        Self { slots: (0..slots).map(|_| None).collect(), bytes: vec![std::ptr::null_mut(); slots].into() }
    }

    pub(super) fn free(&self) -> Result<usize> {
        self.bytes.iter().position(|bytes| bytes.is_null()).ok_or_else(|| {
            Error::new(crate::error::Status::Refused, "all 16 loans of this writer are in use")
        })
    }

    pub(super) fn put(&mut self, slot: usize, loan: L, size: usize) -> Result<*mut u8> {
        let bytes = self.slots[slot].insert(loan).as_mut();
        if bytes.len() < size {
            self.slots[slot] = None;
            return Err(Error::failed("the driver returned a loan smaller than requested"));
        }
        self.bytes[slot] = bytes.as_mut_ptr();
        Ok(self.bytes[slot])
    }

    pub(super) fn take(&mut self, bytes: *mut u8) -> Result<(usize, L)> {
        let slot = self.bytes.iter().position(|known| !bytes.is_null() && *known == bytes);
        let loan = slot.and_then(|slot| Some((slot, self.slots[slot].take()?)));
        let (slot, loan) =
            loan.ok_or_else(|| Error::bad_argument("the pointer is not a loan of this writer"))?;
        self.bytes[slot] = std::ptr::null_mut();
        Ok((slot, loan))
    }
}
/// Loan that was not published.
#[derive(Debug)]
pub struct Unpublished<L> {
    /// Error of the attempt.
    pub error: Error,
    /// The loan, for another attempt, with [`Status::Refused`](crate::Status::Refused) and
    /// [`Status::TimedOut`](crate::Status::TimedOut). Its bytes must not have moved.
    pub loan: Option<L>,
}
