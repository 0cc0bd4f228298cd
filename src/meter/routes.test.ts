// Which calls are sent on, and where to. What is not in the list stays here.

import { expect, test } from "vitest";
import { modelApis } from "../contracts/model-api.ts";
import { buildUrl, removeKeysFromQuery, findRoute } from "./routes.ts";

const all = modelApis.map((api) => ({ api, base: "https://a.example", key: "k" }));

test.each([
  ["POST", "/anthropic/v1/messages", "anthropic", "model", "/v1/messages"],
  ["POST", "/anthropic/v1/messages/count_tokens", "anthropic", "free", "/v1/messages/count_tokens"],
  ["GET", "/anthropic/v1/models/claude-opus-5", "anthropic", "free", "/v1/models/claude-opus-5"],
  ["POST", "/openai/v1/responses", "openai-responses", "model", "/responses"],
  ["POST", "/openai/responses", "openai-responses", "model", "/responses"],
  ["POST", "/openai/v1/responses/compact", "openai-responses", "model", "/responses/compact"],
  ["POST", "/openai/v1/chat/completions", "openai-chat", "model", "/chat/completions"],
  ["GET", "/openai/v1/models", "openai-chat", "free", "/models"],
  [
    "POST",
    "/gemini/v1beta/models/gemini-3-pro:streamGenerateContent",
    "gemini",
    "model",
    "/v1beta/models/gemini-3-pro:streamGenerateContent",
  ],
  [
    "POST",
    "/gemini/v1beta/models/gemini-3-pro:countTokens",
    "gemini",
    "free",
    "/v1beta/models/gemini-3-pro:countTokens",
  ],
])("%s %s is sent on", (method, path, api, kind, rest) => {
  expect(findRoute(method, path, all)).toMatchObject({ api, kind, path: rest });
});

test.each([
  ["POST", "/anthropic/v1/messages/batches"],
  ["POST", "/anthropic/v1/files"],
  ["GET", "/anthropic/v1/messages"],
  ["POST", "/anthropic/v1/messages/"],
  ["POST", "/anthropic//v1/messages"],
  ["POST", "/anthropic/../openai/v1/responses"],
  ["POST", "/anthropic/v1/%6dessages"],
  ["GET", "/anthropic/v1/models/.."],
  ["GET", "/anthropic/v1/models/../../x"],
  ["GET", "/openai/v1/models/a%2f.."],
  ["POST", "/openai/v1/batches"],
  ["GET", "/openai/v1/responses/resp_1"],
  ["DELETE", "/openai/v1/models/x"],
  ["POST", "/openai/v1/images/generations"],
  ["POST", "/openaiv1/responses"],
  ["POST", "/gemini/v1beta/models/gemini-3-pro:batchGenerateContent"],
  ["POST", "/gemini/v1beta/models/a/b:generateContent"],
  ["POST", "/v1/messages"],
  ["POST", "/"],
])("%s %s is not", (method, path) => {
  expect(findRoute(method, path, all)).toBeNull();
});

test("a language without a provider is not spoken", () => {
  expect(
    findRoute(
      "POST",
      "/openai/v1/responses",
      all.filter(({ api }) => api !== "openai-responses"),
    ),
  ).toBeNull();
});

test.each([
  ["https://api.anthropic.com", "/v1/messages", "https://api.anthropic.com/v1/messages?beta=true"],
  [
    "https://api.anthropic.com/v1/",
    "/v1/messages",
    "https://api.anthropic.com/v1/messages?beta=true",
  ],
  ["https://api.openai.com/v1", "/responses", "https://api.openai.com/v1/responses?beta=true"],
  [
    "https://user:pw@proxy.example:8443/deep/base?x=1#y",
    "/v1/messages",
    "https://proxy.example:8443/deep/base/v1/messages?beta=true",
  ],
])("below %s lies %s", (base, path, expected) => {
  expect(buildUrl(base, path, "beta=true").href).toBe(expected);
});

test("no key goes on in what follows the question mark", () => {
  expect(removeKeysFromQuery("alt=sse&key=abc&key=def&%6bey=ghi&x=%26key%3D1")).toBe(
    "alt=sse&x=%26key%3D1",
  );
});
