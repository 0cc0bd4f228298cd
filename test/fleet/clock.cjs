// clock: loaded into a process before its program, it lets its wall clock jump: by as many milliseconds as a file says. The monotonic one goes on.
const { readFileSync } = require("node:fs");

const Real = Date;
let offsetMs = 0;
setInterval(() => {
  try {
    offsetMs = Number(readFileSync(process.env.CLOCK_FILE, "utf8")) || 0;
  } catch {
    // It has not jumped yet.
  }
}, 50).unref();
globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + offsetMs);
    else super(...given);
  }
  static now() {
    return Real.now() + offsetMs;
  }
};
