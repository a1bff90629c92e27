import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkSync } from 'recheck';
import ts from 'typescript';
import { inputSchemas } from '../../src/input-schemas.js';
import { createSettings } from '../../src/options.js';

const ROOT = join(__dirname, '../../../..');

interface Expression {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

function filesIn(folder: string): readonly string[] {
  const source = ts.sys.readDirectory(
    join(ROOT, folder),
    ['.ts', '.cts'],
    ['**/node_modules/**', '**/dist/**', '**/lib/**'],
  );
  return source.filter((file) => file.includes('/src/'));
}

/** Every regular expression in a file. */
function expressionsIn(file: string): readonly Expression[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const found: Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const place = `${file.slice(ROOT.length + 1)} ${node.text}`;
      found.push({ place, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The patterns of a schema, which Ajv compiles with the flag u. */
function patternsIn(schema: unknown, place: string): readonly Expression[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'pattern' && typeof value === 'string'
      ? [{ place: `${place} ${value}`, source: value, flags: 'u' }]
      : patternsIn(value, `${place}/${key}`),
  );
}

const WRITTEN = [...filesIn('packages'), ...filesIn('examples')].flatMap(expressionsIn);
const SCHEMAS = patternsIn(inputSchemas(createSettings({})), 'schema');
const EXPRESSIONS = new Map([...WRITTEN, ...SCHEMAS].map((one) => [`${one.source}/${one.flags}`, one]));

describe('each regular expression of the source', () => {
  beforeAll(() => {
    process.env.RECHECK_BACKEND = 'pure';
  });

  it('is found by this test', () => {
    expect(WRITTEN.length).toBeGreaterThan(20);
    expect(SCHEMAS.length).toBeGreaterThan(5);
  });

  it.each([...EXPRESSIONS.values()].map((one) => [one.place, one] as const))(
    'matches in linear time: %s',
    (_, { source, flags }) => {
      expect(checkSync(source, flags, { timeout: 30_000 }).status).toBe('safe');
    },
  );
});
