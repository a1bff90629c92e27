import type { SegmentDefinition } from '../api/definitions.js';
import { LIMITS } from '../validation/limits.js';
import { type CompiledConstraint, compileConstraint } from './constraints/compile-constraint.js';
import { constraintsCost } from './constraints/cost.js';
import type { Now } from './constraints/date.js';
import { allOf, never, type Predicate } from './context.js';
import { type ProblemReporter, reasonOf } from './problem.js';
import { listOf } from './shape.js';

export interface CompiledSegment {
  readonly id: number;
  readonly constraints: readonly CompiledConstraint[];
  readonly holds: Predicate;
  /** Of all its constraints; the constraints of one that costs too much are not evaluated. */
  readonly cost: number;
}

/** A segment that cannot be read never holds. */
export function compileSegment(definition: SegmentDefinition, now: Now, problems: ProblemReporter): CompiledSegment {
  const { id: segment } = definition;
  try {
    const definitions = listOf(definition.constraints, 'constraints of a segment');
    const cost = constraintsCost(definitions);
    if (cost > LIMITS.flagCost) return tooCostly(segment, problems);
    const constraints = definitions.map((constraint) =>
      compileConstraint(constraint, { now, problem: (code, message) => problems.report({ code, segment, message }) }),
    );
    return { id: segment, constraints, holds: allOf(constraints.map(({ holds }) => holds)), cost };
  } catch (error) {
    const message = `The segment ${segment} cannot be read and never holds: ${reasonOf(error)}.`;
    problems.report({ code: 'broken_segment', segment, message });
    return { id: segment, constraints: [], holds: never, cost: 0 };
  }
}

function tooCostly(segment: number, problems: ProblemReporter): CompiledSegment {
  const message = `The segment ${segment} never holds: its regular expressions and lists could take too long together. Use fewer or simpler ones.`;
  problems.report({ code: 'too_costly', segment, message });
  return { id: segment, constraints: [], holds: never, cost: 0 };
}
