import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { linkTo } from './links.mjs';

const INDEX = 'docs/README.md';
const DECISIONS = 'docs/adr/README.md';
const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** What docs/README.md says about each page, by the page's path. */
export const descriptions = new Map();

/** The sections of docs/README.md, with the links of their tables. The decisions are listed below their index. */
export const documentsSidebar = read(INDEX)
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ text: section.slice(0, section.indexOf('\n')).trim(), items: linksOf(section, INDEX) }));

for (const group of documentsSidebar) {
  for (const item of group.items) {
    if (item.link === linkTo(DECISIONS)) Object.assign(item, { items: decisions(), collapsed: true });
  }
}

/** The packages and their entries: the page of an entry lists what it exports. */
export const apiSidebar = JSON.parse(read('site/api/navigation.json')).map((entry) => apiItem(entry));

function decisions() {
  const table = read(DECISIONS).split(/^## /m)[0];
  return linksOf(table, DECISIONS).map(({ text, link }) => ({ text: `${Number(/\d{4}/.exec(link))} ${text}`, link }));
}

/** The links in the first column with links of a table's rows. */
function linksOf(markdown, document) {
  return markdown.split('\n').flatMap((row) => {
    const cells = row.split('|').slice(1, -1);
    const column = cells.findIndex((cell) => cell.includes(']('));
    if (column < 0) return [];
    return [...cells[column].matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, text, target]) => {
      const path = posix.join(posix.dirname(document), target);
      return { text, link: linkTo(path) };
    });
  });
}

function apiItem({ title, path, children = [] }) {
  const entries = children.filter(({ path }) => /\/(index|README)\.md$/.test(path));
  return {
    text: title,
    ...(path && { link: linkTo(`site/api/${path}`) }),
    ...(entries.length > 0 && { items: entries.map((entry) => apiItem(entry)) }),
  };
}
