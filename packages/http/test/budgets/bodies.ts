/** The maximum size of a body. */
export const MEBIBYTE = 1024 * 1024;
/** Less than Node's limit of all headers together. */
const LONG_HEADER = 14_000;

/** Joins `head`, items and `tail` to a length of `bytes`. Items receive their number. */
function filled(head: string, item: (number: number) => string, tail: string, bytes = MEBIBYTE): string {
  const parts: string[] = [];
  let left = bytes - head.length - tail.length;
  for (let number = 0; ; number++) {
    const part = `${number === 0 ? '' : ','}${item(number)}`;
    if (part.length > left) break;
    left -= part.length;
    parts.push(part);
  }
  return head + parts.join('') + tail;
}

/** An object with as many unknown members as a body may have. */
export const withUnknown = (members: string) => filled(`{${members},`, (number) => `"u${number}":0`, '}');

/** A pattern that takes as long to compile as one may. */
const SLOW_PATTERN = String.raw`(?i)^(?:\pL{0,25}){2}0$`;
const slowConstraint = JSON.stringify({ contextName: 'userId', operator: 'REGEX', value: SLOW_PATTERN });

/** Members with constraints that are slow to compile. */
export const withSlowPatterns = (members: string, count: number) =>
  `{${members},"constraints":[${Array.from({ length: count }, () => slowConstraint)}]}`;

/** Padded with a text in the place of `…`. */
export function padded(body: string, bytes = MEBIBYTE): string {
  return body.replace('…', 'x'.repeat(Math.max(0, bytes - Buffer.byteLength(body) + 3)));
}

export const arrayOf = (item: (number: number) => string, bytes?: number) => filled('[', item, ']', bytes);
export const within = (head: string, item: (number: number) => string, tail: string, bytes?: number) =>
  filled(head, item, tail, bytes);

/** Made once, for all routes. */
function once(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The bodies for every route. */
const BODIES: Readonly<Record<string, () => string>> = {
  'array of numbers': () => arrayOf(() => '0'),
  'array of empty objects': () => arrayOf(() => '{}'),
  'array of arrays': () => arrayOf(() => '[[]]'),
  'object of unknown members': () => filled('{', (number) => `"u${number}":0`, '}'),
  'deeply nested': () => '['.repeat(MEBIBYTE / 2) + ']'.repeat(MEBIBYTE / 2),
  'one text': () => padded('"…"'),
  'escaped text': () => `"${'\\u0041'.repeat(MEBIBYTE / 6 - 1)}"`,
  spaces: () => ' '.repeat(MEBIBYTE),
};

export const HOSTILE_BODIES: typeof BODIES = Object.fromEntries(
  Object.entries(BODIES).map(([name, make]) => [name, once(make)]),
);

/** A value in every member of the body at once; `members` are the names that the route reads. */
export function hostileMembers(members: readonly string[]): Readonly<Record<string, () => string>> {
  if (members.length === 0) return {};
  const share = Math.floor((MEBIBYTE - 2) / members.length);
  const object = (value: (bytes: number) => string) =>
    `{${members.map((name) => `"${name}":${value(share - name.length - 4)}`).join(',')}}`;
  return {
    'numbers in every member': () => object((bytes) => arrayOf(() => '0', bytes)),
    'objects in every member': () => object((bytes) => arrayOf(() => '{}', bytes)),
    'texts in every member': () => object((bytes) => padded('"…"', bytes)),
    'members in every member': () => object((bytes) => filled('{', (number) => `"m${number}":0`, '}', bytes)),
  };
}

/** Entity tags that match nothing. */
export const manyTags = () => within('', (number) => `"flag-${number}-0000"`, '', LONG_HEADER);
export const longQuery = () => `long=${'q'.repeat(LONG_HEADER)}`;
export const manyParameters = (name: string) =>
  within('', (number) => `${name}=${number}`, '', LONG_HEADER).replaceAll(',', '&');

const identifiers = (prefix: string, number: number) => `"${prefix}${String(number).padStart(6, '0')}"`;

/** A valid list of values: 49,000 of 17 characters. */
const manyValues = () => `[${Array.from({ length: 49_000 }, (_, index) => identifiers('user-aaaa-', index))}]`;

/** The operations of a JSON Patch. */
export const operations = (count: number, operation: (number: number) => string) =>
  `[${Array.from({ length: count }, (_, index) => operation(index))}]`;

/** A report of this many unknown flags. */
export function inventedReport(application: string, names: number, round: number): string {
  const time = new Date().toISOString();
  const toggles = Array.from({ length: names }, (_, index) => `"no-${round}-${index}":{"yes":1,"no":1}`);
  return `{"appName":"${application}","instanceId":"i${round}","bucket":{"start":"${time}","stop":"${time}","toggles":{${toggles}}}}`;
}

/** 1,000 strategies, 60 KiB. */
export function largeRegistration(application: string): string {
  const strategies = Array.from({ length: 1000 }, (_, index) => `"${'s'.repeat(50)}-${index}"`);
  const started = new Date().toISOString();
  return `{"appName":"${application}","instanceId":"i","strategies":[${strategies}],"started":"${started}","interval":60000}`;
}

export const longText = (length: number) => 'a'.repeat(length);

/** A list of one constraint with 49,000 values. */
export const ofValues = (head: string) =>
  `${head}[{"contextName":"userId","operator":"NOT_IN","values":${manyValues()}}]}`;
/** 1,000 constraints, some of which are wrong in several ways. */
export const wrongConstraints = () =>
  within('{"name":"default","constraints":[', () => '{"contextName":0,"operator":"X","values":[0,0],"a":0}', ']}');
