// An extension of the user's that brings a provider with a model of its own, and tools.

import { fauxAssistantMessage, fauxProvider } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI): void {
  const faux = fauxProvider({ provider: "acme", models: [{ id: "acme-large" }] });
  pi.registerProvider({
    ...faux.provider,
    streamSimple: (model, context, options) => {
      faux.setResponses([fauxAssistantMessage(`${model.id} of acme answers`)]);
      return faux.provider.streamSimple(model, context, options);
    },
  });

  for (const name of ["acme_lookup", "acme_delete"]) {
    pi.registerTool({
      name,
      label: name,
      description: name,
      parameters: { type: "object", properties: {} },
      execute: async () => ({ content: [{ type: "text", text: `${name} of acme` }], details: undefined }),
    });
  }
  // Out of the model's sight, in the reach of scripts.
  pi.registerTool({
    name: "acme_hidden",
    label: "acme_hidden",
    description: "acme_hidden",
    exposure: "codemode",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: "acme_hidden of acme" }], details: undefined }),
  });
}
