import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const REPOSITORY = join(__dirname, '../../../..');

/** A text of the repository, by its path from the root. */
export function read(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}

/** The contents of a document's code blocks in one language, in order. */
export function codeBlocks(markdown: string, language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms');
  return [...markdown.matchAll(fenced)].map(([, code]) => code ?? '');
}

/** The cells of the first table after a heading, without its head. */
export function tableAfter(markdown: string, heading: string): string[][] {
  const start = markdown.indexOf(`${heading}\n`);
  if (start < 0) throw new Error(`There is no heading ${heading}.`);
  const [, , ...rows] = (/(?:^\|.*\n)+/m.exec(markdown.slice(start))?.[0] ?? '').trimEnd().split('\n');
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The text in backquotes at the start of a cell. */
export function codeIn(cell: string | undefined): string {
  return /^`([^`]+)`/.exec(cell ?? '')?.[1] ?? '';
}
