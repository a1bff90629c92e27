import type { Constraint, Strategy } from '@flags/core';

/** Members that were not given are undefined, and so not in the JSON. */
export function strategyToWire(strategy: Strategy) {
  const { id, name, constraints, parameters, title, disabled, sortOrder, segments, variants } = strategy;
  return {
    id,
    name,
    constraints: constraints.map(constraintToWire),
    parameters,
    title,
    disabled,
    sortOrder,
    segments,
    variants,
  };
}

/** Clients expect a list in every constraint, also where the operand is a single value. */
export function constraintToWire(constraint: Constraint) {
  return { ...constraint, values: constraint.values ?? [] };
}
