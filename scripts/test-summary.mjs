// Says in one line what runs of tests came to: "N passed, N failed". Given as pairs: vitest's JSON result, and the exit code of the run.
// The names of what failed stand above it, so that the end of a long log says what to look at.
// A file that could not be loaded counts as one failure, and so does a run that left no result or failed without a failed test.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const words = process.argv.slice(2);
let passed = 0;
let failed = 0;
const names = [];
for (let at = 0; at < words.length; at += 2) {
  const [path = "", status = "1"] = words.slice(at, at + 2);
  const result = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { numPassedTests: 0, numFailedTests: 0, testResults: [] };
  const unloadedNames = new Set(
    result.testResults
      .filter((file) => file.status === "failed" && !file.assertionResults.some((one) => one.status === "failed"))
      .map(({ name }) => name),
  );
  const unloaded = unloadedNames.size;
  for (const { name, assertionResults } of result.testResults) {
    const file = relative(process.cwd(), name);
    for (const one of assertionResults) if (one.status === "failed") names.push(`${file} > ${one.fullName}`);
    if (unloadedNames.has(name)) names.push(`${file} could not be loaded`);
  }
  const found = result.numFailedTests + unloaded;
  passed += result.numPassedTests;
  failed += found === 0 && status !== "0" ? 1 : found;
}
for (const name of names) process.stdout.write(`failed: ${name}\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
