// The runner's own files: every function that commits one does so alike where a layer is a copy and
// where it is a view that holds only what was changed in it, replaces what is in the way, and makes
// one commit however often it is asked.

import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../src/contracts/event.ts";
import type { CursorView, RunView } from "../../src/core/state.ts";
import { createDocsNoteStep } from "../../src/playbooks/quality/steps/docs-note.ts";
import { createPhaseFoundStep } from "../../src/playbooks/quality/steps/phase-found.ts";
import { createRedLogsStep } from "../../src/playbooks/quality/steps/red-logs.ts";
import { missingFileField } from "../../src/playbooks/quality/views/quality-names.ts";
import { createCommitWaveStep } from "../../src/playbooks/staged/steps/commit-wave.ts";
import type { FunctionInput } from "../../src/ports/functions.ts";
import { entryOf, runView, cursor } from "../../src/views/run-view.test-support.ts";
import { openStore } from "../../src/workspace/bases/store.ts";
import {
  type Bench,
  git,
  makeRepository,
  makeRoom,
  openBench,
  runRef,
  write,
} from "./bench-repository.ts";

const attempt = "1@1/own#1";
const files = {
  "quality/EXPLORATION.md": "# Exploration\n",
  "quality/BUGS.md": "# Bugs\n",
  "README.md": "hello\n",
};

/** A run's workspace, its folders made in this way. */
async function openAt(
  checkouts: "overlay" | "copy",
  more: Partial<Parameters<typeof openBench>[0]> = {},
): Promise<Bench> {
  const room = makeRoom();
  return openBench({
    root: makeRepository(join(room, "repo"), files),
    checkouts,
    store: openStore(join(room, "store")),
    ...more,
  });
}

type Order = FunctionInput<RunView, CursorView>;
const orderOf = (bench: Bench, changes: Partial<Order> = {}): Order => ({
  attempt,
  state: runView(),
  cursor: cursor("1", []),
  commit: runRef(bench.root),
  sees: {},
  changed: [],
  previous: null,
  cancel: new AbortController().signal,
  onLiveEvent: () => undefined,
  ...changes,
});

describe.each(["overlay", "copy"] as const)("%s", (checkouts) => {
  test("docs_note writes at the top of a file in a folder that nobody has changed", async () => {
    const bench = await openAt(checkouts);
    const first = await createDocsNoteStep(bench.workspace).perform(orderOf(bench));
    expect(first).toMatchObject({
      ok: true,
      facts: { noted: true },
      applied: { paths: ["quality/EXPLORATION.md"] },
    });

    const text = git(bench.root, "show", `${runRef(bench.root)}:quality/EXPLORATION.md`);
    expect(text).toMatch(/^## Documentation status: code-only mode\n[\s\S]*# Exploration$/);
    const tip = runRef(bench.root);
    await createDocsNoteStep(bench.workspace).perform(orderOf(bench, { commit: `${tip}^` }));
    expect(runRef(bench.root)).toBe(tip);
  });

  test("phase_found takes off the branch what the user took away", async () => {
    const bench = await openAt(checkouts);
    const gone = {
      event: "document_differed",
      actor: "system",
      reason_code: "ok",
      path: "quality/BUGS.md",
      field: missingFileField,
      found: "absent",
      kept: "absent",
      because: "gone",
    } as const;
    const entries = (): readonly Entry[] => [entryOf(gone, 3)];

    const parts = {
      workspace: bench.workspace,
      entries,
      readBlob: () => null,
      verifier: { prove: () => Promise.reject(new Error("unused")) },
    };
    const found = await createPhaseFoundStep(parts).perform(
      orderOf(bench, { cursor: { ...cursor("1", []), visit: 2 } }),
    );
    expect(found).toMatchObject({
      ok: true,
      facts: { cleared: 1 },
      applied: { paths: ["quality/BUGS.md"] },
    });

    expect(git(bench.root, "ls-tree", "-r", "--name-only", runRef(bench.root))).not.toContain(
      "BUGS.md",
    );
  });

  test("commit_wave and red_logs write into folders that are not there", async () => {
    const bench = await openAt(checkouts);
    const state = runView({
      open: {
        "1/all": { attempt: "1@1/all#1", waves: [["01_a", "01_b"]] },
      } as unknown as ReturnType<typeof runView>["open"],
    });

    const wave = { ...cursor("1/all:1", []), phase: "1", inside: "1/all" };
    expect(
      await createCommitWaveStep(bench.workspace).perform(orderOf(bench, { state, cursor: wave })),
    ).toMatchObject({
      applied: { paths: ["_docs/03_implementation/batch_01_report.md"] },
    });

    expect(
      await createRedLogsStep({ workspace: bench.workspace, readBlob: () => null }).perform(
        orderOf(bench),
      ),
    ).toMatchObject({
      ok: true,
    });
  });
});

test("only the engine opens a layer, for an agent: the runner's own functions commit without one", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.includes(".test"),
  );
  const callers = files.filter((path) =>
    /\.openLayer\(/.test(readFileSync(join("src", path), "utf8")),
  );
  expect(callers).toEqual(["engine/agent-turn.ts"]);
});

test("a link in a file's place, or in the place of a folder above it, is replaced and never written through", async () => {
  const bench = await openAt("copy");
  const outside = makeRoom();
  git(bench.root, "checkout", "-q", "-B", "linked");
  git(bench.root, "rm", "-rq", "quality");
  symlinkSync(outside, join(bench.root, "quality"));
  write(bench.root, "keep/me", "x\n");
  git(bench.root, "add", "-A", "quality", "keep");
  git(bench.root, "commit", "-q", "-m", "links");
  const linked = await openBench({ root: makeRoomCopy(bench.root) });
  const commit = runRef(linked.root);

  const order = {
    attempt,
    since: commit,
    subject: "own",
    files: [
      { path: "quality/a.md", text: "a\n" },
      { path: "keep", text: "file\n" },
    ],
  };
  const applied = await linked.workspace.commitFiles(order);
  expect(applied).toMatchObject({ paths: ["keep", "keep/me", "quality", "quality/a.md"] });
  expect(git(linked.root, "show", `${runRef(linked.root)}:quality/a.md`)).toBe("a");
  expect(await linked.workspace.commitFiles(order)).toEqual(applied);
});

function makeRoomCopy(root: string): string {
  const to = join(makeRoom(), "repo");
  git(root, "clone", "-q", root, to);
  return to;
}

test("what another attempt changed since it was read is a conflict, and a secret or a path outside the scope is refused", async () => {
  const secret = "s3cr3t-value-of-the-user";
  const bench = await openAt("copy", {
    scope: ["quality/**"],
    secretsIn: (bytes) =>
      Promise.resolve(bytes.includes(secret) ? [{ name: "TOKEN", text: secret }] : []),
  });
  const since = runRef(bench.root);
  const commit = (key: string, path: string, text: string) =>
    bench.workspace.commitFiles({ attempt: key, since, subject: key, files: [{ path, text }] });
  await commit("1@1/a#1", "quality/BUGS.md", "one\n");
  const tip = runRef(bench.root);
  expect(await commit("1@1/b#1", "quality/BUGS.md", "two\n")).toEqual({
    conflict: ["quality/BUGS.md"],
  });

  await expect(commit("1@1/c#1", "README.md", "x\n")).rejects.toThrow("README.md (outside_scope");
  await expect(commit("1@1/d#1", "quality/log", secret)).rejects.toThrow(
    "it holds the secret TOKEN",
  );

  expect(
    await commit("1@1/e#1", "quality/EXPLORATION.md", files["quality/EXPLORATION.md"]),
  ).toBeNull();

  expect(runRef(bench.root)).toBe(tip);
});
