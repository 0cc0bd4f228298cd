import { expect, test } from "vitest";
import { openRedactor } from "./redact.ts";
import { findSecrets } from "./redact-find.ts";

const value = "Zx81kQ-vv02_Lm4ooP";
const redactor = openRedactor([{ name: "DEPLOY_TOKEN", value }]);
const foundIn = (text: string) => [...findSecrets(redactor, Buffer.from(text))].flat();

test("a known secret is found as it stands there, in whatever form and wherever a window ends", () => {
  expect(foundIn(`token: ${value}\n`)).toEqual([{ name: "DEPLOY_TOKEN", text: value }]);
  expect(foundIn(`${"x".repeat(65_530)}${value}`)).toContainEqual({
    name: "DEPLOY_TOKEN",
    text: value,
  });

  expect(
    foundIn(Buffer.from(`export TOKEN=${value}`).toString("base64")).map(({ name }) => name),
  ).toEqual(["DEPLOY_TOKEN"]);

  expect(foundIn(encodeURIComponent(value).replaceAll("-", "%2D")).map(({ name }) => name)).toEqual(
    ["DEPLOY_TOKEN"],
  );
});

test("what only looks like a secret is none, and neither is a half of one", () => {
  expect(
    foundIn(`ghp_${"a1B2".repeat(9)} postgres://app:pass@localhost/db ${value.slice(0, 12)}`),
  ).toEqual([]);
});
