import { expect, test } from "vitest";
import { fakeIo } from "./io.test-support.ts";
import { openTerminalContext } from "./terminal-context.ts";

const settings = {
  cwd: "/",
  mayAsk: true,
  hasColour: false,
  interrupted: new AbortController().signal,
};

test("a question takes one of its answers, asks again a few times, and goes to stderr", async () => {
  const { io, out, err } = fakeIo({}, ["maybe", "YES"]);
  expect(await openTerminalContext(io, settings).ask("Start?", ["y", "n"])).toBe("y");
  expect(err()).toBe("Start? [y/n] Start? [y/n] ");
  expect(out()).toBe("");
});

test("nobody there, no answer understood, or called off: null", async () => {
  expect(
    await openTerminalContext(fakeIo({}, ["y"]).io, { ...settings, mayAsk: false }).ask("Start?", [
      "y",
      "n",
    ]),
  ).toBeNull();

  expect(
    await openTerminalContext(fakeIo({}, ["a", "b", "c", "y"]).io, settings).ask("Start?", [
      "y",
      "n",
    ]),
  ).toBeNull();

  expect(
    await openTerminalContext(fakeIo({}, ["y"]).io, {
      ...settings,
      interrupted: AbortSignal.abort(),
    }).ask("Start?", ["y", "n"]),
  ).toBeNull();
});

test("a question without choices takes any text", async () => {
  expect(await openTerminalContext(fakeIo({}, [" fix it "]).io, settings).ask("Goal?", [])).toBe(
    "fix it",
  );
});

test("the live line is replaced, and gone before the next line", () => {
  const { io, err } = fakeIo({ isTerminal: { in: true, out: true, err: true }, columns: () => 20 });
  const place = openTerminalContext(io, settings);
  place.showLive("working \u001b]0;title\u0007 and much more text");
  place.show("done");
  expect(err()).toBe("\r\u001b[2Kworking \\x1b]0;tit…\r\u001b[2Kdone\n");
});

test("away from a terminal there is no live line", () => {
  const { io, err } = fakeIo();
  openTerminalContext(io, settings).showLive("working");
  expect(err()).toBe("");
});

const terminal = {
  isTerminal: { in: true, out: true, err: true },
  columns: () => 20,
  rows: () => 10,
};

test("a board is drawn in place, stays below what is shown, and is gone at the end", () => {
  const { io, err } = fakeIo(terminal);
  const place = openTerminalContext(io, settings);
  place.board?.draw(["one", "two"]);
  place.board?.draw(["one", "two"]); // nothing new, nothing written
  place.show("a fact");
  place.board?.draw(["three"]);
  place.settle();
  const up = "\r\u001b[1A\u001b[0J";
  expect(err()).toBe(`one\ntwo${up}a fact\none\ntwo${up}three\r\u001b[0J`);
  expect(place.board?.rowsMax()).toBe(8);
});

test("no line of a board is wider than the terminal, whatever an agent says", () => {
  const { io, err } = fakeIo(terminal);
  openTerminalContext(io, settings).board?.draw([
    "潮位を学習する潮位を学習する",
    "\u001b[2J\nfake line",
  ]);

  expect(err().split("\n")).toEqual(["潮位を学習する潮位…", "\\x1b[2J\\nfake line"]);
});

test("away from a terminal there is no board", () =>
  expect(openTerminalContext(fakeIo().io, settings).board).toBeUndefined());
