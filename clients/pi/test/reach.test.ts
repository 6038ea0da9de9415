// What a child can reach besides the tools that its model is told of, and what keeps it from that.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import { Pi, text } from "./pi.ts";

const SERVER = fileURLToPath(new URL("mcp-server.ts", import.meta.url));
const SUPPLIER = fileURLToPath(new URL("supplier.ts", import.meta.url));
const LISTED = "mcp__stand__listed";
const UNLISTED = "mcp__stand__unlisted";
const RESOURCES = ["list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"];

function configuration(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "subagentd-mcp-"));
  test.after(() => rmSync(folder, { recursive: true }));
  const stand = { command: process.execPath, args: [SERVER] };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { stand } }));
  return folder;
}

/** A script that tells what it can reach, and what a call of each of these gives. */
function scripted(...tools: string[]) {
  const calls = tools.map((name) => `await tools.${name}({}).then((r) => JSON.stringify(r), String)`);
  const code = `return [ALL_TOOLS.map(({ name }) => name).sort().join(), ${calls.join()}].join("\\n");`;
  return { responses: [{ tools: [{ name: "codemode", arguments: { code } }] }, { text: "{{toolResult}}" }] };
}

async function reached(test: TestContext, ...flags: string[]): Promise<{ pi: Pi; names: string }> {
  const mcp = ["-e", "builtin:mcp", "-e", "builtin:codemode"];
  const pi = Pi.start(test, { script: scripted(), config: configuration(test), flags: [...mcp, ...flags] });
  return { pi, names: text(await pi.ask("go")).split("\n").at(-1) ?? "" };
}

describe("tools of MCP servers", { concurrency: 2 }, () => {
  const list = (...tools: string[]) => ["--tools", tools.join()];
  const all = [...RESOURCES, LISTED, UNLISTED, "read"].toSorted();
  const exclude = (...tools: string[]) => ["--exclude-tools", tools.join()];
  const cases: [string, string[], string[]][] = [
    ["pass a list that names none", list("read", "codemode"), all],
    ["do not pass one that names one", list("read", "codemode", LISTED), [LISTED, "read"]],
    [
      "leave their resources when excluded by pattern",
      [...list("read", "codemode"), ...exclude("mcp__*")],
      [...RESOURCES, "read"],
    ],
    ["are gone when all is excluded", [...list("read", "codemode"), ...exclude("mcp__*", ...RESOURCES)], ["read"]],
    ["are excluded even if listed", [...list("read", "codemode", LISTED), ...exclude("mcp__*")], ["read"]],
  ];
  for (const [name, flags, expected] of cases) {
    test(name, async (t) => assert.equal((await reached(t, ...flags)).names, expected.toSorted().join()));
  }

  test("are told once they are there", async (t) => {
    const { pi } = await reached(t, ...list("read", "codemode", LISTED));
    assert.deepEqual(pi.callable().at(-1), [LISTED]);
  });
});

describe("tools of an extension", { concurrency: 2 }, () => {
  const cases: [string, string[], string[], string[][]][] = [
    ["that scripts can call are told before pi answers", [], ["acme_lookup", "acme_delete"], [["acme_hidden"]]],
    ["that scripts can call are active when listed", ["--tools", "acme_hidden"], ["acme_hidden"], []],
  ];
  for (const [name, flags, active, callable] of cases) {
    test(name, async (t) => {
      const pi = Pi.start(t, { flags: ["-e", SUPPLIER, ...flags] });
      await pi.command("get_state");
      assert.deepEqual(pi.toolSets().at(-1)?.tools.filter((tool) => tool.startsWith("acme")), active);
      assert.deepEqual(pi.callable(), callable);
    });
  }

  test("that are not listed are in nobody's reach", async (t) => {
    const flags = ["-e", SUPPLIER, "-e", "builtin:codemode", "--tools", "codemode,acme_lookup"];
    const pi = Pi.start(t, { script: scripted("acme_lookup"), flags });
    assert.match(text(await pi.ask("go")), /\nacme_lookup\n.*acme_lookup of acme/);
    assert.deepEqual(pi.callable(), []);
  });
});

describe("packages", { concurrency: 2 }, () => {
  const packed = '{ name: "packed", label: "packed", description: "packed", parameters: {}, execute() {} }';
  const tool = `export default (pi) => pi.registerTool(${packed});`;

  test("that are installed are loaded by their folder and not by their source", async (t) => {
    const config = mkdtempSync(join(tmpdir(), "subagentd-package-"));
    t.after(() => rmSync(config, { recursive: true }));
    const folder = join(config, "npm/node_modules/@acme/packed");
    mkdirSync(join(folder, "extensions"), { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "@acme/packed", version: "1.0.0" }));
    writeFileSync(join(folder, "extensions/packed.js"), tool);
    for (const [source, tools] of [["npm:@acme/packed", ["read"]], [folder, ["read", "packed"]]] as const) {
      const pi = Pi.start(t, { config, flags: ["-e", source, "--tools", "read,packed"] });
      await pi.command("get_state");
      assert.deepEqual(pi.toolSets().at(-1)?.tools, tools, source);
      await pi.ended();
    }
  });
});
