// wiring: proof that every source file a phase added is referred to by another file.
//
// Invariants:
//   W1. Self-contained files are exempt: entry points, tests, configuration, scripts, declarations,
//       documents.
//   W2. A file counts as used if its name is a word in any other file of the project that is no
//       document: in doubt it passes.

import { listSome } from "../../../kit/list-some.ts";
import { listTree, createTextReader } from "../../../verify/gates/tree-facts.ts";
import { findCheckpoint } from "./checkpoint.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";

const pathsShownMax = 20;
const sourcesMax = 500;

/** The proof `wiring`. */
export function createWiringProof({ workspace }: Pick<RoadmapParts, "workspace">) {
  return {
    version: 1,
    async prove({ cursor, state, commit }: StepInput): StepResult {
      const checkpoint = findCheckpoint(cursor) ?? state.drafted.base.commit;
      const added = (await workspace.differences(checkpoint, commit))
        .filter(({ kind }) => kind === "added")
        .map(({ path }) => path);
      const sources = added.filter(isSource).slice(0, sourcesMax);
      if (sources.length === 0) return { ok: true, facts: { added: added.length, orphaned: 0 } };
      const folder = await workspace.checkout(commit, "wiring");

      try {
        const listing = await listTree(workspace.foldersOf(folder));
        const readContent = createTextReader(listing);
        const readText = (path: string): string => readContent(path)?.text ?? "";
        const files = [...listing.entries]
          .filter(([, { kind }]) => kind === "file")
          .map(([path]) => path);
        const orphaned = findOrphans(sources, files, readText);
        const facts = { added: added.length, orphaned: orphaned.length };
        if (orphaned.length === 0) return { ok: true, facts };
        const detail = `added and named by no other file: ${listSome(orphaned, pathsShownMax)}; wire it in, or take it away`;

        return { ok: false, facts, detail };
      } finally {
        await workspace.dropCheckout(folder);
      }
    },
  };
}

const sourceEnding =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|php|rs|go|java|kt|kts|scala|swift|cs|c|cc|cpp|cxx|h|hh|hpp|m|mm|ex|exs|dart|lua|pl|css|scss|less)$/i;
const exemptFolder =
  /(?:^|\/)(?:tests?|__tests__|__mocks__|specs?|e2e|fixtures|examples?|bench(?:marks?)?|scripts?|bin|cmd|migrations?|docs?|stories|public|static|\.[^/]+)\//i;
/**
 * Entry points (`src/main.ts`), declarations (`a.d.ts`), tests, stories and configuration
 * (`a.test.ts`, `test_a.py`, `vite.config.js`).
 */
const exemptName =
  /(?:^|\/)(?:index|main|cli|app|server|__init__|__main__|setup|manage|conftest|wsgi|asgi|lib|mod|build|gulpfile|rakefile|worker)\.[^/]+$|\.d\.[cm]?ts$|[._-](?:test|tests|spec|stories|config|conf|bench)\.[^/]+$|(?:^|\/)test_[^/]+$|(?:^|\/)[^/]+\.config\.[^/]+$/i;

/** Files that name code without using it: documents, lock files, images, source maps. */
const documentEnding =
  /\.(?:md|mdx|rst|txt|lock|svg|png|jpe?g|gif|map)$|(?:^|\/)[^/]*lock[^/]*\.(?:json|ya?ml)$/i;

/** Whether an added file must be named by another. W1 */
export const isSource = (path: string): boolean =>
  sourceEnding.test(path) && !exemptFolder.test(`/${path}`) && !exemptName.test(path);

/** The sources that no other file names. `textOf` reads a file of the project. */
export function findOrphans(
  sources: readonly string[],
  files: readonly string[],
  textOf: (path: string) => string,
): readonly string[] {
  const candidates = sources.filter(
    (path) => !isRunnable(textOf(path)) && !isInGoPackage(path, files),
  );
  const unused = new Map(candidates.map((path) => [path, usagePattern(path)]));

  for (const file of files) {
    if (unused.size === 0) break;
    if (documentEnding.test(file)) continue;
    const text = textOf(file);
    for (const [path, usage] of unused) if (path !== file && usage.test(text)) unused.delete(path); // W2
  }

  return [...unused.keys()];
}

/** A script with a shebang line is started directly. */
const isRunnable = (text: string): boolean => text.startsWith("#!");

/** Go compiles every file of a package, used or not. */
function isInGoPackage(path: string, files: readonly string[]): boolean {
  if (!path.endsWith(".go")) return false;
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  return files.some(
    (file) =>
      file !== path &&
      file.endsWith(".go") &&
      file.startsWith(folder) &&
      !file.slice(folder.length).includes("/"),
  );
}

/** Matches the name of a file without its extensions, as other files would use it. */
function usagePattern(path: string): RegExp {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/(?:\.[A-Za-z]+)+$/, "");
  return new RegExp(`(?<![\\w$-])${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w$-])`);
}
