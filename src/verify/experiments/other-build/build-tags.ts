// build-tags: runs the check in the build that new code keeps for others: with Go's build tags the
// other way round, and with features of a Cargo package that nothing switches on. A work may be
// right in the checked build and wrong in the released one. Pure, except for those runs.
//
// Invariants:
//   B1. Only tags and features that the work's code, not its tests, newly names are asked for.
//       Operating systems, processors and what the Go tool sets itself are no choice of a build;
//       `ignore` and `tools` mean no build at all. That is a list, given by the language. Tags of
//       files that a tool generates separate them from what the tool reads.
//   B2. What does not compile that way is released to nobody, and shows nothing.
//   B3. Tests that name the tag or feature are about it, and don't count. Nor do those that fail
//       that way before the work too.

import { listSome } from "../../../kit/list-some.ts";
import { shellWord } from "../../../kit/shell-word.ts";
import {
  findTestCases,
  isNameOfTest,
  omitGroups,
  type TestCase,
} from "../source-text/test-cases.ts";
import {
  type ChangedFile,
  type CheckoutChange,
  isTest,
  type QuestionContext,
  readAllTests,
  readChanged,
  readSources,
} from "../questions/question-context.ts";
import { createFeatureFilter } from "./rust-build.ts";

const namesMax = 5;

type OtherBuild = {
  readonly change: CheckoutChange;
  /** What the conditions of tests are searched for (B3). */
  readonly about: RegExp;
  readonly described: string;
};

export async function findTagDependence(context: QuestionContext): Promise<string | null> {
  const builds = [await turnGoTags(context), await addCargoFeatures(context)];
  const gaps: string[] = [];

  for (const build of builds) {
    const gap = build === null ? null : await askBuild(context, build);
    if (gap !== null) gaps.push(gap);
  }

  return gaps.length === 0 ? null : gaps.join("; ");
}

/** What fails in the other build; null if nothing does that did not before the work. */
async function askBuild(
  context: QuestionContext,
  { change, about, described }: OtherBuild,
): Promise<string | null> {
  const { lab, runWith } = context;
  const observed = await runWith(`it passes ${described}`, change);
  if (observed === null || observed.passed) return null;

  const testsAboutIt = await findTestsAbout(context, about);
  const failed = omitGroups([...observed.failed])
    .filter((name) => !lab.now.failed.has(name))
    .filter((name) => !testsAboutIt.some((test) => isNameOfTest(name, test))); // B3
  if (observed.failed.size > 0 && failed.length === 0) return null;

  const base =
    lab.before === null ? null : await lab.run("base", change.edits ?? [], [], change.command);
  const newlyFailed = failed.filter(
    (name) => base?.failed.has(name) !== true || lab.before?.failed.has(name) === true,
  ); // B3
  const isExplained = failed.length > 0 ? newlyFailed.length === 0 : lab.before?.passed === true;
  if (base?.passed === false && isExplained) return null;

  if (newlyFailed.length === 0) return `it fails ${described}`;
  const verb = newlyFailed.length === 1 ? "fails" : "fail";
  return `${listSome(newlyFailed, namesMax)} ${verb} ${described}`;
}

/** The tests that name the tag or feature, or whose file does. */
async function findTestsAbout(
  context: QuestionContext,
  about: RegExp,
): Promise<readonly TestCase[]> {
  const tests = await readAllTests(context);
  const sources = (await readSources(context)).map(({ path, is }) => ({ path, text: is }));

  return [...tests, ...sources].flatMap(({ path, text }) => {
    const conditions = isTest(context, path) ? (text.match(/^(?:\/\/|#!\[cfg).*$/gm) ?? []) : [];
    const ofFile = conditions.join("\n");
    return findTestCases(path, text).filter((test) => about.test(`${ofFile}\n${test.text}`));
  });
}

/** The tags of lines that say in which builds a Go file takes part. */
const findTags = (text: string): readonly string[] =>
  [...text.matchAll(/^\/\/(?:go:build| ?\+build) (.*)$/gm)].flatMap(
    ([, condition = ""]) => condition.match(/[\w.]+/g) ?? [],
  );

/** B1 */
const settledTag =
  /^(?:aix|android|darwin|dragonfly|freebsd|hurd|illumos|ios|js|linux|nacl|netbsd|openbsd|plan9|solaris|wasip1|windows|zos|unix|386|amd64(?:\.v\d)?|amd64p32|arm\w*|arm64\S*|loong64|mips\w*|ppc\w*|riscv\w*|s390x?|sparc\w*|wasm|gc|gccgo|cgo|race|msan|asan|boringcrypto|compiler_bootstrap|go1\.\d+|goexperiment\..*|ignore|tools|tool)$/;

export function findNewTags(files: readonly Pick<ChangedFile, "was" | "is">[]): readonly string[] {
  const generated = files.filter(({ is }) => generatedFile.test(is));
  const ofTools = generated.flatMap(({ is }) => findTags(is));
  const tags = files.flatMap(({ was, is }) => {
    const before = findTags(was ?? "");
    return findTags(is).filter((tag) => !before.includes(tag));
  });

  return [...new Set(tags)].filter((tag) => !settledTag.test(tag) && !ofTools.includes(tag));
}
/** Go's words for a file that a tool wrote: its tags keep away what only the tool reads. */
const generatedFile = /^\/\/ Code generated .* DO NOT EDIT\.$/m;

/**
 * The check with these tags the other way round, in all files of the project; it passes if that
 * does not compile (B2).
 */
export function turnTags(command: string, tags: readonly string[]): string {
  const marker = "^//(go:build| ?[+]build) ";
  const turns = tags
    .map((tag) => tag.replaceAll(".", "[.]"))
    .map((tag) => `s/!${tag}\\b/@/g;s/\\b${tag}\\b/!${tag}/g;s/@/${tag}/g`);

  const edit = shellWord(`\\#${marker}#{${turns.join(";")}}`);
  return `grep -rlZE --include='*.go' --include='*.s' ${shellWord(marker)} . | xargs -0r sed -i -E ${edit}
[ ! -f go.mod ] || go test -vet=off -exec true ./... >/dev/null 2>&1 || exit 0
${command}`;
}

async function turnGoTags(context: QuestionContext): Promise<OtherBuild | null> {
  const { check, goal = "" } = context;
  const changed = await readChanged(
    context,
    (path) => /\.(?:go|s)$/.test(path) && !isTest(context, path),
  );
  const isInGoal = (tag: string): boolean =>
    new RegExp(`\\btags?\\b.*\\b${tag}\\b|\\b${tag}\\b.*\\btag\\b`, "i").test(goal);
  const tags = findNewTags(changed).filter((tag) => !isInGoal(tag));
  if (tags.length === 0) return null;

  const anyTag = `(?<![\\w.])(?:${tags.join("|")})(?![\\w.])`;
  const verb = tags.length === 1 ? "is" : "are";
  return {
    change: { command: turnTags(check.command, tags) },
    about: new RegExp(`^//(?:go:build| ?\\+build) .*${anyTag}`, "m"),
    described: `when the build tag ${tags.join(", ")} ${verb} the other way round`,
  };
}

/**
 * Features that new code names, that the package declares, and that no build of the check has on.
 */
async function addCargoFeatures(context: QuestionContext): Promise<OtherBuild | null> {
  const { lab, rules, check, goal = "" } = context;
  const path = "Cargo.toml";
  const sources = (await readSources(context)).filter((file) => file.path.endsWith(".rs"));
  const manifest = sources.length === 0 ? null : await lab.textAt("work", path);
  if (manifest === null) return null;

  const isOn = createFeatureFilter([manifest], rules.named.usedCommands);
  const isInGoal = (name: string): boolean =>
    new RegExp(`\\bfeatures?\\b.*\\b${name}\\b`, "i").test(goal);
  const features = findNewFeatures(sources).filter((name) => !isOn(name) && !isInGoal(name));
  const text = features.length === 0 ? null : switchFeaturesOn(manifest, features);
  if (text === null) return null;

  return {
    change: {
      edits: [{ path, text }],
      command: `cargo test --offline --no-run >/dev/null 2>&1 || exit 0\n${check.command}`,
    },
    about: new RegExp(`\\bfeature\\s*=\\s*"(?:${features.join("|")})"`),
    described: `with the feature ${features.join(", ")}`,
  };
}

const findFeatures = (text: string): readonly string[] =>
  [...text.matchAll(/\bfeature\s*=\s*"([\w-]+)"/g)].map(([, name = ""]) => name);

export function findNewFeatures(
  files: readonly Pick<ChangedFile, "was" | "is">[],
): readonly string[] {
  const features = files.flatMap(({ was, is }) => {
    const before = findFeatures(was ?? "");
    return findFeatures(is).filter((name) => !before.includes(name));
  });

  return [...new Set(features)];
}

/** A manifest in which declared features are on by default; null if it declares none of them. */
export function switchFeaturesOn(manifest: string, features: readonly string[]): string | null {
  const [section = "", body = ""] =
    /^\[features\][ \t]*\n([^]*?)(?=^\[|(?![^]))/m.exec(manifest) ?? [];
  const declared = features.filter((name) => new RegExp(`^"?${name}"?\\s*=`, "m").test(body));
  if (declared.length === 0) return null;
  const names = declared.map((name) => `"${name}"`).join(", ");
  const withDefault = /^default\s*=\s*\[/m.test(body)
    ? section.replace(/^default\s*=\s*\[/m, (start) => `${start}${names}, `)
    : section.replace(/^.*\n/, (start) => `${start}default = [${names}]\n`);

  return manifest.replace(section, () => withDefault);
}
