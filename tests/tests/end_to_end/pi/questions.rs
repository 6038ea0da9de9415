//! Questions of a tool that nobody hears fail fast, with their words (F22).

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use subagentd_proto::run::State;
use subagentd_tests::{Faux, Pi};

use super::facts;

/// Far more than it takes, far less than any limit.
const FAST: Duration = Duration::from_secs(10);

#[tokio::test]
async fn what_asks_a_person_fails_fast_and_says_so() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let remote = format!("http://127.0.0.1:{}/private.git", ask_for_passwords());
    let git = format!("git init -q . && git fetch '{remote}'");
    let table = [
        ("version control", git.as_str(), 128, "terminal prompts disabled"),
        ("the terminal", "exec 3<>/dev/tty && echo there is one", 1, "/dev/tty"),
        ("standard input", "cat; echo \"[$?]\"; exit 7", 7, "[0]"),
        ("a terminal's owner", "ps -o tty= -p $$ | tr -d ' '; exit 8", 8, "?"),
    ];
    for (name, command, code, words) in table {
        let began = Instant::now();
        let ask =
            pi.play("worker", &Faux::new().bash(command).say("{{toolResult}}")).variable("GIT_CONFIG_NOSYSTEM", "1");
        let view = owner.run(&ask).await;
        assert_eq!(view.state, State::Succeeded, "{name}: {view:#?}");
        let said = owner.text(&view.run).await.0;
        assert!(said.contains(words), "{name}: {said}");
        assert_eq!(facts(&view), [("bash".to_owned(), Some(code))], "{name}: {said}");
        assert!(began.elapsed() < FAST, "{name}: {:?}", began.elapsed());
    }
}

/// A server that wants a password of everybody.
fn ask_for_passwords() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // What was asked does not matter.
            if stream.read(&mut [0; 4096]).unwrap_or(0) > 0 {
                let refusal = "HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                // The other end may be gone.
                stream.write_all(refusal.as_bytes()).ok();
            }
        }
    });
    port
}
