// diff-files: the files that a run changed, as the dashboard lists them, and the diff of one file.

import type { FollowedRun } from "./followed-runs.ts";
import type { RunView } from "../../core/state.ts";
import { type FileDiff, parseHunks } from "../../views/facts/hunks.ts";
import { isOutsideScope } from "../../views/wording.ts";
import {
  type ChangedFile,
  readFileChanges,
  hasCommits,
  readFilePatch,
} from "../../workspace/git/diff.ts";
import { findRepository } from "../../workspace/git/repository.ts";

/**
 * A file of the list, with a mark and a word on it: in scope, protected (the base's version
 * judges), worth a look, or refused. Of a refused file only the path is known.
 */
export type DiffFile = { readonly path: string; readonly word: string } & (
  | {
      readonly mark: "scope" | "protected" | "look";
      readonly insertions: number | null;
      readonly deletions: number | null;
    }
  | { readonly mark: "refused" }
);

export type DiffPage = {
  readonly base: string;
  readonly tip: string;
  readonly files: readonly DiffFile[];
  /** How many there are besides those. */
  readonly unlistedFiles: number;
  /** Why there is nothing to show. */
  readonly problem: string | null;
  /** Why no note can be sent; null if one can. */
  readonly noNotesBecause: string | null;
};

const filesShownMax = 500;
/** The order of the list. It is cut at its end, so what a person must see comes first. */
const markOrder = { refused: 0, protected: 1, look: 2, scope: 3 } as const;

export async function buildDiffPage({ view, paths, foreign }: FollowedRun): Promise<DiffPage> {
  const [base, tip] = [view.drafted.base.commit, view.tip.commit];
  const noNotesBecause = foreign
    ? "This run came from elsewhere: it is only read here."
    : whyNoNotes(view);
  const emptyPage = { base, tip, files: [], unlistedFiles: 0, noNotesBecause };
  const lookup = await findRepository(paths.root);
  if ("failure" in lookup) return { ...emptyPage, problem: "The repository cannot be read." };
  if (!(await hasCommits(lookup.repository, [base, tip]))) {
    return {
      ...emptyPage,
      problem: "The run's commits are no longer in this repository: its branch was deleted.",
    };
  }

  const changed = base === tip ? [] : await readFileChanges(lookup.repository, base, tip);
  return { base, tip, ...listFiles(view, changed), problem: null, noNotesBecause };
}

const whyNoNotes = ({ status }: RunView): string | null =>
  status === "running" || status === "paused"
    ? null
    : `The run is ${status}: no turn of it will read a note.`;

/**
 * The first files of those that a run changed or that were refused, and how many more there are.
 */
export function listFiles(
  view: Pick<RunView, "oracles" | "violation">,
  changed: readonly ChangedFile[],
): Pick<DiffPage, "files" | "unlistedFiles"> {
  const oracles = new Map((view.oracles?.changes ?? []).map((change) => [change.path, change]));
  const notesByPath = new Map(
    (view.oracles?.look ?? []).map(({ path, what: note }) => [path, note]),
  );

  const files = changed.map((file): DiffFile => {
    const protectedFile = oracles.get(file.path);
    if (protectedFile !== undefined && protectedFile.allowed === null) {
      return {
        ...file,
        mark: "protected",
        word: `protected, ${protectedFile.how}: the base's is used`,
      };
    }

    if (protectedFile?.allowed === "held") {
      const word = `judges this work, ${protectedFile.how}: look before you merge`;
      return { ...file, mark: "look", word };
    }

    const note = notesByPath.get(file.path);
    return note === undefined
      ? { ...file, mark: "scope", word: "in scope" }
      : { ...file, mark: "look", word: note };
  });

  const refusedFiles = (view.violation?.paths ?? []).map((path): DiffFile => ({
    path,
    mark: "refused",
    word: refusedWord(view.violation),
  }));
  const sortedFiles = [...files, ...refusedFiles].toSorted(
    (a, b) => markOrder[a.mark] - markOrder[b.mark],
  );

  return {
    files: sortedFiles.slice(0, filesShownMax),
    unlistedFiles: Math.max(0, sortedFiles.length - filesShownMax),
  };
}

function refusedWord(violation: RunView["violation"]): string {
  if (violation?.by === "secret") return "a secret: not kept";
  return violation === null || isOutsideScope(violation.detail)
    ? "outside scope: not kept"
    : "never kept: see the log";
}

/** The diff of one file, up to the commit it was read at. */
export type ShownFile = FileDiff & { readonly tip: string };

/** Null if the run did not change the file. */
export async function readFileDiff(
  { view, paths }: FollowedRun,
  path: string,
): Promise<ShownFile | null> {
  const lookup = await findRepository(paths.root);
  if ("failure" in lookup) return null;
  const tip = view.tip.commit;

  const { text, isCut } = await readFilePatch(
    lookup.repository,
    view.drafted.base.commit,
    tip,
    path,
  );
  const fileDiff = parseHunks(text);
  return text === "" ? null : { ...fileDiff, cut: fileDiff.cut || isCut, tip };
}
