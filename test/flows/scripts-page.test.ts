// The rehearsal of a roadmap in docs/SCRIPTS.md, done by a reader: files saved as they are,
// commands typed, answers as the page says.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkedOnce, scratchFolder } from "../support/scratch-repository.ts";
import { doingsIn, missingIn, Reader } from "./tutorial-page.ts";

test("the rehearsal of a roadmap, done as the page says, completes the roadmap", async () => {
  const doings = doingsIn(readFileSync(join(import.meta.dirname, "../../docs/SCRIPTS.md"), "utf8"));
  expect(doings.filter(({ do: what }) => what === "save")).toHaveLength(2);
  const folder = scratchFolder();
  const reader = new Reader(folder);
  checkedOnce(join(folder, "work")); // beside which the reader's home is

  for (const doing of doings) {
    if (doing.do === "save") {
      reader.save(doing);
    } else {
      const { shown, code } = await reader.type(doing.command);
      expect(code, `line ${doing.line}: ${shown}`).toBe(doing.exit);
      expect(missingIn(shown, doing.answer), `line ${doing.line}: ${shown}`).toBeNull();
    }
  }
});
