// roadmap-room: a project in its own folder and a roadmap's playbook over a journal made in the
// simulation.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Entry } from "../../../contracts/event.ts";
import { fold } from "../../../core/fold.ts";
import type { Run } from "../../../core/state.ts";
import type { PlaybookParts, OpenedPlaybook } from "../../contract/playbook.ts";
import { openRoadmapPlaybook } from "./roadmap-open.ts";

export type Room = {
  readonly root: string;
  readonly folder: string;
  readonly home: { readonly root: string; readonly folder: string };
  write(path: string, text: string): void;
  text(path: string): string;
  has(path: string): boolean;
  /** Every file of the project by path, except for what is under these folders. */
  files(...without: readonly string[]): Readonly<Record<string, string>>;
};

const made: string[] = [];

/** Takes every room away; a test file calls it after each of its tests. */
export function clearRooms(): void {
  for (const one of made.splice(0)) rmSync(one, { recursive: true, force: true });
}

export function room(run = "run-2026-01-01-000000"): Room {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-roadmap-")));
  made.push(root);
  const home = { root, folder: join(root, ".autopilot") };
  const folder = join(home.folder, "runs", run);
  mkdirSync(folder, { recursive: true });

  return {
    root,
    folder,
    home,
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    text: (path) => readFileSync(join(root, path), "utf8"),
    has: (path) => existsSync(join(root, path)),
    files: (...without) =>
      Object.fromEntries(
        filesBelow(root)
          .filter((path) => !without.some((one) => path.startsWith(one)))
          .map((path) => [path, readFileSync(join(root, path), "utf8")]),
      ),
  };
}

const filesBelow = (root: string, below = ""): readonly string[] =>
  readdirSync(join(root, below))
    .toSorted()
    .flatMap((name) => {
      const path = below === "" ? name : `${below}/${name}`;
      return statSync(join(root, path)).isDirectory() ? filesBelow(root, path) : [path];
    });

/** A playbook over a journal that grows as a test lets it. */
export type Following = OpenedPlaybook & {
  readonly goOn: (until: number) => void;
  readonly run: () => Run;
};

export async function follow(
  { root, folder, home }: Room,
  entries: readonly Entry[],
  {
    from = entries.length,
    readBlob = () => null,
  }: { readonly from?: number; readonly readBlob?: PlaybookParts["readBlob"] } = {},
): Promise<Following> {
  let written = entries.slice(0, from);
  let run = fold(written) as Run;

  const playbook = await openRoadmapPlaybook({
    context: {} as PlaybookParts["context"],
    paths: home,
    folder,
    root,
    view: () => run,
    entries: () => written,
    readBlob,
  });

  return {
    ...playbook,
    run: () => run,
    goOn(until) {
      for (const entry of entries.slice(written.length, until)) {
        written = entries.slice(0, written.length + 1);
        run = fold(written) as Run;
        playbook.onEntry(entry, run);
      }
    },
  };
}
