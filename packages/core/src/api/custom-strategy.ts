import type { EvaluationContext } from './evaluation-context.js';
import type { Parameters } from './strategies.js';

/**
 * A strategy of the host's own. It takes the place of a built-in one of the same name. One that throws does not hold, and
 * is reported.
 *
 * @example
 * const weekend: CustomStrategy = {
 *   name: 'weekend',
 *   isEnabled: (parameters) => [0, 6].includes(new Date().getDay()) === (parameters.only !== false),
 * };
 */
export interface CustomStrategy {
  readonly name: string;
  /** Only `true` holds. Called for every evaluation that comes to it: it must be quick, and cannot wait. */
  isEnabled(parameters: Parameters, context: EvaluationContext): boolean;
}
