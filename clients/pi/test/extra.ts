// Another extension of the user's: tools from the start, at session start, later, and one switched off by a command.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI): void {
  const tool = (name: string, execute = () => {}) =>
    pi.registerTool({
      name,
      label: name,
      description: name,
      parameters: { type: "object", properties: {} },
      execute: async () => {
        execute();
        return { content: [{ type: "text", text: name }], details: undefined };
      },
    });

  tool("extra_first");
  pi.on("session_start", () => tool("extra_started"));
  tool("extra_grow", () => tool("extra_grown"));
  tool("extra_shrink", () => pi.setActiveTools(["read"]));
}
