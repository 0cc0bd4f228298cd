import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import { lockPool, readPoolTerms } from "./lock-pool.ts";

const ownFolder = mkdtempSync(join(tmpdir(), "pool-"));
afterEach(() => rmSync(ownFolder, { recursive: true, force: true }));
const paths = { root: ownFolder, ownFolder } as PortfolioPaths;

test("screens know what the pool at work was started with, and that none is at work", async () => {
  expect(readPoolTerms(paths)).toBeNull();
  const release = await lockPool(paths, false, { jobs: 4, agent: "codex" });
  expect(readPoolTerms(paths)).toEqual({ jobs: 4, agent: "codex" });
  release();
  expect(readPoolTerms(paths)).toBeNull();
});
