// answer-tool-call: answers an agent inside its sandbox that calls one of the runner's own tools:
// POST, the turn's token, { "tool": NAME, "arguments": … }.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ToolAnswer } from "../ports/meter.ts";
import type { OpenAccount } from "./account.ts";
import { parseJsonRecord } from "./dialects.ts";
import { toolCallBytesMax } from "./limits.ts";
import { refuse } from "./refusal.ts";

export const toolsPath = "/autopilot/tools";

export async function answerToolCall(
  account: OpenAccount,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "POST") {
    return refuse(response, null, { status: 405, sentence: "Tools are called by POST." });
  }

  const text = await readText(request);
  if (text === null) {
    return refuse(response, null, {
      status: 413,
      sentence: `A tool takes at most ${toolCallBytesMax / 1024 / 1024} MiB.`,
    });
  }

  const { tool, arguments: args } = parseJsonRecord(text);
  if (typeof tool !== "string" || tool === "") {
    return refuse(response, null, {
      status: 400,
      sentence: 'A tool is called with { "tool": NAME, "arguments": … }.',
    });
  }

  const answer = await runTool(account, tool, args);
  if (response.destroyed) return;
  const body = Buffer.from(JSON.stringify(answer));
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}

async function runTool(account: OpenAccount, tool: string, args: unknown): Promise<ToolAnswer> {
  try {
    return await account.request.onTool(tool, args);
  } catch (error) {
    return {
      ok: false,
      text: `The runner could not do that: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Null if the request is too large; empty if it broke off. */
async function readText(request: IncomingMessage): Promise<string | null> {
  if (Number(request.headers["content-length"] ?? 0) > toolCallBytesMax) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;

  try {
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes > toolCallBytesMax) return null;
      chunks.push(chunk as Buffer);
    }
  } catch {
    return "";
  }

  return Buffer.concat(chunks).toString("utf8");
}
