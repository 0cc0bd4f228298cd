// folder-records: keeps a record of each layer and checkout on disk (its base, tree, masks,
// packages), where no agent can read it.
//
// Invariants:
//   R1. A record is written after its folder is complete and removed before the folder is touched:
//       no record means no usable folder (kept in layer.ts, check-folder.ts).

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { GitSha } from "../../contracts/ids.ts";
import { readJson, writeFileAtomically } from "../folder.ts";

const StoredRecord = v.strictObject({
  version: v.literal(1),
  /** The attempt, or the purpose of a checkout. */
  key: v.string(),
  /** The commit that changes are compared with. */
  base: GitSha,
  /**
   * The tree the folder was made of: the commit's without what is hidden, or with a check's
   * overrides.
   */
  tree: v.optional(GitSha),
  /** Whether it is a view of a base: then the folder has only what was written. */
  isView: v.optional(v.boolean()),
  /** Object folders that a layer's repository reads and must be able to see. */
  borrows: v.optional(v.array(v.string())),
  /** Globs of paths that the agent does not see. */
  masks: v.array(v.string()),
  /** Globs of the paths whose changes are applied; all if absent. */
  keeps: v.optional(v.array(v.string())),
  /** The folders of installed packages that were put into it. */
  dependencies: v.array(v.string()),
  /**
   * A hash of those packages as they were put there; null if there are none, or if nobody will
   * compare it.
   */
  fingerprint: v.nullable(v.string()),
  /** The commit that a layer's changes became, once they did. */
  applied: v.nullable(GitSha),
  /** In milliseconds since 1970. */
  madeAt: v.number(),
});
export type FolderRecord = v.InferOutput<typeof StoredRecord>;

const readableCharsMax = 48;
const hashCharsInName = 12;

/**
 * A file name that is readable and, by a part of a hash, another one for each key:
 * `1-1-execute-2-0a1b2c3d4e5f`.
 */
export function toSlug(key: string): string {
  const readable = key
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, readableCharsMax);

  return `${readable === "" ? "x" : readable}-${createHash("sha256").update(key).digest("hex").slice(0, hashCharsInName)}`;
}

/** The objects that an attempt's layer borrows, to be mounted for its agent. */
export function readBorrowedObjects(runDir: string, attempt: string): readonly string[] {
  try {
    const record = v.safeParse(
      StoredRecord,
      JSON.parse(
        readFileSync(join(runDir, ...layerRecordsPath, `${toSlug(attempt)}.json`), "utf8"),
      ),
    );
    return record.success ? (record.output.borrows ?? []) : [];
  } catch {
    return []; // no record, no layer
  }
}

export const layerRecordsPath = ["records", "layers"] as const;

/** The records of one kind of folders. A record that can't be read counts as missing. */
export type FolderRecords = {
  read(key: string): Promise<FolderRecord | null>;
  write(record: FolderRecord): Promise<void>;
  remove(key: string): Promise<void>;
  readAll(): Promise<readonly FolderRecord[]>;
};

export async function openRecords(folder: string): Promise<FolderRecords> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const recordPath = (key: string): string => join(folder, `${toSlug(key)}.json`);
  const parseRecord = (value: unknown): FolderRecord | null => {
    const result = v.safeParse(StoredRecord, value);
    return result.success ? result.output : null;
  };

  return {
    read: async (key) => {
      const record = parseRecord(await readJson(recordPath(key)));
      return record?.key === key ? record : null;
    },
    write: (record) => writeFileAtomically(recordPath(record.key), `${JSON.stringify(record)}\n`),
    remove: (key) => rm(recordPath(key), { force: true }),
    readAll: async () => {
      const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
      const records = await Promise.all(
        names.map(async (name) => parseRecord(await readJson(join(folder, name)))),
      );
      return records.filter((record) => record !== null);
    },
  };
}
