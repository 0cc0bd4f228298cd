// main: the program an agent starts to get the runner's own tools. `node returns.cjs` speaks the
// Model Context Protocol on stdio and passes every call on to the runner, over the address that the
// turn was given; it decides nothing itself.

import { request } from "node:http";
import { createInterface } from "node:readline";
import { createMcpServer } from "../mcp-server.ts";
import { describeReturnsOffer, toolVariables } from "./tools.ts";

const answerTimeoutMs = 60_000;
const answerCharsMax = 1024 * 1024;
const shownCharsMax = 500;

function main(): void {
  const url = process.env[toolVariables.url];
  const token = process.env[toolVariables.token];
  if (url === undefined || token === undefined) {
    process.stderr.write(
      `${toolVariables.url} and ${toolVariables.token} must be set: this program is started by an agent that the runner drives\n`,
    );

    process.exitCode = 2;
    return;
  }

  const schema = process.env[toolVariables.schema];
  const handleLine = createMcpServer(describeReturnsOffer(parseSchema(schema)), (name, value) =>
    forwardCall(url, token, name, value),
  );

  createInterface({ input: process.stdin })
    .on("line", (line) => {
      void handleLine(line).then((answer) => {
        if (answer !== null) process.stdout.write(`${answer}\n`);
      });
    })
    .on("close", () => {
      process.exitCode = 0;
    });
}

function parseSchema(text: string | undefined): object | null {
  if (text === undefined) return null;
  const schema: unknown = JSON.parse(text);
  return typeof schema === "object" ? schema : null;
}

/**
 * Passes a call on to the runner. It goes to the runner's address directly, bypassing any proxy of
 * the environment.
 */
function forwardCall(
  url: string,
  token: string,
  tool: string,
  value: unknown,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  return new Promise((resolve) => {
    const fail = (why: string): void =>
      resolve({
        ok: false,
        text: `The runner did not take the call: ${why}. Hand back what you have in your answer instead.`,
      });

    const body = JSON.stringify({ tool, arguments: value });
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      authorization: `Bearer ${token}`,
    };

    const httpRequest = request(
      url,
      { method: "POST", headers, timeout: answerTimeoutMs, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          text += piece;
          if (text.length > answerCharsMax) response.destroy(new Error("its answer is too long"));
        });

        response.once("error", (error) => fail(error.message));
        response.once("end", () => {
          const answer = parseAnswer(text);
          if (response.statusCode === 200 && answer !== null) return resolve(answer);
          fail(
            `it answered ${response.statusCode ?? "nothing"} ${text.slice(0, shownCharsMax).trim()}`.trim(),
          );
        });
      },
    );
    httpRequest.once("timeout", () => httpRequest.destroy(new Error("it did not answer in time")));
    httpRequest.once("error", (error) => fail(error.message));
    httpRequest.end(body);
  });
}

function parseAnswer(text: string): { readonly ok: boolean; readonly text: string } | null {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== "object" || answer === null || !("ok" in answer) || !("text" in answer)) {
      return null;
    }

    return typeof answer.ok === "boolean" && typeof answer.text === "string"
      ? { ok: answer.ok, text: answer.text }
      : null;
  } catch {
    return null;
  }
}

main();
