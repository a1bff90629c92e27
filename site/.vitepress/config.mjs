import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { links, linkTo, pageOf } from './links.mjs';
import { apiSidebar, descriptions, documentsSidebar } from './navigation.mjs';

const { version, description, repository } = JSON.parse(
  readFileSync(new URL('../../packages/core/package.json', import.meta.url), 'utf8'),
);
const repositoryUrl = repository.url.replace(/^git\+|\.git$/g, '');
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M3 1h2v14H3zM6 2h8l-2 3 2 3H6z" fill="#4f46e5"/></svg>',
)}`;
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** A markdown-it plugin: a diagram is drawn by a component of the theme. */
function diagrams({ renderer, utils }) {
  const { fence } = renderer.rules;
  renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest);
    return `<MermaidDiagram code="${utils.escapeHtml(content)}" />\n`;
  };
}

/** The documents are outside of this package, and cannot find its vue. The pages are drawn in this package, which can. */
const vueOfThisPackage = {
  name: 'vue-of-this-package',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined),
};

export default defineConfig({
  title: 'flags',
  description,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: ICON }]],
  // The documents stay where people and GitHub read them: the addresses of the pages are their paths.
  srcDir: '..',
  srcExclude: [
    '{coverage,sbom,scripts,test}/**',
    '{packages,examples}/*/*/*',
    'benchmarks/{dist,src}/**',
    'site/!(api|index.md)/**',
  ],
  outDir: 'dist',
  cacheDir: '.vitepress/cache',
  rewrites: pageOf,
  // A date is the last commit's: a shallow clone knows only one.
  lastUpdated: false,
  markdown: {
    // The same anchors as GitHub's.
    anchor: { slugify: anchorOf },
    config: (markdown) => {
      markdown.use(links, { repositoryUrl });
      markdown.use(diagrams);
    },
  },
  metaChunk: true,
  vite: {
    plugins: [vueOfThisPackage],
    // The index of the search is larger, and loaded when the search opens.
    build: { chunkSizeWarningLimit: 4096 },
  },
  transformPageData: ({ filePath }) => ({ description: descriptions.get(linkTo(filePath)) ?? description }),
  themeConfig: {
    nav: [
      { text: 'README', link: '/README' },
      { text: 'Documents', link: '/docs/', activeMatch: '^/docs/(?!adr/)' },
      { text: 'Decisions', link: '/docs/adr/', activeMatch: '^/docs/adr/' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: version, link: '/CHANGELOG' },
    ],
    sidebar: { '/api/': apiSidebar, '/': documentsSidebar },
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
  },
});
