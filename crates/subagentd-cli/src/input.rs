//! Standard input as a text to hand over.

use std::io::{self, IsTerminal, Read};

use crate::exit::Exit;
use crate::failure::{Failure, Problem, usage};
use crate::output::stderr;
use crate::render::words;

/// What a text on standard input is called, and how many bytes it may have: a longer one is refused before it is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) what: &'static str,
    pub(crate) most: u64,
}

impl Wanted {
    /// `argument`, unless that is absent or `-`: then the whole of standard input.
    pub(crate) fn take(self, argument: Option<String>) -> Result<String, Failure> {
        match argument {
            Some(text) if text != "-" => Ok(text),
            _ => self.asked(),
        }
    }

    /// With a word where somebody has to type: the program would seem to hang.
    fn asked(self) -> Result<String, Failure> {
        let input = io::stdin();
        if input.is_terminal() {
            stderr(&format!("Type the {}; Ctrl-D on an empty line ends it.", self.what));
        }
        self.read(input.lock())
    }

    /// The whole of it, byte for byte.
    fn read(self, input: impl Read) -> Result<String, Failure> {
        let Self { what, most } = self;
        let mut bytes = Vec::new();
        input
            .take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Problem::new(Exit::Failed, "input", format!("standard input cannot be read: {error}")))?;
        if bytes.len() as u64 > most {
            let size = words::size(most);
            return Err(usage(format!(
                "the {what} on standard input is larger than {size}; put it into a file and name the file in the {what}"
            )));
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(usage(format!(
                "there is no {what} on standard input; pipe one in, or say it on the command line"
            )));
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            usage(format!("the {what} on standard input is not UTF-8 (byte {at}); convert it first"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: Wanted = Wanted { what: "task", most: 1_000 };

    #[test]
    fn a_text_is_read_byte_for_byte() {
        assert_eq!(TASK.read(&b"\n-x\n@y \n"[..]).unwrap(), "\n-x\n@y \n");
        assert_eq!(TASK.read(&[b'x'; 1_000][..]).unwrap().len(), 1_000);
    }

    #[test]
    fn what_is_no_text_or_too_long_is_refused() {
        let endless = io::repeat(b'x');
        for input in [&b"ab\xff"[..], b"", b" \n"].map(|input| TASK.read(input)).into_iter().chain([TASK.read(endless)])
        {
            let failure = input.unwrap_err();
            let Failure::Problem(problem) = failure else { panic!() };
            assert_eq!(problem.exit, Exit::Usage, "{problem:?}");
            assert!(problem.message.contains("the task on") || problem.message.contains("no task on"), "{problem:?}");
        }
    }

    #[test]
    fn what_the_line_says_is_not_read() {
        assert_eq!(TASK.take(Some("x".to_owned())).unwrap(), "x");
    }
}
