// export: exports a run's journal from a store, byte for byte as the file would be.

import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { requireStoreAddress } from "../../fleet/address.ts";
import { genesis } from "../../journal/line.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";

export type ExportInput = {
  readonly store?: string | undefined;
  readonly run: string;
  readonly exportPath: string;
};

/** Writes the journal to a new file; if that fails halfway, the file is removed again. */
export function exportRun(
  context: CommandContext,
  { store: flag, run, exportPath }: ExportInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const url = requireStoreAddress(context.env, flag);
    const { openPostgresStore } = await import("../../fleet/postgres/store.ts");
    const store = await openPostgresStore(url);
    const path = resolve(context.cwd, exportPath);

    try {
      const { seq } = await store.read(run, genesis, () => undefined); // checked line by line before anything is written
      if (seq === 0) {
        refuse("run_missing", {
          message: `There is no run ${run} in the store.`,
          remediation: ["autopilot fleet status --all"],
        });
      }

      const fd = createFile(path);
      try {
        for await (const line of store.lines(run, 0)) {
          writeSync(fd, Buffer.concat([line, Buffer.from("\n")]));
        }
      } catch (error) {
        rmSync(path, { force: true });
        throw error;
      } finally {
        closeSync(fd);
      }

      return respond("ok", {
        run_id: run,
        message: `${seq} lines of ${run} are in ${path}.`,
        data: { lines: seq, path },
      });
    } finally {
      await store.close();
    }
  });
}

/** A new file, never overwriting another. */
function createFile(path: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return refuse("workspace_unusable", {
      message: `${path} is there already.`,
      remediation: ["name another file with --to"],
    });
  }
}
