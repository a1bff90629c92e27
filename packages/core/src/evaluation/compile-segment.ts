import type { SegmentDefinition } from '../api/definitions.js';
import { type CompiledConstraint, compileConstraint } from './constraints/compile-constraint.js';
import type { Now } from './constraints/date.js';
import { allOf, never, type Predicate } from './context.js';
import { type ProblemReporter, reasonOf } from './problem.js';
import { listOf } from './shape.js';

export interface CompiledSegment {
  readonly id: number;
  readonly constraints: readonly CompiledConstraint[];
  readonly holds: Predicate;
}

/** A segment that cannot be read never holds. */
export function compileSegment(definition: SegmentDefinition, now: Now, problems: ProblemReporter): CompiledSegment {
  const { id: segment } = definition;
  try {
    const constraints = listOf(definition.constraints, 'constraints of a segment').map((constraint) =>
      compileConstraint(constraint, { now, problem: (code, message) => problems.report({ code, segment, message }) }),
    );
    return { id: segment, constraints, holds: allOf(constraints.map(({ holds }) => holds)) };
  } catch (error) {
    const message = `The segment ${segment} cannot be read and never holds: ${reasonOf(error)}.`;
    problems.report({ code: 'broken_segment', segment, message });
    return { id: segment, constraints: [], holds: never };
  }
}
