// A real pi in RPC mode with nothing of the user's: own folders, no network, the faux provider for a model.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import type { AssistantMessage } from "@earendil-works/pi-ai";

import type { Script } from "./faux.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const CHILD = here("../child.ts");
const FAUX = here("faux.ts");
const CLI = here("../node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");

/** For each wait. Far above what is needed: other work may have the machine. */
const DEADLINE_MS = 20_000;

/** What tests read of the records that pi writes. */
export interface PiRecord {
  type: string;
  id?: string;
  success?: boolean;
  error?: string;
  data?: unknown;
  statusKey?: string;
  statusText?: string;
  message?: AssistantMessage | { role: "user" | "system" | "toolResult" };
  reason?: string;
  aborted?: boolean;
}

export interface Start {
  /** What the provider answers. */
  script?: Script;
  /** More flags, after the usual ones. */
  flags?: string[];
  /** In place of `child.ts`. */
  child?: string;
  /** In place of an empty folder. */
  config?: string;
  /** pi's settings. */
  settings?: object;
}

export class Pi {
  readonly records: PiRecord[] = [];
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #arrived = new EventTarget();
  #stderr = "";
  #commands = 0;

  /** It and its folder are gone when the test is over. */
  static start(test: TestContext, start: Start = {}): Pi {
    const folder = mkdtempSync(join(tmpdir(), "subagentd-pi-"));
    const config = start.config ?? folder;
    if (start.settings) writeFileSync(join(config, "settings.json"), JSON.stringify(start.settings));
    const script = join(folder, "script.json");
    writeFileSync(script, JSON.stringify(start.script ?? {}));
    const pi = new Pi(folder, config, script, start);
    test.after(async () => {
      pi.#process.kill("SIGKILL");
      await pi.ended();
      rmSync(folder, { recursive: true });
    });
    return pi;
  }

  private constructor(folder: string, config: string, script: string, start: Start) {
    const flags = ["--mode", "rpc", "--model", "faux/faux-1", "--session-dir", join(folder, "sessions")];
    flags.push("--no-approve", "--no-extensions", "-e", start.child ?? CHILD, "-e", FAUX);
    flags.push("--no-skills", "--no-prompt-templates", "--no-themes", "--no-context-files", ...(start.flags ?? []));
    this.#process = spawn(process.execPath, [CLI, ...flags], {
      cwd: folder,
      stdio: "pipe",
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        PI_CODING_AGENT_DIR: config,
        PI_OFFLINE: "1",
        SUBAGENTD_TEST_FAUX: script,
      },
    });
    this.#process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    // Writing to a pi that is gone shows as a wait that ends without its record.
    this.#process.stdin.on("error", () => {});
    this.#process.on("close", () => this.#arrived.dispatchEvent(new Event("any")));
    let rest = "";
    this.#process.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.records.push(JSON.parse(line) as PiRecord);
      this.#arrived.dispatchEvent(new Event("any"));
    });
  }

  /** Sends a command and gives pi's answer to it. */
  async command(type: string, members: object = {}): Promise<PiRecord> {
    const id = `c${++this.#commands}`;
    this.#process.stdin.write(`${JSON.stringify({ id, type, ...members })}\n`);
    return this.wait(`the answer to ${type}`, (record) => record.type === "response" && record.id === id);
  }

  /** Prompts and gives the last assistant message before settlement. */
  async ask(message: string): Promise<AssistantMessage> {
    const from = this.records.length;
    await this.command("prompt", { message });
    await this.wait("settlement", ({ type }) => type === "agent_settled", from);
    const last = this.records.slice(from).findLast((record) => assistant(record) !== undefined);
    return assistant(last) ?? this.#fail("no assistant message came");
  }

  /** The first record from that place on that passes the test, which may be there already. */
  async wait(what: string, test: (record: PiRecord) => boolean, from = 0): Promise<PiRecord> {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    for (;;) {
      const found = this.records.slice(from).find(test);
      if (found !== undefined) return found;
      if (this.#process.stdout.closed) this.#fail(`pi ended before ${what} came`);
      if (deadline.aborted) this.#fail(`${what} did not come`);
      await Promise.race(["any", "abort"].map((event) => once(event === "any" ? this.#arrived : deadline, event)));
    }
  }

  /** The tool sets that `child.ts` told so far, each with its place among the records. */
  toolSets(): { place: number; tools: string[] }[] {
    return this.records.flatMap(({ statusKey, statusText }, place) =>
      statusKey === "subagentd.tools" ? [{ place, tools: JSON.parse(statusText ?? "") as string[] }] : [],
    );
  }

  /** What `child.ts` told so far of tools that can only be called by others. */
  callable(): string[][] {
    const told = this.records.filter(({ statusKey }) => statusKey === "subagentd.callable");
    return told.map(({ statusText }) => JSON.parse(statusText ?? "") as string[]);
  }

  /** Closes its input, or finds it ended, and gives the exit code. */
  async ended(): Promise<number | null> {
    this.#process.stdin.end();
    if (!this.#process.stdout.closed) await once(this.#process, "close", { signal: AbortSignal.timeout(DEADLINE_MS) });
    return this.#process.exitCode;
  }

  #fail(what: string): never {
    const records = this.records.map((record) => JSON.stringify(record).slice(0, 300)).join("\n");
    throw new Error(`${what}; records:\n${records}\nstandard error:\n${this.#stderr}`);
  }
}

function assistant(record: PiRecord | undefined): AssistantMessage | undefined {
  return record?.type === "message_end" && record.message?.role === "assistant" ? record.message : undefined;
}

/** The text of a message. */
export function text(message: AssistantMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
