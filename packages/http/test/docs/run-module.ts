import { transformSync } from '@swc/core';

type Scope = Readonly<Record<string, unknown>>;
type Compiler = (...source: readonly string[]) => (...values: readonly unknown[]) => unknown;

const compileAsync = Object.getPrototypeOf(async () => undefined).constructor as Compiler;
const compile = Function as unknown as Compiler;

/**
 * Runs a documented program on the sources of the packages.
 *
 * @param result an expression over the program's names, evaluated at its end
 */
export async function runProgram(
  source: string,
  { result, scope }: { result: string; scope: Scope },
): Promise<unknown> {
  return run(compileAsync, `${compiled(source)}\nreturn ${result};`, scope);
}

/** Loads a documented synchronous module. */
export function loadModule(source: string): void {
  run(compile, compiled(source), {});
}

function run(compiler: Compiler, code: string, scope: Scope): unknown {
  const given = { require, exports: {}, ...scope };
  return compiler(...Object.keys(given), code)(...Object.values(given));
}

function compiled(source: string): string {
  return transformSync(source, {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  }).code;
}
