//! Which agent suits a task, as advice in a listing. Nothing here launches, stores or changes anything, and no word of
//! the task comes back out of it.

mod intent;
mod listing;
mod recommend;
mod role;

#[cfg(test)]
mod tests;

pub use intent::{Intent, READ_BYTES, intent};
pub use listing::{DESCRIPTION_BYTES, ListRequest, list};
pub use recommend::{Advice, Candidate, Recommended, advise, format_advice};
pub use role::{RoleBasis, routing_role};
