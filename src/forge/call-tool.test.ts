import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { endLeftBehind, hasSetsid, leaveBehind } from "../../test/support/left-behind.ts";
import { callTool } from "./call-tool.ts";
import { openGitHub } from "./github.ts";

const folder = mkdtempSync(join(tmpdir(), "call-tool-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program called gh that does what the shell lines say. */
function standIn(lines: string) {
  writeFileSync(join(folder, "gh"), `#!/bin/sh\n${lines}\n`);
  chmodSync(join(folder, "gh"), 0o755);
  return { tool: "gh", host: "github.com", env: { PATH: `${folder}:/usr/bin:/bin` } } as const;
}

test.each([
  ["exit 4", "forge_login_needed"],
  ["echo 'gh: Bad credentials (HTTP 401)' >&2; exit 1", "forge_login_needed"],
  ["echo 'gh: Not Found (HTTP 404)' >&2; exit 1", "forge_refused"],
  ["echo 'gh: Validation Failed (HTTP 422)' >&2; exit 1", "forge_refused"],
  ["echo 'gh: API rate limit exceeded for user ID 1. (HTTP 403)' >&2; exit 1", "forge_unreachable"],
  ["echo 'gh: Resource not accessible (HTTP 403)' >&2; exit 1", "forge_refused"],
  ["echo 'error connecting to api.github.com' >&2; exit 1", "forge_unreachable"],
  ["echo '<html>'", "forge_unreachable"],
])("%s is told as %s", async (lines, reason) => {
  await expect(callTool(standIn(lines), { path: "x" })).rejects.toMatchObject({ reason });
});

test("a program that is not there is named; one in a folder of the repository is not looked for", async () => {
  standIn("echo '{}'");
  const place = { tool: "gh", host: "github.com", env: { PATH: "./bin:relative" } } as const;
  await expect(callTool(place, { path: "x" })).rejects.toMatchObject({
    reason: "forge_tool_missing",
  });
});

test("texts go in as JSON on stdin; an answer of another shape is told, and gives no pull request", async () => {
  const echo = standIn(`cat > ${join(folder, "in.json")}; echo "{\\"number\\": \\"seven\\"}"`);
  const request = { branch: "b", base: "main", title: "`id` $(id)", body: "'\"", isDraft: false };
  await expect(openGitHub(echo, "acme/shop").createPullRequest(request)).rejects.toMatchObject({
    reason: "forge_unreachable",
  });
});

test("a list that is too long to be read whole is a failure: a part of it is not taken for all", async () => {
  const pull = {
    number: 1,
    html_url: "https://github.com/acme/shop/pull/1",
    state: "open",
    head: { sha: "a" },
  };

  writeFileSync(join(folder, "page.json"), JSON.stringify(Array.from({ length: 100 }, () => pull)));
  const endless = openGitHub(standIn(`cat ${join(folder, "page.json")}`), "acme/shop");
  await expect(endless.findPullRequest("b")).rejects.toMatchObject({
    reason: "forge_unreachable",
    message: expect.stringContaining("5000 entries or more") as string,
  });
});

test("a token of another host is not handed to the program", async () => {
  const { env, ...place } = standIn(`echo "[\\"$GH_TOKEN\\",\\"$GH_ENTERPRISE_TOKEN\\"]"`);
  const tokens = { ...env, GH_TOKEN: "a", GH_ENTERPRISE_TOKEN: "b" };
  expect(await callTool({ ...place, env: tokens }, { path: "x" })).toEqual(["a", ""]);
  expect(
    await callTool({ ...place, host: "github.evil.example", env: tokens }, { path: "x" }),
  ).toEqual(["", ""]);
});

test.skipIf(!hasSetsid)(
  "a process left behind that holds the output open is not waited for (needs setsid)",
  async () => {
    const output = await callTool(standIn(leaveBehind()), { path: "x", isText: true });
    expect(endLeftBehind(String(output))).toBe(true);
  },
);
