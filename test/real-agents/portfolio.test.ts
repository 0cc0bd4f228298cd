// A portfolio of two projects and four tasks, worked on by three real agents at once against the
// scripted model, to the landing of each.

import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Asked, lastPromptOf } from "../model-server/conversation.ts";
import { type ModelServer, openModelServer } from "../model-server/model-server.ts";
import { autopilot, type Reported } from "../support/autopilot.ts";
import { git, scratch, scratchFolder, write } from "../support/scratch-repository.ts";
import { agentsToTry, installedOf, realKey, userEnvironment } from "./installed.ts";

const words = ["apples", "pears", "plums", "figs"] as const;
const agentsMax = 3;
const here = agentsToTry.filter(({ isHere }) => isHere).slice(0, agentsMax);
const title =
  here.length < agentsMax
    ? `skipped: ${here.length} of three agents are installed, see node scripts/agents.mjs`
    : here.map((one) => one.title).join(", ");

/** What a prompt says behind a name on its own line; the last one counts. */
const behind = (prompt: string, name: string): string =>
  prompt
    .split("\n")
    .findLast((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2)
    .trim() ?? "";

/** Which task it is, and whether it is to be done or reported, is in the prompt. */
function played(asked: Asked): string | undefined {
  const prompt = lastPromptOf(asked);
  const word = words.find((candidate) => prompt.includes(`sell ${candidate}`));
  if (word === undefined) return undefined;
  if (!prompt.includes("next_suggestions")) {
    return `[[write ${word}.txt|${word} are sold]] [[say All is done.\\n\\n<promise>DONE</promise>]]`;
  }

  const result = {
    task_id: behind(prompt, "task_id"),
    event_nonce: behind(prompt, "event_nonce"),
    status: "done",
    summary: `${word} are sold`,
    evidence: [`${word}.txt`],
    verification: {
      confidence: "high",
      complete: true,
      checks_attempted: [],
      checks_passed: [],
      checks_failed: [],
      why_not_fully_verifiable: null,
    },
    next_suggestions: [],
    risks_or_unknowns: [],
  };

  return `[[say Finished.\\n\\n\`\`\`json\\n${JSON.stringify(result)}\\n\`\`\`]]`;
}

let model: ModelServer | null = null;
afterEach(async () => {
  await model?.close();
  model = null;
});

describe(title, () => {
  test.skipIf(here.length < agentsMax)(
    "three agents work on four tasks of two projects, and each lands once",
    { timeout: 900_000 },
    async () => {
      model = await openModelServer({ keys: [realKey], script: played });
      const [shop, site] = [scratch(), scratch()];
      const folder = join(scratchFolder(), "portfolio");
      write(folder, { "README.md": "" });
      const paths = here.flatMap(({ name }) => installedOf(name)?.path ?? []);
      const env = {
        ...userEnvironment(here[0]?.name ?? "claude", model.url),
        PATH: [...paths, process.env["PATH"] ?? ""].join(delimiter),
      };

      const run = async (...given: readonly string[]): Promise<Reported> =>
        (await autopilot(folder, ["portfolio", ...given, "--json"], { env })).json;
      await run("init");

      const tasks = words.map((word, at) => ({
        project: at % 2 === 0 ? "Shop" : "Site",
        objective: `sell ${word}`,
        accept: [`${word} :: grep -q '${word} are sold' ${word}.txt`],
        touches: [`${word}.txt`],
        agent: here[at % here.length]?.name,
      }));

      const projects = [
        { name: "Shop", repo: shop, slots: 2 },
        { name: "Site", repo: site, slots: 2 },
      ];

      writeFileSync(join(folder, "list.json"), JSON.stringify({ projects, tasks }));
      const imported = await run("import", "list.json");
      expect(imported).toMatchObject({ result: "PASS" });

      const pool = await autopilot(
        folder,
        ["portfolio", "run", "--until-idle", "--jobs", "3", "--json"],
        { env },
      );
      expect(pool.json, pool.err.slice(-3000)).toMatchObject({ done: 4, left: 0 });
      const ids = imported["ids"] as readonly string[];

      for (const [at, word] of words.entries()) {
        const repo = at % 2 === 0 ? shop : site;
        expect(git(repo, "show", `main:${word}.txt`)).toContain(`${word} are sold`);
        expect(
          git(
            repo,
            "log",
            "--format=%H",
            "--grep",
            `Autopilot-Task: ${ids[at] ?? ""}`,
            "main",
          ).split("\n"),
        ).toHaveLength(1);

        expect(git(repo, "status", "--porcelain")).toBe("");
      }

      const rows = (await run("status"))["tasks"] as readonly { readonly status: string }[];
      expect(rows.map(({ status }) => status)).toEqual(["done", "done", "done", "done"]);
      expect((await run("rebuild"))["different"]).toEqual([]);
    },
  );
});
