import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { read } from './documents.js';

const ROOT = join(__dirname, '../../../..');
const markdownIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name));
const DOCUMENTS = [
  ...['.', 'docs', 'docs/adr', 'benchmarks', 'benchmarks/results'].flatMap(markdownIn),
  ...['packages', 'examples']
    .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}/README.md`))
    .filter((path) => existsSync(join(ROOT, path))),
];

const withoutCode = (markdown: string) => markdown.replaceAll(/^(`{3,})[^\n]*\n.*?^\1$/gms, '');

/** The relative targets of a document's links, inline and by reference. */
function linksOf(path: string): string[] {
  const text = withoutCode(read(path));
  const inline = [...text.matchAll(/\]\(([^)\s]+)\)/g)];
  const references = [...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)];
  return [...inline, ...references].map(([, target]) => target ?? '').filter((target) => !/^\w+:/.test(target));
}

/** The anchors that GitHub gives to a document's headings. */
function anchorsOf(path: string): string[] {
  return [...withoutCode(read(path)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function isBroken(from: string, link: string): boolean {
  const [target = '', anchor] = link.split('#');
  const path = target === '' ? from : posix.join(dirname(from), decodeURI(target));
  if (!existsSync(join(ROOT, path))) return true;
  return anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).includes(anchor);
}

describe('the documents', () => {
  it.each(DOCUMENTS)('%s links to files and headings that exist', (path) => {
    expect(linksOf(path).filter((link) => isBroken(path, link))).toEqual([]);
  });

  it('have a README of at most 12 KB', () => {
    expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(12 * 1024);
  });

  it('have decisions of at most 40 lines, all in the index', () => {
    const index = read('docs/adr/README.md');
    for (const path of markdownIn('docs/adr').filter((path) => /\/\d{4}-/.test(path))) {
      expect([path, read(path).trimEnd().split('\n').length <= 40]).toEqual([path, true]);
      expect(index).toContain(`](${posix.basename(path)})`);
    }
  });

  it('have every guide in the index', () => {
    const index = read('docs/README.md');
    const guides = markdownIn('docs').filter((path) => !path.endsWith('/README.md'));
    expect(guides.filter((path) => !index.includes(`](${posix.basename(path)})`))).toEqual([]);
  });
});
