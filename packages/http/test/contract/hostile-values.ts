import {
  type Arbitrary,
  array,
  constantFrom,
  dictionary,
  integer,
  json,
  jsonValue,
  oneof,
  option,
  record,
  string,
  uint8Array,
} from 'fast-check';

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  '..',
  '.',
  '',
  ' ',
  '%',
  '%2e%2e',
  '\u0000',
  '💥',
  '日本',
  "'",
  '"',
];

/** Names that are known to be dangerous, and any other text. */
const hostileName: Arbitrary<string> = oneof(
  constantFrom(...NAMES, 'x'.repeat(101), 'x'.repeat(5000)),
  string({ unit: 'binary', maxLength: 20 }),
);

/** A name in an address: encoded, or of any bytes. */
export const hostileSegment: Arbitrary<string> = oneof(
  hostileName.map((name) => encodeURIComponent(name)),
  uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => [...bytes].map(percentEscape).join('')),
  constantFrom('%', '%zz', '%c0%af', '%ed%a0%80', '..%2f..', '%2e%2e', '%00', ';', '*', "'", '(', '%5B', '+'),
);

function percentEscape(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}

const MEMBERS = [
  'name',
  'description',
  'type',
  'stale',
  'impressionData',
  'parameters',
  'constraints',
  'id',
  'weight',
  'weightType',
  'payload',
  'overrides',
  'strategies',
  'bucket',
  'appName',
  'started',
  'interval',
  'userId',
  '__proto__',
  'constructor',
  'toString',
];

const member = oneof(constantFrom(...MEMBERS), string({ maxLength: 10 }));

const leaf = oneof(
  hostileName,
  jsonValue({ maxDepth: 3 }),
  constantFrom<unknown>(
    0,
    -0,
    -1,
    0.5,
    1e308,
    Number.MAX_SAFE_INTEGER,
    null,
    true,
    [],
    {},
    '2026-02-30T00:00:00Z',
    'variable',
    'fix',
  ),
);

/** Bodies that look like the expected ones, with any values. */
export const hostileBody: Arbitrary<string> = oneof(
  json(),
  dictionary(member, leaf, { maxKeys: 8, noNullPrototype: false }).map((body) => JSON.stringify(body)),
  array(dictionary(member, leaf, { maxKeys: 5 }), { maxLength: 3 }).map((body) => JSON.stringify(body)),
  string({ unit: 'binary', maxLength: 30 }),
);

const POINTER_PARTS = [
  'description',
  'type',
  'stale',
  'name',
  'parameters',
  'rollout',
  'constraints',
  '0',
  '00',
  '1',
  '-',
  '-1',
  '1e0',
  '99999999999',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'length',
  'a~0b',
  'a~1b',
  '~',
  '~2',
  'id',
  'weight',
  'payload',
  '',
];

const pointer = oneof(
  array(constantFrom(...POINTER_PARTS), { maxLength: 4 }).map((parts) => parts.map((part) => `/${part}`).join('')),
  string({ maxLength: 10 }),
);

const operation = record(
  {
    op: oneof(
      constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', '_get', 'constructor'),
      string({ maxLength: 4 }),
    ),
    path: pointer,
    from: pointer,
    value: leaf,
  },
  { requiredKeys: ['op', 'path'] },
);

/** JSON Patches, valid or nearly so. */
export const hostilePatch: Arbitrary<string> = array(operation, { maxLength: 4 }).map((patch) => JSON.stringify(patch));

const headerText = oneof(
  string({ unit: 'grapheme-ascii', maxLength: 30 }),
  string({ unit: 'binary-ascii', maxLength: 10 }),
).map((text) => text.replaceAll(/[\r\n\0]/g, ''));

const HEADERS = {
  'content-type': [
    'application/json',
    'text/plain',
    'application/json; charset=utf-16',
    'application/json; charset=nonsense',
    'multipart/form-data',
    ';',
    'application/json;;;=',
  ],
  'content-encoding': ['gzip', 'deflate', 'br', 'identity', 'nonsense', 'gzip, gzip'],
  'if-match': ['*', '"1"', 'W/"1-x"', '"', '"1", "2"', `"${'9'.repeat(400)}"`, ','],
  'if-none-match': ['*', '"1"', '"', ','],
  authorization: ['', 'Bearer', 'Bearer ', 'Basic YTpi', '__proto__', '*:*.'],
  accept: ['text/html', '*/*;q=0'],
  expect: ['100-continue', 'nonsense'],
  'x-forwarded-for': ['__proto__', ','],
  'x-http-method-override': ['DELETE'],
  upgrade: ['websocket'],
} as const;

type HeaderName = keyof typeof HEADERS;

/** Some headers, of the usual names, with unusual values. */
export const hostileHeaders: Arbitrary<readonly (readonly [string, string])[]> = array(
  constantFrom(...(Object.keys(HEADERS) as HeaderName[])).chain((name) =>
    oneof(constantFrom<string>(...HEADERS[name]), headerText).map((value) => [name, value] as const),
  ),
  { maxLength: 3 },
);

/** Texts that are not a length. */
export const nonsenseLength: Arbitrary<string> = oneof(
  integer({ min: -50, max: -1 }).map(String),
  constantFrom('1e3', '0x10', '99999999999999999999', '1, 2', '+5', '5.0', 'many'),
);

export const anyMethod: Arbitrary<string> = constantFrom(
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PURGE',
  'MKCOL',
);

export const maybeBody: Arbitrary<string | null> = option(hostileBody);
