//! Descriptors that the standard library and tokio do not handle for us.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Marks one that came from whoever started the daemon; a number that is closed by now is fine.
#[expect(unsafe_code, reason = "a number from /proc/self/fd has no owner in this program")]
pub(crate) fn close_on_exec(number: i32) {
    // SAFETY: borrowed for one call that neither closes nor keeps it.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    fcntl(borrowed, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).ok();
}

/// Waits for it in tokio's loop.
///
/// # Errors
/// When the kernel cannot poll it.
#[expect(unsafe_code, reason = "tokio asks for a promise about the type")]
pub(crate) fn readable(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor is the same open one until it is dropped.
    unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }.map_err(Into::into)
}
