//! A long order, and one that looks like something else, reaches the model byte for byte (F21).

use std::fs;

use subagentd_proto::run::State;
use subagentd_tests::{Faux, Gate, Pi};

const PLANTED: &str = "planted-words-of-the-order";

#[tokio::test]
async fn every_order_reaches_the_model_as_it_was_written() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let mut orders: Vec<String> = [127, 129, 200, 2048].map(|kib| long(kib * 1024)).to_vec();
    orders.extend(
        ["--help", "@/etc/hostname", "/help", " !ls"]
            .map(|head| format!("{head} {PLANTED} ä😀\u{2028}\r\n\ttail \\u0041 \n")),
    );
    for order in orders {
        let gate = Gate::new(&pi);
        let faux = Faux::new().wait_at(&gate).say("{{user}}");
        let run = owner.launch(&pi.play("worker", &faux).task(&order)).await.run;
        let held = gate.reached().await;
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&command).contains(PLANTED), "{}", String::from_utf8_lossy(&command));
        }
        drop(held);
        let view = owner.wait(&run).await;
        assert_eq!(view.state, State::Succeeded, "{view:#?}");
        let heard = owner.text(&run).await.0;
        assert!(heard == order, "{} bytes sent, {} heard: {:.200}", order.len(), heard.len(), heard);
        assert!(order.starts_with(&view.children[0].task), "a view shows its beginning");
    }
    assert!(!pi.logs().contains(PLANTED));
}

fn long(bytes: usize) -> String {
    let mut text = format!("{PLANTED} ä\n");
    while text.len() < bytes {
        text.push_str("0123456789 abcdef \\ \" \t \u{7f} ü\n");
    }
    text.truncate(text.floor_char_boundary(bytes));
    text
}
