/** @jest-config-loader esbuild-register */
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import type { Config } from 'jest';

/** Set by `npm run test:full`. */
const isFull = process.env.FLAGS_TESTS === 'full';

// Workers and their processes inherit both. Tests create many objects that are soon garbage: with more room for them, V8
// copies fewer. And they cause most of our warnings on purpose; those about warnings listen to the event.
process.execArgv.push('--max-semi-space-size=64', '--disable-warning=FlagsWarning');

// Workers and their processes inherit it.
process.env.FLAGS_SQLITE ??= isDriverUsable() ? 'better-sqlite3' : 'node';

/** Whether better-sqlite3 is installed, and compiled for this Node. */
function isDriverUsable(): boolean {
  try {
    const Database: new (path: string) => { close(): void } = createRequire(__filename)('better-sqlite3');
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

/** The SQLite of Node instead of better-sqlite3: tests on Node 22.16 and newer have no other. */
const NODE_DRIVER = {
  '^better-sqlite3(/package\\.json)?$': '<rootDir>/packages/core/test/storage/sqlite/node-driver.ts',
};

/** Tests on a PostgreSQL: one is started for a run that has any of them. */
const ON_POSTGRES = ['packages/cli/test/postgres', 'packages/postgres', 'examples/server/test/postgres'];
/** Tests in a browser: one is started for a run that has any of them. */
const IN_BROWSER = ['packages/http/test/browser/', 'packages/ui/test/browser/'];
/** Tests that start many processes of their own: nothing else runs at the same time. */
const WITH_PROCESSES = [
  'examples/server/test/faults/(idle-streams|kill|several-servers)',
  'packages/core/test/((consumers|change-requests)/kill|storage/sqlite/(kill|processes))',
];
const WITH_PROCESSES_ON_POSTGRES = ['packages/postgres/test/(feed/writers|nodes/)'];

const LEFT_OUT = ['/node_modules/', ...(isFull ? [] : ['\\.full\\.test\\.ts$'])];

/** Test files below any of the paths, which are regular expressions. */
function below(paths: readonly string[]): string[] {
  return paths.map((path) => `/${path}.*\\.test\\.ts$`);
}

const project: Config = {
  roots: ['<rootDir>/packages', '<rootDir>/examples/server'],
  transform: {
    '^.+\\.[cm]?ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
        sourceMaps: true,
      },
    ],
  },
  moduleNameMapper: {
    ...(process.env.FLAGS_SQLITE === 'node' && NODE_DRIVER),
    '^@flags/(core|express|follower|http|openfeature|opentelemetry|postgres|ui)$': '<rootDir>/packages/$1/src/index.ts',
    '^@flags/test-browser$': '<rootDir>/test/browser/src/index.ts',
    '^@flags/test-postgres$': '<rootDir>/test/postgres/src/index.ts',
    '^@flags/core/(admin|consumers|evaluate|evaluate/patterns|integration/\\w+|schema|sqlite|storage|testing|types)$':
      '<rootDir>/packages/core/src/$1.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^(\\.{1,2}/.*driver-version)\\.cjs$': '$1.cts',
  },
  moduleFileExtensions: ['ts', 'cts', 'js', 'cjs', 'mjs', 'json', 'node'],
  testEnvironment: '<rootDir>/test/environment.cjs',
  runtime: '<rootDir>/test/runtime.cjs',
  setupFiles: ['<rootDir>/packages/core/test/seeded-properties.ts'],
  setupFilesAfterEnv: ['<rootDir>/test/quick-expect.ts'],
  testPathIgnorePatterns: LEFT_OUT,
  modulePathIgnorePatterns: ['<rootDir>/packages/.*/(dist|lib)/', '<rootDir>/examples/.*/dist/'],
};

const postgres: Config = {
  globalSetup: '<rootDir>/test/postgres/dist/global-setup.js',
  globalTeardown: '<rootDir>/test/postgres/dist/global-teardown.js',
};
const browser: Config = {
  globalSetup: '<rootDir>/test/browser/dist/global-setup.js',
  globalTeardown: '<rootDir>/test/browser/dist/global-teardown.js',
};
const serial: Config = { runner: '<rootDir>/test/serial-runner.cjs' };

const config: Config = {
  projects: [
    {
      ...project,
      displayName: 'flags',
      testRegex: below(['(packages|examples)/[^/]+/test/']),
      testPathIgnorePatterns: [...LEFT_OUT, ...below([...ON_POSTGRES, ...IN_BROWSER, ...WITH_PROCESSES])],
    },
    {
      ...project,
      ...postgres,
      displayName: 'postgres',
      testRegex: below(ON_POSTGRES),
      testPathIgnorePatterns: [...LEFT_OUT, ...below(WITH_PROCESSES_ON_POSTGRES)],
    },
    { ...project, ...browser, displayName: 'browser', testRegex: below(IN_BROWSER) },
    { ...project, ...serial, displayName: 'processes', testRegex: below(WITH_PROCESSES) },
    { ...project, ...serial, ...postgres, displayName: 'processes', testRegex: below(WITH_PROCESSES_ON_POSTGRES) },
  ],
  testSequencer: '<rootDir>/test/sequencer.cjs',
  // The tests of every project need the compiled schemas.
  globalSetup: '<rootDir>/test/global-setup.mjs',
  // Ends what hangs; nothing is proven by how quick a test is.
  testTimeout: 60_000,
  // One more than there are cores: some files wait most of their time for disks, processes and clocks.
  maxWorkers: availableParallelism() + 1,
  collectCoverageFrom: ['packages/*/src/**/*.ts'],
};

export default config;
