// go-last-test: finds Go packages whose tests don't come to their end. To `go test` a process that
// exits with 0 has passed, whoever ended it. So a test that fails is put behind all others of each
// package: if its failure is not reported, something ended the process before it.

import { createNonce } from "../broken-expectations/choose-flips.ts";
import type { Edit, Lab, Side } from "../lab.ts";
import { type ChangeFiles, readTests } from "./question-context.ts";

type LastTest = Edit & { readonly folder: string; readonly name: string };

/** Names the folders whose tests end early with the work, and did not before it. */
export async function findEarlyGoEnd(
  context: ChangeFiles & { readonly lab: Pick<Lab, "commands" | "seed" | "run" | "textAt"> },
): Promise<string | null> {
  const { commands, seed, run } = context.lab;
  if (!commands.some((text) => /\bgo test\b/.test(text))) return null;
  const last = createLastTests(await readTests(context), createNonce(seed));
  // A run that took too long shows nothing.
  const readFailedNames = async (side: Side): Promise<string | null> => {
    const observed = await run(side, last);
    return observed === null ? null : [...observed.failed].join("\n");
  };
  const failedNow = last.length === 0 ? null : await readFailedNames("work");
  if (failedNow === null || last.every(({ name }) => failedNow.includes(name))) return null;
  const failedBefore = (await readFailedNames("base")) ?? "";
  const folders = last
    .filter(({ name }) => failedBefore.includes(name) && !failedNow.includes(name))
    .map(({ folder }) => folder);

  return folders.length === 0 ? null : describeEarlyEnd(folders);
}

/**
 * A failing test for each package. Go runs tests in the order of file names, so its file has a name
 * that comes last.
 */
export function createLastTests(
  tests: readonly { readonly path: string; readonly text: string }[],
  nonce: string,
): readonly LastTest[] {
  const packages = new Map<string, string>();
  for (const { path, text } of tests) {
    const packageName = path.endsWith("_test.go") ? /^package (\w+)/m.exec(text)?.[1] : undefined;
    if (packageName !== undefined) {
      packages.set(path.slice(0, path.lastIndexOf("/") + 1), packageName);
    }
  }

  return [...packages].map(([folder, packageName], index) => {
    const name = `TestZ${nonce}x${index}x`;
    const text = `package ${packageName}\n\nimport "testing"\n\nfunc ${name}(t *testing.T) { t.Fail() }\n`;
    return {
      folder: folder === "" ? "." : folder,
      name,
      path: `${folder}zz_${nonce}_test.go`,
      text,
    };
  });
}

const shownMax = 3;

const describeEarlyEnd = (folders: readonly string[]): string =>
  `the tests in ${folders.slice(0, shownMax).join(", ")} end before the last of them, so those behind were not run`;
