// build-dependence: runs the check with the work's code switched to another build
// (build-conditions.ts): code may be right in the checked build alone.

import {
  switchBuild,
  describeBuildDependence,
  describeUndecidedBuild,
} from "./build-conditions.ts";
import { findRuleMacros } from "./build-macros.ts";
import { createFeatureFilter } from "./rust-build.ts";
import { createLinkedFilter } from "./weak-names.ts";
import { findTestCases, isNameOfTest, isNameOfFile } from "../source-text/test-cases.ts";
import type { Lab } from "../lab.ts";
import {
  readAllTests,
  type QuestionContext,
  type ChangedFile,
  readSources,
} from "../questions/question-context.ts";
import { makefileNames } from "../../gates/named-commands.ts";

/**
 * Tests that expect an assertion of the code to fail do not count in a build without assertions.
 */
const expectsAssertion =
  /AssertionError|should_panic|catch_unwind|DEATH|SIGABRT|\bWIFSIGNALED\b|-6\b/;

export async function findBuildDependence(context: QuestionContext): Promise<string | null> {
  const { lab, runWith, rules } = context;
  const { now, textAt } = lab;
  const sources = await readSources(context);
  const manifests = sources.some(({ path }) => path.endsWith(".rs"))
    ? await readCargoManifests(sources, textAt)
    : [];
  const isFeatureOn = createFeatureFilter(manifests, rules.named.usedCommands);
  const makefiles = sources.some(({ path }) => /\.[ch]$/.test(path))
    ? await Promise.all(makefileNames.map((name) => textAt("work", name)))
    : [];

  const { ofTests, ofOthers } = findRuleMacros(makefiles.map((text) => text ?? "").join("\n"));
  const buildFacts = {
    isFeatureOn,
    isMacroOn: (name: string) => !ofTests.has(name),
    isMacroOfOthers: (name: string) => ofOthers.has(name),
    isLinked: await createLinkedFilter(context, sources),
  };

  const texts = [
    ...(await readAllTests(context)),
    ...sources.map(({ path, is }) => ({ path, text: is })),
  ];
  const cases = texts.flatMap(({ path, text }) => findTestCases(path, text));
  const paths = [...new Set(cases.map(({ path }) => path))];
  let tried = "";
  let off: readonly string[] = [];

  // Code that only tests may need is switched off at first. If nothing can be concluded then, it is
  // left on.
  for (const isGentle of [false, true]) {
    const switchedFiles = sources.flatMap(({ path, ...texts }) => {
      const switched = switchBuild({ path, ...texts }, buildFacts, isGentle);
      return switched === null ? [] : [{ path, ...switched }];
    });
    const edits = switchedFiles.map(({ path, text }) => ({ path, text }));
    if (edits.length === 0) return null; // what depends on the build is needed by tests alone
    if (JSON.stringify(edits) === tried) break;
    tried = JSON.stringify(edits);
    off = [...new Set(switchedFiles.flatMap((file) => file.off))];
    const observed = await runWith(`it passes without ${off.join(", ")}`, { edits });
    if (observed === null) return null;
    const ran = (observed.tests?.ran ?? 0) >= (now.tests?.ran ?? 0);
    if (observed.passed && ran) return null;
    const failed = [...observed.failed].filter(
      (name) => !now.failed.has(name) && !paths.some((path) => isNameOfFile(name, path)),
    );
    const forgiven = failed.filter((name) =>
      cases.some((test) => isNameOfTest(name, test) && expectsAssertion.test(test.text)),
    );
    const unforgiven = failed.filter((name) => !forgiven.includes(name));
    if (
      unforgiven.length > 0 ||
      (!observed.passed && failed.length === 0 && (now.tests?.ran ?? 0) === 0)
    ) {
      return describeBuildDependence(off, unforgiven);
    }

    if (forgiven.length > 0 && ran) return null;
  }

  return describeUndecidedBuild(off);
}

/** The Cargo.toml files of all folders that the sources are in. */
async function readCargoManifests(
  sources: readonly ChangedFile[],
  textAt: Lab["textAt"],
): Promise<readonly string[]> {
  const folders = new Set<string>([""]);
  for (const { path } of sources) {
    for (let index = path.lastIndexOf("/"); index > 0; index = path.lastIndexOf("/", index - 1)) {
      folders.add(path.slice(0, index + 1));
    }
  }

  const texts = await Promise.all(
    [...folders].map((folder) => textAt("work", `${folder}Cargo.toml`)),
  );
  return texts.flatMap((text) => text ?? []);
}
