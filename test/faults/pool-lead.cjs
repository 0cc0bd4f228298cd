// Loaded before the product in a run under strace: gives the one thread that does Node's file work a long lead in the count of one
// system call. strace counts calls by thread, so a number beyond the lead can only be reached by that thread.
const fs = require("node:fs");

const [name = "", lead = "0"] = (process.env.FAULT_LEAD ?? "").split(":");
const nowhere = "/nonexistent/folder/file";
const noFile = 999_999;
const calls = {
  rename: (done) => fs.rename(nowhere, nowhere, done),
  mkdir: (done) => fs.mkdir(nowhere, done),
  unlink: (done) => fs.unlink(nowhere, done),
  rmdir: (done) => fs.rmdir(nowhere, done),
  open: (done) => fs.open(nowhere, "r", done),
  fdatasync: (done) => fs.fdatasync(noFile, done),
  fsync: (done) => fs.fsync(noFile, done),
  ftruncate: (done) => fs.ftruncate(noFile, 0, done),
  fchmod: (done) => fs.fchmod(noFile, 0o600, done),
};
// Aliases of one call on different processors.
const known = Object.keys(calls).find((word) => name.replace(/at2?$/, "") === word);
if (known !== undefined) for (let n = 0; n < Number(lead); n++) calls[known](() => undefined);
