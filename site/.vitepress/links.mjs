import { existsSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(fileURLToPath(import.meta.url), '../../..');

/**
 * A markdown-it plugin: relative links to documents become addresses of the site, and those to other files of the
 * repository become addresses of its host. Links to nothing are unchanged: VitePress reports them.
 */
export function links(markdown, { repositoryUrl }) {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    const document = relative(ROOT, env.realPath ?? env.path);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href !== null && !/^(\w+:|#|\/)/.test(href)) token.attrSet('href', addressOf(href, document, repositoryUrl));
    }
  });
}

function addressOf(href, document, repositoryUrl) {
  const [target, anchor] = href.split('#');
  const suffix = anchor === undefined ? '' : `#${anchor}`;
  const path = posix.join(posix.dirname(document), decodeURI(target));
  if (!existsSync(join(ROOT, path))) return href;
  if (path.endsWith('.md')) return linkTo(path) + suffix;
  if (existsSync(join(ROOT, path, 'README.md'))) return linkTo(posix.join(path, 'README.md')) + suffix;
  return `${repositoryUrl}/blob/HEAD/${path}${suffix}`;
}

/** The address of a document's page. */
export function linkTo(path) {
  return `/${pageOf(path).replace(/(^|\/)index\.md$/, '$1')}`;
}

/**
 * The page of a document: a README is the index of its folder, but that of the repository, because the site has a first
 * page of its own. TypeDoc writes "_" for the main entry of a package.
 */
export function pageOf(path) {
  if (path === 'README.md') return path;
  return path
    .replace(/^site\/index\.md$/, 'index.md')
    .replace(/^site\/api\//, 'api/')
    .replace('/_/', '/')
    .replace(/(^|\/)README\.md$/, '$1index.md');
}
