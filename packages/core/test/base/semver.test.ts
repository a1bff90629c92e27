import fc from 'fast-check';
import semver from 'semver';
import { compareSemver, isSemver } from '../../src/evaluation/semver.js';

/** The examples that https://semver.org gives for its regular expression. */
const VALID = `0.0.4 1.2.3 10.20.30 1.1.2-prerelease+meta 1.1.2+meta 1.1.2+meta-valid 1.0.0-alpha 1.0.0-beta
  1.0.0-alpha.beta 1.0.0-alpha.beta.1 1.0.0-alpha.1 1.0.0-alpha0.valid 1.0.0-alpha.0valid
  1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay 1.0.0-rc.1+build.1 2.0.0-rc.1+build.123 1.2.3-beta
  10.2.3-DEV-SNAPSHOT 1.2.3-SNAPSHOT-123 1.0.0 2.0.0 1.1.7 2.0.0+build.1848 2.0.1-alpha.1227 1.0.0-alpha+beta
  1.2.3----RC-SNAPSHOT.12.9.1--.12+788 1.2.3----R-S.12.9.1--.12+meta 1.2.3----RC-SNAPSHOT.12.9.1--.12
  1.0.0+0.build.1-rc.10000aaa-kk-0.1 99999999999999999999999.999999999999999999.99999999999999999 1.0.0-0A.is.legal`;

const INVALID = `1 1.2 1.2.3-0123 1.2.3-0123.0123 1.1.2+.123 +invalid -invalid -invalid+invalid -invalid.01 alpha
  alpha.beta alpha.beta.1 alpha.1 alpha+beta alpha_beta alpha. alpha.. beta 1.0.0-alpha_beta -alpha. 1.0.0-alpha..
  1.0.0-alpha..1 1.0.0-alpha...1 1.0.0-alpha....1 01.1.1 1.01.1 1.1.01 1.2.3.DEV 1.2-SNAPSHOT
  1.2.31.2.3----RC-SNAPSHOT.12.09.1--..12+788 1.2-RC-SNAPSHOT -1.0.3-gamma+b7718 +justmeta
  9.8.7+meta+meta 9.8.7-whatever+meta+meta v1.2.3 1.2.3- 1.2.3+ ^1.2.3`;

describe('a version', () => {
  it.each(VALID.split(/\s+/))('%s is one', (version) => {
    expect(isSemver(version)).toBe(true);
  });

  it.each([...INVALID.split(/\s+/), '', ' 1.2.3', '1.2.3 ', '1.2.3\n', '1.2.３'])('%j is none', (version) => {
    expect(isSemver(version)).toBe(false);
  });

  it('has at most 256 characters', () => {
    expect(isSemver(`1.2.3-${'a'.repeat(250)}`)).toBe(true);
    expect(isSemver(`1.2.3-${'a'.repeat(251)}`)).toBe(false);
    expect(isSemver(`1.2.3-${'a.'.repeat(1_000_000)}!`)).toBe(false);
  });
});

describe('beside the package semver', () => {
  const identifier = fc.oneof(
    fc.constantFrom('0', '1', '2', '10', '01', '00', 'a', 'b', 'a1', '1a', '-', '--', '-1', '0-', 'A', 'rc', ''),
    fc.string({ unit: fc.constantFrom('0', '1', '9', 'a', 'Z', '-'), minLength: 1, maxLength: 4 }),
  );
  const identifiers = fc.array(identifier, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
  const core = fc.array(fc.constantFrom('0', '1', '2', '10', '01', 'x'), { minLength: 2, maxLength: 4 });
  const part = (sign: string) => fc.option(identifiers).map((parts) => (parts === null ? '' : `${sign}${parts}`));
  const text = fc
    .tuple(
      fc.oneof({ weight: 4, arbitrary: fc.constantFrom(['0', '1', '0'], ['1', '2', '0']) }, core),
      part('-'),
      part('+'),
    )
    .map(([numbers, prerelease, build]) => `${numbers.join('.')}${prerelease}${build}`);

  it('accepts the same versions', () => {
    fc.assert(
      fc.property(text, (version) => {
        expect(isSemver(version)).toBe(semver.valid(version) !== null);
      }),
      { numRuns: 3_000 },
    );
  });

  it('orders versions alike', () => {
    fc.assert(
      fc.property(text.filter(isSemver), text.filter(isSemver), (one, other) => {
        expect(Math.sign(compareSemver(one, other))).toBe(semver.compare(one, other));
      }),
      { numRuns: 3_000 },
    );
  });
});
