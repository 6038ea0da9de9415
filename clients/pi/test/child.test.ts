import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { CHILD, Pi, type Start } from "./pi.ts";

const EXTRA = fileURLToPath(new URL("extra.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "subagentd-child-"));
process.on("exit", () => rmSync(folder, { recursive: true }));

function deepCopy(): string {
  const deep = join(folder, "a folder with blanks ".repeat(9), "ü'\"$(x)#?%20".repeat(9));
  mkdirSync(deep, { recursive: true });
  const copy = join(deep, "child.ts");
  copyFileSync(CHILD, copy);
  return copy;
}

const extra = (tools: string): Start => ({ flags: ["-e", EXTRA, "--tools", tools] });
// Cannot be made, read or written, by root either.
const noFolder = join("/dev/null", "config");

const starts: [string, Start, string[]][] = [
  ["without --tools", {}, ["read", "bash", "edit", "write"]],
  ["with built-in tools", { flags: ["--tools", "read,grep,find,ls"] }, ["read", "grep", "find", "ls"]],
  ["with a tool that is not there", { flags: ["--tools", "read,web_search"] }, ["read"]],
  ["with tools of another extension", extra("ls,extra_first,extra_started"), ["ls", "extra_first", "extra_started"]],
  ["with tools of another extension that were not asked for", extra("read"), ["read"]],
  ["with no tools", { flags: ["--no-tools"] }, []],
  ["from a deep folder with blanks", { child: deepCopy() }, ["read", "bash", "edit", "write"]],
  ["without a configuration folder", { config: noFolder }, ["read", "bash", "edit", "write"]],
];

describe("the tools are told before pi answers", { concurrency: 2 }, () => {
  for (const [name, start, expected] of starts) {
    test(name, async (t) => {
      const pi = Pi.start(t, start);
      const state = await pi.command("get_state");
      const told = pi.toolSets().at(-1);
      assert.deepEqual(told?.tools.toSorted(), expected.toSorted());
      assert.ok(told.place < pi.records.indexOf(state), "they came after the answer");
      assert.equal(await pi.ended(), 0);
      assert.deepEqual(pi.toolSets().at(-1), told);
    });
  }
});

test("what comes as the session starts is told after what was there before", async (t) => {
  const pi = Pi.start(t, extra("extra_first,extra_started"));
  await pi.command("get_state");
  assert.deepEqual(
    pi.toolSets().map(({ tools }) => tools),
    [["extra_first"], ["extra_first", "extra_started"]],
  );
});

describe("a changed set is told again", { concurrency: 2 }, () => {
  const use = (name: string) => ({ responses: [{ tools: [{ name }] }, { text: "done" }] });

  test("when a tool registers one", async (t) => {
    const pi = Pi.start(t, { script: use("extra_grow"), flags: ["-e", EXTRA] });
    await pi.ask("grow");
    const sets = pi.toolSets().map(({ tools }) => tools);
    assert.deepEqual(sets.at(-1), [...(sets.at(-2) ?? []), "extra_grown"]);
  });

  test("when a tool switches others off", async (t) => {
    const pi = Pi.start(t, { script: use("extra_shrink"), flags: ["-e", EXTRA] });
    await pi.ask("shrink");
    assert.deepEqual(pi.toolSets().at(-1)?.tools, ["read"]);
  });

  test("and is not when what is new was not asked for", async (t) => {
    const pi = Pi.start(t, { script: use("extra_grow"), flags: ["-e", EXTRA, "--tools", "extra_grow"] });
    await pi.ask("grow");
    assert.deepEqual(
      pi.toolSets().map(({ tools }) => tools),
      [["extra_grow"]],
    );
  });
});
