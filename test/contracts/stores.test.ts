import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { sweep } from "../../src/journal/scene.test-support.ts";
import { portfolioStoreSuite } from "./portfolio-store-suite.ts";
import { storeSuite } from "./store-suite.ts";
import { openFileStore } from "../../src/fleet/file-store.ts";
import { openMemoryStore } from "./memory-store.ts";

const root = mkdtempSync(join(tmpdir(), "autopilot-stores-"));
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
  sweep();
});

const files = openFileStore(root);
storeSuite("files", () => ({ store: files, lapse: null }));
portfolioStoreSuite("files", () => ({ store: files, lapse: null }));

const memory = openMemoryStore();
storeSuite("memory", () => ({ store: memory, lapse: async (run) => memory.lapse(run) }));
portfolioStoreSuite("memory", () => ({ store: memory, lapse: async (run) => memory.lapse(run) }));
