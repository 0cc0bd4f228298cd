// acp-session: a real agent as its user starts it, outside every run: one prompt over the Agent
// Client Protocol, with servers of the user's.

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { type AgentName, installedOf, realKey } from "./installed.ts";
// @ts-expect-error The recipes are plain JavaScript: the probe uses them without anything built.
import { recipes as written } from "./recipes.mjs";

type Recipe = {
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly mode?: string;
  readonly option?: { readonly configId: string; readonly value: string };
};
const recipes = written as Readonly<Record<string, Recipe | undefined>>;

type Frame = {
  readonly id?: number;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: unknown;
  readonly params?: Record<string, unknown>;
};
export type McpServer = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
};
export type Session = {
  readonly folder: string;
  readonly home: string;
  readonly url: string;
  readonly servers: readonly McpServer[];
};

/** Sends one prompt and gives how the turn stopped. */
export async function promptOnce(
  name: AgentName,
  { folder, home, url, servers }: Session,
  prompt: string,
): Promise<unknown> {
  const recipe = recipes[name];
  const here = installedOf(name);
  if (recipe === undefined || here === null) throw new Error(`${name} is not installed`);

  const filled = (text: string): string =>
    text
      .replaceAll("{{url}}", url)
      .replaceAll("{{key}}", realKey)
      .replaceAll("{{model}}", recipe.model)
      .replaceAll("{{home}}", home);

  for (const [file, text] of Object.entries(recipe.files ?? {})) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), filled(text));
  }

  const env = {
    PATH: [...here.path, process.env["PATH"] ?? ""].join(":"),
    HOME: home,
    LANG: "C.UTF-8",
    ...Object.fromEntries(Object.entries(recipe.env).map(([key, value]) => [key, filled(value)])),
  };

  const [command = "", ...args] = here.argv;
  const child = spawn(command, [...args, ...(recipe.words ?? []).map(filled)], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });

  try {
    const waiting = new Map<number, (frame: Frame) => void>();
    const send = (frame: object): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
    let number = 0;

    const ask = (method: string, params: object): Promise<Frame> =>
      new Promise((report, fail) => {
        waiting.set((number += 1), (frame) =>
          frame.error === undefined
            ? report(frame)
            : fail(new Error(`${method}: ${JSON.stringify(frame.error)}`)),
        );

        child.once("exit", (code) =>
          fail(new Error(`${name} ended with ${code} before it answered ${method}`)),
        );

        send({ id: number, method, params });
      });

    createInterface({ input: child.stdout }).on("line", (line) => {
      const frame = JSON.parse(line) as Frame;
      if (frame.method === undefined) return waiting.get(frame.id ?? 0)?.(frame);
      if (frame.method === "session/request_permission") {
        const options = frame.params?.["options"] as readonly {
          readonly optionId: string;
          readonly kind: string;
        }[];
        const allowed = options.find(({ kind }) => kind === "allow_once") ?? options[0];
        return send({
          id: frame.id,
          result: { outcome: { outcome: "selected", optionId: allowed?.optionId } },
        });
      }

      if (frame.id !== undefined) {
        send({ id: frame.id, error: { code: -32601, message: "not here" } });
      }
    });

    const clientCapabilities = {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
    };

    await ask("initialize", {
      protocolVersion: 1,
      clientInfo: { name: "test", version: "1" },
      clientCapabilities,
    });

    const { result } = await ask("session/new", { cwd: folder, mcpServers: servers });
    const sessionId = result?.["sessionId"];

    if (recipe.mode !== undefined) {
      await ask("session/set_mode", { sessionId, modeId: recipe.mode });
    }

    if (recipe.option !== undefined) {
      await ask("session/set_config_option", { sessionId, ...recipe.option });
    }

    const answered = await ask("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: prompt }],
    });
    return answered.result?.["stopReason"];
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }
}
