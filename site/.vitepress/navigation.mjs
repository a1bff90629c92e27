import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { linkTo } from './links.mjs';

const DECISIONS = 'docs/adr/README.md';
const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The sections of docs/README.md, with the links of their lists. The decisions are listed below their index. */
export const documentsSidebar = read('docs/README.md')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ text: section.slice(0, section.indexOf('\n')).trim(), items: pagesIn(section) }));

/** What docs/README.md says about each page, by its address. */
export const descriptions = new Map(
  documentsSidebar.flatMap(({ items }) => items.map(({ link, description }) => [link, description])),
);

for (const group of documentsSidebar) {
  for (const item of group.items) {
    if (item.link === linkTo(DECISIONS)) Object.assign(item, { items: decisions(), collapsed: true });
  }
}

/** The packages and their entries: the page of an entry lists what it exports. */
export const apiSidebar = JSON.parse(read('site/api/navigation.json')).map((entry) => apiItem(entry));

/** The items of a list such as `- [Roles](roles.md): decide what your users may do`. */
function pagesIn(section) {
  return [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)(?:: (.+))?$/gm)].map(([, text, target, description]) => {
    const sentence = description && description[0].toUpperCase() + description.slice(1);
    return { text, link: linkTo(posix.join('docs', target)), description: sentence?.replaceAll('`', '') };
  });
}

/** The rows of the table of decisions, which link to one decision each. */
function decisions() {
  const [table] = read(DECISIONS).split(/^## /m);
  return [...table.matchAll(/^\|.*?\[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text, target]) => {
    const number = Number(/\d{4}/.exec(target));
    return { text: `${number} ${text}`, link: linkTo(posix.join('docs/adr', target)) };
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
