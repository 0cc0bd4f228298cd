// secrets-in-changes: finds changes that would bring a secret of the user's into the repository. A
// secret that is already in the tree does not count against the attempt.
//
// Invariants:
//   S1. A secret is referred to by its name alone; git gets the text on its standard input, never
//       as an argument.
//   S2. Exactly what would be committed is inspected: content is verified by the hash that the scan
//       of the layer saw.

import type { GitSha } from "../../contracts/ids.ts";
import type { FoundSecret } from "../../kit/redact-find.ts";
import type { Violation } from "../../ports/workspace.ts";
import { bytePathToBytes, displayPath } from "../git/byte-path.ts";
import { NotRead } from "./fd-walk.ts";
import { git } from "../git/git.ts";
import type { LayerChange } from "./judge-layer.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readObject } from "../git/object-reader.ts";
import { readScannedContent } from "./scan-layer.ts";

/** Findings by content hash are cached: an attempt's changes are inspected at least twice. */
const secretCache = new WeakMap<RunWorkspace, Map<GitSha, readonly FoundSecret[]>>();

/** The changed files whose name or content has a secret that is nowhere in the base commit. */
export async function findSecrets(
  run: RunWorkspace,
  {
    folder,
    base,
    changes,
  }: { readonly folder: string; readonly base: GitSha; readonly changes: readonly LayerChange[] },
): Promise<readonly Violation[]> {
  const violations: Violation[] = [];
  const isNew = createNewTextTest(run, base);

  for (const { path, before, after } of changes) {
    if (after === null || after.kind !== "file") continue; // links are refused as such
    const shownPath = displayPath(path);
    const inName = before === null ? await run.secretsIn(bytePathToBytes(path)) : [];
    let inContent: readonly FoundSecret[];

    try {
      inContent = await findSecretsInFile(run, folder, { path, after });
    } catch (error) {
      if (!(error instanceof NotRead)) throw error;
      violations.push({
        path: shownPath,
        kind: "unreadable",
        detail: `could not be read again (${error.message})`,
      }); // S2

      continue;
    }

    violations.push(...(await judgeSecrets(shownPath, [...inName, ...inContent], isNew)));
  }

  return violations;
}

/** The same for a text that the runner itself would commit and that is in no folder yet. */
export async function findSecretsInText(
  run: RunWorkspace,
  base: GitSha,
  path: string,
  text: string,
): Promise<readonly Violation[]> {
  return judgeSecrets(
    path,
    await run.secretsIn(Buffer.from(text, "utf8")),
    createNewTextTest(run, base),
  );
}

type NewTextTest = (text: string) => Promise<boolean>;

/** The violation of a file with these secrets, as far as they are new. */
async function judgeSecrets(
  path: string,
  secrets: readonly FoundSecret[],
  isNew: NewTextTest,
): Promise<readonly Violation[]> {
  const names = new Set<string>();
  for (const { name, text } of secrets) {
    if (!names.has(name) && (await isNew(text))) names.add(name);
  }

  return names.size === 0
    ? []
    : [{ path, kind: "secret", detail: `it holds the secret ${[...names].join(", ")}` }]; // S1
}

async function findSecretsInFile(
  run: RunWorkspace,
  folder: string,
  {
    path,
    after,
  }: Pick<LayerChange, "path"> & { readonly after: NonNullable<LayerChange["after"]> },
): Promise<readonly FoundSecret[]> {
  const secretsByHash = secretCache.get(run) ?? new Map<GitSha, readonly FoundSecret[]>();
  secretCache.set(run, secretsByHash);
  const cached = secretsByHash.get(after.sha);
  if (cached !== undefined) return cached;
  const source = { root: folder, format: run.shadow.format, bytesMax: run.fileBytesMax };
  const stored =
    after.bytesSha === undefined
      ? null
      : ((await readObject(run.shadow.call, after.sha))?.content ?? null);
  const secrets = await run.secretsIn(stored ?? readScannedContent(source, path, after)); // S2
  secretsByHash.set(after.sha, secrets);

  return secrets;
}

/**
 * Returns a test whether a text is nowhere in a commit's tree. Of a text of several lines only the
 * longest is searched for.
 */
function createNewTextTest(run: RunWorkspace, base: GitSha): NewTextTest {
  const answers = new Map<string, Promise<boolean>>();
  const searchTree = async (line: string): Promise<boolean> => {
    const args = ["grep", "--quiet", "--text", "--fixed-strings", "-f", "-", base];
    const { code } = await git({
      ...run.shadow.call,
      args,
      input: [Buffer.from(line, "latin1")],
      acceptedExitCodes: [0, 1, 128],
    }); // S1
    return code !== 0; // if git can't tell, the text counts as new
  };

  return (text) => {
    const line = text.split(/[\r\n]+/).toSorted((a, b) => b.length - a.length)[0] ?? text;
    const answer = answers.get(line) ?? searchTree(line);
    answers.set(line, answer);

    return answer;
  };
}
