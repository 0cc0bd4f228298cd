// Says in one line what vitest's JSON result came to: "N passed, N failed". A file that could not be loaded counts as one failure,
// and so does a run that left no result or failed without a failed test.
import { existsSync, readFileSync } from "node:fs";

const [path = "", status = "1"] = process.argv.slice(2);
const result = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { numPassedTests: 0, numFailedTests: 0, testResults: [] };
const unloaded = result.testResults.filter(
  (file) => file.status === "failed" && !file.assertionResults.some((one) => one.status === "failed"),
).length;
const found = result.numFailedTests + unloaded;
const failed = found === 0 && status !== "0" ? 1 : found;
process.stdout.write(`${result.numPassedTests} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
