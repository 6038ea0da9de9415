// A provider `faux` that answers by a script, for tests with the real pi and no model.
//
// The script is the JSON file named by SUBAGENTD_TEST_FAUX, see `Script`. Without it, or when no response fits, a turn
// ends with stop reason error, "No more faux responses queued".

import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import {
  type Api,
  type AssistantMessage,
  type AssistantMessageEventStream,
  createAssistantMessageEventStream,
  type FauxContentBlock,
  type FauxModelDefinition,
  fauxAssistantMessage,
  type FauxProviderHandle,
  fauxProvider,
  fauxText,
  fauxThinking,
  fauxToolCall,
  getSystemMessageText,
  type Message,
  type Model,
  type Provider,
  type SimpleStreamOptions,
  type StopReason,
  type ThinkingLevelMap,
  type ToolCall,
  type TranscriptContext,
  type Usage,
} from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export interface Script {
  /** Instead of `faux-1`, which does not reason, and `faux-r`, which does. */
  models?: ScriptModel[];
  /** Speed of the deltas; as fast as possible unless given. */
  tokensPerSecond?: number;
  /** Size of the deltas in tokens of four characters. */
  tokenSize?: { min?: number; max?: number };
  /** Each request takes the first one that fits it. */
  responses?: Response[];
  /** Answers requests for a summary, that is compaction, every time. */
  summary?: Response;
}

export interface ScriptModel extends FauxModelDefinition {
  thinkingLevelMap?: ThinkingLevelMap;
}

export interface Response {
  /** Fits only if the last user message contains this. */
  when?: string;
  /** Stays for later requests instead of being used up. */
  keep?: boolean;
  thinking?: string;
  /** May hold `{{user}}`, `{{users}}`, `{{toolResult}}`, `{{system}}`, `{{model}}` and `{{thinking}}`. */
  text?: string;
  /** How often the text stands there. */
  textTimes?: number;
  tools?: { name: string; arguments?: ToolCall["arguments"]; id?: string }[];
  /** `toolUse` with tools and `stop` without, unless given. */
  stopReason?: StopReason;
  /** Ends with stop reason error and these words. */
  error?: string;
  /** Silence first; an abort ends it. */
  delayMs?: number;
  /** Silence before the first or after the last delta that only an abort ends. */
  hang?: "before" | "after";
  /** Ends the process with this code in place of an answer. */
  exit?: number;
  /** In place of the faux provider's estimate. */
  usage?: Partial<Usage>;
}

const MODELS: ScriptModel[] = [{ id: "faux-1" }, { id: "faux-r", reasoning: true }];
// How pi begins the system prompt of a compaction.
const SUMMARY = "You are a context summarization assistant";

export default function (pi: ExtensionAPI): void {
  const path = process.env["SUBAGENTD_TEST_FAUX"];
  const script = path === undefined ? {} : (JSON.parse(readFileSync(path, "utf8")) as Script);
  pi.registerProvider(provider(script));
}

function provider(script: Script): Provider {
  const definitions = script.models ?? MODELS;
  const { tokensPerSecond, tokenSize } = script;
  const faux = fauxProvider({
    models: definitions,
    ...(tokensPerSecond === undefined ? {} : { tokensPerSecond }),
    ...(tokenSize === undefined ? {} : { tokenSize }),
  });
  for (const { id, thinkingLevelMap } of definitions) {
    const model = faux.getModel(id);
    if (model !== undefined && thinkingLevelMap !== undefined) model.thinkingLevelMap = thinkingLevelMap;
  }

  const responses = [...(script.responses ?? [])];
  return {
    ...faux.provider,
    streamSimple: (model, context, options) =>
      answer(faux, choose(responses, script.summary, context.messages), model, context, options),
  };
}

function choose(responses: Response[], summary: Response | undefined, messages: Message[]): Response | undefined {
  if (summary !== undefined && systemText(messages).startsWith(SUMMARY)) return summary;
  const user = userTexts(messages).at(-1) ?? "";
  const index = responses.findIndex(({ when }) => when === undefined || user.includes(when));
  const response = responses[index];
  if (response?.keep !== true && index >= 0) responses.splice(index, 1);
  return response;
}

function answer(
  faux: FauxProviderHandle,
  response: Response | undefined,
  model: Model<Api>,
  context: TranscriptContext,
  options: SimpleStreamOptions | undefined,
): AssistantMessageEventStream {
  const signal = options?.signal;
  const step = async (): Promise<AssistantMessage> => {
    if (response?.exit !== undefined) process.exit(response.exit);
    if (response?.delayMs !== undefined) await delay(response.delayMs, undefined, { signal }).catch(() => {});
    if (response?.hang === "before") await aborted(signal);
    return message(response ?? {}, context.messages, model, options);
  };
  faux.setResponses(response === undefined ? [] : [step]);
  const stream = faux.provider.streamSimple(model, context, options);
  return response?.usage === undefined && response?.hang !== "after" ? stream : changed(stream, response, signal);
}

function message(
  response: Response,
  messages: Message[],
  model: Model<Api>,
  options: SimpleStreamOptions | undefined,
): AssistantMessage {
  const content: FauxContentBlock[] = [];
  if (response.thinking !== undefined) content.push(fauxThinking(response.thinking));
  if (response.text !== undefined) {
    content.push(fauxText(filled(response.text, messages, model, options).repeat(response.textTimes ?? 1)));
  }
  for (const { name, arguments: values, id } of response.tools ?? []) {
    content.push(fauxToolCall(name, values ?? {}, id === undefined ? {} : { id }));
  }
  const usual: StopReason = response.error !== undefined ? "error" : response.tools ? "toolUse" : "stop";
  return fauxAssistantMessage(content, {
    stopReason: response.stopReason ?? usual,
    ...(response.error === undefined ? {} : { errorMessage: response.error }),
  });
}

function filled(
  text: string,
  messages: Message[],
  model: Model<Api>,
  options: SimpleStreamOptions | undefined,
): string {
  const users = userTexts(messages);
  const result = messages.findLast((message) => message.role === "toolResult");
  const values: Record<string, string> = {
    user: users.at(-1) ?? "",
    users: users.join(" | "),
    toolResult: plain(result?.content ?? ""),
    system: systemText(messages),
    model: model.id,
    thinking: options?.reasoning ?? "off",
  };
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Gives the stream other usage, or lets it hang with all deltas told. */
function changed(
  stream: AssistantMessageEventStream,
  { usage, hang }: Response,
  signal: AbortSignal | undefined,
): AssistantMessageEventStream {
  const outer = createAssistantMessageEventStream();
  const apply = (message: AssistantMessage) => {
    if (usage === undefined) return;
    message.usage = { ...message.usage, ...usage };
    const { input, output, cacheRead, cacheWrite } = message.usage;
    message.usage.totalTokens = usage.totalTokens ?? input + output + cacheRead + cacheWrite;
  };
  const forward = async () => {
    for await (const event of stream) {
      if (event.type === "done" && hang === "after") {
        await aborted(signal);
        const error: AssistantMessage = {
          ...event.message,
          stopReason: "aborted",
          errorMessage: "Request was aborted",
        };
        apply(error);
        outer.push({ type: "error", reason: "aborted", error });
        return;
      }
      apply(event.type === "done" ? event.message : event.type === "error" ? event.error : event.partial);
      outer.push(event);
    }
  };
  void forward();
  return outer;
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    else signal?.addEventListener("abort", () => resolve(), { once: true });
  });
}

function userTexts(messages: Message[]): string[] {
  return messages.filter((message) => message.role === "user").map(({ content }) => plain(content));
}

function systemText(messages: Message[]): string {
  return messages
    .filter((message) => message.role === "system")
    .map(getSystemMessageText)
    .join("\n");
}

function plain(content: string | { type: string; text?: string }[]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
}
