// new-commit: creates a commit object that is on no branch yet, without a process if its author's
// name needs no care of git's.

import type { GitSha } from "../../contracts/ids.ts";
import { readGitLine } from "./git.ts";
import type { GitContext } from "./safe-git-call.ts";
import { type Identity, toIdentityVariables } from "./identity.ts";
import { writeObject } from "./loose-objects.ts";
import type { ObjectFormat } from "./tree.ts";

export type CommitInput = {
  readonly tree: GitSha;
  readonly parents: readonly GitSha[];
  readonly identity: Identity;
  readonly message: string;
};

/**
 * Whether git would write this name and address unchanged: it strips some characters at the ends,
 * and forbids others.
 */
const isPlainIdentity = ({ name, email }: Identity): boolean =>
  /^[^\s<>.,:;"\\'\x00-\x1f\x7f](?:[^<>\x00-\x1f\x7f]*[^\s<>.,:;"\\'\x00-\x1f\x7f])?$/u.test(
    name,
  ) &&
  /^[\w.+@-]*\w$/.test(email) &&
  /^\w/.test(email);

/** Writes a commit by this identity at the current time, and returns its hash. */
export async function createCommit(
  call: GitContext,
  format: ObjectFormat,
  input: CommitInput,
): Promise<GitSha> {
  const { tree, parents, identity, message } = input;
  const isPlainMessage = !message.includes("\0") && message.endsWith("\n"); // git would refuse a NUL, and end the last line
  if (isPlainIdentity(identity) && isPlainMessage) {
    const author = `${identity.name} <${identity.email}> ${formatGitDate(new Date())}`;
    const headerLines = [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${author}`,
      `committer ${author}`,
    ];

    return writeObject(call, format, {
      type: "commit",
      content: Buffer.from(`${headerLines.join("\n")}\n\n${message}`),
    });
  }

  return readGitLine({
    ...call,
    env: { ...call.env, ...toIdentityVariables(identity) },
    args: ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"],
    input: [Buffer.from(message)],
  });
}

/** Seconds and the local offset, in git's format: `1700000000 +0100`. */
function formatGitDate(date: Date): string {
  const offsetMinutes = -date.getTimezoneOffset();
  const hours = String(Math.floor(Math.abs(offsetMinutes) / 60)).padStart(2, "0");
  const minutes = String(Math.abs(offsetMinutes) % 60).padStart(2, "0");
  const sign = offsetMinutes < 0 ? "-" : "+";

  return `${Math.floor(date.getTime() / 1000)} ${sign}${hours}${minutes}`;
}
