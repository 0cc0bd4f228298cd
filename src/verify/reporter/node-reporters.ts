// node-reporters: the source texts of our reporters for node:test, vitest, jest and mocha. They are
// loaded into Node processes of a check and call `emit`, which node-programs.ts puts before them;
// its invariants hold here too.

export const nodeTestReporter = String.raw`
const major = Number(process.versions.node.split(".")[0]);
export default async function* report(source) {
  emit("runner", "node:test");
  const titles = [];
  async function* recorded() {
    for await (const event of source) {
      try {
        const { name, nesting, skip, todo, details, file } = event.data ?? {};
        if (event.type === "test:start") titles[nesting] = name;
        if (event.type === "test:pass" || event.type === "test:fail") {
          const fullName = [...titles.slice(0, nesting), name].join(" > ");
          const hasPassed = event.type === "test:pass";
          const isOff = (skip !== undefined && skip !== false) || (todo !== undefined && todo !== false);
          const isFile = nesting === 0 && file !== undefined && (name === file || file.endsWith("/" + name)) && hasPassed;
          emit(details?.type === "suite" ? "suite" : isFile ? "file" : "test", isOff ? "skipped" : hasPassed ? "passed" : "failed", fullName);
        }
      } catch {}
      yield event;
    }
    emit("done");
  }
  if (process.stdout.isTTY || major >= 23) yield* Readable.from(recorded()).compose(new spec());
  else yield* tap(recorded());
}
`;

export const vitestReporter = String.raw`
const states = { pass: "passed", passed: "passed", fail: "failed", failed: "failed" };
export default class {
  hasReported = false;
  onFinished(files = []) {
    const walk = (task, names) => {
      const path = [...names, task.name];
      if (task.type === "suite") for (const child of task.tasks ?? []) walk(child, path);
      else emit("test", states[task.result?.state] ?? "skipped", path.join(" > "));
    };
    this.end(() => {
      for (const file of files) {
        const path = relative(process.cwd(), file.filepath);
        for (const task of file.tasks) walk(task, [path]);
        if (file.result?.state === "fail" && file.tasks.length === 0) emit("test", "failed", path);
      }
    });
  }
  onTestRunEnd(modules = []) {
    this.end(() => {
      for (const module of modules) {
        const path = relative(process.cwd(), module.moduleId);
        let testCount = 0;
        for (const test of module.children.allTests()) {
          testCount += 1;
          emit("test", states[test.result()?.state] ?? "skipped", path + " > " + test.fullName);
        }
        if (testCount === 0 && module.state() === "failed") emit("test", "failed", path);
      }
    });
  }
  /** Called once: older versions of vitest call one of the two methods above, newer ones the other. */
  end(report) {
    if (this.hasReported) return;
    this.hasReported = true;
    emit("runner", "vitest");
    try {
      report();
      emit("done");
    } catch {}
  }
}
`;

export const jestReporter = String.raw`
module.exports = class {
  onRunStart() {
    emit("runner", "jest");
  }
  onTestResult(test, result) {
    try {
      const path = relative(process.cwd(), result.testFilePath);
      for (const { ancestorTitles, title, status } of result.testResults)
        emit("test", status === "passed" || status === "failed" ? status : "skipped", path + " > " + [...ancestorTitles, title].join(" › "));
      if (result.testResults.length === 0 && (result.testExecError ?? result.failureMessage)) emit("test", "failed", path);
    } catch {}
  }
  onRunComplete() {
    emit("done");
  }
};
`;

export const mochaReporter = String.raw`
try {
  const { Runner } = require(require.resolve("mocha", { paths: [fs.realpathSync(process.argv[1])] }));
  const { run } = Runner.prototype;
  let isRunning = false;
  Runner.prototype.run = function (...args) {
    if (isRunning) return run.apply(this, args); // a test of tests: not the check's own
    isRunning = true;
    emit("runner", "mocha");
    const on = (event, status) => this.on(event, (test) => emit("test", status, test.titlePath().join(" > ")));
    on("pass", "passed");
    on("fail", "failed");
    on("pending", "skipped");
    this.on("end", () => emit("done", (isRunning = false)));
    return run.apply(this, args);
  };
} catch {}
`;
