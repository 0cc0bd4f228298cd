// rewrite-perl: a Perl test whose values are also compared by an operator of the language, on their way into `is`, `is_deeply` and `ok`:
// those are functions that the code under test can replace. Pure.
//
// Invariants:
//   P1. It dies only if Test::More's own function would fail: texts by their characters, structures part by part, and what has other parts
//       (code, handles) not at all.
//   P2. As many lines as before. The comparison is compiled before anything of the project is loaded.

import { findPerlAssertions, type PerlAssertion } from "../source/perl-tests.ts";

/** Null if it has no such assertion. `nonce`: the name of the comparison. */
export function comparePlainly(text: string, nonce: string): string | null {
  const compare = `$main::${nonce}`;
  const assertions = findPerlAssertions(text).filter(({ name, isSkipped }) => /^(?:is|is_deeply|ok)$/.test(name) && !isSkipped);
  const inserted = assertions.flatMap((one) => insertions(one, text, compare)).toSorted((one, other) => other.at - one.at);
  if (inserted.length === 0) return null;
  const done = inserted.reduce((rest, { at, gone, put }) => rest.slice(0, at) + put + rest.slice(at + gone), text);
  const start = /^(?:#.*\n|\s*\n)*/.exec(done)?.[0].length ?? 0;
  return `${done.slice(0, start)}BEGIN { ${compare} = ${comparison} } ${done.slice(start)}`; // P2
}

type Insertion = { readonly at: number; readonly gone: number; readonly put: string };

/** `is A, B, 'x'` becomes `&is(COMPARE->(scalar(A), scalar(B)), 'x')`: with `&`, the function takes a list. */
function insertions({ name, from, to, args }: PerlAssertion, text: string, compare: string): readonly Insertion[] {
  const [first, second] = args;
  const last = name === "ok" ? first : second;
  if (first === undefined || last === undefined) return [];
  const [open, close] = name === "is_deeply" ? ["", ""] : ["scalar(", ")"];
  const way = name === "ok" ? "'ok', " : name === "is" ? "'is', " : "'deep', ";
  const isBare = !text.slice(from, first.from).includes("(");
  return [
    { at: from, gone: first.from - from, put: `&${name}(${compare}->(${way}${open}${"\n".repeat(linesIn(text.slice(from, first.from)))}` },
    ...(last === first
      ? []
      : [
          { at: first.to, gone: 0, put: close },
          { at: last.from, gone: 0, put: open },
        ]),
    { at: last.to, gone: 0, put: `${close})` },
    ...(isBare ? [{ at: to, gone: 0, put: ")" }] : []),
  ];
}

const linesIn = (text: string): number => text.split("\n").length - 1;

/** P1 */
const comparison =
  "sub { my $way = shift; my $same; $same = sub { my ($one, $other, $deep) = @_; " +
  "return !defined $one && !defined $other unless defined $one && defined $other; " +
  "return 1 if $deep > 40; " +
  'return "$one" eq "$other" unless $way eq "deep" && ref $one && ref $other; ' +
  'if (UNIVERSAL::isa($one, "ARRAY") && UNIVERSAL::isa($other, "ARRAY")) { return 0 if @$one != @$other; ' +
  "$same->($one->[$_], $other->[$_], $deep + 1) || return 0 for 0 .. @$one - 1; return 1 } " +
  'if (UNIVERSAL::isa($one, "HASH") && UNIVERSAL::isa($other, "HASH")) { return 0 if keys %$one != keys %$other; ' +
  "(exists $other->{$_} && $same->($one->{$_}, $other->{$_}, $deep + 1)) || return 0 for keys %$one; return 1 } " +
  "return 1 }; " +
  'CORE::die "the values differ" unless $way eq "ok" ? $_[0] : $same->($_[0], $_[1], 0); return @_ };';
