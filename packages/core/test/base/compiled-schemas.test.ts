import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMAS as FOLLOWER } from '../../../follower/src/schemas.js';
import { SCHEMAS as HTTP } from '../../../http/src/schemas.js';
import { COMPILED } from '../../src/base/compiled-schemas.js';
import { SCHEMAS as CORE } from '../../src/schemas.js';

const ROOT = join(__dirname, '../../../..');
const compiler = readFileSync(join(ROOT, 'scripts/schema-compiler.cjs'));

it.each([
  ['core/src/base', CORE],
  ['follower/src', FOLLOWER],
  ['http/src', HTTP],
])('the compiled schemas of %s are those of its schemas', (folder, schemas) => {
  const written = readFileSync(join(ROOT, 'packages', folder, 'compiled-schemas.ts'), 'utf8');
  const hash = createHash('sha256').update(JSON.stringify(schemas)).update(compiler).digest('hex');
  expect(written.split('\n')[1]).toBe(`// ${hash}`);
});

it('every schema is plain JSON with a compiled one', () => {
  expect(JSON.parse(JSON.stringify(CORE))).toEqual(CORE);
  expect(Object.keys(COMPILED)).toEqual(Object.keys(CORE));
});

it('compiled schemas load no library, and compile nothing', () => {
  for (const folder of ['core/src/base', 'follower/src', 'http/src']) {
    const written = readFileSync(join(ROOT, 'packages', folder, 'compiled-schemas.ts'), 'utf8');
    expect(written).not.toMatch(/\brequire\(|\bimport\b|new Function|\beval\b/);
  }
});
