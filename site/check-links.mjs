// Fails if a page of the built site links to a page, an anchor or a file that is missing, or loads anything from elsewhere.
// VitePress itself checks links to pages only.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const SITE = join(import.meta.dirname, 'dist');

const pages = new Map(
  readdirSync(SITE, { recursive: true })
    .filter((file) => file.endsWith('.html'))
    .map((file) => [`/${file}`, readFileSync(join(SITE, file), 'utf8')]),
);
const anchors = new Map([...pages].map(([page, html]) => [page, new Set(valuesOf(html, 'id'))]));
const faults = [...pages].flatMap(([page, html]) => [
  ...valuesOf(html, 'href')
    .filter((target) => isBroken(page, target))
    .map((target) => `${page} links to ${target}`),
  ...[...html.matchAll(/<(?:script|img|link|source|iframe)\b[^>]*? (?:src|href)="((?:https?:)?\/\/[^"]+)"/g)].map(
    ([, target]) => `${page} loads ${target}`,
  ),
]);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`${pages.size} pages, all links resolve.`);

function isBroken(from, target) {
  if (/^(\w+:|\/\/)/.test(target)) return false;
  const [path, anchor] = decodeURI(target).split('#');
  let page = path === '' ? from : posix.resolve(posix.dirname(from), path);
  if (path.endsWith('/')) page = posix.join(page, 'index.html');
  if (!anchors.has(page)) return anchor !== undefined || !existsSync(join(SITE, page));
  return anchor !== undefined && anchor !== '' && !anchors.get(page).has(anchor);
}

function valuesOf(html, attribute) {
  const values = html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'));
  return [...values].map(([, value]) =>
    value.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
  );
}
