// Whose a run is, told by a record outside the repository.

import { chmodSync, cpSync, linkSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Home, runFolder } from "./home.ts";
import { bindingOf, bindRun, stateFolder, unbindRun } from "./run-binding.ts";

const run = "run-2026-01-01-000000";
const made: string[] = [];
afterEach(() => made.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

type Bound = {
  readonly base: string;
  readonly home: Home;
  readonly env: Record<string, string>;
  readonly folder: string;
  readonly journal: string;
};

const homeAt = (root: string): Home => ({ root, folder: join(root, ".autopilot") });

function bound(): Bound {
  const base = mkdtempSync(join(tmpdir(), "autopilot-binding-"));
  made.push(base);
  const home = homeAt(join(base, "repo"));
  const folder = runFolder(home, run);
  const journal = join(folder, "journal.jsonl");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(journal, "{}\n", { mode: 0o600 });
  const env = { XDG_STATE_HOME: join(base, "state") };
  bindRun(env, home, folder, { run, ack: "a", isolation: "auto" });
  return { base, home, env, folder, journal };
}

const kindOf = ({ env, home }: Bound, at: Home = home, id = run): string => bindingOf(env, at, runFolder(at, id), id).kind;

test("its own user's run is theirs, also after the repository was moved, and no longer once it is let go", () => {
  const here = bound();
  expect(kindOf(here)).toBe("ours");
  const moved = homeAt(join(here.base, "moved"));
  renameSync(here.home.root, moved.root);
  expect(kindOf(here, moved)).toBe("ours");
  unbindRun(here.env, runFolder(moved, run), run);
  expect(kindOf(here, moved)).toBe("foreign");
});

test.each<readonly [string, (here: Bound) => Home | Record<string, string> | undefined]>([
  [
    "a copy of the repository",
    ({ base, home }) => (cpSync(home.root, join(base, "copy"), { recursive: true }), homeAt(join(base, "copy"))),
  ],
  ["another user's state folder", ({ base }) => ({ XDG_STATE_HOME: join(base, "other") })],
  ["a relative state folder", () => ({ XDG_STATE_HOME: "state", HOME: "/nonexistent" })],
  [
    "a state folder that lies in the repository, with a copied record",
    ({ env, home }) => (
      cpSync(env["XDG_STATE_HOME"] ?? "", join(home.root, "state"), { recursive: true }),
      { XDG_STATE_HOME: join(home.root, "state") }
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
    ({ home, base }) => {
      const other = homeAt(join(base, "other"));
      mkdirSync(join(other.folder, "runs"), { recursive: true, mode: 0o700 });
      symlinkSync(runFolder(home, run), runFolder(other, run));
      return other;
    },
  ],
  [
    "our whole folder reached through a link",
    ({ home, base }) => {
      const other = homeAt(join(base, "other"));
      mkdirSync(other.root);
      symlinkSync(home.folder, other.folder);
      return other;
    },
  ],
  [
    "a run moved into another repository",
    ({ home, base }) => {
      const other = homeAt(join(base, "other"));
      mkdirSync(join(other.folder, "runs"), { recursive: true, mode: 0o700 });
      renameSync(runFolder(home, run), runFolder(other, run));
      return other;
    },
  ],
])("%s", (_what, change) => {
  const here = bound();
  const changed = change(here);
  const at = changed !== undefined && "root" in changed ? (changed as Home) : here.home;
  const env = changed !== undefined && !("root" in changed) ? changed : here.env;
  expect(kindOf({ ...here, env }, at)).toBe("foreign");
});
