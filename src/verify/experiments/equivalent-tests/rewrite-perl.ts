// rewrite-perl: rewrites a Perl test so that its values are also compared by an operator of the
// language, on their way into `is`, `is_deeply` and `ok`: those are functions that the code under
// test can replace. Pure.
//
// Invariants:
//   P1. It dies only if Test::More's own function would fail too: texts are compared by their
//       characters, structures part by part, and what has no such parts (code, handles) not at all.
//       Objects may be equal by their own `eq`, unless the work made them so.
//   P2. As many lines as before. The comparison is compiled before anything of the project is
//       loaded.

import { findPerlAssertions, type PerlAssertion } from "../source-text/perl-tests.ts";

/**
 * Null if the test has no such assertion. `nonce`: the name of the comparison. `overloading`:
 * classes whose overloaded operators are the work's.
 */
export function comparePlainly(
  text: string,
  nonce: string,
  overloading: readonly string[],
): string | null {
  const compare = `$main::${nonce}`;
  const assertions = findPerlAssertions(text).filter(
    ({ name, isSkipped }) => /^(?:is|is_deeply|ok)$/.test(name) && !isSkipped,
  );
  const inserted = assertions
    .flatMap((assertion) => createInsertions(assertion, text, compare))
    .toSorted((left, right) => right.at - left.at);
  if (inserted.length === 0) return null;

  let rewritten = text;
  for (const { at, removed, put } of inserted) {
    rewritten = rewritten.slice(0, at) + put + rewritten.slice(at + removed);
  }

  const [header = ""] = /^(?:#.*\n|\s*\n)*/.exec(rewritten) ?? [];
  const begin = `BEGIN { ${compare} = ${createComparison(overloading)} } `;
  return header + begin + rewritten.slice(header.length); // P2
}

/**
 * Classes of a file that overload operators now and did not before: `package A::B; use overload …`.
 */
export function findOverloadingClasses(was: string | null, is: string | null): readonly string[] {
  if (is === null || !/\boverload\b/.test(is) || /\boverload\b/.test(was ?? "")) return [];
  return [...is.matchAll(/\bpackage\s+([\w:]+)/g)].map(([, name = ""]) => name);
}

/** `removed`: how many characters at this position the inserted text replaces. */
type Insertion = { readonly at: number; readonly removed: number; readonly put: string };

/**
 * `is A, B, 'x'` becomes `&is(COMPARE->('is', scalar(A), scalar(B)), 'x')`: with `&`, the function
 * takes a list.
 */
function createInsertions(
  { name, from, to, args }: PerlAssertion,
  text: string,
  compare: string,
): readonly Insertion[] {
  const [first, second] = args;
  const last = name === "ok" ? first : second;
  if (first === undefined || last === undefined) return [];

  const isDeep = name === "is_deeply";
  const way = isDeep ? "deep" : name;
  const open = isDeep ? "" : "scalar(";
  const close = isDeep ? "" : ")";

  const head = text.slice(from, first.from);
  const lineBreaks = "\n".repeat(head.split("\n").length - 1); // P2
  const insertions = [
    { at: from, removed: head.length, put: `&${name}(${compare}->('${way}', ${open}${lineBreaks}` },
  ];

  if (last !== first) {
    insertions.push(
      { at: first.to, removed: 0, put: close },
      { at: last.from, removed: 0, put: open },
    );
  }

  insertions.push({ at: last.to, removed: 0, put: `${close})` });
  if (!head.includes("(")) insertions.push({ at: to, removed: 0, put: ")" });
  return insertions;
}

/**
 * Dies unless the values are the same, and returns its arguments (P1). Structures deeper than 40
 * are not compared further.
 */
const createComparison = (overloading: readonly string[]): string =>
  "sub { my $way = shift; my $same; $same = sub { my ($left, $right, $depth) = @_; " +
  "return !defined $left && !defined $right unless defined $left && defined $right; " +
  `my $isBent = grep { my $class = ref; grep { $_ eq $class } qw(${overloading.join(" ")}) } $left, $right; ` +
  'return 1 if $depth > 40 || do { local ($@, $SIG{__DIE__}); eval { "$left" eq "$right" } || !$isBent && eval { $left eq $right } }; ' +
  'return 0 unless $way eq "deep" && ref $left && ref $right; ' +
  'if (UNIVERSAL::isa($left, "ARRAY") && UNIVERSAL::isa($right, "ARRAY")) { return 0 if @$left != @$right; ' +
  "$same->($left->[$_], $right->[$_], $depth + 1) || return 0 for 0 .. @$left - 1; return 1 } " +
  'if (UNIVERSAL::isa($left, "HASH") && UNIVERSAL::isa($right, "HASH")) { return 0 if keys %$left != keys %$right; ' +
  "(exists $right->{$_} && $same->($left->{$_}, $right->{$_}, $depth + 1)) || return 0 for keys %$left; return 1 } " +
  "return 1 }; " +
  'CORE::die "the values differ" unless $way eq "ok" ? $_[0] : $same->($_[0], $_[1], 0); return @_ };';
