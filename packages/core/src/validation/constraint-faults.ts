import type { Constraint } from '../api/strategies.js';
import type { ErrorDetail } from '../errors.js';
import { constraintCost } from '../evaluation/constraints/cost.js';
import { isAddressOrNetwork } from './ip-network.js';
import { parseIsoDate } from './iso-date.js';
import { parseNumber } from './numeric.js';
import { isPattern } from './pattern.js';
import { isSemver } from './semver.js';

/**
 * What the schema of constraints cannot say: operands fit their operators. A generator, as hundreds of thousands of values may
 * all be wrong.
 */
export function* findConstraintFaults(constraints: readonly Constraint[]): Generator<ErrorDetail> {
  for (const [i, constraint] of constraints.entries()) yield* findFaults(constraint, `/constraints/${i}`);
}

function findFaults({ operator, value, values }: Constraint, path: string): Iterable<ErrorDetail> {
  const operand = OPERANDS.get(operator.split('_', 1)[0] ?? '');
  if (operand) return findValueFaults(value, { operator, path: `${path}/value`, ...operand });
  if (values === undefined) return [{ message: `is required for ${operator}`, path: `${path}/values` }];
  return operator === 'IN_CIDR'
    ? findNetworkFaults(values, `${path}/values`)
    : findEmptyValues(values, `${path}/values`);
}

interface Operand {
  readonly holds: (value: string) => boolean;
  readonly description: string;
}

/** What the single-valued operators compare with, by the operator's family; the others take `values`. */
const OPERANDS: ReadonlyMap<string, Operand> = new Map([
  ['NUM', { holds: (value: string) => parseNumber(value) !== undefined, description: 'a finite number' }],
  ['DATE', { holds: (value: string) => parseIsoDate(value) !== undefined, description: 'an ISO 8601 date' }],
  ['SEMVER', { holds: isSemver, description: 'a version by Semantic Versioning 2.0' }],
  ['REGEX', { holds: isPattern, description: 'a regular expression in the syntax of RE2, not too large' }],
]);

function findValueFaults(
  value: string | undefined,
  { operator, path, holds, description }: Operand & { readonly operator: string; readonly path: string },
): readonly ErrorDetail[] {
  if (value === undefined) return [{ message: `is required for ${operator}`, path }];
  return holds(value) ? [] : [{ message: `must be ${description}`, path }];
}

function* findNetworkFaults(values: readonly string[], path: string): Generator<ErrorDetail> {
  const message = 'must be an IP address, or a network such as 10.0.0.0/8 or 2001:db8::/32';
  for (const [i, value] of values.entries()) if (!isAddressOrNetwork(value)) yield { message, path: `${path}/${i}` };
}

/** SDKs disagree about empty values: an empty text is part of every text for some, and left out by others. */
function* findEmptyValues(values: readonly string[], path: string): Generator<ErrorDetail> {
  if (values.length === 0) yield { message: 'must have at least one value', path };
  for (const [i, value] of values.entries())
    if (value === '') yield { message: 'must not be empty', path: `${path}/${i}` };
}

/**
 * Whether these constraints together cost more than so much, with the place of the first that does not fit. Asked about
 * constraints that have no other fault.
 */
export function findCostFaults(constraints: readonly Constraint[], most: number): readonly ErrorDetail[] {
  let cost = 0;
  const index = constraints.findIndex((constraint) => {
    cost += constraintCost(constraint);
    return cost > most;
  });
  if (index < 0) return [];
  const message =
    'makes the constraints take too long together; use fewer or simpler regular expressions, and shorter lists';
  return [{ message, path: `/constraints/${index}` }];
}

/** These issues, or the others if there are none of these. */
export function* orElse(issues: Iterable<ErrorDetail>, others: () => Iterable<ErrorDetail>): Generator<ErrorDetail> {
  let isEmpty = true;
  for (const issue of issues) {
    isEmpty = false;
    yield issue;
  }
  if (isEmpty) yield* others();
}
