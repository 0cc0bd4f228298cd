// go-last-test: whether the tests of every Go package come to their end. `go test` takes a process that ends well for a pass, whoever ended
// it, so a test that fails is put behind all others of each package: where it is not heard, something ended the process before it.

import { createNonce } from "../flips/choose-flips.ts";
import type { Edit, ExperimentTools, Side } from "../experiment-tools.ts";
import { type ChangeFiles, readTests } from "./question-context.ts";

type LastTest = Edit & { readonly folder: string; readonly name: string };

/** Names the folders whose tests end early with the work, and did not before it. */
export async function findEarlyGoEnd(
  context: ChangeFiles & { readonly lab: Pick<ExperimentTools, "commands" | "seed" | "run" | "textAt"> },
): Promise<string | null> {
  const { commands, seed, run } = context.lab;
  if (!commands.some((text) => /\bgo test\b/.test(text))) return null;
  const last = createLastTests(await readTests(context), createNonce(seed));
  // A run that took too long shows nothing.
  const readFailedNames = async (side: Side): Promise<string | null> => {
    const observed = await run(side, last);
    return observed === null ? null : [...observed.failed].join("\n");
  };
  const now = last.length === 0 ? null : await readFailedNames("work");
  if (now === null || last.every(({ name }) => now.includes(name))) return null;
  const before = (await readFailedNames("base")) ?? "";
  const folders = last.filter(({ name }) => before.includes(name) && !now.includes(name)).map(({ folder }) => folder);
  return folders.length === 0 ? null : describeEarlyEnd(folders);
}

/** Go calls tests by the names of their files, then in order. */
export function createLastTests(tests: readonly { readonly path: string; readonly text: string }[], nonce: string): readonly LastTest[] {
  const packages = new Map<string, string>();
  for (const { path, text } of tests) {
    const packageName = path.endsWith("_test.go") ? /^package (\w+)/m.exec(text)?.[1] : undefined;
    if (packageName !== undefined) packages.set(path.slice(0, path.lastIndexOf("/") + 1), packageName);
  }
  return [...packages].map(([folder, own], at) => {
    const name = `TestZ${nonce}x${at}x`;
    const text = `package ${own}\n\nimport "testing"\n\nfunc ${name}(t *testing.T) { t.Fail() }\n`;
    return { folder: folder === "" ? "." : folder, name, path: `${folder}zz_${nonce}_test.go`, text };
  });
}

const describeEarlyEnd = (folders: readonly string[]): string =>
  `the tests in ${folders.slice(0, 3).join(", ")} end before the last of them, so those behind were not run`;
