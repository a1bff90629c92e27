/** Who may import whom. Run by `npm run layers` after a build: packages are resolved through their `exports`. */
module.exports = {
  forbidden: [
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
        pathNot: ['/src/(index|flags-postgres-sql|sqlite|testing|request|main|check)\\.ts$', '\\.d\\.ts$'],
      },
      to: {},
    },
    {
      name: 'unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(better-sqlite3|pg)$' },
    },
    {
      name: 'domain-is-pure',
      comment: 'Decisions know no storage, engine, clock or platform.',
      severity: 'error',
      from: { path: '^packages/core/src/domain/' },
      to: {
        pathNot: [
          '^packages/core/src/(domain|validation|api)/',
          '^packages/core/src/(errors|code-point-order)\\.ts$',
          '/node_modules/fast-json-patch/',
        ],
      },
    },
    {
      name: 'evaluation-is-pure',
      comment: 'Evaluation knows no storage, engine, clock or platform: definitions in, answers out.',
      severity: 'error',
      from: { path: '^packages/core/src/evaluation/' },
      to: {
        pathNot: [
          '^packages/core/src/(evaluation|api)/',
          '^packages/core/src/validation/limits\\.ts$',
          '/node_modules/re2js/',
        ],
      },
    },
    {
      name: 'validation-stands-alone',
      comment: 'Schemas need the public types, the error and pure functions, nothing that acts.',
      severity: 'error',
      from: { path: '^packages/core/src/validation/' },
      to: {
        path: '^packages/core/src/',
        pathNot: '^packages/core/src/((validation|api|evaluation/constraints)/|(errors|frozen)\\.ts$)',
      },
    },
    {
      name: 'public-types-stand-alone',
      comment: 'The public interface is made of itself, the two ports and the error codes.',
      severity: 'error',
      from: { path: '^packages/core/src/api/' },
      to: { pathNot: '^packages/core/src/(api/|awaitable\\.ts$|errors\\.ts$|(storage|metrics)/port\\.ts$)' },
    },
    {
      name: 'storages-know-no-engine',
      comment: 'A storage is written against the port alone, as a stranger would write one.',
      severity: 'error',
      from: { path: '^packages/core/src/(storage|metrics)/' },
      to: { path: '^packages/core/src/(engine|operations|domain|validation|api|create-flags)' },
    },
    {
      name: 'core-knows-no-framework',
      severity: 'error',
      from: { path: '^packages/core/src/' },
      to: {
        path: '/node_modules/(express|@types/express|pino|fastify|koa|@openfeature|pg|@types/pg)|^packages/(express|openfeature|postgres)/',
      },
    },
    {
      name: 'core-loads-the-driver-in-one-place',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: '/load-driver\\.cts$' },
      to: { path: 'better-sqlite3' },
    },
    {
      name: 'postgres-loads-the-driver-in-one-place',
      severity: 'error',
      from: { path: '^packages/postgres/src/', pathNot: '/load-driver\\.cts$' },
      to: { path: '^pg$|/node_modules/(pg|@types/pg)/' },
    },
    {
      name: 'published-entries-only',
      comment: 'What stands on the core uses it as a stranger would.',
      severity: 'error',
      from: { path: '^packages/(express|openfeature|postgres)/src/' },
      to: { path: '^packages/core/', pathNot: '^packages/core/(src|dist|cjs)/index\\.(d\\.)?[jt]s$' },
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
