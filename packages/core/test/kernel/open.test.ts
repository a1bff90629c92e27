import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_TYPES, FEATURES, OPERATIONS, REGISTRY } from '../../src/features.js';
import { WIRE_NAMES } from '../../src/words/event-names.js';

const KERNEL = join(__dirname, '../../src/kernel');

/** The text of each file of the kernel, without comments and members of types. */
const texts = readdirSync(KERNEL, { recursive: true, encoding: 'utf8' })
  // The members of references have the names of what they refer to.
  .filter((file) => file.endsWith('.ts') && !file.endsWith('operation.ts'))
  .map(
    (file) =>
      [
        file,
        readFileSync(join(KERNEL, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*|\b(Pick|Omit|Extract)<[^>]*>/g, ''),
      ] as const,
  );

describe('the kernel', () => {
  // The actor's token is part of every event, and may be named.
  const kinds = REGISTRY.kinds.map(({ documents }) => documents.kind).filter((kind) => kind !== 'token');
  const names = new Set<string>([...kinds, ...EVENT_TYPES, ...Object.keys(OPERATIONS)]);

  it.each(texts)('names no kind, event or operation of a feature in %s', (_, text) => {
    const literals = [...text.matchAll(/(['"`])([\w-]+)\1/g)].map(([, , literal = '']) => literal);
    expect(literals.filter((literal) => names.has(literal))).toEqual([]);
  });
});

it('knows the same events as the wire', () => {
  expect([...EVENT_TYPES].sort()).toEqual(Object.keys(WIRE_NAMES).sort());
});

it.each(FEATURES.map(({ name }) => name))('finds what %s gives in its folder', (name) => {
  expect(existsSync(join(KERNEL, '../features', name, 'feature.ts'))).toBe(true);
});
