// verify-records: collects what a journal refers to (blobs, commits, evidence), and checks the
// blobs.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DocumentRead } from "../../contracts/documents-read.ts";
import type { Cast, Entry } from "../../contracts/event.ts";
import type { CheckResult, ProtectedChange } from "../../contracts/evidence.ts";
import { readBlob } from "../../journal/blobs.ts";
import { errorCode, JournalFailure } from "../../journal/journal-failure.ts";
import { forEachEntry } from "../../project/runs/read-entries.ts";
import { type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";

export type JournalRecords = {
  /** Results by the hash of their evidence, in the order in which they were made. */
  readonly results: ReadonlyMap<string, CheckResult>;
  /** The changed protected files that did not count, by commit. */
  readonly uncountedProtectedChanges: ReadonlyMap<string, readonly ProtectedChange[]>;
  readonly commits: readonly {
    readonly commit: string;
    readonly tree: string;
    readonly what: string;
  }[];
  readonly blobs: ReadonlySet<string>;
};

/** Collects everything in one pass over the journal. */
export async function readRecords(paths: ProjectPaths, run: string): Promise<JournalRecords> {
  const results = new Map<string, CheckResult>();
  const protectedChanges = new Map<string, readonly ProtectedChange[]>();
  const commits: { commit: string; tree: string; what: string }[] = [];
  const blobs = new Set<string>();
  await forEachEntry(paths, run, (entry) => {
    for (const blob of listBlobHashes(entry)) blobs.add(blob);
    if (entry.event === "run_drafted") {
      commits.push({ commit: entry.base.commit, tree: entry.base.tree, what: "base" });
    }

    if (entry.event === "changes_applied" || entry.event === "tests_put_back") {
      commits.push({ commit: entry.commit, tree: entry.tree, what: entry.attempt });
    }

    if (entry.event === "oracles_judged") {
      protectedChanges.set(
        entry.commit,
        entry.changes.filter(({ allowed }) => allowed === null),
      );
    }

    if (entry.event === "step_completed" || entry.event === "step_failed") {
      for (const result of entry.checks ?? []) results.set(result.evidence, result);
    }
  });

  return { results, uncountedProtectedChanges: protectedChanges, commits, blobs };
}

/**
 * The hashes of the blobs that an event refers to; those of outputs are in the evidence
 * (`output_hash`).
 */
export function listBlobHashes(entry: Entry): readonly string[] {
  switch (entry.event) {
    case "run_drafted": {
      const calledPrompts = (entry.called ?? []).flatMap(({ prompts }) => Object.values(prompts));
      return [
        ...Object.values(entry.prompts),
        ...calledPrompts,
        ...listScripts(Object.values(entry.cast)),
        ...listDocuments(entry),
      ];
    }
    case "run_forked":
      return [
        ...Object.values(entry.prompts ?? {}),
        ...listScripts(Object.values(entry.cast ?? {})),
      ];
    case "policy_changed":
      return [...listScripts(Object.values(entry.cast ?? {})), ...listDocuments(entry)];
    case "agent_switched":
      return listScripts([entry.player]);
    case "return_asked_again":
      return entry.raw === undefined ? [] : [entry.raw];
    case "turn_ended":
      return entry.claim === undefined ? [] : [entry.claim];
    case "step_completed":
    case "step_failed":
      return (entry.checks ?? []).map(({ evidence }) => evidence);
    default:
      return [];
  }
}

/** The scripts of scripted agents, those that take over at a provider's limit included. */
const listScripts = (casts: readonly Cast[]): readonly string[] =>
  casts.flatMap((cast) => [cast, ...(cast.instead ?? [])]).flatMap(({ script }) => script ?? []);

const listDocuments = ({
  documents = [],
}: {
  readonly documents?: readonly DocumentRead[] | undefined;
}): readonly string[] => documents.map(({ hash }) => hash);

/**
 * Every blob the journal refers to, and every one on disk: each must be there and match its hash.
 */
export function checkBlobs(
  paths: ProjectPaths,
  run: string,
  referenced: Iterable<string>,
): {
  readonly checked: number;
  readonly damaged: readonly { readonly id: string; readonly why: string }[];
} {
  const folder = runFolder(paths, run);
  const blobs = [...new Set([...referenced, ...listBlobs(folder)])].sort();

  const damaged = blobs.flatMap((id) => {
    try {
      readBlob(folder, id);
      return [];
    } catch (error) {
      if (!(error instanceof JournalFailure)) throw error;
      return [
        {
          id,
          why: error.trouble.kind === "journal_damaged" ? error.trouble.detail : error.message,
        },
      ];
    }
  });

  return { checked: blobs.length, damaged };
}

function listBlobs(folder: string): readonly string[] {
  try {
    return readdirSync(join(folder, "blobs"), { recursive: true, encoding: "utf8" })
      .map((path) => path.split("/").at(-1) ?? "")
      .filter((name) => /^[0-9a-f]{64}$/.test(name));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return []; // a run without blobs has no such folder
  }
}
