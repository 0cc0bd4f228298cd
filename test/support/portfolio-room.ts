// portfolio-room: a repository and new portfolios beside it, for the tests of a portfolio's
// commands.

import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandResponse } from "../../src/contracts/command-response.ts";
import type { CommandContext } from "../../src/project/command-context.ts";
import { commandContext } from "./command-context.ts";
import { addProject, initPortfolio } from "../../src/commands/portfolio/add.ts";

/** Called once a file, which removes it after its tests. */
export function openRoom() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-portfolio-")));
  const repository = join(folder, "repo");
  const placeIn = (cwd: string): CommandContext =>
    commandContext({ cwd, env: { HOME: folder, PATH: process.env["PATH"] } });

  mkdirSync(repository);
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=S", "-c", "user.email=s@example.invalid", ...words], {
      cwd: repository,
    });
  git("init", "-q", "-b", "main");
  writeFileSync(join(repository, "README.md"), "# repo\n");
  git("add", "-A");
  git("commit", "-q", "-m", "start");

  let made = 0;
  /** A new portfolio with one project. */
  async function begun(): Promise<{
    readonly context: CommandContext;
    readonly shown: (path: string) => string;
    readonly root: string;
  }> {
    const root = join(folder, `p${++made}`);
    mkdirSync(root);
    const context = placeIn(root);
    await initPortfolio(context, {});
    await addProject(context, { name: "Shop", repo: repository, objective: "sell" });

    return { context, root, shown: (path) => join(root, ".openclaw-autopilot", path) };
  }

  return {
    folder,
    repository,
    placeIn,
    begun,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export const idOf = ({ data }: CommandResponse): string => String(data?.["id"]);
export const everything = (root: string): Record<string, string> => {
  const names = readdirSync(join(root, ".openclaw-autopilot"), {
    recursive: true,
    encoding: "utf8",
  });
  return Object.fromEntries(
    names
      .filter((name) => /\.(md|jsonl)$/.test(name))
      .map((name) => [name, readFileSync(join(root, ".openclaw-autopilot", name), "utf8")]),
  );
};
