// An MCP server on standard input and output with two tools and a resource.

import { createInterface } from "node:readline";

const tool = (name: string) => ({ name, description: name, inputSchema: { type: "object", properties: {} } });

const answers: Record<string, (params: Record<string, unknown>) => object> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: "stand-in", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool("listed"), tool("unlisted")] }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `${String(name)} was called` }] }),
  "resources/list": () => ({ resources: [{ uri: "test://resource", name: "resource" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: "the resource was read" }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as {
    id?: number;
    method: string;
    params?: Record<string, unknown>;
  };
  if (id === undefined) continue;
  const answer = answers[method];
  const body = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: method } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
}
