// respell-literal: writes a literal of a test in another way that means the same: 37 as (36 + 1),
// "ab" as ("a" + "b"). Pure.

import type { SourceLanguage } from "../../protected/source-language.ts";
import type { Draw } from "../broken-expectations/near-values.ts";

/** A language, as far as literals and conversions differ. */
export type Dialect = SourceLanguage | "ts";

/**
 * An equivalent literal; the same one if none is known. Where a type may depend on its form it
 * stays one literal: 0x25, "a\u0062".
 */
export function respellLiteral(literal: string, dialect: Dialect, draw: Draw): string {
  const isUntyped = dialect === "js" || dialect === "py";
  if (/^[1-9]\d{0,11}$/.test(literal)) return respellWhole(Number(literal), isUntyped, draw);
  const [, whole, digits] = /^(\d{1,6})\.(\d{1,8})$/.exec(literal) ?? []; // 3.25 is 325e-2
  if (isUntyped && digits !== undefined) return `${Number(`${whole}${digits}`)}e-${digits.length}`;

  return isPlainText(literal, dialect) ? respellText(literal, dialect, isUntyped, draw) : literal;
}

function respellWhole(value: number, isUntyped: boolean, draw: Draw): string {
  const less = 1 + draw(Math.min(value, 9));
  return isUntyped ? `(${value - less} + ${less})` : `0x${value.toString(16)}`;
}

/**
 * A text in quotes, without escapes. A single quote may also hold one character (C, Java); half of
 * a surrogate pair would be none.
 */
const isPlainText = (literal: string, dialect: Dialect): boolean =>
  /^(["'])(?!\1\1)[^\\\n]{2,}\1$/.test(literal) &&
  !/[\ud800-\udfff]/.test(literal) &&
  (literal[0] === '"' || /^(?:js|py|ts)$/.test(dialect));

function respellText(literal: string, dialect: Dialect, isUntyped: boolean, draw: Draw): string {
  const quote = literal[0] ?? "";
  const position = 1 + draw(literal.length - 2);
  if (isUntyped && position > 1) {
    return `(${literal.slice(0, position)}${quote} + ${quote}${literal.slice(position)})`;
  }

  return (
    literal.slice(0, position) +
    escapeCharacter(literal.charCodeAt(position), dialect) +
    literal.slice(position + 1)
  );
}

/** As an escape sequence, if the dialect has one for it. */
function escapeCharacter(unit: number, dialect: Dialect): string {
  if (unit > 126 && /^(?:c|rust|py)$/.test(dialect)) return String.fromCharCode(unit);
  if (dialect === "c") return `\\${unit.toString(8).padStart(3, "0")}`;
  return dialect === "rust"
    ? `\\u{${unit.toString(16)}}`
    : `\\u${unit.toString(16).padStart(4, "0")}`;
}
