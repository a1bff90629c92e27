/*
 * Lets mocha run the tests that are written for jest. Stryker keeps mocha and what it has loaded from mutant to mutant, where
 * jest starts a new process for each.
 */
const { existsSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');
const { register } = require('esbuild-register/dist/node');
const { expect } = require('expect');
const fastCheck = require('fast-check');
const { bind } = require('jest-each');
const { ModuleMocker } = require('jest-mock');

// Sources are compiled as they are required: a native `import()` would look for the compiled files.
register({ target: 'node20', format: 'cjs', supported: { 'dynamic-import': false } });
Module._extensions['.cts'] = Module._extensions['.ts'];
nameSources();

limitProperties();

globalThis.expect = expect;
globalThis.jest = new ModuleMocker(globalThis);
for (const name of ['describe', 'it']) addEach(name);
addAlias('beforeAll', 'before');
addAlias('afterAll', 'after');

/**
 * Every mutant is tested with the same few examples, so that the next run has the same result. One failure is enough.
 */
function limitProperties() {
  const { default: fc, assert } = fastCheck;
  const limits = { seed: 1, numRuns: 50, endOnFailure: true };
  fastCheck.default = { ...fc, assert: (property, settings) => assert(property, { ...settings, ...limits }) };
}

/** Sources import each other by the names of the compiled files. */
function nameSources() {
  const resolve = Module._resolveFilename;
  Module._resolveFilename = (request, parent, ...rest) => {
    const source = request.replace(/\.(c?)js$/, '.$1ts');
    const isSource = request.startsWith('.') && existsSync(join(parent.path, source));
    return resolve(isSource ? source : request, parent, ...rest);
  };
}

/** Mocha sets its globals again with every file. */
function addEach(name) {
  let present;
  const set = (value) => {
    present = value;
    if (value) present.each = bind(value, false);
  };
  Object.defineProperty(globalThis, name, { configurable: true, get: () => present, set });
}

function addAlias(name, mochas) {
  Object.defineProperty(globalThis, name, { configurable: true, get: () => globalThis[mochas] });
}
