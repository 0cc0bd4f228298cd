import { expect, test } from "vitest";
import { findRefusal, isEqualConstantTime, securityHeaders } from "./guards.ts";

const own = { port: 4114, token: "t".repeat(32) };
const good = { host: "127.0.0.1:4114", authorization: `Bearer ${own.token}` };
const get = (headers: Record<string, string>, path = "/api/overview", method = "GET") =>
  findRefusal({ method, path, headers }, own);

test("facts are given to whoever bears the token, by a name of loopback", () => {
  expect(get(good)).toBeNull();
  expect(get({ ...good, host: "localhost:4114" })).toBeNull();
  expect(
    get({ ...good, origin: "http://127.0.0.1:4114", "sec-fetch-site": "same-origin" }),
  ).toBeNull();
});

test.each([
  ["no token", {}],
  ["another token", { authorization: `Bearer ${"x".repeat(32)}` }],
  ["the beginning of the token", { authorization: `Bearer ${own.token.slice(0, 31)}` }],
  ["the token and more", { authorization: `Bearer ${own.token}t` }],
  ["an empty one", { authorization: "Bearer " }],
])("without the right token nothing is shown: %s", (_, headers) => {
  expect(get({ host: good.host, ...headers })).toMatchObject({ status: 401 });
});

test.each([
  "evil.example:4114",
  "127.0.0.1",
  "127.0.0.1:80",
  "127.0.0.1:4114.evil.example",
  "0.0.0.0:4114",
  "",
])(
  "a name that was pointed here from elsewhere is refused, whatever else it brings: %s",
  (host) => {
    expect(get({ ...good, host })).toMatchObject({ status: 421 });
    expect(get({ ...good, host }, "/")).toMatchObject({ status: 421 });
  },
);

test.each([
  "http://evil.example",
  "http://127.0.0.1:9999",
  "https://127.0.0.1:4114",
  "null",
  "http://127.0.0.1:4114.evil.example",
])("another origin is refused, also with the token: %s", (origin) =>
  expect(get({ ...good, origin })).toMatchObject({ status: 403 }),
);

test("another site is refused; a page may be opened by its address", () => {
  expect(get({ ...good, "sec-fetch-site": "cross-site" })).toMatchObject({ status: 403 });
  expect(get({ ...good, "sec-fetch-site": "same-site" })).toMatchObject({ status: 403 });
  expect(get({ ...good, "sec-fetch-site": "none" })).toMatchObject({ status: 403 });
  expect(get({ host: good.host, "sec-fetch-site": "none" }, "/")).toBeNull();
  expect(get({ host: good.host, "sec-fetch-site": "cross-site" }, "/app.js")).toMatchObject({
    status: 403,
  });
});

test("a change is a POST of JSON that says where it comes from; nothing else is a method", () => {
  const json = { ...good, "content-type": "application/json" };
  expect(get(json, "/api/request", "POST")).toBeNull();
  expect(get({ ...good, "content-type": "text/plain" }, "/api/request", "POST")).toMatchObject({
    status: 403,
  });

  expect(get({ ...json, "sec-fetch-site": "same-origin" }, "/api/request", "POST")).toMatchObject({
    status: 403,
  });

  for (const method of ["PUT", "DELETE", "OPTIONS", "TRACE", "HEAD"]) {
    expect(get(json, "/api/request", method)).toMatchObject({ status: 405 });
  }

  expect(get(json, "/", "POST")).toMatchObject({ status: 405 });
});

test("the headers let nothing run but our own script, and nothing be stored or framed", () => {
  const policy = securityHeaders["content-security-policy"];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("style-src 'none'"); // the page alone has one, by its hash
  expect(policy).not.toContain("unsafe");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(securityHeaders["cache-control"]).toBe("no-store");
  expect(Object.keys(securityHeaders)).not.toContain("access-control-allow-origin");
});

test("texts are compared whole, whatever their lengths and bytes", () => {
  expect(isEqualConstantTime("abc", "abc")).toBe(true);
  for (const given of ["", "ab", "abcd", "abd", "abc\0", "äbc"]) {
    expect(isEqualConstantTime(given, "abc")).toBe(false);
  }
});
