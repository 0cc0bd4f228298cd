// whole-checkout: an agent's or check's folder as it looked from inside, for tests that look at it
// from outside: a view holds only what was written in it.

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readLowers, findCheckoutPlace } from "../../src/workspace/checkouts/checkout-place.ts";
import { scratchFolder } from "./scratch-repository.ts";

/**
 * A folder with all files of the checkout at `folder`; the folder itself where it isn't a view.
 * What was deleted in it is gone.
 */
export function wholeCheckout(runDir: string, folder: string): string {
  const place = findCheckoutPlace(runDir, folder);
  if (place === null) return folder;
  const whole = scratchFolder();

  for (const lower of readLowers(place).toReversed()) {
    execFileSync("cp", ["-a", `${lower}/.`, whole]);
  }

  const marks = execFileSync("find", [folder, "-type", "c", "-printf", "%P\\0"], {
    encoding: "utf8",
  }).split("\0");
  for (const mark of marks.filter((path) => path !== "")) {
    rmSync(join(whole, mark), { recursive: true, force: true });
  }

  execFileSync("cp", ["-a", `${folder}/.`, whole]);
  for (const mark of marks.filter((path) => path !== "")) {
    rmSync(join(whole, mark), { force: true });
  }

  return whole;
}
