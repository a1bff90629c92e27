import { join } from 'node:path';
import ts from 'typescript';

const PACKAGES = join(__dirname, '../packages');

const LANGUAGE = ts.ScriptTarget.ES2023;

const OPTIONS: ts.CompilerOptions = {
  target: LANGUAGE,
  lib: ['lib.es2023.d.ts'],
  types: ['node'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  // The sources, so that no build is needed.
  paths: {
    '@flags/core/*': [join(PACKAGES, 'core/src/*.ts')],
    '@flags/express/*': [join(PACKAGES, 'express/src/*.ts')],
    '@flags/*': [join(PACKAGES, '*/src/index.ts')],
  },
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
};

/** What the compiler says of programs. */
interface Checked {
  /** As `name: message`. */
  readonly errors: readonly string[];
  /** The number of types that it instantiates. */
  readonly instantiations: number;
}

/**
 * Checks the types of programs, by their names, by the strict rules of TypeScript. Checks only the programs themselves.
 *
 * @param directory where they lie: their packages are found from there
 */
export function checkTypes(directory: string, programs: Readonly<Record<string, string>>): Checked {
  const names = Object.keys(programs);
  const paths = new Map(names.map((name, index) => [join(directory, `checked-program-${index}.ts`), name]));
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile, fileExists } = host;
  const textOf = (path: string) => programs[paths.get(path) ?? ''];
  host.getSourceFile = (path, ...others) => {
    const text = textOf(path);
    if (text === undefined) return getSourceFile.call(host, path, ...others);
    return ts.createSourceFile(path, text, { languageVersion: LANGUAGE, impliedNodeFormat: ts.ModuleKind.ESNext });
  };
  host.fileExists = (path) => paths.has(path) || fileExists.call(host, path);
  const program = ts.createProgram([...paths.keys()], OPTIONS, host);
  const errors = [...paths].flatMap(([path, name]) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(path))
      .map(({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`),
  );
  return { errors, instantiations: program.getInstantiationCount() };
}
