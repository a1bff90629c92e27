import fc from 'fast-check';
import type { JsonPatch } from '../../src/base/common.types.js';
import { applyPatch } from '../../src/base/json-patch.js';
import { isFlagsError } from '../../src/errors.js';

const token = fc.constantFrom(
  '',
  'a',
  'b',
  '0',
  '1',
  '2',
  '01',
  '-',
  '~0',
  '~1',
  '__proto__',
  'constructor',
  'toString',
);
const pointer = fc.array(token, { maxLength: 3 }).map((tokens) => tokens.map((one) => `/${one}`).join(''));

const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, 0, 1, '', 'x', true),
    fc.array(tie('document'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '0', '', '__proto__', 'constructor', 'hasOwnProperty'), tie('document'), {
      maxKeys: 3,
    }),
  ),
}));

const operation = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value: document }),
  fc.record({ op: fc.constant('remove'), path: pointer }),
  fc.record({ op: fc.constantFrom('move', 'copy'), from: pointer, path: pointer }),
);
const patch = fc.array(operation, { maxLength: 6 }).map((operations) => operations as JsonPatch);
const scope = fc.constantFrom({}, { changeable: ['a', '__proto__'], readOnly: ['b', ''] });

/** The outcome of a patch: the document after it, or the code that it is refused with. */
function outcomeOf(...input: Parameters<typeof applyPatch>): { document: unknown } | { code: string } {
  try {
    return { document: applyPatch(...input) };
  } catch (error) {
    if (isFlagsError(error)) return { code: error.code };
    throw error;
  }
}

/** A removed document is null to whoever reads it, but cannot be replaced by the same patch. */
function keepsTheWhole(operations: JsonPatch): boolean {
  return operations.every(({ op, path }) => op !== 'remove' || path !== '');
}

describe('any patch of any document', () => {
  it('is applied or refused, fails in no other way, and leaves document and patch alone', () => {
    fc.assert(
      fc.property(document, patch, scope, (target, operations, within) => {
        const before = JSON.stringify([target, operations]);
        outcomeOf(target, operations, within);
        expect(JSON.stringify([target, operations])).toBe(before);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives the same as its operations one after the other', () => {
    fc.assert(
      fc.property(document, patch.filter(keepsTheWhole), (target, operations) => {
        let stepwise = outcomeOf(target, [], {});
        for (const one of operations) {
          if ('document' in stepwise) stepwise = outcomeOf(stepwise.document, [one], {});
        }
        expect(outcomeOf(target, operations, {})).toEqual(stepwise);
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps unchanged members', () => {
    const kept = { id: { n: 1 }, a: { x: 1 }, b: [1] };
    const place = fc.constantFrom('/id', '/id/n', '/a', '/a/x', '/b', '/b/0', '/b/-');
    const change = fc.oneof(
      fc.record({ op: fc.constantFrom('add', 'replace'), path: place, value: document }),
      fc.record({ op: fc.constant('remove'), path: place }),
      fc.record({ op: fc.constantFrom('move', 'copy'), from: place, path: place }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 5 }), (operations) => {
        const outcome = outcomeOf(kept, operations as JsonPatch, { changeable: ['a', 'b'], readOnly: ['id'] });
        if ('document' in outcome) expect(outcome.document).toMatchObject({ id: kept.id });
        else expect(outcome.code).toBe('invalid_patch');
      }),
      { numRuns: 1000 },
    );
  });
});
