/** The folders of core, from the lowest to the highest. Folders of one layer, and those not named, lie side by side. */
const LAYERS = [
  ['base'],
  ['evaluation'],
  ['replica', 'flags', 'projects', 'segments', 'tokens'],
  ['changesets'],
  ['history'],
  ['definitions'],
];

const ENTRIES = [
  'administration.ts',
  'create-flags.ts',
  'flags.ts',
  'input-schemas.ts',
  'options.ts',
  'typed-flags.types.ts',
];

/** One rule per folder: it imports its own layer and those below. */
const importsDownwards = LAYERS.flatMap((folders, layer) =>
  folders.map((folder) => {
    const above = [...LAYERS.slice(layer + 1).flat(), ...ENTRIES];
    const paths = above.map((name) => (name.endsWith('.ts') ? `${name.replace('.', '\\.')}$` : `${name}/`));
    return {
      name: `${folder}-imports-downwards`,
      comment: 'The order of the folders of core is in docs/architecture.md.',
      severity: 'error',
      from: { path: `^packages/core/src/${folder}/` },
      to: { path: `^packages/core/src/(${paths.join('|')})` },
    };
  }),
);

/** Who may import whom. Run by `npm run layers` after a build: packages are resolved through their `exports`. */
module.exports = {
  forbidden: [
    ...importsDownwards,
    {
      name: 'operations-know-no-writer',
      comment: 'engine.ts says what operations work with. They prepare and decide; the change set writer commits.',
      severity: 'error',
      from: { path: '^packages/core/src/engine\\.ts$' },
      to: {
        path: '^packages/core/src/(changesets|history|definitions)/|^packages/core/src/(flags|create-flags|options)\\.ts$',
      },
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
          '/src/(index|admin|integration|flags-postgres-sql|sqlite|storage|testing|types|request|main|check)\\.ts$',
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
      from: { path: '^packages/core/src/.*\\.decide\\.ts$' },
      to: {
        pathNot: [
          '\\.(decide|types|schema)\\.ts$',
          '^packages/core/src/(flags/flag|projects/project|segments/segment|tokens/token)\\.ts$',
          '^packages/core/src/base/',
          '^packages/core/src/errors\\.ts$',
        ],
      },
    },
    {
      name: 'decisions-know-no-operations',
      comment: 'Operations use decisions and schemas, never the other way round.',
      severity: 'error',
      from: { path: '^packages/core/src/.*\\.(decide|schema|types)\\.ts$' },
      to: {
        path: '^packages/core/src/.*\\.operations\\.ts$|^packages/core/src/(changesets|replica)/',
        // The vocabulary of change sets follows from the rows of the operations.
        pathNot: '\\.types\\.ts$|^packages/core/src/changesets/operations\\.ts$',
      },
    },
    {
      name: 'evaluation-is-pure',
      comment:
        'Evaluation knows types, limits and its own files: definitions in, answers out. Its operations bind it to the engine.',
      severity: 'error',
      from: { path: '^packages/core/src/evaluation/', pathNot: '\\.operations\\.ts$' },
      to: {
        pathNot: [
          '^packages/core/src/evaluation/',
          '\\.types\\.ts$',
          '^packages/core/src/base/limits\\.ts$',
          '/node_modules/(re2js|lru-cache)/',
        ],
      },
    },
    {
      name: 'base-knows-nothing-above',
      comment: 'The validator, limits and shared primitives; what an aggregate allows stands in its schema.',
      severity: 'error',
      from: { path: '^packages/core/src/base/' },
      to: {
        path: '^packages/core/src/',
        pathNot: '^packages/core/src/(base/|errors\\.ts$)',
      },
    },
    {
      name: 'storages-know-no-engine',
      comment: 'A storage is written against the port alone, as a stranger would write one.',
      severity: 'error',
      from: { path: '^packages/core/src/storage/' },
      to: {
        path: '^packages/core/src/',
        pathNot: '^packages/core/src/(storage/|errors\\.ts$|base/)',
      },
    },
    {
      name: 'core-knows-no-framework',
      severity: 'error',
      from: { path: '^packages/core/src/' },
      to: {
        path: '/node_modules/(express|@types/express|pino|fastify|koa|@openfeature|pg|@types/pg)|^packages/(express|http|openfeature|postgres)/',
      },
    },
    {
      name: 'http-knows-no-framework',
      comment: 'Adapters translate requests and replies of frameworks; the API sees neutral ones.',
      severity: 'error',
      from: { path: '^packages/http/src/' },
      to: {
        path: '/node_modules/(express|@types/express|fastify|koa|hono|next|pino|@openfeature|pg|@types/pg)/|^packages/(express|openfeature|postgres)/',
      },
    },
    {
      name: 'core-loads-the-driver-in-one-place',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: '/(open-database\\.ts|driver-version\\.cts)$' },
      to: { path: 'better-sqlite3' },
    },
    {
      name: 'postgres-loads-the-driver-in-one-place',
      severity: 'error',
      from: { path: '^packages/postgres/src/', pathNot: '^packages/postgres/src/driver\\.ts$' },
      to: { path: '^pg$|/node_modules/(pg|@types/pg)/' },
    },
    {
      name: 'published-entries-only',
      comment: 'What stands on the core uses it as a stranger would.',
      severity: 'error',
      from: { path: '^packages/(express|http|openfeature|postgres)/src/' },
      to: {
        path: '^packages/core/',
        pathNot: '^packages/core/(src|dist|cjs)/(index|integration|storage|types)\\.(d\\.)?[jt]s$',
      },
    },
    {
      name: 'cli-uses-published-entries',
      comment:
        'The command line is a host: the engine, its drivers, the HTTP API and the admin page as they are published.',
      severity: 'error',
      from: { path: '^packages/cli/src/' },
      to: {
        path: '^packages/(core|express|http|openfeature|postgres|ui)/',
        pathNot:
          '^packages/((core|http|postgres|ui)/(src|dist|cjs)/index|core/(src|dist|cjs)/(admin|sqlite|types)|http/(src|dist|cjs)/wire/replies)\\.(d\\.)?[jt]s$',
      },
    },
    {
      name: 'cli-stays-outside',
      comment: 'Services install no command line.',
      severity: 'error',
      from: { path: '^packages/(core|express|http|openfeature|postgres|ui)/src/' },
      to: { path: '^packages/cli/' },
    },
    {
      name: 'ui-knows-no-other-package',
      comment: 'The page talks to the API over HTTP: its handler stands alone.',
      severity: 'error',
      from: { path: '^packages/ui/src/' },
      to: { path: '^packages/(core|express|http|openfeature|postgres)/' },
    },
    {
      name: 'published-http-only',
      comment: 'The Express adapter uses the HTTP API as any other adapter would.',
      severity: 'error',
      from: { path: '^packages/express/src/' },
      to: { path: '^packages/http/', pathNot: '^packages/http/(src|dist|cjs)/index\\.(d\\.)?[jt]s$' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^packages/[^/]+/(dist|cjs)/'] },
    exclude: { path: '^packages/[^/]+/(dist|cjs)/.*\\.map$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.cts', '.js', '.cjs', '.d.ts'],
    },
  },
};
