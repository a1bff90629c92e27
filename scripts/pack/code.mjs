// Bundles the compiled files of a package: ES modules with shared chunks, and CommonJS in one file.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import { OUTPUT } from './entries.mjs';

/**
 * Nothing is minified, so that stack traces are readable without source maps. The code is ASCII: one other character doubles
 * what the text of a file takes in memory, and Node reads it several times slower.
 */
const COMMON = {
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  charset: 'ascii',
  logLevel: 'warning',
  metafile: true,
};

/** The file that holds the CommonJS of all entries. Without a name of an entry: entries re-export from it. */
const ALL = 'all.cjs';

/** Writes the code of a package. Returns the files of other packages that it contains. */
export async function writeCode(folder, manifest, entries) {
  const modules = await bundleModules(folder, manifest, entries);
  const inputs = Object.keys(modules.inputs);
  // A command has no entry for programs, and needs one format.
  if (entries.length > 0) inputs.push(...(await bundleCommonJs(folder, manifest, entries, modules)));
  return [...new Set(inputs)].filter((input) => input.includes('node_modules/'));
}

/** Dependencies that the ES modules contain: Node takes longer to load their files than one of ours that holds them. */
const CONTAINED = ['uuid', 'fastest-levenshtein'];

async function bundleModules(folder, manifest, entries) {
  const commands = Object.values(manifest.bin ?? {}).map((file) => [basename(file, extname(file)), file]);
  const options = {
    ...COMMON,
    absWorkingDir: folder,
    outdir: OUTPUT,
    format: 'esm',
    splitting: true,
    // Bundlers can leave out what they do not need of an ES module.
    mainFields: ['module', 'main'],
    plugins: [leaveOut(manifest, CONTAINED), giveRequire(folder)],
  };
  const filesOf = (some) => Object.fromEntries(some.map(({ name, compiled }) => [name, compiled]));
  const alone = await bundle({ ...options, entryPoints: filesOf(entries.filter(({ isAlone }) => isAlone)) });
  const own = { ...filesOf(entries.filter(({ isAlone }) => !isAlone)), ...Object.fromEntries(commands) };
  const { metafile } = await build({ ...options, entryPoints: own });
  const together = await bundle({
    ...options,
    entryPoints: own,
    plugins: [joinChunks(folder, filesToJoin(metafile.outputs)), ...options.plugins],
  });
  return { inputs: { ...alone.inputs, ...together.inputs }, outputs: together.outputs };
}

const ROOT = `${OUTPUT}/index.js`;
/** Entries that followers load, whose bundles leave out the features of an engine. */
const OF_FOLLOWERS = ['integration/follower', 'integration/shared'].map((name) => `${OUTPUT}/${name}.js`);

/**
 * Returns, by file, the files that it is to need too. Entries of engines: the root entry, which their programs load anyway. Those
 * of followers, and files that are loaded at their first use: all that one of them shares with the root entry.
 */
function filesToJoin(outputs) {
  if (!outputs[ROOT]) return new Map();
  const ofRoot = chunksOf(outputs[ROOT]);
  const sharedBy = (output) => chunksOf(output).filter((chunk) => ofRoot.includes(chunk));
  const others = Object.entries(outputs).filter(([path, output]) => path !== ROOT && output.entryPoint);
  const [small, engines] = [true, false].map((isSmall) =>
    others
      .filter(([path]) => isSmall === (OF_FOLLOWERS.includes(path) || isLoadedLater(path, outputs)))
      .map(([, output]) => output)
      .filter((output) => sharedBy(output).length > 0),
  );
  const shared = [...new Set(small.flatMap(sharedBy))].flatMap((chunk) => Object.keys(outputs[chunk].inputs));
  const needed = shared.filter((file) => !file.includes('node_modules/'));
  return new Map([
    ...engines.map(({ entryPoint }) => [entryPoint, [outputs[ROOT].entryPoint]]),
    ...small.map(({ entryPoint }) => [entryPoint, needed]),
  ]);
}

function chunksOf({ imports }) {
  return imports.filter(({ external, kind }) => !external && kind !== 'dynamic-import').map(({ path }) => path);
}

function isLoadedLater(path, outputs) {
  const all = Object.values(outputs).flatMap(({ imports }) => imports);
  return all.some((one) => one.path === path && one.kind === 'dynamic-import');
}

/** The name of a function that no file has. */
const KEEP = '__keepTogether';

/**
 * esbuild makes one chunk for each set of entries that need a file, some thirty for the root entry. Here more entries need a
 * file, so that these are few chunks: Node takes longer to load many. {@link removeKeeps} removes the calls.
 */
function joinChunks(folder, needed) {
  return {
    name: 'join-chunks',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, ({ path }) => {
        const files = needed.get(relative(folder, path));
        if (files === undefined) return undefined;
        const names = files.map((_, index) => `${KEEP}${index}`);
        const imports = files.map((file, index) => {
          const full = join(folder, file);
          return `import { ${exportOf(full)} as ${names[index]} } from ${JSON.stringify(full)};`;
        });
        const contents = [readFileSync(path, 'utf8'), ...imports, `${KEEP}(${names.join(', ')});`].join('\n');
        return { contents, resolveDir: dirname(path) };
      });
    },
  };
}

/** Returns the name of one export of a file: a file is in the chunks of those that need a part of it. */
function exportOf(file) {
  const named = /^export (?:async )?(?:function\*?|class|const) (\w+)|^export \{ (\w+)/m.exec(
    readFileSync(file, 'utf8'),
  );
  return named[1] ?? named[2];
}

function removeKeeps(text) {
  return text.replaceAll(new RegExp(`^${KEEP}\\([^)]*\\);\\n`, 'gm'), '');
}

async function bundleCommonJs(folder, manifest, entries, modules) {
  const common = {
    ...COMMON,
    absWorkingDir: folder,
    format: 'cjs',
    // `import()` fails in the contexts in which jest runs tests.
    supported: { 'dynamic-import': false },
    plugins: [leaveOut(manifest)],
  };
  const inputs = [];
  for (const { name, compiled } of entries.filter(({ isAlone }) => isAlone)) {
    const alone = await bundle({ ...common, entryPoints: [compiled], outfile: join(OUTPUT, `${name}.cjs`) });
    inputs.push(...Object.keys(alone.inputs));
  }
  const together = entries.filter(({ isAlone }) => !isAlone);
  const contents = together
    .map(({ name, compiled }) => `export * as ${JSON.stringify(name)} from '${compiled}';`)
    .join('\n');
  const { inputs: ofAll } = await bundle({
    ...common,
    stdin: { contents, resolveDir: folder, sourcefile: 'all.js' },
    outfile: join(OUTPUT, ALL),
  });
  for (const { name } of together) {
    const { exports } = modules.outputs[`${OUTPUT}/${name}.js`];
    writeReExports(join(folder, OUTPUT), name, exports);
  }
  return [...inputs, ...Object.keys(ofAll)];
}

async function bundle(options) {
  const { outputFiles, metafile } = await build(options);
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, removeKeeps(removeDocs(restoreClassNames(text))));
  }
  return metafile;
}

/** esbuild writes `var Flags = class _Flags` if the class refers to itself. Errors and objects would be shown by that name. */
function restoreClassNames(text) {
  const names = [...text.matchAll(/^\s*(?:var )?(\w+) = class _\1\b/gm)].map(([, name]) => name);
  return names.reduce((result, name) => result.replaceAll(new RegExp(`\\b_${name}\\b`, 'g'), name), text);
}

/**
 * esbuild keeps the comments of members. The declarations have those of what is public. Hints for bundlers stay: they do not
 * begin as documentation does.
 */
function removeDocs(text) {
  const docs = new Map();
  const visited = new Set();
  const collect = (node) => {
    if (!visited.has(node.pos)) {
      visited.add(node.pos);
      for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
        if (text.startsWith('/**', pos)) docs.set(pos, end);
      }
    }
    ts.forEachChild(node, collect);
  };
  collect(ts.createSourceFile('bundle.js', text, ts.ScriptTarget.Latest));
  const ordered = [...docs].sort(([one], [other]) => one - other);
  const starts = ordered.map(([pos]) => pos);
  const parts = [0, ...ordered.map(([, end]) => end)].map((from, index) => text.slice(from, starts[index]));
  const last = parts.pop();
  return parts.map((part) => part.trimEnd()).join('') + last;
}

/** Names each export, because programs that read the names of a CommonJS file do not run it. */
function writeReExports(output, name, exports) {
  const file = join(output, `${name}.cjs`);
  const all = `./${relative(dirname(file), join(output, ALL))}`;
  const lines = [
    "'use strict';",
    "Object.defineProperty(exports, '__esModule', { value: true });",
    ...(exports.length > 0 ? [`const all = require('${all}')[${JSON.stringify(name)}];`] : []),
    ...exports.map((one) => `exports.${one} = all.${one};`),
  ];
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${lines.join('\n')}\n`);
}

/**
 * Leaves the packages out that are installed beside this one, but for contained ones. The code of other packages becomes a
 * part of the bundle.
 */
function leaveOut({ name, dependencies, peerDependencies, optionalDependencies }, contained = []) {
  const installed = new Set([name, ...Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })]);
  for (const one of contained) installed.delete(one);
  return {
    name: 'leave-out',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        if (kind === 'entry-point') return undefined;
        // Validators that were written at build time use a few functions of ajv.
        if (path.startsWith('ajv/dist/runtime/')) return undefined;
        const [nameOrScope, second] = path.split('/');
        const imported = path.startsWith('@') ? `${nameOrScope}/${second}` : nameOrScope;
        return installed.has(imported) ? { path, external: true } : undefined;
      });
    },
  };
}

/**
 * Gives the CommonJS files of a package the `require` of their module. In ES modules, esbuild replaces it by one that
 * throws. Bundlers that make CommonJS of the module leave its address undefined. webpack removes calls of an imported
 * `createRequire`, but not of a method.
 */
function giveRequire(folder) {
  return {
    name: 'give-require',
    setup({ onLoad }) {
      onLoad({ filter: /\.cjs$/ }, ({ path }) => {
        if (!path.startsWith(join(folder, 'dist/'))) return undefined;
        const contents = `
          import nodeModule from 'node:module';
          const module = { exports: {} };
          (function (require, module, exports) {
            ${readFileSync(path, 'utf8')}
          })(nodeModule.createRequire(import.meta.url ?? __filename), module, module.exports);
          export default module.exports;`;
        return { contents, loader: 'js', resolveDir: dirname(path) };
      });
    },
  };
}
