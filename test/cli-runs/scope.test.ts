// One change outside the scope, of whatever kind, and nothing of the attempt is applied. The same
// changes inside it land.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted, runFolderOf } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { aFew, longTest } from "../support/sampled.ts";

const files = {
  "src/a.txt": "a\n",
  "src/old.txt": "old\n",
  "outside/o.txt": "o\n",
  ".gitignore": "ignored/\n*.log\n",
};
const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const inSrc = ["--scope", "src/**", "--done-criteria", "b is there :: test -f src/b.txt"];
const hasBwrap = spawnSync("bwrap", ["--version"]).status === 0;

/** A repository with something beside it, and all of it that no run may touch. */
function place(): {
  readonly folder: string;
  readonly beside: string;
  readonly untouched: () => object;
} {
  const folder = scratch({ files });
  const beside = join(dirname(folder), "beside");
  write(beside, { "kept.txt": "kept\n" });

  const untouched = (): object => ({
    head: git(folder, "rev-parse", "HEAD"),
    branch: git(folder, "branch", "--show-current"),
    refs: git(folder, "for-each-ref", "--format=%(refname) %(objectname)")
      .split("\n")
      .filter((line) => !line.startsWith("refs/heads/autopilot/")),
    status: git(folder, "status", "--porcelain"),
    config: readFileSync(join(folder, ".git/config"), "utf8"),
    hooks: readdirSync(join(folder, ".git/hooks")),
    files: Object.keys(files).map((path) => [
      path,
      readFileSync(join(folder, path), "utf8"),
      statSync(join(folder, path)).mode,
    ]),
    beside: readdirSync(beside, { recursive: true }),
    kept: [readFileSync(join(beside, "kept.txt"), "utf8"), statSync(join(beside, "kept.txt")).mode],
  });

  return { folder, beside, untouched };
}

type Actions = (beside: string) => readonly object[];
const one =
  (action: object): Actions =>
  () => [action];
const kinds: readonly (readonly [string, Actions, string | RegExp])[] = [
  ["a file created", one({ write: { path: "outside/new.txt", text: "x" } }), "outside/new.txt"],
  ["a file edited", one({ append: { path: "outside/o.txt", text: "x" } }), "outside/o.txt"],
  ["a file deleted", one({ delete: { path: "outside/o.txt" } }), "outside/o.txt"],
  [
    "a file renamed into scope",
    one({ rename: { from: "outside/o.txt", to: "src/o.txt" } }),
    "outside/o.txt",
  ],
  [
    "a file renamed out of scope",
    one({ rename: { from: "src/old.txt", to: "outside/old.txt" } }),
    "outside/old.txt",
  ],
  ["a mode changed", one({ chmod: { path: "outside/o.txt", mode: "755" } }), "outside/o.txt"],
  [
    "the ignore file changed",
    one({ append: { path: ".gitignore", text: "src/\n" } }),
    ".gitignore",
  ],
  [
    "a change committed in the agent's own repository",
    one({
      run: "echo x >> outside/o.txt && git add -A && git -c user.name=a -c user.email=a@b commit -qm sly",
    }),
    "outside/o.txt",
  ],
  [
    "a symbolic link out of the repository, in scope",
    one({ link: { path: "src/link", target: "/etc" } }),
    "src/link",
  ],
  [
    "a symbolic link to a file in scope",
    one({ link: { path: "src/link", target: "a.txt" } }),
    "src/link",
  ],
  [
    "a folder in scope replaced by a link",
    one({ run: "mv src elsewhere && ln -s elsewhere src && mkdir -p src && touch src/b.txt" }),
    /^(src|elsewhere\/)/,
  ],
  [
    "a hard link to a file outside",
    (beside) => [{ link: { path: "src/hard", target: join(beside, "kept.txt"), hard: true } }],
    "src/hard",
  ],
  [
    "a nested repository",
    one({ run: "git init -q src/nested && echo x > src/nested/x" }),
    /^src\/nested/,
  ],
  ["a .git file in scope", one({ write: { path: "src/.git", text: "gitdir: /etc\n" } }), /^src/],
  [
    ".GIT in another case",
    one({ write: { path: "src/.GIT/config", text: "[core]\n" } }),
    /^src\/\.GIT/,
  ],
  [
    "a folder that differs from the scope by case only",
    one({ write: { path: "SRC/x.txt", text: "x" } }),
    "SRC/x.txt",
  ],
  [
    "a file that differs from another by case only",
    one({ write: { path: "src/A.txt", text: "x" } }),
    "src/A.txt",
  ],
  ["a fifo", one({ run: "mkfifo src/pipe" }), "src/pipe"],
];

describe.concurrent("outside the scope", () => {
  aFew(3).each(kinds)(
    "%s: refused twice, told in between, then paused, and nothing is applied",
    async (_what, actions, path) => {
      const { folder, beside, untouched } = place();
      const before = untouched();

      const { code, json } = await goScripted(
        folder,
        [{ do: [makeB, ...actions(beside), promise], repeat: 0 }],
        inSrc,
      );
      expect(json).toMatchObject({
        result: "FAIL",
        reason_code: "scope_violation_blocked",
        state: "paused",
      });

      expect(code).toBe(1);
      const refused = eventsOf(folder, "step_interrupted");
      expect(refused).toHaveLength(2);

      for (const event of refused) {
        expect(event).toMatchObject({ by: "scope", reason_code: "scope_violation_blocked" });
        expect(event["paths"]).toContainEqual(
          typeof path === "string" ? path : expect.stringMatching(path),
        );
      }

      expect(eventsOf(folder, "changes_applied")).toEqual([]);
      expect(git(folder, "rev-parse", `autopilot/${json.run_id}`)).toBe(
        git(folder, "rev-parse", "HEAD"),
      );

      expect(untouched()).toEqual(before);
    },
  );

  longTest(
    "every path of an attempt that left its scope is listed, and none that did not",
    "test/cli-runs/scope.test.ts › %s: refused twice, told in between, then paused, and nothing is applied",
    async () => {
      const { folder } = place();
      const away = ["outside/1.txt", "outside/2.txt", "top.txt", "outside/o.txt"];
      const actions = [
        ...away.slice(0, 3).map((path) => ({ write: { path, text: "x" } })),
        { delete: { path: "outside/o.txt" } },
      ];

      await goScripted(folder, [{ do: [makeB, ...actions, promise], repeat: 0 }], inSrc);
      expect(
        eventsOf(folder, "step_interrupted").map(({ paths }) => (paths as string[]).toSorted()),
      ).toEqual([away.toSorted(), away.toSorted()]);
    },
  );

  test("after the first violation the agent is told what was discarded and why, and an honest second try completes", async () => {
    const { folder } = place();
    const honest = await goScripted(
      folder,
      [
        { do: [makeB, { write: { path: "top.txt", text: "x" } }, promise] },
        { do: [makeB, promise] },
      ],
      inSrc,
    );
    expect(honest.json).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
      state: "completed",
    });

    expect(existsSync(join(folder, "top.txt"))).toBe(false);

    const { folder: other } = place();
    const reported = join(dirname(other), "prompts.txt");
    const dump = resolve(import.meta.dirname, "../fixtures/agents/dump.mjs");
    write(other, {
      ".autopilot/config.yaml": JSON.stringify({
        agents: { dump: { argv: [process.execPath, dump, reported, "top.txt"] } },
      }),
    });

    const { json } = await autopilot(other, [
      "go",
      "make b",
      "--yes",
      "--json",
      "--isolation",
      "clone",
      "--agent",
      "dump",
      ...inSrc,
    ]);
    expect(json).toMatchObject({ reason_code: "scope_violation_blocked", state: "paused" });
    const [first, second] = readFileSync(reported, "utf8").split("=== end of a prompt\n");
    expect(first).not.toContain("top.txt");
    expect(second).toMatch(/discarded[\s\S]*outside the scope[\s\S]*top\.txt/);
  });

  test("a violation that is paused can be resumed, and honest work then completes", async () => {
    const { folder } = place();
    const bad = { do: [makeB, { write: { path: "top.txt", text: "x" } }, promise], repeat: 2 };
    const { json } = await goScripted(folder, [bad, { do: [makeB, promise] }], inSrc);
    expect(json).toMatchObject({ reason_code: "scope_violation_blocked", state: "paused" });
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      reason_code: "completion_verified",
      state: "completed",
    });
  });

  test.each([
    ["an absolute path", (beside: string) => join(beside, "absolute.txt")],
    [
      "a path with ..",
      (beside: string) => `${"../".repeat(12)}${join(beside, "dotted.txt").slice(1)}`,
    ],
  ])(
    "%s outside the repository: the attempt is refused, because the agent's own tool call names it",
    async (_what, pathOf) => {
      const { folder, beside } = place();
      const path = pathOf(beside);

      const { json } = await goScripted(
        folder,
        [{ do: [makeB, { write: { path, text: "x" } }, promise], repeat: 0 }],
        inSrc,
      );
      expect(json).toMatchObject({ reason_code: "scope_violation_blocked", state: "paused" });
      const [refused] = eventsOf(folder, "step_interrupted");
      expect(refused?.["paths"]).toEqual([resolve("/", path.replace(/^(\.\.\/)+/, "/"))]);
      expect(eventsOf(folder, "changes_applied")).toEqual([]);
    },
  );

  test.skipIf(!hasBwrap)(
    "with bubblewrap a write outside changes nothing outside, named or not (skipped where bwrap is not installed)",
    async () => {
      const { folder, beside, untouched } = place();
      const before = untouched();
      const sly = {
        run: `echo x > ${join(beside, "sly.txt")}; echo x >> ${join(beside, "kept.txt")}; echo x > ${join(folder, "sly.txt")}; rm -rf ${join(folder, ".git")}; echo x > "$HOME/../sly"; touch src/tried`,
      };

      const named = { write: { path: join(folder, "src/a.txt"), text: "x" } };
      const { json } = await goScripted(
        folder,
        [{ do: [makeB, sly, named] }],
        [...inSrc, "--isolation", "bwrap", "--max-cycles", "1"],
      );
      expect(json).toMatchObject({ reason_code: "completion_promise_missing", state: "paused" });
      expect(untouched()).toEqual(before);
      expect(eventsOf(folder, "changes_applied")).toMatchObject([
        { paths: ["src/b.txt", "src/tried"] },
      ]); // it did try

      expect(existsSync(join(runFolderOf(folder), "sly"))).toBe(false);
    },
  );
});
