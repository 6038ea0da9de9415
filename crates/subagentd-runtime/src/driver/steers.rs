//! What a child is told while it works, and how far each of it came.

use std::collections::BTreeMap;

use crate::format::{Delivery, Receipt};

/// Steers under way at once: waiting to be sent, or accepted and not yet heard. A further one is undelivered at once:
/// their texts are kept until they are heard.
pub const OPEN_STEERS: usize = 32;
/// Steers of one attempt. Further ones are undelivered at once and not remembered, so that all receipts together still
/// fit into a control connection.
pub const STEERS: usize = 512;

/// How often a child may put off a steer before it counts as refused.
const PUT_OFF: u8 = 8;

/// A steer that was not heard yet.
pub(super) struct Steer {
    pub(super) intent: u32,
    pub(super) text: String,
    pub(super) delivery: Delivery,
    sent: bool,
    put_off: u8,
}

/// The steers of one attempt.
#[derive(Default)]
pub(super) struct Steers {
    /// In the order in which they came.
    open: Vec<Steer>,
    /// Every number that was taken.
    receipts: BTreeMap<u32, Option<Receipt>>,
}

/// What became of a new order.
pub(super) enum Taken {
    /// It is to be sent.
    New,
    /// It was known and has come so far.
    Known(Option<Receipt>),
    /// There is no room for it.
    Full,
}

impl Steers {
    pub(super) fn take(&mut self, intent: u32, text: &str, delivery: Delivery) -> Taken {
        if let Some(receipt) = self.receipts.get(&intent) {
            return Taken::Known(*receipt);
        }
        if self.receipts.len() == STEERS {
            return Taken::Full;
        }
        if self.open.len() == OPEN_STEERS {
            self.receipts.insert(intent, Some(Receipt::Undelivered));
            return Taken::Full;
        }
        self.receipts.insert(intent, None);
        self.open.push(Steer { intent, text: text.to_owned(), delivery, sent: false, put_off: 0 });
        Taken::New
    }

    /// The first one that waits to be sent, now counted as sent.
    pub(super) fn send_next(&mut self) -> Option<&Steer> {
        let steer = self.open.iter_mut().find(|steer| !steer.sent)?;
        steer.sent = true;
        Some(steer)
    }

    pub(super) fn any_unsent(&self) -> bool {
        self.open.iter().any(|steer| !steer.sent)
    }

    pub(super) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The child took it; `false` when that is known, or more.
    pub(super) fn accepted(&mut self, intent: u32) -> bool {
        self.rise(intent, Receipt::Accepted)
    }

    /// The child cannot take it now; `false` when it was put off too often.
    pub(super) fn put_off(&mut self, intent: u32) -> bool {
        let Some(steer) = self.open.iter_mut().find(|steer| steer.intent == intent) else { return true };
        steer.put_off += 1;
        steer.sent = false;
        steer.put_off <= PUT_OFF
    }

    /// The child will never hear it; `false` when that is known.
    pub(super) fn undelivered(&mut self, intent: u32) -> bool {
        self.open.retain(|steer| steer.intent != intent);
        self.rise(intent, Receipt::Undelivered)
    }

    /// A text of the user became part of the conversation: which steer that is, if it is one. Of equal texts the child
    /// hears those first that it is to hear at once, and each kind in its order.
    pub(super) fn heard(&mut self, text: &str) -> Option<u32> {
        let said = |delivery| {
            let is = move |steer: &Steer| steer.sent && steer.delivery == delivery && steer.text == text;
            self.open.iter().position(is)
        };
        let at = said(Delivery::Steer).or_else(|| said(Delivery::FollowUp))?;
        let steer = self.open.remove(at);
        self.rise(steer.intent, Receipt::Delivered).then_some(steer.intent)
    }

    /// Nothing more will be heard: gives all that were open, undelivered now.
    pub(super) fn close(&mut self) -> Vec<u32> {
        let open = std::mem::take(&mut self.open);
        open.into_iter().map(|steer| steer.intent).filter(|intent| self.rise(*intent, Receipt::Undelivered)).collect()
    }

    pub(super) fn receipts(&self) -> Vec<(u32, Receipt)> {
        self.receipts.iter().filter_map(|(intent, receipt)| receipt.map(|receipt| (*intent, receipt))).collect()
    }

    fn rise(&mut self, intent: u32, receipt: Receipt) -> bool {
        let Some(known) = self.receipts.get_mut(&intent) else { return false };
        // A heard one never becomes unheard.
        let rises = known.is_none_or(|known| known == Receipt::Accepted && receipt > known);
        if rises {
            *known = Some(receipt);
        }
        rises
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(steers: &mut Steers, list: &[(u32, &str, Delivery)]) {
        for (intent, text, delivery) in list {
            assert!(matches!(steers.take(*intent, text, *delivery), Taken::New));
            steers.send_next();
        }
    }

    #[test]
    fn receipts_rise_and_come_once() {
        let mut steers = Steers::default();
        sent(&mut steers, &[(7, "a", Delivery::Steer)]);
        assert!(matches!(steers.take(7, "a", Delivery::Steer), Taken::Known(None)));
        assert!(steers.accepted(7) && !steers.accepted(7));
        assert!(matches!(steers.take(7, "a", Delivery::Steer), Taken::Known(Some(Receipt::Accepted))));
        assert_eq!(steers.heard("b"), None);
        assert_eq!((steers.heard("a"), steers.heard("a")), (Some(7), None));
        assert!(!steers.undelivered(7) && !steers.accepted(7));
        assert!(steers.close().is_empty());
        assert_eq!(steers.receipts(), [(7, Receipt::Delivered)]);
    }

    #[test]
    fn equal_texts_are_heard_in_the_childs_order() {
        use Delivery::{FollowUp, Steer};
        let mut steers = Steers::default();
        sent(&mut steers, &[(1, "x", FollowUp), (2, "x", Steer), (3, "x", Steer), (4, "y", Steer)]);
        steers.take(5, "x", Steer);
        let heard: Vec<_> = (0..4).map(|_| steers.heard("x")).collect();
        assert_eq!(heard, [Some(2), Some(3), Some(1), None], "one that was not sent cannot be heard");
        assert_eq!(steers.close(), [4, 5]);
    }

    #[test]
    fn the_bounds_refuse_and_forget_nothing() {
        let mut steers = Steers::default();
        for intent in 0..OPEN_STEERS as u32 {
            assert!(matches!(steers.take(intent, "x", Delivery::Steer), Taken::New));
        }
        assert!(matches!(steers.take(900, "x", Delivery::Steer), Taken::Full));
        assert!(matches!(steers.take(900, "x", Delivery::Steer), Taken::Known(Some(Receipt::Undelivered))));
        assert_eq!(steers.close().len(), OPEN_STEERS);
        for intent in 1000..1000 + STEERS as u32 {
            steers.take(intent, "x", Delivery::Steer);
            steers.close();
        }
        assert!(matches!(steers.take(9000, "x", Delivery::Steer), Taken::Full));
        assert!(matches!(steers.take(0, "x", Delivery::Steer), Taken::Known(_)), "a known one is never said again");
        assert_eq!(steers.receipts().len(), STEERS);
    }

    #[test]
    fn a_child_that_puts_off_for_ever_refuses() {
        let mut steers = Steers::default();
        sent(&mut steers, &[(1, "x", Delivery::Steer)]);
        let mut times = 0;
        while steers.put_off(1) {
            assert!(steers.send_next().is_some());
            times += 1;
        }
        assert_eq!(times, PUT_OFF);
    }
}
