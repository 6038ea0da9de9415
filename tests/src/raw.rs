//! A connection in bytes: what no client library would send.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::wait::DEADLINE;

/// A connection that sends and reads documents, one a line, or in frames with a head.
#[derive(Debug)]
pub struct Raw {
    stream: BufReader<UnixStream>,
    next: u64,
    headers: bool,
}

impl Raw {
    /// Connects.
    #[must_use]
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_write_timeout(Some(DEADLINE)).unwrap();
        Self { stream: BufReader::new(stream), next: 0, headers: false }
    }

    /// Frames as the language server protocol has them.
    #[must_use]
    pub fn with_headers(mut self) -> Self {
        self.headers = true;
        self
    }

    /// Sends a call and gives its id; the answer is not waited for.
    pub fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let text = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }).to_string();
        let framed = match self.headers {
            true => format!("Content-Length: {}\r\n\r\n{text}", text.len()),
            false => format!("{text}\n"),
        };
        self.stream.get_mut().write_all(framed.as_bytes()).unwrap();
        self.next
    }

    /// The next document.
    pub fn read(&mut self) -> Value {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        if !self.headers {
            return serde_json::from_str(&line).unwrap();
        }
        let length = line.trim_end().strip_prefix("Content-Length: ").expect("a head").parse().unwrap();
        line.clear();
        self.stream.read_line(&mut line).unwrap();
        assert_eq!(line, "\r\n");
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// Calls and waits for the answer.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Greets.
    pub fn hello(&mut self, owner: &str) -> Value {
        let params = json!({ "client": { "name": "raw", "version": "1" }, "protocol": subagentd_proto::PROTOCOL, "owner": owner });
        self.call("daemon/hello", &params)
    }
}
