import * as fc from 'fast-check';
import request from 'supertest';
import { createBodyReader, findExcess, MAX_DEPTH, MAX_STRUCTURE } from '../../src/body.js';
import type { FlagsRequest } from '../../src/request.js';
import { createHostApp, FLAGS } from '../host-app.js';

/** How many arrays, objects and members a value has, and how deep it is, told by the value itself. */
function measure(value: unknown): { readonly structure: number; readonly depth: number } {
  if (typeof value !== 'object' || value === null) return { structure: 0, depth: 0 };
  const inner = Object.values(value).map(measure);
  const members = Array.isArray(value) ? 0 : Object.keys(value).length;
  return {
    structure: inner.reduce((sum, { structure }) => sum + structure, 1 + members),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  };
}

const list = (item: string, count: number) => `[${Array.from({ length: count }, () => item).join(',')}]`;

describe('the structure of a body', () => {
  it('is counted outside of strings, whatever they contain', async () => {
    await fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 0, max: 2 }), (value, indent) => {
        const { structure, depth } = measure(value);
        const wrap = (levels: number) =>
          `${'['.repeat(levels)}${JSON.stringify(value, null, indent)}${']'.repeat(levels)}`;
        expect(findExcess(wrap(MAX_DEPTH - depth))).toBeUndefined();
        expect(findExcess(wrap(MAX_DEPTH - depth + 1))).toBe('depth');
        const beside = (count: number) => `[${JSON.stringify(value)},${list('[]', count)}]`;
        const room = MAX_STRUCTURE - structure - 2;
        expect(findExcess(beside(room))).toBeUndefined();
        expect(findExcess(beside(room + 1))).toBe('structure');
      }),
      { numRuns: 50 },
    );
  });

  it.each(['"', '"\\', '"\\"', ':'.repeat(10), ']]]]', '"[[[['])(
    'of what is no JSON is left to the parser: %s',
    (text) => {
      expect(findExcess(text)).toBeUndefined();
    },
  );

  it.each([
    ['empty objects', list('{}', 349_000)],
    ['empty arrays', list('[[]]', 200_000)],
    ['members', `{${Array.from({ length: 100_001 }, (_, index) => `"${index}":0`)}}`],
  ])('is limited: %s', async (_, text) => {
    const { app, faults } = await createHostApp();
    const { status, body } = await request(app).post(FLAGS).set('content-type', 'application/json').send(text);
    expect([status, body.code]).toEqual([413, 'payload_too_large']);
    expect(body.message).toBe('The body has more than 100000 arrays, objects and members. Send less.');
    expect(faults).toEqual([]);
  });
});

describe('the text of a body', () => {
  const MEBIBYTE = 1024 * 1024;

  /** Returns the body, and the turns of the event loop that began between its text and its value. */
  async function readIn(text: string): Promise<readonly [value: unknown, turns: number]> {
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const read = async () => {
      turns = 0;
      return text;
    };
    const request = { hasBody: true, headers: {}, readBody: read } as unknown as FlagsRequest;
    try {
      return [await createBodyReader(MEBIBYTE)(request), turns];
    } finally {
      clearImmediate(counting);
    }
  }

  it('is parsed in a separate turn of the event loop if it is long', async () => {
    const long = 'x'.repeat(200_000);
    const [value, turns] = await readIn(JSON.stringify(long));
    expect([value === long, turns > 0]).toEqual([true, true]);
    expect(await readIn('{"short":true}')).toEqual([{ short: true }, 0]);
  });

  it('is refused if it is not JSON, whatever its length is', async () => {
    await expect(readIn(`"${'x'.repeat(200_000)}`)).rejects.toMatchObject({ code: 'invalid_json' });
    await expect(readIn('"')).rejects.toMatchObject({ code: 'invalid_json' });
  });
});
