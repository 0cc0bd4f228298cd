// perl-recorder: adds to a Perl module's source a wrapper around each wanted function, which
// records its answers to the tests' inputs and to inputs near them (format: near-records.ts).
// Generates text only.

import { callsMax, type Recorder } from "./recorder.ts";
import { numberSteps } from "./near-inputs.ts";

export const recordPerl: Recorder = ({ files, isWanted, near, uniqueName }) => {
  const recorded = files.flatMap(({ path, text }) => {
    const names = [...text.matchAll(/^sub (\w+)\b/gm)]
      .map(([, name = ""]) => name)
      .filter(isWanted);
    if (names.length === 0) return [];
    const moduleEnd = text.search(/^(?:1;\s*$|__(?:END|DATA)__)/m);
    const position = moduleEnd === -1 ? text.length : moduleEnd;
    const source = `${text.slice(0, position)}\n${createRecorder(uniqueName, names, near)}\n${text.slice(position)}`;

    return [{ edit: { path, text: source }, names }];
  });

  return {
    edits: recorded.map(({ edit }) => edit),
    functions: recorded.flatMap(({ names }) => names),
  };
};

const quote = (text: string): string => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - a number is made smaller only if it is more than 1: zero and negative numbers are often not
 *   allowed;
 * - calls made by the recorder itself are not recorded (`$busy`).
 */
const createRecorder = (
  variable: string,
  names: readonly string[],
  near: ReadonlyMap<string, readonly string[]>,
): string => `
{
    no strict 'refs';
    no warnings;
    my %texts = (${[...near].map(([text, others]) => `${quote(text)} => [${others.map(quote).join(", ")}]`).join(", ")});
    my ($busy, %seen) = (0);
    my $one_line = sub { my ($v) = @_; $v = '' unless defined $v; $v =~ s/[\\t\\n\\r]/ /g; $v };
    my $key = sub { join "\\x1f", map { $one_line->($_) } @_ };
    my $answer = sub {
        my ($f, @args) = @_;
        my @results = eval { local $SIG{__DIE__}; local $SIG{__WARN__} = sub {}; scalar $f->(@args) };
        return '' if $@ || !@results || !defined $results[0] || ref $results[0];
        return $results[0] eq '' ? "''" : $one_line->($results[0]);
    };
    my $write_record = sub { open my $file, '>>', $ENV{${quote(variable)}} or return; print $file join("\\t", @_), "\\n"; close $file };
    my $near_values = sub {
        my ($v) = @_;
        return map { $v + $_ } grep { $_ > 0 || $v > 1 } (${numberSteps.join(", ")}) if $v =~ /^\\d{1,9}(?:\\.\\d+)?$/;
        return @{ $texts{$v} || [] };
    };
    for my $name ($ENV{${quote(variable)}} ? (${names.map(quote).join(", ")}) : ()) {
        my $f = defined &{ __PACKAGE__ . "::$name" } ? \\&{ __PACKAGE__ . "::$name" } : next;
        my $calls = 0;
        *{ __PACKAGE__ . "::$name" } = sub {
            if (!$busy && $calls++ < ${callsMax} && !grep { ref || !defined } @_) {
                my @args = @_;
                my $saved = $@;
                $busy = 1;
                eval {
                    my $tested = $key->(@args);
                    if (!$seen{"$name\\t$tested"}++) {
                        my $tested_answer = $answer->($f, @args);
                        $write_record->($name, 0, 'is', $tested, $tested_answer, '');
                        for my $at ($tested_answer eq '' ? () : 0 .. $#args) {
                            for my $near_value ($near_values->($args[$at])) {
                                my @near_args = @args;
                                $near_args[$at] = $near_value;
                                $write_record->($name, $at, 'near', $key->(@near_args), $answer->($f, @near_args), $tested);
                            }
                        }
                    }
                };
                $busy = 0;
                $@ = $saved;
            }
            goto &$f;
        };
    }
}
`;
