import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/scratch-repository.ts";
import { openStore } from "../bases/store.ts";
import { checkoutKindFor, checkoutKindDescriptions } from "./checkout-kind.ts";

test("views need the level overlay; below it a try decides, leaves nothing, and each has words for doctor", () => {
  const runDir = scratchFolder();
  const store = openStore(join(scratchFolder(), "store"));
  expect(checkoutKindFor("overlay", runDir, store)).toBe("overlay");
  expect(["reflink", "copy"]).toContain(checkoutKindFor("bwrap", runDir, store));
  expect([readdirSync(runDir), readdirSync(join(store.folder, "drafts"))]).toEqual([[], []]);
  expect(Object.keys(checkoutKindDescriptions)).toEqual(["overlay", "reflink", "copy"]);
});

test("where blocks cannot be shared, as between two file systems, files are copied", () => {
  const store = openStore(join(scratchFolder(), "store"));
  expect(checkoutKindFor("bwrap", "/proc", store)).toBe("copy");
});
