// adopt: makes a portfolio that came from elsewhere this user's, once they have seen what it would do.
//
// Invariants:
//   A1. Every line of its journal is read and held to its schema first; nothing of it is executed.
//   A2. It is paused, so that nothing starts before its user says `resume`.

import { chmodSync } from "node:fs";
import type { Answer } from "../../contracts/answer.ts";
import { faultOfChange, type PortfolioChange, portfolioChangeNames } from "../../contracts/portfolio-journal.ts";
import { readJournal } from "../../journal/read.ts";
import type { PortfolioView } from "../../portfolio/planner/state.ts";
import { bindPortfolio, findPortfolio, type PortfolioPaths, whyForeign } from "../../portfolio/store/folder.ts";
import { readPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { answered, refuse, reply } from "../../project/reply.ts";
import { whyUnusable } from "../../project/runs/run-binding.ts";
import { oneLine } from "../../views/wording.ts";

const rowsMax = 40;

export function adoptPortfolio(place: CommandContext, input: { readonly yes?: boolean | undefined }): Promise<Answer> {
  return answered(async () => {
    const paths = findPortfolio(place.cwd);
    if (paths === null) return refuse("portfolio_missing", { message: `There is no portfolio in ${place.cwd} or above it.` });
    if (whyForeign(place, paths) === null) return reply("ok", { message: "This portfolio is yours already.", data: { root: paths.root } });
    const unusable = whyUnusable(place.env, { root: paths.root, folder: `${paths.root}/.autopilot` }, paths.own);
    if (unusable !== null)
      return refuse("portfolio_foreign", { message: `The portfolio in ${paths.root} cannot be adopted: ${unusable}.` });
    const state = checked(paths);
    const page = shownOf(state);
    const isAgreed = input.yes === true || (place.isTerminal && (await asked(place, page)));
    if (!isAgreed)
      return reply("portfolio_foreign", {
        page,
        message: "This is what the portfolio would do. Nothing was changed.",
        remediation: ["autopilot portfolio adopt --yes"],
      });
    chmodSync(paths.own, 0o700);
    bindPortfolio(place, paths);
    await withPortfolio(place, paths, (open) =>
      open.write({ event: "portfolio_updated", actor: `operator:${place.user}`, reason_code: "ok", paused: true }),
    ); // A2
    return reply("ok", {
      message: "The portfolio is yours now, and paused.",
      remediation: ["autopilot portfolio status", "autopilot portfolio resume"],
      data: { root: paths.root },
    });
  });
}

/** A1. */
function checked(paths: PortfolioPaths): PortfolioView {
  const known = new Set<string>(portfolioChangeNames);
  readJournal(paths.own, {
    from: "start",
    onEntry: (entry) => {
      const { event, actor, reason_code, seq, ...rest } = entry as unknown as PortfolioChange & { readonly seq: number };
      if (!known.has(event)) return;
      const fields = Object.fromEntries(Object.entries(rest).filter(([key]) => !ownKeys.has(key)));
      const fault = faultOfChange({ event, actor, reason_code, ...fields } as PortfolioChange);
      if (fault !== null) refuse("portfolio_foreign", { message: `Line ${seq} of its journal is not in order: ${fault}` });
    },
  });
  try {
    return readPortfolio(paths);
  } catch (error) {
    return refuse("portfolio_foreign", {
      message: `Its journal contradicts itself: ${error instanceof Error ? error.message : String(error)}`,
    });
  }
}

/** What the journal adds to an event. */
const ownKeys: ReadonlySet<string> = new Set(["journal", "ts", "epoch", "prev", "crc", "active_ms"]);

async function asked(place: CommandContext, page: readonly string[]): Promise<boolean> {
  for (const line of page) place.show(line);
  return (await place.ask("Make this portfolio yours? It stays paused.", ["y", "n"])) === "y";
}

/** Where it would work, with what, and which commands it would run. */
function shownOf(state: PortfolioView): readonly string[] {
  const tasks = Object.values(state.tasks).filter(({ status }) => status !== "done" && status !== "canceled");
  const commands = [...new Set(tasks.flatMap((task) => task.acceptance_criteria.flatMap(({ command }) => command ?? [])))];
  const distinct = (values: readonly (string | null)[]): string =>
    [...new Set(values.map((value) => value ?? "yours"))].join(", ") || "none";
  const cut = (lines: readonly string[]): readonly string[] =>
    lines.length > rowsMax ? [...lines.slice(0, rowsMax), `… and ${lines.length - rowsMax} more`] : lines;
  return [
    `Portfolio ${oneLine(state.name, 60)}: ${Object.keys(state.projects).length} projects, ${tasks.length} open tasks`,
    `agents: ${distinct(tasks.map(({ agent }) => agent))}`,
    `isolation: ${distinct(tasks.map(({ isolation }) => isolation))}`,
    "",
    "It works in and merges into:",
    ...cut(Object.values(state.projects).map(({ repository, target }) => `  ${repository ?? "no repository"} (${target})`)),
    "",
    "It runs these commands:",
    ...cut(commands.map((command) => `  ${oneLine(command, 100)}`)),
  ];
}
