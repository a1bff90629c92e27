import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { read } from './documents.js';

const ROOT = join(__dirname, '../../../..');
const TEXT = read('CONTRIBUTING.md');

/** The recipes: each names files, and the names that a contributor finds there. */
const RECIPES = (TEXT.split('\n## ').find((section) => section.startsWith('Recipes\n')) ?? '')
  .split('\n### ')
  .slice(1)
  .map((recipe) => {
    const [title = '', ...lines] = recipe.split('\n');
    const items = lines.join('\n').matchAll(/^- `([^`]+)`:(.*(?:\n {2}.*)*)/gm);
    return { title, places: [...items].map(([, path = '', text = '']) => ({ path, names: namesIn(text) })) };
  });

/** The identifiers in backquotes. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([A-Za-z_]\w*)`/g)].map(([, name]) => name ?? '');
}

function isIn(name: string, path: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(read(path));
}

describe('CONTRIBUTING.md', () => {
  it('has a recipe for each kind of change', () => {
    expect(RECIPES.length).toBeGreaterThanOrEqual(10);
  });

  it.each(RECIPES)('names what is there: $title', ({ places }) => {
    expect(places.length).toBeGreaterThanOrEqual(3);
    for (const { path, names } of places) {
      expect({ path, isThere: existsSync(join(ROOT, path)) }).toEqual({ path, isThere: true });
      expect({ path, missing: names.filter((name) => !isIn(name, path)) }).toEqual({ path, missing: [] });
    }
  });

  it('names files that exist', () => {
    const paths = [...TEXT.matchAll(/`((?:packages|docs|scripts|benchmarks|examples|test|\.ci)\/[\w./-]+)`/g)];
    expect(paths.map(([, path = '']) => path).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = [...TEXT.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('has at most 2,500 words', () => {
    expect(TEXT.split(/\s+/).length).toBeLessThanOrEqual(2500);
  });
});
