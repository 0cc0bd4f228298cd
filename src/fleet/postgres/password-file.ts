// password-file: reads a store's password from ~/.pgpass or PGPASSFILE, as psql does: from the
// first line whose host, port, database and user match. Used only if the server wants a password
// and neither the address nor PGPASSWORD has one.

import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { unusable } from "./store-failure.ts";

export type StoreLogin = {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
};

const othersMode = 0o077;

export async function readPasswordFromFile(
  login: StoreLogin,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const path = env["PGPASSFILE"] ?? join(env["HOME"] ?? homedir(), ".pgpass");
  const { host, port, database, user } = login;
  const line = [host, port, database, user, "PASSWORD"].join(":");
  const requestText = `${user}@${host}/${database} asks for a password`;
  const stats = await stat(path).catch(() => null);
  if (stats === null) {
    throw unusable(
      `${requestText}, and there is none`,
      `a line ${line} in ${path}, then chmod 600 ${path}; or PGPASSWORD`,
    );
  }

  if ((stats.mode & othersMode) !== 0) {
    throw unusable(
      `${requestText}, and ${path} is not read: others may read it too`,
      `chmod 600 ${path}`,
    );
  }

  const password = findPassword(await readFile(path, "utf8"), login);
  if (password === null) {
    throw unusable(
      `${requestText}, and no line of ${path} is for it`,
      `a line ${line} in ${path}; or PGPASSWORD`,
    );
  }

  return password;
}

/**
 * The password of the first line that matches, such as `db.example:5432:*:ann:s3cret`; null if no
 * line does.
 */
export function findPassword(
  text: string,
  { host, port, database, user }: StoreLogin,
): string | null {
  const loginValues = [
    host.startsWith("/") ? [host, "localhost"] : [host],
    [String(port)],
    [database],
    [user],
  ]; // a socket is this machine

  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const fields = (line.match(/(?:^|:)(?:\\.|[^:\\])*/g) ?? []).map((field) =>
      field.replace(/^:/, ""),
    );
    const isMatch = loginValues.every(
      (values, index) => fields[index] === "*" || values.includes(unescape(fields[index] ?? "")),
    );

    const password = fields[loginValues.length];
    if (isMatch && password !== undefined && password !== "") return unescape(password);
  }

  return null;
}

const unescape = (text: string): string => text.replaceAll(/\\(.)/g, "$1");
