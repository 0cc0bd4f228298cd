import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommandContext } from "../../project/command-context.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import { addProject, initPortfolio } from "../portfolio/add.ts";
import { answerPortfolio } from "../portfolio/answer.ts";
import { moveTask, pausePortfolio } from "../portfolio/change.ts";
import { openMcpServer } from "./server.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "mcp-portfolio-"));
  const git = (...words: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...words], { cwd: root });
  git("init", "-q", "-b", "main", "all/repo");
  git("-C", "all/repo", "commit", "-q", "--allow-empty", "-m", "start");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const person = (): CommandContext =>
  commandContext({
    cwd: join(root, "all"),
    env: { HOME: join(root, "home"), PATH: "/usr/bin:/bin" },
    user: "me",
  });

test("over MCP a task is proposed and nothing else of a portfolio is decided, by name or from inside a run", async () => {
  await initPortfolio(person(), {});
  await addProject(person(), { name: "shop", repo: "repo", objective: "sell" });

  const call = {
    name: "add_task",
    arguments: {
      project: "shop",
      objective: "add a cart",
      accept: ["it is there :: test -f cart"],
    },
  };

  const answer = await openMcpServer(
    person(),
    [],
  )(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }));

  const { result } = JSON.parse(answer ?? "") as { result: { content: [{ text: string }] } };
  expect(JSON.parse(result.content[0].text)).toMatchObject({ result: "PASS" });
  const { data } = JSON.parse(result.content[0].text) as { data: { id: string; status: string } };
  expect(data.status).toBe("proposed");

  const ready = { task: data.id, to: "ready", because: "because" } as const;
  for (const [place, reason_code] of [
    [{ ...person(), agent: "claude" }, "agent_may_not_grant"],
    [{ ...person(), env: { ...person().env, AUTOPILOT_LIFE: "x" } }, "inside_a_run"],
  ] as const) {
    expect(await moveTask(place, ready)).toMatchObject({ result: "FAIL", reason_code });
    expect(await pausePortfolio(place, { paused: false })).toMatchObject({
      result: "FAIL",
      reason_code,
    });

    expect(await addProject(place, { name: "mine", repo: "repo" })).toMatchObject({
      result: "FAIL",
      reason_code,
    });

    expect(await pausePortfolio(place, { paused: true })).toMatchObject({ result: "PASS" });
    expect(await answerPortfolio(place, { text: "yes" })).toMatchObject({ result: "FAIL" });
  }

  expect(await moveTask(person(), ready)).toMatchObject({
    result: "PASS",
    data: { status: "ready" },
  });
});
