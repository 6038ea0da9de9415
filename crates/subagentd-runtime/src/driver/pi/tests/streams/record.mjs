// Records the streams beside it from the real pi with the scripted provider of clients/pi (`npm ci` there first):
//
//     clients/pi/node_modules/.bin/node crates/subagentd-runtime/src/driver/pi/tests/streams/record.mjs [NAME...]
//
// A line is a record as pi wrote it, or {"sent": COMMAND} where a command went out, or {"do": ORDER} where the owner
// of the driver gave an order. The commands are those that the driver sends; the replay compares them. What differs
// from one recording to the next (paths, times, ids, the system prompt) is replaced.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const CLIENT = "../../../../../../../clients/pi/";
const CLI = here(`${CLIENT}node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js`);
const DEADLINE_MS = 30_000;

const bash = (...commands) => commands.map((command, at) => ({ name: "bash", arguments: { command }, id: `call-${at}` }));
const at = (type, more = () => true) => (record) => record.type === type && more(record);
const steer = (intent, text, delivery = "steer") => ({ do: "steer", intent, text, delivery });
const OVERFLOW = "prompt is too long: 213462 tokens > 200000 maximum";
const LONG = { text: "word ", textTimes: 400 };
const usage = (input, output) => ({ input, output, cacheRead: 0, cacheWrite: 0 });
const SUMMARY = { text: "SUMMARY", usage: usage(900, 30) };
const small = [{ id: "faux-1", contextWindow: 2000 }];
const compaction = { enabled: true, reserveTokens: 500, keepRecentTokens: 100 };
const quick = { retry: { baseDelayMs: 5 } };

/** The prompt is always "go". Orders are given at the first record that passes their test, in their order. */
const STREAMS = {
  plain: { responses: [{ thinking: "hm", text: "It is in a.rs." }] },
  unicode: { responses: [{ text: "a\u2028b \ud83d\ude00 \ud800 z\udc00\u0085" }] },
  tools: {
    responses: [{ text: "Looking.", tools: bash("echo out", "echo err >&2; exit 3") }, { text: "One of two." }],
  },
  "tool-updates": { responses: [{ tools: bash("for i in 1 2 3; do echo $i; sleep 0.15; done") }, { text: "Counted." }] },
  steer: {
    responses: [{ tools: bash("sleep 0.3") }, { when: "other way", text: "The other way it is." }],
    orders: [[at("tool_execution_start"), steer(1, "other way")]],
  },
  "steer-twice": {
    responses: [{ tools: bash("sleep 0.3") }, { when: "same", text: "Yes." }, { when: "same", text: "Yes again." }],
    orders: [[at("tool_execution_start"), steer(1, "same")], [at("tool_execution_start"), steer(2, "same", "followUp")]],
  },
  "follow-up": {
    responses: [{ when: "go", tools: bash("sleep 0.3") }, { when: "go", text: "Done." }, { when: "more", text: "More done." }],
    orders: [[at("tool_execution_start"), steer(4, "more", "followUp")]],
  },
  // The steer is written when pi has said that all is done: it starts a run of its own.
  "steer-late": {
    responses: [{ when: "go", text: "Done." }, { when: "late", text: "Late, too." }],
    orders: [[at("agent_settled"), steer(1, "late")]],
  },
  "cancel-tool": { responses: [{ text: "Wait.", tools: bash("sleep 30") }], orders: [[at("tool_execution_start"), { do: "cancel" }]] },
  "pause-tool": {
    responses: [{ tools: bash("sleep 30") }],
    orders: [
      [at("tool_execution_start"), steer(1, "later then")],
      [at("queue_update"), steer(2, "and at the end", "followUp")],
      [at("response", ({ id }) => id === "steer-2"), { do: "pause" }],
    ],
  },
  "pause-model": { responses: [{ hang: "before" }], orders: [[at("turn_start"), { do: "pause" }]] },
  "pause-text": { responses: [{ text: "half an answer", hang: "after" }], orders: [[at("message_update"), { do: "pause" }]] },
  "pause-late": { responses: [{ text: "Done." }], orders: [[at("turn_end"), { do: "pause" }]] },
  "pause-retry": {
    responses: [{ error: "529 overloaded" }, { text: "Never." }],
    settings: { retry: { baseDelayMs: 60_000 } },
    orders: [[at("auto_retry_start"), { do: "pause" }]],
  },
  retry: { responses: [{ error: "529 overloaded" }, { text: "At last." }], settings: quick },
  "retry-failed": { responses: [{ error: "529 overloaded", keep: true }], settings: quick },
  "error-final": { responses: [{ text: "I", error: "401 invalid x-api-key" }], settings: quick },
  length: { responses: [{ text: "It is in", stopReason: "length" }] },
  empty: { responses: [{ thinking: "nothing to say" }] },
  threshold: {
    models: small,
    responses: [{ ...LONG, tools: bash("true"), usage: usage(1900, 20) }, { text: "Compacted.", usage: usage(100, 5) }],
    summary: SUMMARY,
    settings: { compaction },
  },
  overflow: {
    models: small,
    responses: [{ ...LONG, tools: bash("true"), usage: { input: 10, output: 5 } }, { error: OVERFLOW }, { text: "It fits now." }],
    summary: SUMMARY,
    settings: { compaction },
  },
  "overflow-failed": {
    models: small,
    responses: [{ ...LONG, tools: bash("true"), usage: { input: 10, output: 5 } }, { error: OVERFLOW, keep: true }],
    summary: SUMMARY,
    settings: { compaction },
  },
};

const wanted = process.argv.slice(2);
for (const [name, stream] of Object.entries(STREAMS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const lines = await record(stream);
  writeFileSync(here(`./${name}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  console.log(name, lines.length);
}

async function record({ responses, summary, models, settings = {}, orders = [] }) {
  const folder = mkdtempSync(join(tmpdir(), "record-"));
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify({ responses, summary, models, tokenSize: { min: 200, max: 200 } }));
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
  const flags = "--mode rpc --provider faux --model faux-1 --thinking off --tools read,bash --no-approve --no-extensions";
  const rest = "--no-skills --no-prompt-templates --no-themes --no-context-files";
  const files = ["-e", here(`${CLIENT}child.ts`), "-e", here(`${CLIENT}test/faux.ts`), "--session-dir", join(folder, "s")];
  const env = { PATH: process.env.PATH, HOME: folder, PI_CODING_AGENT_DIR: folder, PI_OFFLINE: "1", SUBAGENTD_TEST_FAUX: script };
  const pi = spawn(process.execPath, [CLI, ...flags.split(" "), ...files, ...rest.split(" ")], { cwd: folder, env });
  try {
    return await drive(pi, [...orders], folder);
  } finally {
    pi.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

function drive(pi, orders, folder) {
  const lines = [];
  const waiting = ["get_state", "get_available_models", "prompt"].map((type) => ({ id: type, type }));
  waiting[2].message = "go";
  let open;
  let stopping = false;
  const send = () => {
    if (open !== undefined || waiting.length === 0) return;
    open = waiting.shift();
    lines.push(JSON.stringify({ sent: open }));
    pi.stdin.write(`${JSON.stringify(open)}\n`);
  };
  const order = (what) => {
    lines.push(JSON.stringify(what));
    if (what.do === "steer") {
      const { intent, text, delivery } = what;
      waiting.push({ id: `steer-${intent}`, type: "prompt", message: text, streamingBehavior: delivery });
    } else {
      stopping = true;
      waiting.push({ id: "clear_queue", type: "clear_queue" }, { id: "abort", type: "abort" });
    }
    send();
  };
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`${why}\n${lines.map((line) => line.slice(0, 300)).join("\n")}\n${errors}`));
    setTimeout(() => fail("no settlement came"), DEADLINE_MS).unref();
    let errors = "";
    let rest = "";
    pi.stderr.on("data", (bytes) => (errors += bytes));
    pi.on("close", () => fail("pi ended"));
    pi.stdout.setEncoding("utf8").on("data", (text) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop();
      for (const line of parts) {
        const record = JSON.parse(line);
        if (record.type === "agent_settled" && orders.length > 0 && orders[0][0](record)) {
          // Given before the settlement is known: that is the race.
          order(orders.shift()[1]);
        }
        lines.push(scrub(line, folder));
        if (record.type === "response" && record.id === open?.id) open = undefined;
        while (orders.length > 0 && orders[0][0](record)) order(orders.shift()[1]);
        const over = record.type === "agent_settled" && (stopping || (open === undefined && waiting.length === 0));
        if (over) resolve(lines);
        else send();
      }
    });
  });
}

/** Replaces in the text, so that what pi escapes in its own way stays as it is. */
function scrub(line, folder) {
  let text = line.replaceAll(folder, "/scratch");
  text = text.replace(/"(timestamp|durationMs)":[0-9.]+/g, (_, key) => `"${key}":1`);
  text = text.replace(/"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}"/g, '"01890a5d-ac96-774b-bcce-b302099a8057"');
  text = text.replace(/"timestamp":"[^"]*"/g, '"timestamp":"1970-01-01T00:00:00.000Z"');
  text = text.replace(/"(id|parentId|targetId)":"[0-9a-f]{8}"/g, (_, key) => `"${key}":"entry"`);
  text = text.replace(/"api":"faux:[^"]*"/g, '"api":"faux"');
  text = text.replace(/"firstKeptEntryId":"[^"]*"/g, '"firstKeptEntryId":"entry"');
  text = text.replace(/\/scratch\/s\/[^"]*\.jsonl/g, "/scratch/s/session.jsonl");
  if (text.includes('"role":"system"')) {
    const record = JSON.parse(text);
    const short = (key, value) => (key === "toolsAdded" ? [] : typeof value === "string" && value.length > 60 ? "…" : value);
    text = JSON.stringify(record, short);
  }
  return text;
}
