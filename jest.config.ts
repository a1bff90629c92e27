/** @jest-config-loader esbuild-register */
import { randomInt } from 'node:crypto';
import type { Config } from 'jest';

/** Random inputs are the same in every run, but in the full form, which is there to find others. */
const isFull = process.env.FLAGS_FAULTS === 'full';
process.env.FLAGS_SEED ??= String(isFull ? randomInt(2 ** 31) : 1);
if (isFull) console.error(`FLAGS_SEED=${process.env.FLAGS_SEED}`);

/** Tests on a PostgreSQL: one is started for a run that has any of them. */
const ON_POSTGRES = ['packages/postgres', 'examples/server/test/postgres'];

const project: Config = {
  roots: ['<rootDir>/packages', '<rootDir>/examples/server'],
  transform: {
    '^.+\\.[cm]?ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  moduleNameMapper: {
    '^@flags/(core|express|openfeature|postgres)$': '<rootDir>/packages/$1/src/index.ts',
    '^@flags/test-postgres$': '<rootDir>/test/postgres/src/index.ts',
    '^@flags/core/(sqlite|testing)$': '<rootDir>/packages/core/src/$1.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^(\\.{1,2}/.*)\\.cjs$': '$1.cts',
  },
  moduleFileExtensions: ['ts', 'cts', 'js', 'cjs', 'mjs', 'json', 'node'],
  testEnvironment: 'node',
  setupFiles: ['<rootDir>/packages/core/test/properties/seeded-properties.ts'],
  modulePathIgnorePatterns: ['<rootDir>/packages/.*/(dist|cjs)/', '<rootDir>/examples/.*/dist/'],
};

const config: Config = {
  projects: [
    {
      ...project,
      displayName: 'flags',
      testMatch: ['<rootDir>/{packages,examples}/*/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...ON_POSTGRES.map((path) => `<rootDir>/${path}/`)],
    },
    {
      ...project,
      displayName: 'postgres',
      testMatch: ON_POSTGRES.map((path) => `<rootDir>/${path}/**/*.test.ts`),
      globalSetup: '<rootDir>/test/postgres/dist/global-setup.js',
      globalTeardown: '<rootDir>/test/postgres/dist/global-teardown.js',
    },
  ],
  // Ends what hangs; nothing is proven by how quick a test is.
  testTimeout: 60_000,
  // Much of the time is spent waiting for disks and processes: one worker per core, the main one's included.
  maxWorkers: '100%',
  collectCoverageFrom: ['packages/*/src/**/*.ts'],
};

export default config;
