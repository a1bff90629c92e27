const { readFileSync } = require('node:fs');
const { join } = require('node:path');

/** The features of core, the lowest first: each imports the kernel and those before it. As `features.ts` lists them. */
const CORE_FEATURES = (() => {
  const [, list] = /FEATURES = \[([^\]]*)\]/.exec(
    readFileSync(join(__dirname, 'packages/core/src/features.ts'), 'utf8'),
  );
  const names = [...list.matchAll(/(\w+)Feature\b/g)].map(([, name]) => name);
  return names.map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
})();

/** The folders of core and the files at its top, from the lowest to the highest. Each is a layer of its own. */
const CORE_LAYERS = [
  'base',
  'storage',
  'evaluation',
  'words',
  'kernel',
  ...CORE_FEATURES.map((feature) => `features/${feature}`),
  'features.ts',
  'input-schemas.ts',
  'flags-engine.ts',
  'typed-flags',
  'flags.ts',
  'options.ts',
  'schemas.ts',
  'typed-flags.types.ts',
  'open-flags.ts',
  'sqlite.ts',
  'storage.ts',
  'types.ts',
  'evaluate.ts',
  'evaluate',
  'schema.ts',
  'admin.ts',
  'consumers.ts',
  'openfeature',
  'router.operations.ts',
  'testing',
  'testing.ts',
  'integration',
  'index.ts',
];

/** The folders of http and the files at its top, from the lowest to the highest. Each is a layer of its own. */
const HTTP_LAYERS = [
  'compiled-schemas.ts',
  'limits.ts',
  'source.ts',
  'messages',
  'actions.ts',
  'auth',
  'client',
  'events',
  'api',
  'changes',
  'adapters',
  ...CORE_FEATURES.map((feature) => `features/${feature}`),
  'routes.ts',
  'schemas.ts',
  'openapi',
  'options.ts',
  'create-flags-api.ts',
  'index.ts',
  'replies.ts',
];

/** The entry of core's `integration` that each package reads beside `integration/shared`. */
const INTEGRATION_OF = {
  express: 'http',
  follower: 'follower',
  http: 'http',
  openfeature: 'openfeature',
  opentelemetry: 'opentelemetry',
  postgres: 'postgres',
};

/** The files of follower, from the lowest to the highest. */
const FOLLOWER_LAYERS = [
  'compiled-schemas.ts',
  'times.ts',
  'options.ts',
  'schemas.ts',
  'state.ts',
  'messages.ts',
  'upstream.ts',
  'following.ts',
  'tokens.ts',
  'tickets.ts',
  'identity.ts',
  'usage-sender.ts',
  'cache-file.ts',
  'follower.ts',
  'follow-flags.ts',
  'index.ts',
];

/** The folders and files of the admin page, from the lowest to the highest. Each is a layer of its own. */
const PAGE_LAYERS = [
  'settings.ts',
  'api',
  'model',
  'words.ts',
  'router.ts',
  'state',
  ...['control', 'frame', 'form', 'list', 'flag', 'strategy', 'preview', 'rollout', 'review', 'request'].map(
    (part) => `parts/${part}`,
  ),
  'layout',
  ...[
    'administration',
    'applications',
    'changes',
    'events',
    'flag',
    'projects',
    'flags',
    'segments',
    'sign-in',
    'why',
  ].map((screen) => `screens/${screen}`),
  'app.tsx',
  'styles',
  'main.tsx',
];

/** The files that serve the page, from the lowest to the highest. */
const PAGE_HANDLER_LAYERS = ['options.ts', 'page.ts', 'assets.ts', 'create-flags-ui.ts', 'index.ts'];

/** One rule per layer, which imports only those below it, and one that fails for a file in no layer. */
function importDownwards(root, layers) {
  const escaped = (path) => path.replaceAll('.', '\\.');
  // A file of a folder may be a lower layer than the folder.
  const ownOf = (folder) => layers.filter((one) => one.startsWith(`${folder}/`) && one.includes('.'));
  const besidesOf = (folder) => ownOf(folder).map((file) => `(?!${escaped(file.slice(folder.length + 1))}$)`);
  const pathOf = (layer) => (layer.includes('.') ? `${escaped(layer)}$` : `${layer}/${besidesOf(layer).join('')}`);
  const comment = `The layers of ${root} are listed in .dependency-cruiser.cjs, from the lowest to the highest.`;
  const downwards = layers.slice(0, -1).map((layer, index) => ({
    name: `${root}/${layer}-imports-downwards`,
    comment,
    severity: 'error',
    from: { path: `^${root}/${pathOf(layer)}` },
    to: {
      path: `^${root}/(${layers
        .slice(index + 1)
        .map(pathOf)
        .join('|')})`,
    },
  }));
  const inNone = `^${root}/(?!${layers.map(pathOf).join('|')})`;
  return [...downwards, { name: `${root}-has-a-layer`, comment, severity: 'error', from: {}, to: { path: inNone } }];
}

/** Who may import whom. Run by `npm run layers` after a build: packages are resolved through their `exports`. */
module.exports = {
  forbidden: [
    ...importDownwards('packages/core/src', CORE_LAYERS),
    ...importDownwards('packages/follower/src', FOLLOWER_LAYERS),
    ...importDownwards('packages/http/src', HTTP_LAYERS),
    ...importDownwards('packages/ui/app', PAGE_LAYERS),
    ...importDownwards('packages/ui/src', PAGE_HANDLER_LAYERS),
    {
      name: 'evaluation-knows-no-storage',
      comment: 'Evaluation can be published alone.',
      severity: 'error',
      from: { path: '^packages/core/src/evaluation/' },
      to: { path: '^packages/core/src/storage/' },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or miss a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'Nobody imports it: delete it, or publish it.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          '/src/(index|admin|consumers|evaluate|evaluate/patterns|integration/\\w+|flags-postgres-sql|schema|sqlite|storage|testing|types|request|main|check)\\.ts$',
          '\\.d\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(better-sqlite3(/package\\.json)?|pg)$' },
    },
    {
      name: 'decisions-are-pure',
      comment: 'Decisions know types, other decisions and validation: no storage, engine, clock or platform.',
      severity: 'error',
      from: { path: '^packages/core/src/.*/([^/]+)\\.decide\\.ts$' },
      to: {
        pathNot: [
          '\\.(decide|types|schema)\\.ts$',
          // Of a kind they know the types of its events only.
          '\\.kind\\.ts$',
          // The state of a kind: `segment.decide.ts` knows `segment.ts`.
          '/$1\\.ts$',
          '^packages/core/src/kernel/change\\.ts$',
          '^packages/core/src/features/(change-requests/change-request|flags/flag|projects/project|segments/segment|tokens/(people|token))\\.ts$',
          '^packages/core/src/base/',
          // The strategies as data.
          '^packages/core/src/evaluation/strategies\\.ts$',
        ],
      },
    },
    {
      name: 'decisions-know-events-as-types',
      comment: 'Decisions return events. How events become a state is not their business.',
      severity: 'error',
      from: { path: '^packages/core/src/.*\\.decide\\.ts$' },
      to: { path: '\\.kind\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'decisions-know-no-operations',
      comment: 'Operations use decisions and schemas, never the other way round.',
      severity: 'error',
      from: { path: '^packages/core/src/.*\\.(decide|schema|types)\\.ts$' },
      to: {
        path: '^packages/core/src/.*\\.operations\\.ts$|^packages/core/src/kernel/(changes|replica)/',
        pathNot: '\\.types\\.ts$',
      },
    },
    {
      name: 'evaluation-is-pure',
      comment:
        'Evaluation knows types, limits, times and its own files: definitions in, answers out. Its operations bind it to the engine.',
      severity: 'error',
      from: { path: '^packages/core/src/evaluation/', pathNot: '/evaluation/evaluation\\.ts$' },
      to: {
        pathNot: [
          '^packages/core/src/evaluation/',
          '\\.types\\.ts$',
          '^packages/core/src/base/(errors|invalid-input|json|limits|option-names|primitives|recent-map)\\.ts$',
          '/node_modules/re2js/',
        ],
      },
    },
    {
      name: 'core-knows-no-framework',
      severity: 'error',
      from: { path: '^packages/core/src/' },
      to: {
        path: '/node_modules/(express|@types/express|pino|fastify|koa|@openfeature|@opentelemetry|pg|@types/pg)|^packages/(express|follower|http|openfeature|opentelemetry|postgres)/',
      },
    },
    {
      name: 'http-knows-no-framework',
      comment: 'Adapters translate requests and replies of frameworks; the API sees neutral ones.',
      severity: 'error',
      from: { path: '^packages/http/src/' },
      to: {
        path: '/node_modules/(express|@types/express|fastify|koa|hono|next|pino|@openfeature|@opentelemetry|pg|@types/pg)/|^packages/(express|follower|openfeature|opentelemetry|postgres)/',
      },
    },
    {
      name: 'core-loads-the-driver-in-one-place',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: '/sqlite/(driver\\.ts|driver-version\\.cts)$' },
      to: { path: 'better-sqlite3' },
    },
    {
      name: 'postgres-loads-the-driver-in-one-place',
      severity: 'error',
      from: { path: '^packages/postgres/src/', pathNot: '^packages/postgres/src/driver\\.ts$' },
      to: { path: '^pg$|/node_modules/(pg|@types/pg)/' },
    },
    ...Object.entries(INTEGRATION_OF).map(([name, own]) => ({
      name: `${name}-uses-published-entries`,
      comment:
        'What stands on the core uses it as a stranger would: public entries, what is shared, and its own entry.',
      severity: 'error',
      from: { path: `^packages/${name}/src/` },
      to: {
        path: '^packages/core/',
        pathNot: `^packages/core/(src|dist)/(index|storage|types|integration/(shared|${own}))\\.(d\\.)?[jt]s$`,
      },
    })),
    {
      name: 'cli-uses-published-entries',
      comment:
        'The command line is a host: the engine, its drivers, the HTTP API and the admin page as they are published. To plan, it loads definitions as they are stored, which hosts cannot.',
      severity: 'error',
      from: { path: '^packages/cli/src/' },
      to: {
        path: '^packages/(core|express|http|openfeature|opentelemetry|postgres|ui)/',
        pathNot:
          '^packages/((core|http|postgres|ui)/(src|dist)/index|core/(src|dist)/(admin|integration/http|sqlite|types)|http/(src|dist)/replies)\\.(d\\.)?[jt]s$',
      },
    },
    {
      name: 'cli-stays-outside',
      comment: 'Services install no command line.',
      severity: 'error',
      from: { path: '^packages/(core|express|follower|http|openfeature|opentelemetry|postgres|ui)/src/' },
      to: { path: '^packages/cli/' },
    },
    {
      name: 'ui-knows-no-other-package',
      comment: 'The page talks to the API over HTTP: its handler stands alone.',
      severity: 'error',
      from: { path: '^packages/ui/src/' },
      to: { path: '^packages/(core|express|http|openfeature|opentelemetry|postgres)/' },
    },
    {
      name: 'follower-serves-nobody',
      comment: 'A follower is a source of flags. The HTTP API serves it, and need not be installed to evaluate.',
      severity: 'error',
      from: { path: '^packages/follower/src/' },
      to: { path: '^packages/(express|http|openfeature|opentelemetry|postgres|ui)/' },
    },
    {
      name: 'published-http-only',
      comment: 'The Express adapter uses the HTTP API as any other adapter would.',
      severity: 'error',
      from: { path: '^packages/express/src/' },
      to: { path: '^packages/http/', pathNot: '^packages/http/(src|dist)/index\\.(d\\.)?[jt]s$' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^packages/[^/]+/(dist|lib)/'] },
    exclude: { path: '^packages/[^/]+/(dist|lib)/.*\\.map$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.cts', '.js', '.cjs', '.d.ts'],
    },
  },
};
