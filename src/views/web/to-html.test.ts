import { expect, test } from "vitest";
import { el, foreignText } from "./element.ts";
import { colours } from "./style-base.ts";
import { escapeHtml, toHtml } from "./to-html.ts";

const hostile = [
  '<img src=x onerror="alert(1)">',
  "</script><script>alert(1)</script>",
  "</style><style>*{display:none}",
  "\"'><svg onload=alert(1)>",
  "&lt;b&gt;",
  "<!--",
  "]]>",
  "\u0000<b>",
  "javascript:alert(1)",
  "${7*7}{{7*7}}",
];

test.each(hostile)("text stays text, as content and as a value: %s", (text) => {
  const html = toHtml(el("p", { title: text }, foreignText(text)));
  expect(html.match(/<[a-z!/]/g)).toEqual(
    html.includes("code-point") ? ["<p", "<s", "</", "</"] : ["<p", "</"],
  );

  expect(html).not.toMatch(/<(img|script|svg|style|b)\b/);
});

test("nothing that runs or fetches is written, whoever put it into the tree", () => {
  const html = toHtml([
    el("a", { href: "https://evil.example", onClick: () => undefined, onmouseover: "x" }, "a"),
    el("a", { href: "#proof" }, "b"),
    el("script", "alert(1)"),
    el("iframe", { src: "x" }),
    el("img", { src: "x" }),
    el("p", { "a b=c onload": "x", style: { color: 'red"><b>' } }, 0),
  ]);
  expect(html).toBe(
    '<a>a</a><a href="#proof">b</a>alert(1)<p style="color:red&#34;&#62;&#60;b&#62;">0</p>',
  );
});

test("what steers, hides or turns text round is shown by its code point", () => {
  expect(toHtml(foreignText("a\u202eb\u001b[2J\u200bc"))).toMatch(/U\+202E.*U\+001B.*U\+200B/);
  expect(toHtml(foreignText("a\tb\nc é 漢 👩‍💻"))).not.toContain("U+0009");
  expect(escapeHtml("<")).toBe("&#60;");
});

/** WCAG's contrast of two colours. */
function contrast(one: string, other: string): number {
  const light = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [a, b] = [light(one), light(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

test.each(["ink", "ink2", "ink3", "accent", "ok", "you", "bad", "run"])(
  "%s can be read on every ground, in light and dark",
  (ink) => {
    for (const ground of ["bg", "panel", "sunk", "hover"]) {
      for (const theme of [0, 1] as const) {
        expect(
          contrast(colours[ink]?.[theme] ?? "", colours[ground]?.[theme] ?? ""),
          `${ground} ${theme}`,
        ).toBeGreaterThanOrEqual(4.5);
      }
    }
  },
);

test.each([
  ["ink", "you-bg"],
  ["you", "you-bg"],
  ["ink2", "you-bg"],
  ["ink", "ok-bg"],
  ["ink", "bad-bg"],
  ["ink2", "ok-bg"],
  ["ink2", "bad-bg"],
  ["ok", "ok-bg"],
  ["bad", "bad-bg"],
  ["on-accent", "accent"],
])("%s can be read on %s", (ink, ground) => {
  for (const theme of [0, 1] as const) {
    expect(
      contrast(colours[ink]?.[theme] ?? "", colours[ground]?.[theme] ?? ""),
    ).toBeGreaterThanOrEqual(4.5);
  }
});

test("a shape of a picture ends itself, so that what follows is drawn beside it and not lost inside it", () => {
  expect(toHtml(el("svg", el("line", { x1: 0 }), el("circle", { r: 1 }), el("text", "a")))).toBe(
    '<svg><line x1="0"/><circle r="1"/><text>a</text></svg>',
  );
});
