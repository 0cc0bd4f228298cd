// password-file: a store's password from ~/.pgpass or PGPASSFILE, as psql reads it: the first line whose host, port, database and user match.
// Asked for only when the server wants a password and neither the address nor PGPASSWORD has one.

import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { unusable } from "./store-failure.ts";

export type Login = { readonly host: string; readonly port: number; readonly database: string; readonly user: string };

const openToOthers = 0o077;

export async function passwordFromFile(login: Login, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const path = env["PGPASSFILE"] ?? join(env["HOME"] ?? homedir(), ".pgpass");
  const { host, port, database, user } = login;
  const line = [host, port, database, user, "PASSWORD"].join(":");
  const wanted = `${user}@${host}/${database} asks for a password`;
  const found = await stat(path).catch(() => null);
  if (found === null) throw unusable(`${wanted}, and there is none`, `a line ${line} in ${path}, then chmod 600 ${path}; or PGPASSWORD`);
  if ((found.mode & openToOthers) !== 0) throw unusable(`${wanted}, and ${path} is not read: others may read it too`, `chmod 600 ${path}`);
  const password = passwordIn(await readFile(path, "utf8"), login);
  if (password === null) throw unusable(`${wanted}, and no line of ${path} is for it`, `a line ${line} in ${path}; or PGPASSWORD`);
  return password;
}

/** Null if no line is for this login. */
export function passwordIn(text: string, { host, port, database, user }: Login): string | null {
  const own = [host.startsWith("/") ? [host, "localhost"] : [host], [String(port)], [database], [user]]; // a socket is this machine
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const fields = (line.match(/(?:^|:)(?:\\.|[^:\\])*/g) ?? []).map((field) => field.replace(/^:/, ""));
    const [password, isFor] = [
      fields[own.length],
      own.every((value, at) => fields[at] === "*" || value.includes(unescaped(fields[at] ?? ""))),
    ];
    if (isFor && password !== undefined && password !== "") return unescaped(password);
  }
  return null;
}

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, "$1");
