// Rolls the declarations of each package up into one file, so that each type exists once, and writes a short file per entry.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import ts from 'typescript';
import { declarationsOf, OUTPUT } from './entries.mjs';

/** The roll-up of the entries that are not alone. */
const ALL = 'all';
const FORMATS = { '.d.ts': '.js', '.d.cts': '.cjs' };

/**
 * Writes the declarations of packages. Each roll-up is written once, for CommonJS: ES modules can import it, but not the
 * other way round. Both formats so have the same types, also where a program loads both.
 */
export function writeDeclarations(packages) {
  const all = packages.flatMap(({ folder, entries }) => entries.map((entry) => ({ folder, entry })));
  const names = namesOf(all.map(({ folder, entry }) => join(folder, declarationsOf(entry.compiled))));
  const exportsOf = new Map(all.map(({ entry }, index) => [entry, names[index]]));
  const rollUps = packages.flatMap(({ folder, entries }) => rollUpsOf(folder, entries, exportsOf));
  // A program reads the types of Node and of all packages once, for all of its roll-ups.
  for (const types of [[], ['node']]) {
    rollUp(
      rollUps.filter(({ isAlone }) => isAlone === (types.length === 0)),
      types,
    );
  }
  for (const { folder, entries } of packages) writeEntries(folder, entries, exportsOf);
}

/** Returns what is rolled up: `lines` are the text of one file that exports all names. */
function rollUpsOf(folder, entries, exportsOf) {
  const alone = entries.filter(({ isAlone }) => isAlone);
  const together = entries.filter(({ isAlone }) => !isAlone);
  return [
    ...alone.map((entry) => ({ name: entry.name, isAlone: true, namesByEntry: [[entry, exportsOf.get(entry)]] })),
    { name: ALL, isAlone: false, namesByEntry: firstOfEach(together, exportsOf) },
  ].map(({ name, isAlone, namesByEntry }) => {
    const source = join(folder, OUTPUT, `${name}.source.d.ts`);
    const lines = namesByEntry
      .filter(([, names]) => names.length > 0)
      .map(
        ([{ compiled }, names]) => `export { ${names.join(', ')} } from '${pathFrom(source, join(folder, compiled))}';`,
      );
    return { folder, isAlone, source, lines, result: join(folder, OUTPUT, `${name}.d.cts`) };
  });
}

/** Writes a short file per entry and format. */
function writeEntries(folder, entries, exportsOf) {
  const output = join(folder, OUTPUT);
  for (const entry of entries.filter(({ isAlone }) => isAlone)) {
    const file = join(output, entry.name);
    write(`${file}.d.ts`, reExport(exportsOf.get(entry), pathFrom(file, `${file}.cjs`)));
  }
  for (const entry of entries.filter(({ isAlone }) => !isAlone)) {
    const text = declarationsOfEntry(folder, output, entry, exportsOf.get(entry));
    const loading = loadingOf(folder, entry, entries);
    for (const [extension, moduleExtension] of Object.entries(FORMATS)) {
      const file = join(output, entry.name + extension);
      const paths = loading.map(({ name }) => pathFrom(file, join(output, name + moduleExtension)));
      write(file, paths.map((path) => `import type {} from '${path}';\n`).join('') + text);
    }
  }
}

/** Returns the names that each file exports. */
function namesOf(files) {
  const program = ts.createProgram(files, { module: ts.ModuleKind.NodeNext, skipLibCheck: true, types: ['node'] });
  const checker = program.getTypeChecker();
  return files.map((file) => {
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(file));
    return symbol ? checker.getExportsOfModule(symbol).map(({ name }) => name) : [];
  });
}

/** Returns each name with the first entry that exports it. */
function firstOfEach(entries, exportsOf) {
  const seen = new Set();
  return entries.map((entry) => {
    const names = exportsOf.get(entry).filter((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    return [entry, names];
  });
}

/** API Extractor reads one file per roll-up: it exports every name of the entries. */
function rollUp(rollUps, types) {
  if (rollUps.length === 0) return;
  try {
    for (const { source, lines } of rollUps) write(source, lines.length > 0 ? `${lines.join('\n')}\n` : 'export {};\n');
    const configs = rollUps.map((one) => configurationOf(one, types));
    const additionalEntryPoints = rollUps.slice(1).map(({ source }) => source);
    const compilerState = CompilerState.create(configs[0], { additionalEntryPoints });
    for (const [index, { folder, result }] of rollUps.entries()) {
      const { succeeded } = Extractor.invoke(configs[index], {
        compilerState,
        messageCallback: (message) => {
          message.handled = message.logLevel !== 'error';
        },
      });
      if (!succeeded) throw new Error(`The declarations of ${folder} could not be rolled up.`);
      write(result, restoreTypeof(readFileSync(result, 'utf8')));
    }
  } finally {
    for (const { source } of rollUps) rmSync(source, { force: true });
  }
}

function configurationOf({ folder, source, result }, types) {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: source,
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: { module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, types },
          files: [source],
        },
      },
      apiReport: { enabled: false },
      docModel: { enabled: false },
      dtsRollup: { enabled: true, untrimmedFilePath: result },
      tsdocMetadata: { enabled: false },
      // The report of the public types shows what this file would say, and TypeDoc checks the comments.
      messages: {
        extractorMessageReporting: { default: { logLevel: 'none' } },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
    configObjectFullPath: join(folder, 'api-extractor.json'),
    packageJsonFullPath: join(folder, 'package.json'),
  });
}

/** API Extractor omits `declare global`: the file that has it stays as the compiler wrote it. */
function declarationsOfEntry(folder, output, { name, compiled }, names) {
  const written = readFileSync(join(folder, declarationsOf(compiled)), 'utf8').replace(
    /^\/\/# sourceMappingURL.*\n?/m,
    '',
  );
  if (!written.includes('declare global')) {
    return reExport(names, pathFrom(join(output, name), join(output, `${ALL}.cjs`)));
  }
  if (/from '\.{1,2}\//.test(written)) throw new Error(`${compiled} declares globals, and imports unpublished files.`);
  return written;
}

function reExport(names, path) {
  return `export { ${names.join(', ')} } from '${path}';\n`;
}

/**
 * An application that writes declarations names each type by an entry that its program has loaded. The compiled
 * declarations of an entry load those entries that they import from: so must the published ones.
 */
function loadingOf(folder, entry, entries) {
  const written = readFileSync(join(folder, declarationsOf(entry.compiled)), 'utf8');
  const imported = [...written.matchAll(/ from '(\.[^']*)'/g)].map(([, path]) => join(dirname(entry.compiled), path));
  return entries.filter(({ compiled }) => compiled !== entry.compiled && imported.includes(join(compiled)));
}

function pathFrom(file, target) {
  const path = relative(dirname(file), target);
  return path.startsWith('.') ? path : `./${path}`;
}

/** API Extractor drops `typeof` before a function of another file that a type names. */
function restoreTypeof(text) {
  const functions = new Set([...text.matchAll(/^(?:export )?declare function (\w+)/gm)].map(([, name]) => name));
  return text.replaceAll(/^( +readonly \w+: )(\w+);$/gm, (line, start, name) =>
    functions.has(name) ? `${start}typeof ${name};` : line,
  );
}

/** API Extractor indents by four spaces, which a tab shows as well. */
function indentByTabs(text) {
  return text.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4));
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, indentByTabs(text));
}
