// The positive controls of scope.test.ts: inside the scope every honest kind of change lands, and
// what git ignores is nobody's business.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";

const files = {
  "src/a.txt": "a\n",
  "src/old.txt": "old\n",
  "src/run.sh": "echo\n",
  "src/gone.txt": "gone\n",
  "outside/o.txt": "o\n",
  ".gitignore": "ignored/\n*.log\n",
};
const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const inSrc = ["--scope", "src/**", "--done-criteria", "b is there :: test -f src/b.txt"];

describe.concurrent("inside the scope", () => {
  test("a file created, edited, deleted, renamed and made executable lands", async () => {
    const folder = scratch({ files });
    const actions = [
      makeB,
      { append: { path: "src/a.txt", text: "more\n" } },
      { delete: { path: "src/gone.txt" } },
      { rename: { from: "src/old.txt", to: "src/deep/new.txt" } },
      { chmod: { path: "src/run.sh", mode: "755" } },
    ];

    const { json } = await goScripted(folder, [{ do: [...actions, promise] }], inSrc);
    expect(json).toMatchObject({ result: "PASS", state: "completed", verdict: "verified" });
    expect(
      git(folder, "diff", "--name-status", "--no-renames", "HEAD~1", "HEAD").split("\n").toSorted(),
    ).toEqual(
      [
        "A\tsrc/b.txt",
        "A\tsrc/deep/new.txt",
        "D\tsrc/gone.txt",
        "D\tsrc/old.txt",
        "M\tsrc/a.txt",
        "M\tsrc/run.sh",
      ].toSorted(),
    );

    expect(statSync(join(folder, "src/run.sh")).mode & 0o111).toBe(0o111);
    expect(readFileSync(join(folder, "src/a.txt"), "utf8")).toBe("a\nmore\n");
    expect(git(folder, "status", "--porcelain")).toBe("");
  });

  test("started in a folder of the repository, commands run there and the scope begins there", async () => {
    const folder = scratch({ files: { ...files, "packages/api/test.sh": "test -f b.txt\n" } });
    const typed = [
      "-C",
      "packages/api",
      "--scope",
      "*.txt",
      "--done-criteria",
      "b is there :: sh test.sh",
    ];

    const outside = await goScripted(folder, [{ do: [makeB, promise] }], typed);
    expect(outside.json).toMatchObject({ result: "FAIL" });
    await autopilot(folder, ["stop", "--json"]);

    const { json } = await goScripted(
      folder,
      [{ do: [{ write: { path: "packages/api/b.txt", text: "b\n" } }, promise] }],
      typed,
    );
    expect(json).toMatchObject({ result: "PASS", state: "completed", verdict: "verified" });
    expect(json.warnings).toContain(
      "Commands of this objective run in packages/api/, where you are, and its scope begins there.",
    );

    expect(git(folder, "show", "--name-only", "--format=", "HEAD")).toBe("packages/api/b.txt");
  });

  test("the agent's commits in its own repository count as changes; its branches, tags, hooks and config do not land", async () => {
    const folder = scratch({ files });
    const config = readFileSync(join(folder, ".git/config"), "utf8");
    const run =
      "git checkout -q -b sly && git add -A && git -c user.name=a -c user.email=a@b commit -qm mine && git tag sly && git config core.hooksPath /tmp && printf '#!/bin/sh\\ntouch src/hooked\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout";
    const { json } = await goScripted(folder, [{ do: [makeB, { run }, promise] }], inSrc);
    expect(json).toMatchObject({ result: "PASS", state: "completed" });
    expect(git(folder, "for-each-ref", "--format=%(refname)").split("\n")).toEqual([
      `refs/heads/autopilot/${json.run_id}`,
      "refs/heads/main",
    ]);

    expect(readFileSync(join(folder, ".git/config"), "utf8")).toBe(config);
    expect(git(folder, "ls-files", "src").split("\n")).toContain("src/b.txt");
    expect(existsSync(join(folder, "src/hooked"))).toBe(false);
  });

  test("ignored files are neither applied nor violations, wherever they lie; who leaves nothing else is told", async () => {
    const folder = scratch({ files });
    const actions = [
      { write: { path: "ignored/x.bin", text: "x" } },
      { write: { path: "src/debug.log", text: "x" } },
      { write: { path: "top.log", text: "x" } },
    ];

    const { json } = await goScripted(
      folder,
      [{ do: actions }, { do: [makeB, ...actions, promise] }],
      inSrc,
    );
    expect(json).toMatchObject({ result: "PASS", state: "completed" });
    expect(eventsOf(folder, "step_interrupted")).toEqual([]);
    expect(eventsOf(folder, "step_completed").map(({ detail }) => detail)).toContain(
      "nothing was changed but 3 path(s) that git ignores, which are left out",
    );

    expect(eventsOf(folder, "changes_applied")).toMatchObject([
      { paths: ["src/b.txt"], not_applied: 3 },
    ]);

    for (const path of ["ignored/x.bin", "src/debug.log", "top.log"]) {
      expect(existsSync(join(folder, path))).toBe(false);
    }
  });

  test("an exclusion takes a part out of the scope", async () => {
    const folder = scratch({ files });
    const args = [
      "--scope",
      "src/**,!src/secret/**",
      "--done-criteria",
      "b is there :: test -f src/b.txt",
    ];

    const { json } = await goScripted(
      folder,
      [
        { do: [makeB, { write: { path: "src/secret/x", text: "x" } }, promise] },
        { do: [makeB, promise] },
      ],
      args,
    );
    expect(json).toMatchObject({ state: "completed" });
    expect(eventsOf(folder, "step_interrupted")).toMatchObject([{ paths: ["src/secret/x"] }]);
    expect(existsSync(join(folder, "src/secret"))).toBe(false);
  });

  test("with no scope given every file may change, and the answer says so", async () => {
    const folder = scratch({ files });
    const { json } = await goScripted(
      folder,
      [{ do: [makeB, { write: { path: "top.txt", text: "x" } }, promise] }],
      ["--done-criteria", "b :: test -f src/b.txt"],
    );
    expect(json).toMatchObject({ state: "completed" });
    expect(json.warnings.join(" ")).toContain("scope = **");
    expect((await autopilot(folder, ["status", "--json"])).json.objective).toMatchObject({
      scope: ["**"],
    });
  });
});
