// The examples are held to the product: the workflow has the shape GitHub expects, and both use
// commands and flags that exist.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "..");
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");
const reference = textOf("test/golden/cli-reference.md");

type Step = {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
};
type Job = {
  readonly "runs-on": string;
  readonly "timeout-minutes": number;
  readonly steps: readonly Step[];
};
type Workflow = {
  readonly on: {
    readonly workflow_dispatch: { readonly inputs: Readonly<Record<string, object>> };
  };
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
};

test("the workflow has the shape GitHub expects, and reads no input as shell", () => {
  const workflow = parse(textOf("examples/github-actions.yml")) as Workflow;
  expect(workflow.permissions).toEqual({ contents: "write", "pull-requests": "write" });
  const [job] = Object.values(workflow.jobs);
  expect(job).toMatchObject({
    "runs-on": "ubuntu-latest",
    "timeout-minutes": expect.any(Number) as number,
  });

  for (const step of job?.steps ?? []) {
    expect([step.uses, step.run].filter((one) => one !== undefined)).toHaveLength(1);
    if (step.uses !== undefined) expect(step.uses).toMatch(/^actions\/[\w-]+@v\d+$/);
    expect(step.run ?? "").not.toContain("${{");
  }

  const inputs = Object.keys(workflow.on.workflow_dispatch.inputs);
  const used = (job?.steps ?? []).flatMap(({ env = {} }) =>
    Object.values(env).flatMap((value) => /inputs\.(\w+)/.exec(value)?.[1] ?? []),
  );
  expect([...new Set(used)].toSorted()).toEqual(inputs.toSorted());
});

test("every command and flag of the examples exists, and the package is called by its name", () => {
  const texts = [textOf("examples/github-actions.yml"), textOf("examples/Dockerfile")];
  const called = texts.flatMap((text) => [
    ...text.matchAll(/\bautopilot (go|report|doctor|status|resume)\b(.*)/g),
  ]);
  expect(called.length).toBeGreaterThan(3);

  for (const [, command = "", rest = ""] of called) {
    expect(reference).toContain(`## autopilot ${command}\n`);
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) expect(reference).toContain(flag);
  }

  const { name } = JSON.parse(textOf("package.json")) as { readonly name: string };
  for (const text of texts) expect(text).toContain(name);
});

test("the image runs as somebody else than root, and ends in the command", () => {
  const lines = textOf("examples/Dockerfile").split("\n");
  expect(lines.filter((line) => /^(FROM|USER|ENTRYPOINT) /.test(line))).toEqual([
    "FROM node:22-bookworm-slim",
    "USER node",
    'ENTRYPOINT ["autopilot"]',
  ]);
});
