// What people give a portfolio, by hand or as a list: everything wrong is told, and nothing of it
// is taken.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { addProject, addTask } from "./add.ts";
import { moveTask } from "./change.ts";
import { editPortfolio } from "./edit.ts";
import { portfolioAt } from "../../portfolio/store/folder.ts";
import { importBacklog } from "./import.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { tickPortfolio } from "./tick.ts";
import { everything, idOf, openRoom } from "../../../test/support/portfolio-room.ts";

const { begun, folder, placeIn, repository, remove } = openRoom();
afterAll(remove);

test("a worktree of a repository that another project works in is refused by add, edit and import, with what to name", async () => {
  const { context, root } = await begun();
  const linked = join(folder, "linked");
  execFileSync("git", ["worktree", "add", "-q", "-b", "linked", linked], { cwd: repository });
  writeFileSync(join(root, "list.yaml"), `projects:\n  - { name: Site, repo: ${linked} }\n`);
  const words = expect.stringContaining(
    `${linked} is a worktree of the repository that another project works in: name ${repository}`,
  ) as string;

  for (const response of [
    await addProject(context, { name: "Site", repo: linked }),
    await importBacklog(context, { file: "list.yaml" }),
    (await addProject(context, { name: "Site", repo: repository }),
    await editPortfolio(context, { id: "proj-site", repo: linked })),
  ]) {
    expect(response).toMatchObject({ result: "FAIL", message: words });
  }

  execFileSync("git", ["worktree", "remove", "--force", linked], { cwd: repository });
});

test("what is wrong is said, and nothing is changed", async () => {
  const { context, root } = await begun();
  const first = idOf(await addTask(context, { project: "proj-shop", objective: "One" }));
  const second = idOf(
    await addTask(context, { project: "proj-shop", objective: "Two", after: [first] }),
  );

  const before = everything(root);
  const said = async (response: Promise<CommandResponse>): Promise<string> => {
    const { result, message } = await response;
    expect(result).toBe("FAIL");
    return message;
  };
  expect(await said(addTask(context, { project: "proj-shp", objective: "x" }))).toContain(
    "Did you mean proj-shop?",
  );

  expect(
    await said(
      addTask(context, { project: "proj-shop", objective: "x", after: ["task-none-aaaaaa"] }),
    ),
  ).toContain("which is no task");

  expect(await said(addTask(context, { project: "proj-shop", objective: " " }))).toContain(
    "objective is empty",
  );

  expect(
    await said(addTask(context, { project: "proj-shop", objective: "x", accept: ["a::b"] })),
  ).toContain("needs spaces around ::");

  expect(await said(editPortfolio(context, { id: first, after: [second] }))).toContain(
    "would depend on itself",
  );

  expect(await said(moveTask(context, { task: first, to: "ready", because: "x" }))).toContain(
    `${first} is ready already`,
  );

  expect(await said(addProject(context, { name: "Shop", repo: repository }))).toContain("already");
  expect(await said(addProject(context, { name: "Gone", repo: join(root, "nowhere") }))).toContain(
    "There is no folder",
  );

  expect(await said(addProject(context, { name: "Plain", repo: folder }))).toContain("repository");
  expect(
    await said(addProject(context, { name: "Branch", repo: repository, target: "none" })),
  ).toContain("no branch none");

  expect(
    await said(addTask(context, { project: "proj-shop", objective: "x", budget: "beer=3" })),
  ).toContain("not understood");

  expect((await tickPortfolio(placeIn(folder), { dryRun: true })).reason_code).toBe(
    "portfolio_missing",
  );

  expect(everything(root)).toEqual(before);
});

test("a list begins with a byte order mark or not; what is no text, half a character or too deep is refused with its line", async () => {
  const { context, root } = await begun();
  const imported = (name: string, content: string | Buffer) => {
    writeFileSync(join(root, name), content);
    return importBacklog(context, { file: name });
  };

  const task = (objective: string): string =>
    `[{ "project": "Shop", "objective": "${objective}" }]`;
  expect(await imported("marked.json", `\ufeff${task("sell apples")}`)).toMatchObject({
    result: "PASS",
  });

  expect(await imported("marked.md", "\ufeff# Shop\n\n- [ ] sell pears\n")).toMatchObject({
    result: "PASS",
  });

  for (const [name, content, message] of [
    [
      "bytes.md",
      Buffer.from("# Shop\n\n- [ ] sell \xff\n", "latin1"),
      "bytes.md:3: found bytes that are not UTF-8",
    ],
    ["half.json", task("\\ud800"), "expected a text of whole characters"],
    ["deep.json", `${"[".repeat(20_000)}${"]".repeat(20_000)}`, "deep.json:1: not JSON"],
  ] as const) {
    const refused = await imported(name, content);
    expect([refused.result, refused.message], name).toEqual([
      "FAIL",
      expect.stringContaining(message),
    ]);
  }
});

test("YAML and a Markdown backlog are imported, and rings are found", async () => {
  const { context, root } = await begun();
  writeFileSync(
    join(root, "list.yaml"),
    `projects:\n  - { name: Site, repo: ${repository}, objective: look good }\ntasks:\n  - { key: a, project: Site, objective: first, accept: ["ok :: true"] }\n  - { project: Site, objective: second, after: [a], touches: [docs/**] }\n`,
  );

  expect(await importBacklog(context, { file: "list.yaml" })).toMatchObject({
    result: "PASS",
    data: { projects: ["proj-site"] },
  });

  writeFileSync(
    join(root, "ring.yaml"),
    "tasks:\n  - { key: a, project: Shop, objective: first, after: [b] }\n  - { key: b, project: Shop, objective: second, after: [a] }\n",
  );

  expect((await importBacklog(context, { file: "ring.yaml" })).message).toContain("in a ring");
  writeFileSync(
    join(root, "backlog.md"),
    "# Shop\n\n- [x] done before\n- [ ] sell apples\n  - accept: apples :: test -f apples\n  - touches: shop/**\n  - key: apples\n- [ ] sell pears\n  - after: apples\n",
  );

  expect((await importBacklog(context, { file: "backlog.md" })).data?.["ids"]).toHaveLength(2);
  const tasks = Object.values((await readPortfolio(portfolioAt(root))).tasks);
  expect(tasks.map(({ objective }) => objective)).toEqual([
    "first",
    "second",
    "sell apples",
    "sell pears",
  ]);

  expect(tasks[3]?.dependencies).toEqual([tasks[2]?.task_id]);
});

test("a list that is imported asks for no weaker isolation than its user's", async () => {
  const { context, root } = await begun();
  writeFileSync(
    join(root, "list.yaml"),
    "tasks:\n  - project: proj-shop\n    objective: One\n    isolation: none\n",
  );

  expect(await importBacklog(context, { file: "list.yaml" })).toMatchObject({
    result: "FAIL",
    message: expect.stringContaining("isolation none is weaker than yours (auto)") as string,
  });
});

test.each([
  ["flow", "ralph", /the flow ralph is unknown, expected one of .*objective/i],
  ["isolation", "vm", /the isolation vm is unknown, expected one of auto, overlay, bwrap/i],
  ["touches", "../other/**", /touches: "\.\.\/other\/\*\*" climbs out of the repository/i],
  ["touches", "/etc", /touches: "\/etc" is an absolute path: expected a pattern inside/i],
  [
    "agent",
    "cluade",
    /the agent cluade is unknown, expected one of .*codex.*scripted:FILE\. Did you mean claude/i,
  ],
  ["agent", "codex,codex", /the agents codex,codex name one twice/i],
  ["agent", "scripted", /expected scripted:FILE/i],
] as const)(
  "an impossible %s (%s) is refused by import with file and line, by add and by edit",
  async (key, value, words) => {
    const { context, root } = await begun();
    const id = idOf(await addTask(context, { project: "proj-shop", objective: "One" }));
    const before = everything(root);
    const given = { [key]: key === "touches" ? [value] : value };
    const list = (of: object): string =>
      JSON.stringify({ tasks: [{ project: "Shop", objective: "fine" }, of] }, null, 1);
    writeFileSync(join(root, "list.json"), list({ project: "Shop", objective: "wrong", ...given }));
    writeFileSync(join(root, "list.md"), `# Shop\n- [ ] fine\n- [ ] wrong\n  - ${key}: ${value}\n`);

    const refused = [
      await importBacklog(context, { file: "list.json" }),
      ...(value.includes(",") ? [] : [await importBacklog(context, { file: "list.md" })]),
      await addTask(context, { project: "Shop", objective: "wrong", ...given }),
      await editPortfolio(context, { id, ...given }),
      ...(key === "agent"
        ? [
            await editPortfolio(context, { id: "proj-shop", ...given }),
            await addProject(context, { name: "Site", repo: repository, ...given }),
          ]
        : []),
    ];
    for (const response of refused) {
      expect(response).toMatchObject({
        reason_code: "portfolio_input_invalid",
        message: expect.stringMatching(words) as string,
      });
    }

    expect(refused[0]?.message).toContain("list.json:7: tasks[1]: ");
    if (!value.includes(",")) expect(refused[1]?.message).toContain("list.md:3: ");
    expect(everything(root)).toEqual(before);
  },
);

test("an agent named for a project works on its tasks that name nobody, and a script's path counts from where it was given", async () => {
  const { context, root, shown } = await begun();
  writeFileSync(join(folder, "given.yaml"), "turns: []\n");

  const named = await addProject(context, {
    name: "Site",
    repo: repository,
    objective: "show",
    agent: "codex, scripted:../given.yaml",
  });
  expect(named.result).toBe("PASS");
  const whole = `codex,scripted:${join(folder, "given.yaml")}`;
  expect(readFileSync(shown("projects/proj-site.md"), "utf8")).toContain(
    `agent: ${JSON.stringify(whole)}`,
  );

  const plain = idOf(
    await addTask(context, { project: "Site", objective: "paint it", touches: ["a"] }),
  );

  const ownFolder = idOf(
    await addTask(context, {
      project: "Shop",
      objective: "sell it",
      touches: ["b"],
      agent: "scripted:../given.yaml",
    }),
  );

  const { data } = await tickPortfolio(
    { ...context, env: { HOME: folder, PATH: "/nowhere" } },
    { dryRun: true, jobs: 4 },
  );
  expect(data?.["actions"]).toMatchObject([
    { do: "dispatch", task_id: ownFolder, agent: `scripted:${join(folder, "given.yaml")}` },
  ]);

  // An agent that isn't installed starts nothing: it is not said to.
  expect(data?.["waiting"]).toMatchObject([
    {
      task_id: plain,
      code: "agent",
      because: expect.stringContaining("codex can't be used here") as unknown,
    },
  ]);

  // Nor does a repository that is away.
  renameSync(repository, `${repository}.away`);
  const away = await tickPortfolio(context, { dryRun: true, jobs: 4 });
  renameSync(`${repository}.away`, repository);
  expect(away.data?.["waiting"]).toContainEqual({
    task_id: ownFolder,
    code: "no_repository",
    because: `${repository} is not there; the tick that tries it asks you`,
  });

  const pooled = await tickPortfolio(context, { dryRun: true, agent: "scripted:../other.yaml" });
  expect(pooled.result).toBe("PASS");

  for (const response of [
    await addTask(context, { project: "Site", objective: "x", agent: "scripted:nowhere.yaml" }),
    await editPortfolio(context, { id: "proj-site", agent: "scripted:nowhere.yaml" }),
    await tickPortfolio(context, { dryRun: false, agent: "scripted:nowhere.yaml" }),
  ]) {
    expect(response).toMatchObject({
      reason_code: "script_invalid",
      message: expect.stringContaining(join(root, "nowhere.yaml")) as string,
    });
  }
});
