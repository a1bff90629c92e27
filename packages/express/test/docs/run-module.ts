import { transformSync } from '@swc/core';

type Scope = Readonly<Record<string, unknown>>;
type FunctionConstructor = new (...source: readonly string[]) => (...values: readonly unknown[]) => unknown;

const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as FunctionConstructor;

/**
 * Runs a documented program on the sources of the packages.
 *
 * @param result an expression over the program's names, evaluated at its end
 */
export async function runProgram(
  source: string,
  { result, scope }: { result: string; scope: Scope },
): Promise<unknown> {
  return run(AsyncFunction, `${compiled(source)}\nreturn ${result};`, scope);
}

/** Loads a documented module that waits for nothing. */
export function loadModule(source: string): void {
  run(Function as FunctionConstructor, compiled(source), {});
}

function run(Constructor: FunctionConstructor, code: string, scope: Scope): unknown {
  const given = { require, exports: {}, ...scope };
  return new Constructor(...Object.keys(given), code)(...Object.values(given));
}

function compiled(source: string): string {
  return transformSync(source, {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  }).code;
}
