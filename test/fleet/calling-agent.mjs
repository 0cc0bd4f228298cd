#!/usr/bin/env node
// An agent that calls its model again and again, and makes the file it is asked for in its second turn.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const calls = 8;
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const say = (text) =>
  send({
    method: "session/update",
    params: {
      sessionId: "s",
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
    },
  });
let cwd = process.cwd();

createInterface({ input: process.stdin }).on("line", (line) => void take(JSON.parse(line)));

async function take({ id, method, params }) {
  const answer = (result) => send({ id, result });
  if (method === "initialize") return answer({ protocolVersion: 1, agentCapabilities: {} });
  if (method === "session/new") {
    cwd = params.cwd;
    return answer({
      sessionId: "s",
      modes: { currentModeId: "bypassPermissions", availableModes: [{ id: "bypassPermissions" }] },
    });
  }
  if (method === "session/set_mode") return answer({});
  if (method !== "session/prompt") return undefined;
  const path =
    /make (c\d+)/.exec(params.prompt.map(({ text }) => text ?? "").join("\n"))?.[1] ?? "nothing";
  for (let n = 0; n < calls; n++) {
    const body = JSON.stringify({
      model: "claude-opus-5",
      max_tokens: 10,
      messages: [{ role: "user", content: `make ${path}` }],
    });
    const headers = {
      "content-type": "application/json",
      "x-api-key": process.env.ANTHROPIC_API_KEY ?? "",
    };
    // A call that is refused is made again and again, as a stubborn agent does.
    await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, { method: "POST", headers, body })
      .then((response) => response.text())
      .catch(() => undefined);
    await sleep(150);
  }
  const isSecond = existsSync(join(cwd, `${path}.part`));
  writeFileSync(join(cwd, isSecond ? path : `${path}.part`), `${path}\n`);
  say(isSecond ? "<promise>DONE</promise>" : "not yet");
  return answer({ stopReason: "end_turn" });
}
