//! Every bound of the wire (decision N4), in one place. What happens at each bound is said beside it.

/// A request or response document, in bytes. A longer one is answered −32007 (lines) or closes (headers).
pub const FRAME_BYTES: usize = 16 * 1024 * 1024;
/// Connections at once. The next one is closed without a word.
pub const CONNECTIONS: usize = 2_048;
/// Requests under way on one connection. The reader stops reading until one is answered.
pub const IN_FLIGHT: usize = 32;
/// Subscriptions of one connection. The next one is refused with −32006.
pub const SUBSCRIPTIONS: usize = 16;
/// Messages waiting to be written to one client. Senders wait; see [`STALL_MS`].
pub const OUTBOX_MESSAGES: usize = 64;
/// Bytes gathered for one write.
pub const OUTBOX_BYTES: usize = 1024 * 1024;
/// A client that takes nothing for so long, in milliseconds, is cut off.
pub const STALL_MS: u64 = 10_000;
/// Children waiting or paused. A launch or resume beyond it is refused as `overloaded`, retryable.
pub const QUEUED_CHILDREN: usize = 20_000;
/// A title, in bytes; a longer one is refused.
pub const TITLE_BYTES: usize = 120;
/// An agent's name, in bytes; a longer one is refused.
pub const AGENT_BYTES: usize = 64;
/// An owner or a request key, in bytes; a longer one is refused.
pub const OWNER_BYTES: usize = 200;
/// See [`OWNER_BYTES`].
pub const KEY_BYTES: usize = 200;
/// Text in one reply, in bytes: `run/result` gives the rest by `offset`.
pub const TEXT_SLICE_BYTES: u32 = 256 * 1024;
/// The longest `run/wait`, in milliseconds; a larger wish is lowered to it.
pub const WAIT_MS: u64 = 50_000;
/// Runs that one connection waits for in the foreground. It is told of further ones, too, but their notices are not kept
/// from the owner's watchers.
pub const FOREGROUND_RUNS: usize = 256;
/// Rows of one page of a list; a larger wish is lowered to it.
pub const PAGE_ROWS: u32 = 500;
/// Rows of a page when the caller says nothing.
pub const PAGE_ROWS_DEFAULT: u32 = 50;
/// Numbers in one `inbox/ack`; more are refused.
pub const ACK_NUMBERS: usize = 1_000;
/// A notice on the wire, in bytes.
pub const NOTICE_BYTES: usize = 1_024;
/// The task of one `agent/list`, in bytes; a longer one is refused. Advice needs its beginning only.
pub const ADVICE_TASK_BYTES: usize = 64 * 1024;
/// Text of one `run/steer` or `run/resume`, in bytes; a longer one is refused.
pub const STEER_BYTES: usize = 64 * 1024;
/// Steers of one child that it has not got yet. The next one is refused as `overloaded`, retryable.
pub const STEERS: u32 = 32;
/// How long `run/steer` waits for the child's own word before it answers with what is stored, in milliseconds.
pub const STEER_WAIT_MS: u64 = 2_000;
/// A captured conversation, in bytes; a larger one is refused.
pub const CONVERSATION_BYTES: usize = 64 * 1024 * 1024;
/// Standing instructions of one child, in bytes, with the lines that name their files; a launch with more is refused.
pub const STANDING_BYTES: usize = 1024 * 1024;
/// Files of captured standing instructions; a launch that names more is refused.
pub const STANDING_FILES: usize = 64;
/// Captured tools; a launch that names more is refused.
pub const CAPTURED_TOOLS: usize = 2_000;
/// Captured models; a launch that names more is refused.
pub const CAPTURED_MODELS: usize = 10_000;
/// Levels of one captured model; a launch that names more is refused.
pub const CAPTURED_LEVELS: usize = 32;
/// Captured providers with a supplier; a launch that names more is refused.
pub const CAPTURED_PROVIDERS: usize = 500;
/// A captured name, in bytes: of a tool, a provider, a model; a longer one is refused.
pub const CAPTURED_NAME_BYTES: usize = 256;
/// A captured path or source of a package, in bytes; a longer one is refused.
pub const CAPTURED_PATH_BYTES: usize = 4_096;
