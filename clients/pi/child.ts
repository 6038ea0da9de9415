// What subagentd puts into each pi child: it tells the shim at the other end of RPC what RPC has no question for.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

const TOOLS = "subagentd.tools";
const CALLABLE = "subagentd.callable";
/** Tools of such an exposure are never told to the model and can be called by others that are. */
const CALLED = ["codemode", "deferred"];

export default function (pi: ExtensionAPI): void {
  const published = new Map<string, string>();

  function publish(ctx: ExtensionContext, key: string, tools: string[]): void {
    const text = JSON.stringify(tools);
    if (text === (published.get(key) ?? (key === CALLABLE ? "[]" : undefined))) return;
    published.set(key, text);
    ctx.ui.setStatus(key, text);
  }

  function publishTools(_event: unknown, ctx: ExtensionContext): void {
    const active = pi.getActiveTools();
    const called = pi.getAllTools().filter(({ name, exposure }) => CALLED.includes(exposure) && !active.includes(name));
    publish(ctx, CALLABLE, called.map(({ name }) => name));
    publish(ctx, TOOLS, active);
  }

  // The shim counts on a first record before pi answers anything.
  pi.on("session_start", publishTools);
  // pi has no event for a changed tool set. Extensions loaded after this one may change it in their own session_start,
  // the event that follows sees that; later changes count from the next turn on. `mcp_servers_change` is not to be
  // used: pi takes an extension that listens to it for the one that connects the servers.
  pi.on("resources_discover", publishTools);
  pi.on("turn_start", publishTools);
  pi.on("agent_end", publishTools);
}
