import { expect, test } from "vitest";
import { findPassword } from "./password-file.ts";

const login = { host: "db.example", port: 5432, database: "autopilot", user: "worker" };

test.each([
  ["db.example:5432:autopilot:worker:one", "one"],
  ["*:*:*:*:any\ndb.example:5432:autopilot:worker:later", "any"],
  ["# a comment:*:*:*:no\n\ndb.example:5432:autopilot:owner:no\n*:5432:*:worker:two\r\n", "two"],
  [String.raw`db.example:5432:autopilot:worker:a\:b\\c`, String.raw`a:b\c`],
  ["db.example:5433:autopilot:worker:no", null],
  ["db.example:5432:autopilot:worker", null],
  ["db.example:5432:autopilot:worker:", null],
  ["", null],
])("of %j the password is %j", (text, password) => {
  expect(findPassword(text, login)).toBe(password);
});

test("a socket is localhost, or the folder it is in", () => {
  const local = { ...login, host: "/run/postgresql" };
  expect(findPassword("localhost:*:*:*:one", local)).toBe("one");
  expect(findPassword("/run/postgresql:*:*:*:two", local)).toBe("two");
  expect(findPassword("localhost:*:*:*:one", login)).toBeNull();
});
