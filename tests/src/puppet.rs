//! A child that does what the test says, in shell: for what no script of the shipped child can do.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::gate::Gate;
use crate::site::Site;

/// Its name as a runtime.
pub(crate) const RUNTIME: &str = "puppet";
/// Names its folder.
pub(crate) const VARIABLE: &str = "END_TO_END_PUPPET";

/// Speaks just enough of the dialect to get the prompt, then does what its part says.
const PROGRAM: &str = r#"
[ ! -f "$END_TO_END_PUPPET/before" ] || . "$END_TO_END_PUPPET/before"
case " $* " in
    *bash*) tools='[\"read\",\"bash\",\"edit\",\"write\"]' ;;
    *) tools='[\"read\",\"grep\",\"find\",\"ls\"]' ;;
esac
model='{"provider":"offline","id":"search"}'
response() { echo '{"id":"'"$1"'","type":"response","command":"'"$1"'","success":true,"data":'"$2"'}'; }
echo '{"type":"extension_ui_request","id":"1","method":"setStatus","statusKey":"subagentd.tools","statusText":"'"$tools"'"}'
while IFS= read -r line; do
    case $line in
        *'"type":"get_state"'*) response get_state '{"model":'"$model"',"thinkingLevel":"off"}' ;;
        *'"type":"get_available_models"'*) response get_available_models '{"models":['"$model"']}' ;;
        *'"type":"prompt"'*)
            response prompt '{"disposition":"started"}'
            . "$END_TO_END_PUPPET/part" ;;
    esac
done
"#;

/// One part to play. In its shell text `settle` gives the answer and ends the work, `gate` waits for
/// [`Puppet::open_gate`].
#[derive(Debug)]
pub struct Puppet {
    folder: PathBuf,
    gate: Gate,
}

/// Writes the program and gives the setting that names it.
pub(crate) fn install(site: &Site) -> String {
    let program = site.path("parts/puppet.sh");
    let tools =
        "settle() { cat \"$END_TO_END_PUPPET/answer\"; }\ngate() { cat \"$END_TO_END_PUPPET/gate\" >/dev/null; }\n";
    fs::write(&program, format!("{tools}{PROGRAM}")).unwrap();
    format!("[runtimes.{RUNTIME}]\ncommand = [\"/bin/sh\", {:?}]\n", program.to_str().unwrap())
}

impl Puppet {
    /// A part in shell that is played when the prompt has come, with the answer that `settle` gives.
    #[must_use]
    pub fn new(site: &Site, part: &str, answer: &str) -> Self {
        let folder = site.directory(&format!("parts/puppet-{}", site.number()));
        fs::write(folder.join("part"), part).unwrap();
        fs::write(folder.join("answer"), records(answer)).unwrap();
        let gate = Gate::at(folder.join("gate"));
        Self { folder, gate }
    }

    /// Shell text that runs before the first output.
    #[must_use]
    pub fn before(self, text: &str) -> Self {
        fs::write(self.folder.join("before"), text).unwrap();
        self
    }

    /// Where its files are: `$END_TO_END_PUPPET`.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lets the child through its gate, once it stands there.
    pub async fn open_gate(&self) {
        self.gate.open().await;
    }
}

/// The records of a final message and of the end of the work.
fn records(answer: &str) -> String {
    let content = json!([{ "type": "text", "text": answer }]);
    let message = json!({ "role": "assistant", "content": content, "stopReason": "stop" });
    let records: [Value; 2] =
        [json!({ "type": "message_end", "message": message }), json!({ "type": "agent_settled", "aborted": false })];
    records.iter().map(|record| format!("{record}\n")).collect()
}
