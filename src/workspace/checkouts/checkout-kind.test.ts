import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/scratch-repository.ts";
import { openStore } from "../bases/store.ts";
import { chooseCheckoutKind, checkoutKindDescriptions } from "./checkout-kind.ts";

test("views need the level overlay; below it a try decides, leaves nothing, and each has words for doctor", () => {
  const runDir = scratchFolder();
  const store = openStore(join(scratchFolder(), "store"));
  expect(chooseCheckoutKind("overlay", runDir, store)).toBe("overlay");
  expect(["reflink", "copy"]).toContain(chooseCheckoutKind("bwrap", runDir, store));
  expect([readdirSync(runDir), readdirSync(join(store.folder, "drafts"))]).toEqual([[], []]);
  expect(Object.keys(checkoutKindDescriptions)).toEqual(["overlay", "reflink", "copy"]);
});

test("where blocks cannot be shared, as between two file systems, files are copied", () => {
  const store = openStore(join(scratchFolder(), "store"));
  expect(chooseCheckoutKind("bwrap", "/proc", store)).toBe("copy");
});
