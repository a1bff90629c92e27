import { execFileSync } from 'node:child_process';
import { BlockList, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import fc from 'fast-check';
import semver from 'semver';
import { isWithoutOffset, parseIsoDate, parseMoment, parseNumber, toTimestamp } from '../../src/base/primitives.js';
import { isIpAddressOrCidr } from '../../src/evaluation/ip-address.js';
import { patterns } from '../../src/evaluation/re2.js';
import { isSemver, SemverBound } from '../../src/evaluation/semver.js';

describe('isIpAddressOrCidr', () => {
  const USABLE = '0.0.0.0 192.0.2.7 10.0.0.0/8 10.1.2.3/8 0.0.0.0/0 192.0.2.7/32 :: ::1 2001:db8::/32 ::/0 ::1/128';
  const MAPPED = '::ffff:192.0.2.7 ::ffff:10.0.0.0/104';

  const UNUSABLE =
    '10 10.0.0 10.0.0.0.0 010.0.0.1 256.0.0.1 10.0.0.0/33 10.0.0.0/ 10.0.0.0/8/8 10.0.0.0/-1 10.0.0.0/+8';

  const UNUSABLE_6 = '::/129 ::: fe80::1%eth0 fe80::%1/64 [::1] ::1/1e1 /8 localhost 10.0.0.0/255.0.0.0';

  it.each([...USABLE.split(' '), ...MAPPED.split(' ')])('accepts %s, like the BlockList of Node', (text) => {
    expect(isIpAddressOrCidr(text)).toBe(true);
    const [address = '', prefix] = text.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    const list = new BlockList();
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
    expect(list.check(address, family)).toBe(true);
  });

  it.each([...UNUSABLE.split(' '), ...UNUSABLE_6.split(' '), '', ' ::1', '10.0.0.0 /8', '10.0.0.0/ 8'])(
    'rejects %j',
    (text) => {
      expect(isIpAddressOrCidr(text)).toBe(false);
    },
  );
});

describe('parseIsoDate', () => {
  it.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T12:30Z', '2026-03-01T12:30:00.000Z'],
    ['2026-03-01T12:30:45Z', '2026-03-01T12:30:45.000Z'],
    ['2026-03-01T12:30:45.6Z', '2026-03-01T12:30:45.600Z'],
    ['2026-03-01T12:30:45.678Z', '2026-03-01T12:30:45.678Z'],
    ['2026-03-01T12:30:45.678999999Z', '2026-03-01T12:30:45.678Z'],
    ['2026-03-01T12:30:45+05:30', '2026-03-01T07:00:45.000Z'],
    ['2026-03-01T12:30:45-0800', '2026-03-01T20:30:45.000Z'],
    ['2026-03-01T12:30:45.1234-08:00', '2026-03-01T20:30:45.123Z'],
    ['2026-03-01T12:30:45', '2026-03-01T12:30:45.000Z'],
    ['2026-03-01 12:30:45', '2026-03-01T12:30:45.000Z'],
    ['2026-03-01t12:30:45z', '2026-03-01T12:30:45.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('reads %s as %s', (text, timestamp) => {
    expect(toTimestamp(text)).toBe(timestamp);
  });

  it.each([
    '',
    '2026',
    '2026-03',
    '2026-3-1',
    '2026-02-30T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-02-29',
    '2026-02-30',
    '2026-04-31',
    '1900-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-01-32',
    '2026-03-01T25:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-03-01T12:30:60Z',
    '2026-03-01T12Z',
    '2026-03-01T',
    '2026-03-01Z',
    '2026-03-01T12:30:45.Z',
    '2026-03-01T12:30:45+25:00',
    '2026-03-01T12:30:45+05',
    '2026-03-01T12:30:45 Z',
    ' 2026-03-01',
    '2026-03-01\n',
    '01.03.2026',
    'Sun, 01 Mar 2026 12:30:45 GMT',
    '+012026-03-01',
    '-000001-03-01',
    'noon',
    '٢٠٢٦-٠٣-٠١',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
  ])('rejects %j', (text) => {
    expect(parseIsoDate(text)).toBeUndefined();
    expect(() => toTimestamp(text)).toThrow(RangeError);
  });

  it('restores the time that was written', () => {
    const time = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(time, fc.integer({ min: -14 * 60, max: 14 * 60 }), (date, minutes) => {
        expect(parseIsoDate(date.toISOString())).toBe(date.getTime());
        const shifted = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
        if (shifted.length === 23) expect(parseIsoDate(`${shifted}${offset}`)).toBe(date.getTime());
      }),
    );
  });
});

describe('isWithoutOffset', () => {
  it.each(['2026-03-01T12:30', '2026-03-01 12:30:45', '2026-03-01t12:30:45.678'])('finds %s', (text) => {
    expect(isWithoutOffset(text)).toBe(true);
  });

  it.each(['2026-03-01', '2026-03-01T12:30Z', '2026-03-01t12:30z', '2026-03-01 12:30-0800', '2026-03-01T12:30+05:30'])(
    'passes %s',
    (text) => {
      expect(isWithoutOffset(text)).toBe(false);
    },
  );
});

describe('parseMoment', () => {
  const MOMENTS: readonly (readonly [string, string | null])[] = [
    ['2024-06-01T00:00:00', '2024-06-01T00:00:00.000Z'],
    ['2024-06-01 10:00', '2024-06-01T10:00:00.000Z'],
    ['2024-06-01', '2024-06-01T00:00:00.000Z'],
    ['2024-06-01T00:00:00+02:00', '2024-05-31T22:00:00.000Z'],
    ['2024-06', '2024-06-01T00:00:00.000Z'],
    ['2024', '2024-01-01T00:00:00.000Z'],
    ['2024-06-01T24:00:00', '2024-06-02T00:00:00.000Z'],
    ['2024-06-01T24:00:00Z', '2024-06-02T00:00:00.000Z'],
    ['2024-6-1', '2024-06-01T00:00:00.000Z'],
    ['June 1, 2024', '2024-06-01T00:00:00.000Z'],
    ['June 1, 2024 00:00 EST', '2024-06-01T05:00:00.000Z'],
    ['Sat, 01 Jun 2024 00:00:00 GMT', '2024-06-01T00:00:00.000Z'],
    ['Sat Jun 01 2024 00:00:00 GMT+0200 (Central European Summer Time)', '2024-05-31T22:00:00.000Z'],
    ['+002024-06-01T00:00:00Z', '2024-06-01T00:00:00.000Z'],
    ['never', null],
    ['', null],
  ];

  it.each(MOMENTS)('reads %j as %s', (text, time) => {
    const moment = parseMoment(text);
    expect(Number.isNaN(moment) ? null : new Date(moment).toISOString()).toBe(time);
  });

  it.each(['Pacific/Kiritimati', 'America/New_York', 'UTC'])('means the same where the time zone is %s', (TZ) => {
    const { outputFiles } = buildSync({
      stdin: {
        contents: `import { parseMoment } from './primitives.ts';
          const texts = ${JSON.stringify(MOMENTS.map(([text]) => text))};
          console.log(JSON.stringify([new Date(2024, 0).getTimezoneOffset(), texts.map(parseMoment)]));`,
        resolveDir: join(__dirname, '../../src/base'),
        loader: 'ts',
      },
      bundle: true,
      platform: 'node',
      write: false,
    });
    const program = outputFiles[0]?.text ?? '';
    const output = execFileSync(process.execPath, ['-e', program], { env: { ...process.env, TZ }, encoding: 'utf8' });
    const [offset, moments] = JSON.parse(output);
    expect(offset).toBe({ 'Pacific/Kiritimati': -840, 'America/New_York': 300, UTC: 0 }[TZ]);
    expect(moments).toEqual(MOMENTS.map(([, time]) => (time === null ? null : Date.parse(time))));
  });
});

describe('parseNumber', () => {
  it.each<[string, number]>([
    ['0', 0],
    ['007', 7],
    ['-1.5', -1.5],
    ['+2', 2],
    ['.5', 0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['1E-3', 0.001],
    ['1e-400', 0],
  ])('reads %s', (text, number) => {
    expect(parseNumber(text)).toBe(number);
  });

  it.each([
    '',
    ' ',
    '.',
    '-',
    'e5',
    '1e',
    ' 1',
    '1 ',
    '1\n',
    '0x10',
    '0b1',
    '1_000',
    '1,5',
    'NaN',
    'Infinity',
    '1e400',
    '１',
  ])('rejects %j', (text) => {
    expect(parseNumber(text)).toBeUndefined();
  });

  it('restores every number that JavaScript writes', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(parseNumber(String(number))).toBe(number === 0 ? 0 : number);
      }),
    );
  });
});

describe('isPattern', () => {
  it.each([
    '',
    '^a+$',
    '(?i)[[:alpha:]]{2,5}\\d',
    '(?P<year>[0-9]{4})-(?:0[1-9]|1[0-2])',
    '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}',
    '\\Qa(b{2000}\\E',
    '[(){1000}]{5}',
    '\\x{1F600}{3}',
    '\\p{Greek}{50}',
    'a{50}b{50}c{50,}',
    '((ab){10}c){5}',
    '\\(\\){2}',
    '(a)'.repeat(83),
  ])('accepts %s', (text) => {
    expect(patterns.isPattern(text)).toBe(true);
  });

  it.each(['(', ')', '*', 'a**', '[a', '\\', '\\8', '(a)\\1', '(?=a)', '(?<!a)b', '(?>a)', 'a{2,1}', 'a{1001}'])(
    'rejects %s',
    (text) => {
      expect(patterns.isPattern(text)).toBe(false);
    },
  );

  it.each([
    '((a{5}){5}){3}',
    '(.{1,51})',
    '(\\QABCDEFGHIJKLMNOPQRSTU\\E.){51}',
    '(\\Q[\\E.{17}){3}',
    '((ab){10}c){6}',
    '(?:a{2}|b{3}|c){17}',
    'a{1}b{51,}',
    'x'.repeat(251),
  ])('rejects %s, which is beyond the bound', (text) => {
    expect(patterns.isPattern(text)).toBe(false);
  });
});

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

describe('isSemver', () => {
  it.each(VALID.split(/\s+/))('accepts %s', (version) => {
    expect(isSemver(version)).toBe(true);
  });

  it.each([...INVALID.split(/\s+/), '', ' 1.2.3', '1.2.3 ', '1.2.3\n', '1.2.３'])('rejects %j', (version) => {
    expect(isSemver(version)).toBe(false);
  });

  it('accepts at most 256 characters', () => {
    expect(isSemver(`1.2.3-${'a'.repeat(250)}`)).toBe(true);
    expect(isSemver(`1.2.3-${'a'.repeat(251)}`)).toBe(false);
    expect(isSemver(`1.2.3-${'a.'.repeat(1_000_000)}!`)).toBe(false);
  });
});

describe('versions and the package semver', () => {
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

  it('accept the same texts', () => {
    fc.assert(
      fc.property(text, (version) => {
        expect(isSemver(version)).toBe(semver.valid(version) !== null);
        expect(Number.isNaN(new SemverBound('1.0.0').compare(version))).toBe(semver.valid(version) === null);
      }),
      { numRuns: 3_000 },
    );
  });

  it('sort alike', () => {
    fc.assert(
      fc.property(text.filter(isSemver), text.filter(isSemver), (one, other) => {
        expect(Math.sign(new SemverBound(other).compare(one))).toBe(semver.compare(one, other));
      }),
      { numRuns: 3_000 },
    );
  });
});
