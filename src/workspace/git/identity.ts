// identity: the author of the runner's commits: the user, as configured in git, else a default.

import { visible } from "../../kit/visible.ts";
import { readUserConfig } from "./user-config.ts";

export type Identity = { readonly name: string; readonly email: string };

export const runnerIdentity: Identity = { name: "autopilot", email: "autopilot@localhost" };

/** The user's name and address; the runner's own if one of them isn't configured. */
export async function readIdentity(root: string): Promise<Identity> {
  const text = await readUserConfig({ cwd: root, config: "user" }, [
    "--get-regexp",
    "^user\\.(name|email)$",
  ]);
  // Each value follows its key and a newline; if a key is set several times the last one counts.
  const values = new Map(text === null ? [] : text.split("\0").map(splitKeyAndValue));
  const [name, email] = [
    stripControlCharacters(values.get("user.name")),
    stripControlCharacters(values.get("user.email")),
  ];

  return name === "" || email === "" ? runnerIdentity : { name, email };
}

/**
 * A name or address without what would move a cursor or hide text: it may come with the repository,
 * and is shown in terminals.
 */
const stripControlCharacters = (value = ""): string =>
  visible(value) === value
    ? value
    : value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ").trim();

function splitKeyAndValue(entry: string): readonly [string, string] {
  const end = entry.indexOf("\n");
  return end === -1 ? [entry, ""] : [entry.slice(0, end), entry.slice(end + 1).trim()];
}

/** The environment variables by which git takes this author and committer. */
export const toIdentityVariables = ({ name, email }: Identity): Record<string, string> => ({
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: email,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: email,
});
