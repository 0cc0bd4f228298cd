// Pull requests of finished runs, opened through a stand-in for gh and glab, pushed to a real
// repository.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  apart,
  autopilot,
  goScripted,
  goArgs,
  journal,
  runFolderOf,
} from "../support/autopilot.ts";
import { codeHost } from "../support/code-host.ts";
import { rewound } from "../support/rewind.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";

const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const proved = ["--done-criteria", "b is there :: grep -q b src/b.txt"];
const unproved = ["--done-criteria", "b is nice"];
const events = (folder: string): readonly string[] => journal(folder).map(({ event }) => event);
const runOf = (folder: string): string => runFolderOf(folder).split("/").at(-1) ?? "";

describe.each(["gh", "glab"] as const)("with %s", (tool) => {
  test("--land pr pushes the proved branch and opens one pull request with its proof; nothing is merged", async () => {
    const folder = scratch();
    const host = codeHost(folder, tool);
    const main = git(folder, "rev-parse", "main");
    const went = await goScripted(folder, [{ do: [makeB, promise] }], [...proved, "--land", "pr"], {
      env: host.env,
    });
    expect(went.json, went.err).toMatchObject({ reason_code: "completion_verified" });
    const branch = `autopilot/${runOf(folder)}`;
    expect([host.branch(branch), host.branch("main"), git(folder, "rev-parse", "main")]).toEqual([
      git(folder, "rev-parse", branch),
      main,
      main,
    ]);

    const [pull, ...others] = host.read().pulls;
    expect([pull?.branch, pull?.base, pull?.draft, others]).toEqual([branch, "main", false, []]);
    expect(pull?.body).toContain("**Verified.**");
    expect(pull?.body).toContain("| ` grep -q b src/b.txt ` | failed | passed |");
    expect(pull?.body).toContain(`autopilot verify --run ${runOf(folder)}`);
    expect(events(folder).slice(-2)).toEqual(["pull_request_intended", "pull_request_opened"]);

    const again = await autopilot(folder, ["pr", "--json"], { env: host.env });
    expect(again.json).toMatchObject({ reason_code: "pull_request_opened", created: false });
    expect(host.calls().filter(({ body }) => body !== null)).toHaveLength(1);
    const status = await autopilot(folder, ["status", "--json"]);
    expect(status.out).toContain("autopilot pr watch");
    expect((await autopilot(folder, ["verify", "--json"], { env: host.env })).json).toMatchObject({
      result: "PASS",
    });
  });
});

test("what is not wholly proved is a draft that names its gaps; what nothing proved needs --draft", async () => {
  const folder = scratch();
  const host = codeHost(folder);
  await goScripted(folder, [{ do: [makeB, promise] }], [...proved, ...unproved], { env: host.env });
  const gaps = await autopilot(folder, ["pr", "--json"], { env: host.env });
  expect(gaps.json, gaps.err).toMatchObject({
    reason_code: "pull_request_draft",
    draft: true,
    verdict: "verified_with_gaps",
  });

  expect(host.read().pulls[0]?.body).toMatch(/## Not proved\n- /);

  await goScripted(
    folder,
    [{ do: [{ write: { path: "c.txt", text: "c\n" } }, promise] }],
    unproved,
    { env: host.env },
  );

  const refused = await autopilot(folder, ["pr", "--json"], { env: host.env });
  expect(refused.json).toMatchObject({ result: "FAIL", reason_code: "work_unproved" });
  expect(host.read().pulls).toHaveLength(1);
  expect(host.branch(`autopilot/${runOf(folder)}`)).toBeNull();
  const draft = await autopilot(folder, ["pr", "--draft", "--json"], { env: host.env });
  expect(draft.json).toMatchObject({ reason_code: "pull_request_draft" });
  expect(host.read().pulls[1]).toMatchObject({ draft: true });
});

test("hostile words stay words: in code in the body, and on no command line", async () => {
  const folder = scratch();
  const host = codeHost(folder);
  const goal = "fixes #1 @acme/admins <img src=x> ``` $(touch pwned) ; `id`\u202e";
  const args = ["go", goal, "--yes", "--json", "--isolation", "clone", "--land", "pr", ...proved];
  writeFileSync(
    join(folder, "..", "script.json"),
    JSON.stringify({ turns: [{ do: [makeB, promise] }] }),
  );

  const went = await autopilot(
    folder,
    [...args, "--agent", `scripted:${join(folder, "..", "script.json")}`],
    { env: host.env },
  );
  expect(went.json, went.err).toMatchObject({ reason_code: "completion_verified" });
  const body = host.read().pulls[0]?.body ?? "";
  expect(body).toContain("````text\nfixes #1");
  const outside = body
    .replaceAll(/^(`{3,})text\n[\s\S]*?\n\1$/gm, "")
    .replaceAll(/(`+) .*? \1/g, "");
  expect(outside).not.toMatch(/fixes #1|@acme|<img|pwned/);
  expect(body).not.toContain("\u202e");
  expect(JSON.stringify(host.calls().map(({ argv }) => argv))).not.toMatch(/pwned|acme\/admins/);
});

test("killed right after the pull request was made, the next try finds it and makes no second one", async () => {
  const folder = scratch();
  const host = codeHost(folder);
  host.set({ killsAfterPosts: 1 });
  const args = goArgs(folder, [{ do: [makeB, promise] }], [...proved, "--land", "pr"]);
  const killed = await apart(folder, args, { env: host.env }); // the stand-in ends the process that asks
  expect(killed.signal).toBe("SIGKILL");
  expect(events(folder).at(-1)).toBe("pull_request_intended");
  host.set({ killsAfterPosts: 0 });
  const status = await autopilot(folder, ["status", "--json"]);
  expect(status.out).toContain(`autopilot pr ${runOf(folder)}`);
  const found = await autopilot(folder, ["pr", "--json"], { env: host.env });
  expect(found.json, found.err).toMatchObject({
    reason_code: "pull_request_opened",
    number: 7,
    created: false,
  });

  expect(host.read().pulls).toHaveLength(1);
});

describe("what is in the way is named, and nothing is lost", () => {
  let host: ReturnType<typeof codeHost> | null = null;
  const folderOf = rewound(async () => {
    const folder = scratch();
    host = codeHost(folder);
    await goScripted(folder, [{ do: [makeB, promise] }], [...proved, "--option", "land=false"], {
      env: host.env,
    });

    return folder;
  });

  const finished = async (): Promise<{ folder: string; host: ReturnType<typeof codeHost> }> => {
    const folder = await folderOf();
    if (host === null) throw new Error("no run has finished");
    return { folder, host };
  };

  test("no login, no program, no remote, a remote that is a folder", async () => {
    const { folder, host } = await finished();
    const before = journal(folder).length;
    expect(
      (await autopilot(folder, ["pr", "watch", "--once", "--json"], { env: host.env })).json,
    ).toMatchObject({
      reason_code: "pull_request_missing",
    });

    host.set({ isLoggedIn: false });
    const login = await autopilot(folder, ["pr", "--json"], { env: host.env });
    expect(login.json).toMatchObject({
      reason_code: "forge_login_needed",
      remediation: ["gh auth login --hostname github.com"],
    });

    const none = await autopilot(folder, ["pr", "--json"], { env: { PATH: "/usr/bin:/bin" } });
    expect(none.json).toMatchObject({ reason_code: "forge_tool_missing" });
    git(folder, "remote", "set-url", "origin", host.remote);
    expect((await autopilot(folder, ["pr", "--json"], { env: host.env })).json).toMatchObject({
      reason_code: "remote_missing",
    });

    git(folder, "remote", "remove", "origin");
    expect((await autopilot(folder, ["pr", "--json"], { env: host.env })).json).toMatchObject({
      reason_code: "remote_missing",
    });

    expect(journal(folder)).toHaveLength(before);
    expect(host.branch(`autopilot/${runOf(folder)}`)).toBeNull();
  });

  test("a push that the remote refuses, and a branch there that holds something else", async () => {
    const { folder, host } = await finished();
    write(host.remote, {
      "hooks/pre-receive":
        "#!/bin/sh\necho 'Permission to acme/shop.git denied to tester.' >&2\nexit 1\n",
    });

    const denied = await autopilot(folder, ["pr", "--json"], { env: host.env });
    expect(denied.json, denied.err).toMatchObject({ reason_code: "push_refused" });
    expect(denied.json.remediation.join("\n")).toContain("you may not write to acme/shop");
    expect(denied.json.remediation.join("\n")).toContain(
      `gh pr create --repo acme/shop --base main --head YOU:autopilot/${runOf(folder)}`,
    );

    write(host.remote, { "hooks/pre-receive": "#!/bin/sh\nexit 0\n" });
    git(folder, "commit", "-q", "--allow-empty", "-m", "theirs");
    git(folder, "push", "-q", host.remote, `main:refs/heads/autopilot/${runOf(folder)}`);
    const theirs = host.branch(`autopilot/${runOf(folder)}`);
    const moved = await autopilot(folder, ["pr", "--json"], { env: host.env });
    expect(moved.json).toMatchObject({ reason_code: "pull_request_moved" });
    expect(host.branch(`autopilot/${runOf(folder)}`)).toBe(theirs);
    expect(host.read().pulls).toEqual([]);
  });
});

test("neither an agent nor a check sees the host's program or its token", async () => {
  const folder = scratch();
  const host = codeHost(folder);
  const look = {
    run: "mkdir -p src; env > src/b.txt; (gh api x && echo called) >> src/b.txt 2>&1; echo b >> src/b.txt",
  };

  const went = await goScripted(
    folder,
    [{ do: [look, promise] }],
    ["--done-criteria", "b :: grep -q b src/b.txt && ! env | grep -q ghp_", "--land", "pr"],
    {
      env: host.env,
    },
  );
  expect(went.json, went.err).toMatchObject({ state: "completed" });
  const seen = git(folder, "show", `autopilot/${runOf(folder)}:src/b.txt`);
  expect(seen).not.toContain("ghp_");
  expect(
    host
      .calls()
      .filter(({ argv }) => argv.includes("x"))
      .map(({ token }) => token),
  ).toEqual(host.calls().some(({ argv }) => argv.includes("x")) ? [null] : []);

  expect(host.calls().some(({ token }) => token !== null)).toBe(true);
});
