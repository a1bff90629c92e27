// Compiles each module once per worker, and not once per test file. Jest gives every test file a context of its own, in
// which it resolves, reads and compiles all modules again: a third of the processor time of all tests. A `vm.Script` is
// independent of contexts, and so is the bytecode of its functions. Each file still evaluates its own modules.
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { Script } = require('node:vm');

const { default: Runtime } = createRequire(require.resolve('jest-runner'))('jest-runtime');

/** By file. All projects have the same transforms. */
const scripts = new Map();
const transformed = new Map();
const ownSources = new Map();
const resolvers = new WeakSet();

module.exports = class CachingRuntime extends Runtime {
  constructor(config, environment, resolver, transformer, cacheFS, coverage, testPath, globalConfig) {
    super(config, environment, resolver, transformer, cacheFS, coverage, testPath, globalConfig);
    // While watching, a worker can outlive the text of a file. Coverage instruments the text.
    if (globalConfig.watch || globalConfig.watchAll || coverage.collectCoverage) return;
    cacheMappedNames(resolver);
    cacheTransforms(this.transformCache, testPath);
    cacheScripts(this.executor, environment, testPath);
  }
};

/** Remembers what `moduleNameMapper` maps a name to: jest tests all patterns and looks for the file with each `require`. */
function cacheMappedNames(resolver) {
  if (resolvers.has(resolver)) return;
  resolvers.add(resolver);
  const resolve = resolver.resolveStubModuleName.bind(resolver);
  const paths = new Map();
  resolver.resolveStubModuleName = (from, name, options) => {
    const key = `${dirname(from)}\0${name}\0${options?.conditions}`;
    if (!paths.has(key)) paths.set(key, resolve(from, name, options));
    return paths.get(key);
  };
}

function cacheTransforms(cache, testPath) {
  const transform = cache.transform.bind(cache);
  cache.transform = (filename, options) => {
    if (options?.isInternalModule) {
      if (!ownSources.has(filename)) ownSources.set(filename, transform(filename, options));
      return ownSources.get(filename);
    }
    const known = transformed.get(filename);
    if (known === undefined) {
      const code = transform(filename, options);
      if (filename !== testPath) transformed.set(filename, cache.transforms.get(filename));
      return code;
    }
    cache.transforms.set(filename, known);
    if (known.sourceMapPath) cache.sourceMaps.set(filename, known.sourceMapPath);
    return known.code;
  };
}

function cacheScripts(executor, environment, testPath) {
  const compile = executor.compile.bind(executor);
  const head = `(function (${executor.injectedModuleParameters.join(', ')}) {`;
  executor.compile = (source, filename) => {
    const context = environment.getVmContext();
    if (context === null || filename === testPath) return compile(source, filename);
    let known = scripts.get(filename);
    if (known?.source !== source) {
      known = { source, script: scriptOf(head, source, filename) };
      scripts.set(filename, known);
    }
    return known.script?.runInContext(context) ?? compile(source, filename);
  };
}

/** Undefined for what jest has to compile itself: dynamic imports, and text that is not CommonJS, which it reports. */
function scriptOf(head, source, filename) {
  if (source.includes('import(')) return undefined;
  try {
    return new Script(`${head}${source}\n})`, { filename, columnOffset: -head.length });
  } catch {
    return undefined;
  }
}
