// Says in one line what runs of tests came to: "N passed, N failed". Given as pairs: vitest's JSON result, and the exit code of the run.
// The names of what failed stand above it, so that the end of a long log says what to look at.
// A file that could not be loaded counts as one failure, and so does a run that left no result or failed without a failed test.
// --again RESULT: what failed first and was run once more, alone; a test that passed there counts as passed and is named as unsteady.
// --files RESULT: prints the files with failures and nothing else.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const words = process.argv.slice(2);
const empty = { numPassedTests: 0, numFailedTests: 0, testResults: [] };
const read = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : empty);

/** Every failure of a result as "file > test"; a file that could not be loaded is one. */
function failuresOf({ testResults }) {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const failed = assertionResults
      .filter((one) => one.status === "failed")
      .map((one) => `${file} > ${one.fullName}`);
    return failed.length === 0 && status === "failed" ? [`${file} could not be loaded`] : failed;
  });
}

const passesOf = ({ testResults }) =>
  testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter((one) => one.status === "passed")
      .map((one) => `${relative(process.cwd(), name)} > ${one.fullName}`),
  );

if (words[0] === "--files") {
  const files = read(words[1] ?? "").testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" || assertionResults.some((one) => one.status === "failed"),
  );
  process.stdout.write(files.map(({ name }) => `${relative(process.cwd(), name)}\n`).join(""));
  process.exit(0);
}

const again = words[0] === "--again" ? new Set(passesOf(read(words[1] ?? ""))) : new Set();
const pairs = words[0] === "--again" ? words.slice(2) : words;
let passed = 0;
let failed = 0;
const lines = [];
for (let at = 0; at < pairs.length; at += 2) {
  const [path = "", status = "1"] = pairs.slice(at, at + 2);
  const result = read(path);
  const failures = failuresOf(result);
  const left = failures.filter((name) => !again.has(name));
  for (const name of failures)
    lines.push(
      left.includes(name) ? `failed: ${name}` : `unsteady, passed when run alone: ${name}`,
    );
  passed += result.numPassedTests + failures.length - left.length;
  failed += failures.length === 0 && status !== "0" ? 1 : left.length;
}
for (const line of lines) process.stdout.write(`${line}\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
