// identity: in whose name the runner commits: the user's, as their own git has it, else its own.

import { git } from "./git.ts";

export type Identity = { readonly name: string; readonly email: string };

export const ownIdentity: Identity = { name: "autopilot", email: "autopilot@localhost" };

export async function identityOf(root: string): Promise<Identity> {
  const ask = async (key: string): Promise<string> => {
    const { code, out } = await git({ cwd: root, config: "user", args: ["config", "-z", "--get", key], codes: [0, 1] });
    return code === 0 ? out.toString("utf8").replace(/\0$/, "").trim() : "";
  };
  const [name, email] = await Promise.all([ask("user.name"), ask("user.email")]);
  return name === "" || email === "" ? ownIdentity : { name, email };
}

export const identityEnv = ({ name, email }: Identity): Record<string, string> => ({
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: email,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: email,
});
