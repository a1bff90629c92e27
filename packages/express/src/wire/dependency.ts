import type { Dependency, DependencyInput, JsonSchema } from '@flags/core';
import { propertiesOf, propertyOf } from '../schema-properties.js';

/** A dependency as a client sends it: the parent's name is called `feature`. */
export interface WireDependency extends Omit<DependencyInput, 'flag'> {
  readonly feature: string;
}

/** The engine's rules under the wire's names. */
export function dependencySchema(dependency: JsonSchema): JsonSchema {
  const { flag: _flag, ...rest } = propertiesOf(dependency);
  return { type: 'object', properties: { feature: propertyOf(dependency, 'flag'), ...rest }, required: ['feature'] };
}

export function dependencyFromWire({ feature, ...rest }: WireDependency): DependencyInput {
  return { ...rest, flag: feature };
}

export function dependencyToWire({ flag, enabled, variants }: Dependency) {
  return { feature: flag, enabled, variants };
}
