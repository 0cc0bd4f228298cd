// lent-login: lends the user's login files to an agent: copies those that its profile names into
// its private HOME for one turn, and copies renewed tokens back.
//
// Invariants:
//   L1. Only regular files of a bounded size that the profile names are copied, readable by the
//       user alone.
//   L2. A file is copied back only if its tokens are renewed, only if it is a regular file of the
//       same shape, and only if the user's own has not changed meanwhile. Else the user's stays as
//       it is.
//   L3. Copying back is atomic: the user's file is the old or the new, never half of one.
//   L4. Parallel turns share the copy: a token that one of them renewed is not overwritten for the
//       other, and the last one deletes it.
//   L5. A copy is recorded before it is made, so that after a crash the next process copies it back
//       by the same rules: a renewed token is not lost with the runner, and no copy stays behind.
//   L6. A disk that refuses a renewed login doesn't cost the turn that has just ended: the copy
//       stays, and is copied back after the next turn, or by the next process.

import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { giveOwnerAccess, writeBelow } from "./private-config.ts";
import type { AgentProfile, LoginFile } from "./profiles/profile.ts";

export const loginBytesMax = 256 * 1024;

export type ReturnedLogin = {
  /** Paths below HOME. */
  readonly renewed: readonly string[];
  /** Changed files that were not copied back. */
  readonly keptFiles: readonly { readonly path: string; readonly why: string }[];
};
type FileOutcome = { readonly path: string; readonly outcome: CopyBackOutcome };
export type LentLogin = {
  readonly files: readonly string[];
  readonly giveBack: () => Promise<ReturnedLogin>;
};

type LoanedFile = {
  readonly loginFile: LoginFile;
  /** The path of the copy, and of the record that it was made (L5). */
  readonly copyPath: string;
  readonly recordPath: string;
  /** The hash of the copy as it was made, or as it was last copied back. */
  lentHash: string;
  /** How many turns use the copy. */
  borrowers: number;
};

/** The current copies in private HOMEs, by path. */
const currentLoans = new Map<string, LoanedFile>();

/** Copies the login files of a profile into the private HOME. `giveBack` ends the loan. */
export function lendLogin(
  profile: Pick<AgentProfile, "ownLogin">,
  userHome: string,
  privateHome: string,
): Promise<LentLogin> {
  const loans = (profile.ownLogin?.files ?? []).flatMap(
    (file) => lendFile(file, userHome, privateHome) ?? [],
  );

  let isReturned = false;
  const giveBack = (): Promise<ReturnedLogin> => {
    const outcomes: FileOutcome[] = [];

    for (const loan of isReturned ? [] : loans) {
      const { path } = loan.loginFile;
      giveOwnerAccess(privateHome, path.split("/").slice(0, -1));
      loan.borrowers -= 1;
      const outcome = tryCopyBack(loan, userHome);
      outcomes.push({ path, outcome });
      if (loan.borrowers > 0 || isPutOff(outcome)) continue; // L6
      // A login is in the private HOME only while a turn uses it.
      currentLoans.delete(loan.copyPath); // L4
      deleteCopy(loan);
    }

    isReturned = true;
    return Promise.resolve(sortOutcomes(outcomes));
  };

  return Promise.resolve({ files: loans.map(({ loginFile }) => loginFile.path), giveBack });
}

function lendFile(file: LoginFile, userHome: string, privateHome: string): LoanedFile | null {
  const copyPath = join(privateHome, file.path);
  const shared = currentLoans.get(copyPath);
  if (shared !== undefined) {
    shared.borrowers += 1;
    return shared; // L4
  }

  const own = readContent(join(userHome, file.path));
  if ("problem" in own) return null;
  const { content } = own;

  const loan = {
    loginFile: file,
    copyPath,
    recordPath: findRecordPath(file, privateHome),
    lentHash: sha256(content),
    borrowers: 1,
  };
  mkdirSync(dirname(loan.recordPath), { recursive: true, mode: 0o700 });
  writeFileSync(loan.recordPath, loan.lentHash, { mode: 0o600 }); // L5
  writeBelow(privateHome, file.path, content); // L1
  currentLoans.set(copyPath, loan);

  return loan;
}

/** Copies back what a dead process had lent, and deletes the copies. L5 */
export function returnLeftoverLoans(
  files: readonly LoginFile[],
  userHome: string,
  privateHome: string,
): ReturnedLogin {
  const outcomes: FileOutcome[] = [];

  for (const file of files) {
    const loan = {
      loginFile: file,
      copyPath: join(privateHome, file.path),
      recordPath: findRecordPath(file, privateHome),
    };
    const record = readContent(loan.recordPath);
    if ("problem" in record || currentLoans.has(loan.copyPath)) continue;
    giveOwnerAccess(privateHome, file.path.split("/").slice(0, -1));
    const outcome = tryCopyBack(
      { ...loan, lentHash: record.content.toString("utf8"), borrowers: 0 },
      userHome,
    );
    outcomes.push({ path: file.path, outcome });
    if (!isPutOff(outcome)) deleteCopy(loan); // L6
  }

  return sortOutcomes(outcomes);
}

/** What was renewed and what was not; an unchanged file is in neither list. */
const sortOutcomes = (outcomes: readonly FileOutcome[]): ReturnedLogin => ({
  renewed: outcomes.flatMap(({ path, outcome }) => (outcome === "renewed" ? [path] : [])),
  keptFiles: outcomes.flatMap(({ path, outcome }) =>
    typeof outcome === "object" ? [{ path, why: outcome.why }] : [],
  ),
});

/** Beside the private HOME, where no sandboxed agent can read it. */
const findRecordPath = ({ path }: LoginFile, privateHome: string): string =>
  join(dirname(privateHome), "lent", sha256(Buffer.from(path)).slice(0, 16));

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

function deleteCopy({ copyPath, recordPath }: Pick<LoanedFile, "copyPath" | "recordPath">): void {
  try {
    rmSync(copyPath, { recursive: true, force: true });
  } catch {
    // It has become a folder with parts that can't be deleted: it is moved out of the way, and goes
    // with the private HOME.
    renameSync(copyPath, join(dirname(copyPath), `.${randomBytes(6).toString("hex")}`));
  }

  rmSync(recordPath, { force: true });
}

/**
 * `why`: why the user's file was left alone; `isPutOff`: the disk refused, and it is tried again.
 */
type CopyBackOutcome = "renewed" | "unchanged" | { readonly why: string; readonly isPutOff?: true };

const isPutOff = (outcome: CopyBackOutcome): boolean =>
  typeof outcome === "object" && outcome.isPutOff === true;

/** Copies a renewed login back, unless the disk refuses it (L6). */
function tryCopyBack(loan: LoanedFile, userHome: string): CopyBackOutcome {
  try {
    return copyBack(loan, userHome);
  } catch (error) {
    return {
      why: `${error instanceof Error ? error.message : String(error)}; it is tried again`,
      isPutOff: true,
    };
  }
}

function copyBack(loan: LoanedFile, userHome: string): CopyBackOutcome {
  const { loginFile, copyPath, lentHash } = loan;
  const left = readContent(copyPath);
  if ("problem" in left) {
    return loginFile.refreshes
      ? { why: `the agent left ${left.problem} in its place` }
      : "unchanged";
  }

  const leftContent = left.content;
  if (sha256(leftContent) === lentHash || !loginFile.refreshes) return "unchanged";
  const userFile = join(userHome, loginFile.path);
  const own = readContent(userFile);
  if ("problem" in own) return { why: `the user's own is ${own.problem} by now` };
  const userContent = own.content;
  if (sha256(userContent) !== lentHash) return { why: "the user's own changed meanwhile" }; // L2
  if (
    loginFile.path.endsWith(".json") &&
    describeJsonShape(leftContent) !== describeJsonShape(userContent)
  ) {
    return { why: "what the agent left there has another shape" };
  } // L2

  replaceFile(userFile, leftContent); // L3
  loan.lentHash = sha256(leftContent);
  writeFileSync(loan.recordPath, loan.lentHash, { mode: 0o600 });

  return "renewed";
}

/** `problem`: what is there instead, as the object of a sentence. */
type FileContent = { readonly content: Buffer } | { readonly problem: string };

/** The bytes of a regular file of bounded size. L1 */
function readContent(path: string): FileContent {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return { problem: "nothing" };
  if (!stats.isFile()) return { problem: "something that isn't a regular file" };
  let fd: number;

  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return { problem: "something that cannot be read" };
  }

  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { problem: "something that isn't a regular file" };
    if (stat.size > loginBytesMax) return { problem: "more than a login can be" };
    return { content: readFileSync(fd) };
  } finally {
    closeSync(fd);
  }
}

/**
 * The names on the first level with the kind of each value, in order; empty if it isn't a JSON
 * object.
 */
function describeJsonShape(bytes: Buffer): string {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
    return Object.entries(value)
      .map(([name, field]) => `${JSON.stringify(name)}:${describeKind(field)}`)
      .sort()
      .join(",");
  } catch {
    return "";
  }
}

function describeKind(value: unknown): string {
  if (Array.isArray(value)) return "list";
  return value === null ? "null" : typeof value;
}

/** Replaces a file atomically (L3). */
function replaceFile(path: string, bytes: Buffer): void {
  const temporary = join(dirname(path), `.${randomBytes(6).toString("hex")}.autopilot`);
  try {
    const fd = openSync(
      temporary,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
      0o600,
    );

    try {
      writeFileSync(fd, bytes); // all of them, or it throws: one write may be short on a full disk
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }

    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}
