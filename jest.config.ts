/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

const config: Config = {
  roots: ['<rootDir>/packages', '<rootDir>/examples/server'],
  testMatch: ['<rootDir>/{packages,examples}/*/test/**/*.test.ts'],
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
    '^@flags/core/(sqlite|testing)$': '<rootDir>/packages/core/src/$1.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^(\\.{1,2}/.*)\\.cjs$': '$1.cts',
  },
  moduleFileExtensions: ['ts', 'cts', 'js', 'cjs', 'mjs', 'json', 'node'],
  testEnvironment: 'node',
  // Ends what hangs; nothing is proven by how quick a test is.
  testTimeout: 60_000,
  // Much of the time is spent waiting for disks and processes: one worker per core, the main one's included.
  maxWorkers: '100%',
  collectCoverageFrom: ['packages/*/src/**/*.ts'],
  modulePathIgnorePatterns: ['<rootDir>/packages/.*/(dist|cjs)/', '<rootDir>/examples/.*/dist/'],
};

export default config;
