// rewind: one story's beginning for several tests. It is played once, and laid back where it was
// for each test that goes on from there.
//
// A run knows the place of its repository, so what was played is not copied to another place but
// put back into its own. Its tests therefore follow each other (no test.concurrent), and none of
// them may be the one that another needs: each may run alone. A copied run is foreign to its user
// (test/cli-lifecycle/foreign-runs.test.ts), so it is bound to them again, as it was.

import {
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { bindRun, type BindingRecord, stateFolder } from "../../src/project/runs/run-binding.ts";
import { scratchFolder } from "./scratch-repository.ts";

/**
 * A story played once, of which several tests look at what it came to; none of them may change it.
 * Each may run alone.
 */
export function once<Played>(play: () => Promise<Played>): () => Promise<Played> {
  let played: Promise<Played> | null = null;
  return () => (played ??= play());
}

/**
 * `begin` leaves nothing running; its repository is in its own scratch folder, and so is what is
 * beside it.
 */
export function rewound(begin: () => Promise<string>): () => Promise<string> {
  let played: { readonly folder: string; readonly kept: string } | null = null;
  const copy = (from: string, to: string): void =>
    cpSync(from, to, {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
      filter: isFile,
    });

  return async () => {
    if (played === null) {
      const folder = await begin();
      played = { folder, kept: join(scratchFolder(), "kept") };
      copy(dirname(folder), played.kept);

      return folder;
    }

    const { folder, kept } = played;
    const over = join(scratchFolder(), "over");
    renameSync(dirname(folder), over); // what still writes there writes into a folder that nobody looks at
    rmSync(over, { recursive: true, force: true });
    copy(kept, dirname(folder));
    bindAgain(folder);

    return folder;
  };
}

/** A socket that a killed runner left cannot be copied, and leads nowhere. */
function isFile(path: string): boolean {
  const stats = lstatSync(path);
  return !stats.isSocket() && !stats.isFIFO();
}

function bindAgain(folder: string): void {
  const env = { HOME: join(dirname(folder), "home") };
  const paths = { root: folder, folder: join(folder, ".autopilot") };
  const records = join(stateFolder(env), "runs");
  for (const name of existsSync(records) ? readdirSync(records) : []) {
    const record = JSON.parse(readFileSync(join(records, name), "utf8")) as BindingRecord;
    const run = join(paths.folder, "runs", record.run);
    if (existsSync(run)) bindRun(env, paths, run, record);
  }
}
