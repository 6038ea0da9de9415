// What subagentd puts into each pi child: it tells the shim at the other end of RPC what RPC has no question for.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

const TOOLS = "subagentd.tools";

export default function (pi: ExtensionAPI): void {
  let published: string | undefined;

  function publishTools(_event: unknown, ctx: ExtensionContext): void {
    const tools = JSON.stringify(pi.getActiveTools());
    if (tools === published) return;
    published = tools;
    ctx.ui.setStatus(TOOLS, tools);
  }

  // The shim counts on a first record before pi answers anything.
  pi.on("session_start", publishTools);
  // pi has no event for a changed tool set. Extensions loaded after this one may change it in their own session_start,
  // the event that follows sees that; later changes count from the next turn on. `mcp_servers_change` is not to be
  // used: pi takes an extension that listens to it for the one that connects the servers.
  pi.on("resources_discover", publishTools);
  pi.on("turn_start", publishTools);
}
