// Whose a run is, told by a record outside the repository.

import {
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type ProjectPaths, runFolder } from "./project-paths.ts";
import { openJournal } from "../../journal/file-journal.ts";
import { readBytes, putBytes, skipped, still } from "../../journal/scene.test-support.ts";
import {
  findBinding,
  bindRun,
  markForeign,
  stateFolder,
  unbindRun,
  whyForeign,
} from "./run-binding.ts";
import { respond } from "../respond.ts";

const run = "run-2026-01-01-000000";
const made: string[] = [];
afterEach(() =>
  made.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })),
);

type Bound = {
  readonly base: string;
  readonly paths: ProjectPaths;
  readonly env: Record<string, string>;
  readonly folder: string;
  readonly journal: string;
};

const homeAt = (root: string): ProjectPaths => ({ root, folder: join(root, ".autopilot") });

function bound(): Bound {
  const base = mkdtempSync(join(tmpdir(), "autopilot-binding-"));
  made.push(base);
  const paths = homeAt(join(base, "repo"));
  const folder = runFolder(paths, run);
  const journal = join(folder, "journal.jsonl");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(journal, "{}\n", { mode: 0o600 });
  const env = { XDG_STATE_HOME: join(base, "state") };
  bindRun(env, paths, folder, { run, ack: "a", isolation: "auto" });

  return { base, paths, env, folder, journal };
}

const kindOf = ({ env, paths }: Bound, at: ProjectPaths = paths, id = run): string =>
  findBinding(env, at, runFolder(at, id), id).kind;

test("its own user's run is theirs, also after the repository was moved, and no longer once it is let go", () => {
  const here = bound();
  expect(kindOf(here)).toBe("ours");
  const moved = homeAt(join(here.base, "moved"));
  renameSync(here.paths.root, moved.root);
  expect(kindOf(here, moved)).toBe("ours");
  const child = join(runFolder(moved, run), "children", "run-2026-01-01-000001");
  mkdirSync(child, { recursive: true, mode: 0o700 });
  writeFileSync(join(child, "journal.jsonl"), "{}\n", { mode: 0o600 });
  bindRun(here.env, moved, child, { run: "run-2026-01-01-000001", ack: "a", isolation: "auto" });
  unbindRun(here.env, runFolder(moved, run), run);
  expect(kindOf(here, moved)).toBe("foreign");
  expect(readdirSync(join(stateFolder(here.env), "runs"))).toEqual([]);
});

test.each<readonly [string, (here: Bound) => ProjectPaths | Record<string, string> | undefined]>([
  [
    "a copy of the repository",
    ({ base, paths }) => (
      cpSync(paths.root, join(base, "copy"), { recursive: true }),
      homeAt(join(base, "copy"))
    ),
  ],
  ["another user's state folder", ({ base }) => ({ XDG_STATE_HOME: join(base, "other") })],
  ["a relative state folder", () => ({ XDG_STATE_HOME: "state", HOME: "/nonexistent" })],
  [
    "a state folder that lies in the repository, with a copied record",
    ({ env, paths }) => (
      cpSync(env["XDG_STATE_HOME"] ?? "", join(paths.root, "state"), { recursive: true }),
      { XDG_STATE_HOME: join(paths.root, "state") }
    ),
  ],
  [
    "a state folder that others can write to",
    ({ env }) => {
      chmodSync(join(stateFolder(env), "runs"), 0o777);
      return undefined;
    },
  ],
  [
    "a record that others can write to",
    ({ env }) => {
      const runs = join(stateFolder(env), "runs");
      for (const name of readdirSync(runs)) chmodSync(join(runs, name), 0o666);
    },
  ],
  [
    "a damaged record",
    ({ env }) => {
      const runs = join(stateFolder(env), "runs");
      for (const name of readdirSync(runs)) writeFileSync(join(runs, name), "{");
    },
  ],
  [
    "a folder that others can open",
    ({ folder }) => {
      chmodSync(folder, 0o755);
      return undefined;
    },
  ],
  [
    "a journal in the place of the one that was bound",
    ({ journal }) => {
      renameSync(journal, `${journal}.old`);
      writeFileSync(journal, "{}\n", { mode: 0o600 });
    },
  ],
  [
    "a journal with a second name",
    ({ journal, base }) => {
      linkSync(journal, join(base, "second"));
      return undefined;
    },
  ],
  [
    "a run reached through a link",
    ({ paths, base }) => {
      const other = homeAt(join(base, "other"));
      mkdirSync(join(other.folder, "runs"), { recursive: true, mode: 0o700 });
      symlinkSync(runFolder(paths, run), runFolder(other, run));

      return other;
    },
  ],
  [
    "our whole folder reached through a link",
    ({ paths, base }) => {
      const other = homeAt(join(base, "other"));
      mkdirSync(other.root);
      symlinkSync(paths.folder, other.folder);

      return other;
    },
  ],
  [
    "a run moved into another repository",
    ({ paths, base }) => {
      const other = homeAt(join(base, "other"));
      mkdirSync(join(other.folder, "runs"), { recursive: true, mode: 0o700 });
      renameSync(runFolder(paths, run), runFolder(other, run));

      return other;
    },
  ],
])("%s", (_what, change) => {
  const here = bound();
  const changed = change(here);
  const at = changed !== undefined && "root" in changed ? (changed as ProjectPaths) : here.paths;
  const env = changed !== undefined && !("root" in changed) ? changed : here.env;
  expect(kindOf({ ...here, env }, at)).toBe("foreign");
});

describe("a journal written over in the same file", () => {
  async function left(): Promise<Bound & { readonly why: () => string | null }> {
    const here = bound();
    rmSync(here.journal);
    const { journal } = await openJournal(here.folder, still);
    journal.appendSync([skipped(1), skipped(2)]);
    mkdirSync(join(here.paths.root, ".git"));
    bindRun(here.env, here.paths, here.folder, {
      run,
      ack: "a",
      isolation: "auto",
      head: journal.position,
    });

    journal.appendSync([skipped(3)]);
    await journal.close();
    return { ...here, why: () => whyForeign(here, here.paths, run) };
  }

  test("is foreign, and so is one that was cut short", async () => {
    const { folder, why } = await left();
    const bytes = readBytes(folder);
    const other = await left();
    putBytes(folder, readBytes(other.folder).toString().replaceAll("step-2", "step-9"));
    expect(why()).toContain("line 2 is missing or another one");
    putBytes(folder, bytes.subarray(0, bytes.indexOf(10) + 1));
    expect(why()).toContain("line 2 is missing or another one");
    putBytes(folder, bytes);
    expect(why()).toBeNull();
  });

  test("is told from lines that a crash kept the record from knowing, which are their user's", async () => {
    const { folder, env, paths, why } = await left();
    const { journal } = await openJournal(folder, still);
    journal.appendSync([skipped(4)]);
    await journal.close();
    expect(why()).toBeNull();
    expect(findBinding(env, paths, folder, run)).toMatchObject({
      kind: "ours",
      record: { head: { seq: 2 } },
    });
  });

  test("marks every answer that is about it, and no other", async () => {
    const { folder, env, paths } = await left();
    const place = { cwd: paths.root, env };
    const response = respond("ok", { run_id: run, warnings: ["else"], data: { a: 1 } });
    expect(markForeign(place, response)).toBe(response);
    expect(markForeign(place, respond("ok")).warnings).toEqual([]);
    putBytes(folder, readBytes(folder).toString().replaceAll("step-2", "step-9"));
    expect(markForeign(place, response)).toMatchObject({
      warnings: [expect.stringContaining(`${run} isn't yours`) as string, "else"],
      data: { a: 1, foreign: true },
    });
  });
});
