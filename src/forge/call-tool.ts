// call-tool: calls the API of a code host through the user's own `gh` or `glab`, which has their
// login. A stored login is never seen here; tokens of the environment are handed on unread.
//
// Invariants:
//   T1. Only the `api` command is used, with an address and JSON: no text of others is ever a word
//       of a command line or read by a shell.
//   T2. The program runs outside every repository, never asks the user, and its time and output are
//       limited.
//   T3. The address is made of parts that were escaped with `escapePart`, numbers and fixed words
//       (github.ts and gitlab.ts compose it).
//   T4. A token of the environment is sent only to its own host: a repository decides which host is
//       asked, and must not get another's token.

import { spawn } from "node:child_process";
import { findOnPath } from "../agents/find-agents.ts";
import { closeAfterExit, closePipes } from "../agents/process/close-after-exit.ts";
import type { ForgeTool } from "../contracts/forge/pull-request.ts";
import { WorkspaceFailed } from "../workspace/failure.ts";
import { foreignTokens } from "./foreign-tokens.ts";

/** `env`: the user's environment. */
export type ToolContext = {
  readonly tool: ForgeTool;
  readonly host: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};
/** `path`: the address below the API's root, with its query. With a `body` it is a POST. */
export type ApiCall = { readonly path: string; readonly body?: object; readonly isText?: true };

const callTimeoutMs = 60_000;
const outputBytesMax = 16 << 20;
const messageCharsMax = 500;

export const forgeNames: Readonly<Record<ForgeTool, string>> = { gh: "GitHub", glab: "GitLab" };

/** A part of an address. T3 */
export const escapePart = (text: string): string => encodeURIComponent(text);

/** The host's answer as an unvalidated value, or as text if `isText`. */
export async function callTool(
  { tool, host, env }: ToolContext,
  { path, body, isText }: ApiCall,
): Promise<unknown> {
  const program = findOnPath(tool, env);
  if (program === null) {
    throw new WorkspaceFailed(
      "forge_tool_missing",
      `${tool} isn't on the PATH.`,
      `install ${tool}, then ${tool} auth login`,
    );
  }

  const postArgs =
    body === undefined
      ? []
      : ["--method", "POST", "-H", "Content-Type: application/json", "--input", "-"];

  const { code, out, err } = await run(
    program,
    ["api", "--hostname", host, ...postArgs, path],
    withoutForeignTokens(host, env),
    body,
  ); // T1
  if (code !== 0) throw toolFailure(tool, host, code, `${err}\n${isText === true ? "" : out}`);
  if (isText === true) return out;
  try {
    return JSON.parse(out) as unknown;
  } catch {
    throw new WorkspaceFailed(
      "forge_unreachable",
      `${tool} answered with something that is no JSON.`,
    );
  }
}

/** T4 */
const withoutForeignTokens = (host: string, env: ToolContext["env"]): ToolContext["env"] => {
  const foreign = new Set(foreignTokens(host, env));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !foreign.has(name)));
};

function toolFailure(
  tool: ForgeTool,
  host: string,
  code: number | null,
  text: string,
): WorkspaceFailed {
  const message = text.replace(/\s+/g, " ").trim().slice(0, messageCharsMax);
  const needsLogin =
    (tool === "gh" && code === 4) /* its exit code for that */ ||
    /auth login|HTTP 401|401 Unauthorized|Bad credentials/i.test(text);
  if (needsLogin) {
    return new WorkspaceFailed(
      "forge_login_needed",
      `${tool} isn't logged in at ${host}.`,
      `${tool} auth login --hostname ${host}`,
    );
  }

  const isLimited = /rate limit|\b429\b|Too Many Requests/i.test(text); // GitHub says so with 403
  const isRefused = !isLimited && /\b(?:403|404|409|410|422)\b/.test(text);
  return isRefused
    ? new WorkspaceFailed(
        "forge_refused",
        `${forgeNames[tool]} refused: ${message}`,
        `check your rights at the project and what ${tool} says`,
      )
    : new WorkspaceFailed(
        "forge_unreachable",
        `${tool} ${code === null ? "gave no answer in time, or too long a one" : `ended with ${code}`}: ${message}`,
        "try again later",
      );
}

type ToolResult = { readonly code: number | null; readonly out: string; readonly err: string };

function run(
  program: string,
  argv: readonly string[],
  env: ToolContext["env"],
  body: object | undefined,
): Promise<ToolResult> {
  return new Promise((report, fail) => {
    const quietEnv = {
      GH_PROMPT_DISABLED: "1",
      GH_NO_UPDATE_NOTIFIER: "1",
      GLAB_CHECK_UPDATE: "false",
      NO_PROMPT: "1",
      NO_COLOR: "1",
      LC_ALL: "C",
    };

    const child = spawn(program, argv, {
      cwd: "/",
      env: { ...env, ...quietEnv },
      stdio: ["pipe", "pipe", "pipe"],
    }); // T2
    const end = (): void => {
      child.kill("SIGKILL");
      closePipes(child);
    };
    const timer = setTimeout(end, callTimeoutMs); // T2
    closeAfterExit(child); // T2
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    let bytes = 0;

    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= outputBytesMax) into.push(chunk);
      else end();
    };
    child.stdout.on("data", collect(out));
    child.stderr.on("data", collect(err));
    child.stdin.on("error", () => undefined); // a program that doesn't read reports it by its exit code
    child.on("error", (error) => {
      clearTimeout(timer);
      fail(
        new WorkspaceFailed(
          "forge_tool_missing",
          `${program} could not be started: ${error.message}`,
        ),
      );
    });

    child.on("close", (code) => {
      clearTimeout(timer);
      report({
        code,
        out: Buffer.concat(out).toString("utf8"),
        err: Buffer.concat(err).toString("utf8"),
      });
    });

    child.stdin.end(body === undefined ? "" : JSON.stringify(body));
  });
}
