// made-portfolio: a portfolio whose tasks each make a file, for stories about who plans it and who
// works on it.

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { autopilot, type Reported } from "../support/autopilot.ts";
import { checkedOnce, git, scratchFolder, write } from "../support/scratch-repository.ts";
import { taskResult } from "../support/task-result.ts";
import { at, type Machine, said } from "./machines.ts";

/**
 * A portfolio beside a repository, with tasks that each make a file; every tenth fails in its first
 * turn.
 */
export async function portfolio(
  repository: string,
  env: Machine["env"],
  count: number,
  slots = 4,
  /** What a task does before it makes its file. */
  first: (n: number) => object = () => ({ sleep: 0 }),
): Promise<Machine> {
  const folder = checkedOnce(join(scratchFolder(), "portfolio"));
  write(folder, { "README.md": "" });
  const machine: Machine = { folder, env };
  await reported(machine, "init");
  await addProject(machine, "Shop", repository, count, { slots, first });

  return machine;
}

async function reported(machine: Machine, ...args: readonly string[]): Promise<Reported> {
  const ended = await at(machine, "portfolio", ...args);
  expect(ended.json.result, said(ended)).toBe("PASS");
  return ended.json;
}

/** A project of a portfolio, with its tasks. */
export async function addProject(
  machine: Machine,
  name: string,
  repository: string,
  count: number,
  {
    slots = 4,
    first = () => ({ sleep: 0 }),
  }: { readonly slots?: number; readonly first?: (n: number) => object } = {},
): Promise<void> {
  await reported(
    machine,
    "add",
    "project",
    name,
    "--repo",
    repository,
    "--slots",
    String(slots),
    "--objective",
    "work",
  );

  for (let n = 0; n < count; n++) {
    await addTask(machine, name, `made-${n}`, { first: first(n), failsFirst: n % 10 === 1 });
  }
}

/** A task of a project that makes a file. */
export async function addTask(
  machine: Machine,
  project: string,
  file: string,
  {
    first = { sleep: 0 },
    failsFirst = false,
  }: { readonly first?: object; readonly failsFirst?: boolean } = {},
): Promise<string> {
  const path = `${file}.txt`;
  const makes = {
    do: [
      first,
      { write: { path, text: `${path}\n` } },
      { say: "finished <promise>DONE</promise>" },
    ],
  };

  const fails = {
    do: [{ write: { path: `${file}.draft`, text: "not yet\n" } }, { say: "not yet" }],
  };

  const script = join(machine.folder, `agent-${project}-${file}.json`);
  const turns = [
    { when: { step: "report" }, returns: taskResult },
    ...(failsFirst ? [fails] : []),
    makes,
  ];

  writeFileSync(script, JSON.stringify({ turns }));
  const args = [
    "--agent",
    `scripted:${script}`,
    "--isolation",
    "clone",
    "--accept",
    `made :: test -f ${path}`,
    "--touches",
    `${file}.*`,
  ];

  return String((await reported(machine, "add", "task", project, `make ${path}`, ...args))["id"]);
}

/** The same portfolio on another machine: in a folder and with a clone of its own. */
export async function standby(machine: Machine, key: string): Promise<Machine> {
  const folder = checkedOnce(join(scratchFolder(), "portfolio"));
  const taken = await at(
    machine,
    "portfolio",
    "take",
    key,
    "--into",
    folder,
    "--repo",
    `Shop=${machine.folder}`,
  );
  expect(taken.json.result, said(taken)).toBe("PASS");
  const other = { ...machine, folder };
  const refused = await at(other, "portfolio", "pause");
  expect(refused.json.reason_code, "taken is not agreed to").toBe("portfolio_foreign");
  const adopted = await at(other, "portfolio", "adopt", "--yes");
  expect(adopted.json.result, said(adopted)).toBe("PASS");

  return other;
}

/** Every file that people read, made anew from the journal. */
export async function rebuilt(machine: Machine): Promise<Readonly<Record<string, string>>> {
  const ended = await at(machine, "portfolio", "rebuild");
  expect(ended.json, said(ended)).toMatchObject({ result: "PASS" });
  const shown = join(machine.folder, ".openclaw-autopilot");

  return Object.fromEntries(
    readdirSync(shown, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(shown, name)).isFile())
      .map((name) => [name, readFileSync(join(shown, name), "utf8")]),
  );
}

/** `branch`: where `main` is, if its work lands on a hub. */
export async function summarizeEnd(
  { folder, env }: Machine,
  repository: string,
  branch = repository,
): Promise<object> {
  const { json } = await autopilot(folder, ["portfolio", "status", "--json"], { env });
  const rows = json["tasks"] as readonly {
    readonly status: string;
    readonly landed: string | null;
  }[];

  return {
    statuses: rows.map(({ status }) => status),
    landed: rows.filter(({ landed }) => landed !== null).length,
    files: git(branch, "ls-tree", "-r", "main").split("\n").toSorted(),
    dirt: git(repository, "status", "--porcelain"),
  };
}
