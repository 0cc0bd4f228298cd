// new-commit: creates a commit on no branch yet.

import type { GitSha } from "../../contracts/ids.ts";
import { readGitLine, type GitContext } from "./git.ts";
import { type Identity, identityEnv } from "./identity.ts";
import { writeObject } from "./loose-objects.ts";
import type { ObjectFormat } from "./tree.ts";

export type CommitInput = {
  readonly tree: GitSha;
  readonly parents: readonly GitSha[];
  readonly identity: Identity;
  readonly message: string;
};

/** Names that git would write unchanged. Others are left to git. */
const isPlainIdentity = ({ name, email }: Identity): boolean =>
  /^[^\s<>.,:;"\\'\x00-\x1f\x7f](?:[^<>\x00-\x1f\x7f]*[^\s<>.,:;"\\'\x00-\x1f\x7f])?$/u.test(name) &&
  /^[\w.+@-]*\w$/.test(email) &&
  /^\w/.test(email);

export async function createCommit(call: GitContext, format: ObjectFormat, input: CommitInput): Promise<GitSha> {
  const { tree, parents, identity, message } = input;
  const isText = !message.includes("\0") && message.endsWith("\n");
  if (isPlainIdentity(identity) && isText) {
    const author = `${identity.name} <${identity.email}> ${gitDate(new Date())}`;
    const headerLines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${author}`, `committer ${author}`];
    return writeObject(call, format, { type: "commit", content: Buffer.from(`${headerLines.join("\n")}\n\n${message}`) });
  }
  return readGitLine({
    ...call,
    env: { ...call.env, ...identityEnv(identity) },
    args: ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"],
    input: [Buffer.from(message)],
  });
}

/** Seconds and the local offset, in git's format. */
function gitDate(now: Date): string {
  const minutes = -now.getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((part) => String(part).padStart(2, "0"));
  return `${Math.floor(now.getTime() / 1000)} ${minutes < 0 ? "-" : "+"}${hours}${rest}`;
}
