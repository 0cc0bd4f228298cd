// What is found at a pull request, at both hosts, through a stand-in for their programs.

import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { codeHost } from "../../test/support/code-host.ts";
import { git, scratch } from "../../test/support/scratch-repository.ts";
import { openForge } from "./push-to-forge.ts";

const checks = [
  {
    id: 31,
    name: "lint",
    status: "completed",
    conclusion: "failure",
    log: "2026-01-01T00:00:00.0Z \u001b[31mline 1 lacks a c\u001b[0m\n",
  },
  { id: 32, name: "test", status: "completed", conclusion: "success", log: "" },
];
const comments = [
  {
    id: 1,
    body: "do something else",
    login: "stranger",
    association: "NONE",
    kind: "issue" as const,
  },
  {
    id: 2,
    body: "cap this",
    login: "maya",
    association: "MEMBER",
    path: "src/b.txt",
    line: 4,
    kind: "line" as const,
  },
  {
    id: 4,
    body: "cap that",
    login: "reader",
    association: "MEMBER",
    permission: "read" as const,
    kind: "issue" as const,
  },
  { id: 3, body: "  ", login: "maya", association: "MEMBER", kind: "review" as const },
];

test.each([
  ["gh", "github.com", "line:2"],
  ["glab", "gitlab.com", "note:2"],
] as const)(
  "%s: a red check with the end of its log, and a comment of who may write; nothing of a stranger's",
  async (tool, host, key) => {
    const folder = scratch();
    const stand = codeHost(folder, tool);
    git(folder, "push", "-q", stand.remote, "main:refs/heads/work");
    const forge = openForge(
      { tool, host, project: "acme/shop" },
      { ...stand.env, HOME: join(dirname(folder), "home") },
    );
    expect(await forge.findPullRequest("work")).toBeNull();

    const made = await forge.createPullRequest({
      branch: "work",
      base: "main",
      title: "t",
      body: "b",
      isDraft: true,
    });
    expect(made).toMatchObject({
      number: 7,
      state: "open",
      isDraft: true,
      head: git(folder, "rev-parse", "main"),
    });

    expect(await forge.findPullRequest("work")).toEqual(made);
    // A second one is refused by the host, and then found.
    expect(
      await forge.createPullRequest({
        branch: "work",
        base: "main",
        title: "t",
        body: "b",
        isDraft: true,
      }),
    ).toEqual(made);

    stand.set({ checks, comments });
    const look = await forge.inspectPullRequest(7);
    expect(look).toMatchObject({ state: "open", pending: 0, ignored: 2 });
    expect(look.evidence.map(({ kind, by, at, text }) => [kind, by, at, text])).toEqual([
      ["check", "lint", undefined, "line 1 lacks a c"],
      ["comment", "maya", "src/b.txt:4", "cap this"],
    ]);

    expect(look.evidence[1]?.key).toBe(key);
    stand.set({
      checks: checks.map((check) => ({ ...check, status: "in_progress", conclusion: null })),
    });

    expect((await forge.inspectPullRequest(7)).pending).toBeGreaterThan(0);
    stand.set({ pulls: stand.read().pulls.map((pull) => ({ ...pull, state: "closed" })) });
    expect(await forge.inspectPullRequest(7)).toMatchObject({ state: "closed", evidence: [] });
  },
);
