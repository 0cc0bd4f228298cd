import { describe, expect, test } from "vitest";
import { readsOnlyCode, withoutStyleReaders } from "./code-readers.ts";

describe("commands that only read code", () => {
  test.each([
    "tsc --noEmit",
    "npm run lint",
    "cargo fmt --check && cargo clippy",
    "set -e; go vet ./...; go build ./...",
    "make lint build",
    "sh -c 'ruff check . && mypy src'",
    "eslint src test",
  ])("%s", (command) => {
    expect(readsOnlyCode(command)).toBe(true);
    expect(withoutStyleReaders(command)).toBe(command);
  });
});

describe("of a chain with a test run", () => {
  test.each([
    ["go vet ./... && go test -count=1 ./...", "true && go test -count=1 ./..."],
    ["go build ./... && go test ./...", "go build ./... && go test ./..."],
    ["go test ./internal/build/...", "go test ./internal/build/..."],
    ["ruff check . && pytest", "true && pytest"],
    ["ruff check .; pytest -q", "true; pytest -q"],
    ["npm run lint && npm test", "true && npm test"],
    ["npm run build && npm test -- format", "npm run build && npm test -- format"],
    ["cargo fmt --check && cargo test", "true && cargo test"],
    ["set -e\ngo vet ./...\ngo test ./...", "set -e\ntrue\ngo test ./..."],
    ["make lint test", "make test"],
    ["make -j2 CI=1 lint test", "make -j2 CI=1 test"],
    ["sh -c 'go vet ./... && go test ./...'", "sh -c 'true && go test ./...'"],
    ['bash -ec "eslint src; node test.js"', 'bash -ec "true; node test.js"'],
    ['test -z "$(gofmt -l .)" && go test ./...', "true && go test ./..."],
    ["npm run lint || npm test", "npm run lint || npm test"],
    ["npm run lint-and-build && npm test", "npm run lint-and-build && npm test"],
  ])("%s: what dislikes a style is left out", (command, without) => {
    expect(readsOnlyCode(command)).toBe(false);
    expect(withoutStyleReaders(command)).toBe(without);
  });
});
