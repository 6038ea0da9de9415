//! `run/*`: launches and what becomes of them.

mod calls;
mod capture;
mod launch;
mod progress;
mod state;
mod steer;
mod view;

pub use calls::*;
pub use capture::*;
pub use launch::*;
pub use progress::*;
pub use state::*;
pub use steer::*;
pub use view::*;
