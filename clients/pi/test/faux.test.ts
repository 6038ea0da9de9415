import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import { Pi, type Start, text } from "./pi.ts";
import type { Response } from "./faux.ts";

const answers = (...responses: Response[]): Start => ({ script: { responses } });

describe("the provider answers by its script", { concurrency: 2 }, () => {
  test("step by step, with thinking, tools and usage", async (t) => {
    const usage = { input: 1000, output: 20, cacheRead: 5, cacheWrite: 0 };
    const bash = { name: "bash", arguments: { command: "echo from-bash" }, id: "call-1" };
    const start = answers({ thinking: "Hm.", tools: [bash] }, { text: "It says {{toolResult}}", usage });
    const pi = Pi.start(t, { ...start, flags: ["--model", "faux/faux-r", "--thinking", "high"] });
    const last = await pi.ask("go");
    assert.equal(text(last).trim(), "It says from-bash");
    assert.equal(last.stopReason, "stop");
    assert.deepEqual({ ...last.usage, cost: 0 }, { ...usage, totalTokens: 1025, cost: 0 });
    const first = pi.records.find(({ type, message }) => type === "message_end" && message?.role === "assistant");
    assert.match(JSON.stringify(first), /"thinking":"Hm\.".*"id":"call-1".*"stopReason":"toolUse"/);
  });

  const told: [string, Response, string, string, string | undefined][] = [
    ["an error", { text: "half", error: "Bad key" }, "half", "error", "Bad key"],
    ["a cut", { text: "half", stopReason: "length" }, "half", "length", undefined],
    ["empty text", { text: "" }, "", "stop", undefined],
    ["no content", {}, "", "stop", undefined],
    ["places to fill", { text: "{{user}} {{model}} {{thinking}} {{odd}}" }, "go faux-1 off {{odd}}", "stop", undefined],
    ["much text", { text: "0123456789", textTimes: 100_000 }, "0123456789".repeat(100_000), "stop", undefined],
  ];
  test("with errors, cuts, little and much", async (t) => {
    const responses = told.map(([, response]) => response);
    const pi = Pi.start(t, { script: { responses, tokenSize: { min: 10_000, max: 10_000 } } });
    for (const [name, , says, stopReason, error] of told) {
      const last = await pi.ask("go");
      assert.deepEqual([last.stopReason, last.errorMessage], [stopReason, error], name);
      assert.ok(text(last) === says, `${name}: ${text(last).slice(0, 300)}`);
    }
  });

  test("to the words that each answer is for", async (t) => {
    const gone = { when: "go", text: "gone" };
    const pi = Pi.start(t, answers({ when: "stay", text: "stayed" }, gone, { when: "ever", text: "on", keep: true }));
    const said = [];
    for (const words of ["go now", "for ever", "for ever", "stay", "go now"]) {
      const last = await pi.ask(words);
      said.push(text(last) || last.errorMessage);
    }
    assert.deepEqual(said, ["gone", "on", "on", "stayed", "No more faux responses queued"]);
  });

  test("again after an error that pi repeats", async (t) => {
    const script = answers({ error: "503 overloaded" }, { text: "at last" });
    const last = await Pi.start(t, { ...script, settings: { retry: { baseDelayMs: 1 } } }).ask("go");
    assert.equal(text(last), "at last");
  });

  test("again after an overflow, with a summary", async (t) => {
    const responses = [{ text: "first" }, { error: "prompt is too long: 2 tokens > 1 maximum" }, { text: "{{users}}" }];
    const script = { responses, summary: { text: "a summary of it" } };
    const pi = Pi.start(t, { script, settings: { compaction: { keepRecentTokens: 1 } } });
    await pi.ask("one");
    const last = await pi.ask("two");
    assert.match(text(last), /a summary of it/);
    const end = pi.records.find(({ type }) => type === "compaction_end");
    assert.deepEqual([end?.reason, end?.aborted], ["overflow", false]);
  });

  test("and sees what pi was told while a tool ran", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "subagentd-steer-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const go = join(folder, "go");
    const bash = { name: "bash", arguments: { command: `until [ -e ${go} ]; do sleep 0.01; done` } };
    const pi = Pi.start(t, answers({ tools: [bash] }, { text: "{{users}}" }));
    const answer = pi.ask("one");
    await pi.wait("the tool", ({ type }) => type === "tool_execution_start");
    await pi.command("prompt", { message: "two", streamingBehavior: "steer" });
    writeFileSync(go, "");
    assert.equal(text(await answer), "one | two");
  });

  for (const [hang, says] of [["before", ""], ["after", "half"]] as const) {
    test(`or hangs ${hang} its text until it is aborted`, async (t) => {
      const pi = Pi.start(t, answers({ text: "half", hang }));
      const answer = pi.ask("go");
      await pi.wait("a beginning", ({ type }) => type === (hang === "after" ? "message_update" : "turn_start"));
      await pi.command("abort");
      const last = await answer;
      assert.deepEqual([last.stopReason, text(last)], ["aborted", says]);
    });
  }

  test("or ends the process", async (t) => {
    const pi = Pi.start(t, answers({ exit: 7 }));
    await assert.rejects(pi.ask("go"), /pi ended before settlement came/);
    assert.equal(await pi.ended(), 7);
  });

  test("for the models that it names", async (t) => {
    const deep = { id: "deep", reasoning: true, thinkingLevelMap: { minimal: null, max: "max" }, contextWindow: 9_999 };
    const pi = Pi.start(t, { script: { models: [{ id: "faux-1" }, deep] } });
    const { data } = await pi.command("get_available_models");
    const models = (data as { models: (typeof deep)[] }).models.map(
      ({ id, reasoning, thinkingLevelMap, contextWindow }) => ({ id, reasoning, thinkingLevelMap, contextWindow }),
    );
    const plain = { id: "faux-1", reasoning: false, thinkingLevelMap: undefined, contextWindow: 128_000 };
    assert.deepEqual(models, [plain, deep]);
  });
});
