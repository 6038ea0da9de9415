//! The promise of a commit.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use super::job::{Answer, FromAnswer};
use crate::error::StoreError;

/// Resolves once the job is committed, or has failed for good.
#[must_use = "a job may fail; its receipt says so"]
#[derive(Debug)]
pub struct Receipt<T> {
    state: State,
    answer: PhantomData<fn() -> T>,
}

#[derive(Debug)]
enum State {
    Refused(StoreError),
    Waiting(oneshot::Receiver<Result<Answer, StoreError>>),
}

impl<T> Receipt<T> {
    pub(super) fn refused(error: StoreError) -> Self {
        Self { state: State::Refused(error), answer: PhantomData }
    }

    pub(super) fn waiting(receiver: oneshot::Receiver<Result<Answer, StoreError>>) -> Self {
        Self { state: State::Waiting(receiver), answer: PhantomData }
    }
}

impl<T: FromAnswer> Future for Receipt<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.state {
            State::Refused(error) => Poll::Ready(Err(error.clone())),
            State::Waiting(receiver) => Pin::new(receiver).poll(context).map(|answered| {
                // Dropped without a word: the writer has ended.
                let answer = answered.unwrap_or(Err(StoreError::Closed))?;
                T::from_answer(answer).ok_or(StoreError::Closed)
            }),
        }
    }
}
