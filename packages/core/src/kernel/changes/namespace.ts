import type { ChangeEngine } from './change-engine.js';
import { ENGINE } from './run-operation.js';

/** Operations of `Flags` that have a name of their own in it, as `flags.segments` has. */
export abstract class Namespace {
  /** @internal A private member would make the types of the ESM and CommonJS builds incompatible. */
  readonly [ENGINE]: ChangeEngine;

  /** @internal */
  constructor(engine: ChangeEngine) {
    this[ENGINE] = engine;
  }
}

/** Creates a namespace at its first use: each request has flags of its own, and uses few of their namespaces. */
export function namespaceOf<Type>(flags: Namespace, name: string, Class: new (engine: ChangeEngine) => Type): Type {
  const value = new Class(flags[ENGINE]);
  Object.defineProperty(flags, name, { value });
  return value;
}
