// Rolls the declarations of a package up into one file, so that each type exists once, and writes a short file per entry.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import ts from 'typescript';
import { declarationsOf, OUTPUT } from './entries.mjs';

/** The roll-up of the entries that are not alone. */
const ALL = 'all';
const FORMATS = { '.d.ts': '.js', '.d.cts': '.cjs' };

/**
 * Each roll-up is written once, for CommonJS: ES modules can import it, but not the other way round. Both formats so have
 * the same types, also where a program loads both.
 */
export function writeDeclarations(folder, entries) {
  const output = join(folder, OUTPUT);
  const names = namesOf(entries.map(({ compiled }) => join(folder, declarationsOf(compiled))));
  const exportsOf = new Map(entries.map((entry, index) => [entry, names[index]]));
  for (const entry of entries.filter(({ isAlone }) => isAlone)) {
    const file = join(output, entry.name);
    write(`${file}.d.cts`, rollUp(folder, entry.name, [[entry, exportsOf.get(entry)]], []));
    write(`${file}.d.ts`, reExport(exportsOf.get(entry), pathFrom(file, `${file}.cjs`)));
  }
  const together = entries.filter(({ isAlone }) => !isAlone);
  write(join(output, `${ALL}.d.cts`), rollUp(folder, ALL, firstOfEach(together, exportsOf), ['node']));
  for (const entry of together) {
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

/** API Extractor reads one file: it exports every name of the entries. */
function rollUp(folder, name, namesByEntry, types) {
  const source = join(folder, OUTPUT, `${name}.source.d.ts`);
  const result = join(folder, OUTPUT, `${name}.rolled-up.d.ts`);
  const lines = namesByEntry
    .filter(([, names]) => names.length > 0)
    .map(
      ([{ compiled }, names]) => `export { ${names.join(', ')} } from '${pathFrom(source, join(folder, compiled))}';`,
    );
  write(source, lines.length > 0 ? `${lines.join('\n')}\n` : 'export {};\n');
  try {
    const config = ExtractorConfig.prepare({
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
    const { succeeded } = Extractor.invoke(config, {
      messageCallback: (message) => {
        message.handled = message.logLevel !== 'error';
      },
    });
    if (!succeeded) throw new Error(`The declarations of ${folder} could not be rolled up.`);
    return restoreTypeof(readFileSync(result, 'utf8'));
  } finally {
    rmSync(source, { force: true });
    rmSync(result, { force: true });
  }
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
