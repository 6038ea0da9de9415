//! A model provider on the loopback, in the form of `/v1/chat/completions` with streaming, that fails as real ones do.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use rustix::net::{AddressFamily, SocketAddrV4, SocketType, bind, getsockname, socket};
use serde_json::{Value, json};

/// The only key that it knows.
pub(crate) const KEY: &str = "s3cret-of-the-provider";
/// Bytes of a piece: smaller than a character, so that those are cut.
const PIECE: usize = 3;

/// What it does with one request.
#[derive(Debug, Clone)]
pub enum Turn {
    /// Answers, in pieces that cut characters.
    Say(&'static str),
    /// Asks for a command to be run.
    Bash(String),
    /// Answers with an error of this status and these words.
    Status(u16, &'static str),
    /// Says nothing at all.
    SilentBefore,
    /// Begins an answer and says no more.
    SilentAfter(&'static str),
    /// Begins an answer and closes the connection.
    Cut(&'static str),
    /// Begins an answer and goes on with what is no JSON.
    Garbled(&'static str),
    /// Answers and leaves the reason of its end out.
    Unfinished(&'static str),
    /// Answers up to its output limit.
    Length(&'static str),
}

/// The server. It ends with the test process.
#[derive(Debug)]
pub struct Provider {
    port: u16,
    scripts: Arc<Mutex<HashMap<&'static str, Script>>>,
    /// Bound and not listened at: nobody else gets the port, and connections are refused.
    refusing: OwnedFd,
}

#[derive(Debug)]
struct Script {
    turns: Vec<Turn>,
    requests: usize,
}

impl Provider {
    /// Starts one.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let scripts = Arc::new(Mutex::new(HashMap::<&'static str, Script>::new()));
        let known = Arc::clone(&scripts);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let known = Arc::clone(&known);
                std::thread::spawn(move || {
                    // The other end may be gone at any time.
                    serve(&stream.unwrap(), &known).ok();
                });
            }
        });
        let refusing = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&refusing, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        Self { port, scripts, refusing }
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where connections are refused.
    #[must_use]
    pub fn refusing_port(&self) -> u16 {
        SocketAddrV4::try_from(getsockname(&self.refusing).unwrap()).unwrap().port()
    }

    /// What it does with the requests whose last words of the user contain the tag, one turn each; the last one stays.
    pub fn script(&self, tag: &'static str, turns: &[Turn]) {
        self.scripts.lock().unwrap().insert(tag, Script { turns: turns.to_vec(), requests: 0 });
    }

    /// Requests with this tag so far.
    #[must_use]
    pub fn requests(&self, tag: &str) -> usize {
        self.scripts.lock().unwrap().get(tag).map_or(0, |script| script.requests)
    }
}

fn serve(stream: &TcpStream, scripts: &Mutex<HashMap<&'static str, Script>>) -> std::io::Result<()> {
    let (key, body) = read(stream)?;
    let mut answer = Answer { stream };
    if key.as_deref() != Some(KEY) {
        return answer.error(401, "the key is not known");
    }
    let asked = last_user_text(&body);
    let turn = {
        let mut scripts = scripts.lock().unwrap();
        let named = scripts.iter_mut().filter(|(tag, _)| asked.contains(**tag));
        // A tag may be part of another one.
        named.max_by_key(|(tag, _)| tag.len()).map(|(_, script)| {
            script.requests += 1;
            script.turns[script.requests.min(script.turns.len()) - 1].clone()
        })
    };
    match turn {
        Some(turn) => answer.play(&turn),
        None => answer.error(400, "there is no script for these words"),
    }
}

/// The key and the document of a request.
fn read(stream: &TcpStream) -> std::io::Result<(Option<String>, Value)> {
    let mut reader = BufReader::new(stream);
    let (mut key, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            // The request line, or the empty one before the body.
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap(),
            "authorization" => key = value.trim().strip_prefix("Bearer ").map(str::to_owned),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((key, serde_json::from_slice(&body)?))
}

fn last_user_text(body: &Value) -> String {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let last = messages.iter().rev().find(|message| message["role"] == "user");
    last.map(|message| message["content"].to_string()).unwrap_or_default()
}

struct Answer<'a> {
    stream: &'a TcpStream,
}

impl Answer<'_> {
    fn play(&mut self, turn: &Turn) -> std::io::Result<()> {
        if let Turn::Status(status, words) = turn {
            return self.error(*status, words);
        }
        if matches!(turn, Turn::SilentBefore) {
            return self.silence();
        }
        self.head(200, "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked")?;
        match turn {
            Turn::Say(text) => {
                self.words(text)?;
                self.finish("stop")
            }
            Turn::Bash(command) => {
                self.call(command)?;
                self.finish("tool_calls")
            }
            Turn::Length(text) => {
                self.words(text)?;
                self.finish("length")
            }
            Turn::Unfinished(text) => {
                self.words(text)?;
                self.end()
            }
            Turn::SilentAfter(text) => {
                self.words(text)?;
                self.silence()
            }
            Turn::Garbled(text) => {
                self.words(text)?;
                self.chunk(b"data: {\"choices\":[{\n\n")?;
                self.finish("stop")
            }
            // Without the last chunk.
            Turn::Cut(text) => self.words(text),
            Turn::Status(..) | Turn::SilentBefore => Ok(()),
        }
    }

    fn head(&mut self, status: u16, more: &str) -> std::io::Result<()> {
        write!(self.stream, "HTTP/1.1 {status} X\r\nConnection: close\r\n{more}\r\n\r\n")
    }

    fn error(&mut self, status: u16, words: &str) -> std::io::Result<()> {
        let body = json!({ "error": { "message": words, "type": "error" } }).to_string();
        self.head(status, &format!("Content-Type: application/json\r\nContent-Length: {}", body.len()))?;
        self.stream.write_all(body.as_bytes())
    }

    fn words(&mut self, text: &str) -> std::io::Result<()> {
        let (first, rest) = text.split_at(text.floor_char_boundary(text.len() / 2));
        for part in [first, rest] {
            self.event(&json!({ "role": "assistant", "content": part }), None)?;
        }
        Ok(())
    }

    fn call(&mut self, command: &str) -> std::io::Result<()> {
        let arguments = json!({ "command": command }).to_string();
        let (first, rest) = arguments.split_at(arguments.len() / 2);
        let call = |more: Value| json!({ "tool_calls": [more] });
        let function = json!({ "name": "bash", "arguments": first });
        self.event(&call(json!({ "index": 0, "id": "call_1", "type": "function", "function": function })), None)?;
        self.event(&call(json!({ "index": 0, "function": { "arguments": rest } })), None)
    }

    fn finish(&mut self, reason: &str) -> std::io::Result<()> {
        self.event(&json!({}), Some(reason))?;
        let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 });
        self.data(&json!({ "id": "x", "object": "chat.completion.chunk", "choices": [], "usage": usage }))?;
        self.end()
    }

    fn end(&mut self) -> std::io::Result<()> {
        self.chunk(b"data: [DONE]\n\n")?;
        self.stream.write_all(b"0\r\n\r\n")
    }

    fn event(&mut self, delta: &Value, finish: Option<&str>) -> std::io::Result<()> {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        self.data(&json!({ "id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice] }))
    }

    fn data(&mut self, document: &Value) -> std::io::Result<()> {
        self.chunk(format!("data: {document}\n\n").as_bytes())
    }

    fn chunk(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        for piece in bytes.chunks(PIECE) {
            write!(self.stream, "{:x}\r\n", piece.len())?;
            self.stream.write_all(piece)?;
            self.stream.write_all(b"\r\n")?;
        }
        self.stream.flush()
    }

    /// Until the other end gives up.
    fn silence(&mut self) -> std::io::Result<()> {
        self.stream.read(&mut [0]).map(drop)
    }
}
