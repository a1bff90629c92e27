import type { ValidateFunction } from 'ajv';
import { type ErrorDetail, FlagsError } from '../errors.js';
import { LIMITS } from './limits.js';
import type { JsonSchema } from './primitives.js';
import { compileDecision, listIssues, toSchemaNode } from './schema-issues.js';

/**
 * Makes a validator. It returns its input, typed, or refuses it with `invalid_input` and one detail per issue, each with a JSON
 * Pointer. Nothing is coerced and nothing is filled in; unknown members pass unless the schema forbids them.
 *
 * The search for issues stops at 100. A list or object that is too large is refused without a look at its contents.
 *
 * @param schema compiled at the first use
 * @param findIssues rules that a schema cannot state; asked only about input that the schema accepts. A generator is best where
 * there may be many issues: it is not asked for more than 100.
 * @example
 * const validate = createValidator<{ name: string }>({
 *   type: 'object', properties: { name: { type: 'string' } }, required: ['name'],
 * });
 * validate({ name: 1 }); // FlagsError invalid_input: /name must be string
 */
export function createValidator<T>(
  schema: JsonSchema,
  findIssues: (input: T) => Iterable<ErrorDetail> = () => [],
): (input: unknown) => T {
  let decide: ValidateFunction<T> | undefined;
  let node: ReturnType<typeof toSchemaNode> | undefined;
  return (input) => {
    decide ??= compileDecision<T>(schema);
    if (!decide(input)) {
      node ??= toSchemaNode(schema);
      const issues = listIssues(node, input);
      // Ajv also looks at inherited members.
      throw invalidInput(issues.length > 0 ? issues : [{ message: 'has the wrong shape', path: '' }]);
    }
    const issues = takeIssues(findIssues(input));
    if (issues.length > 0) throw invalidInput(issues);
    return input;
  };
}

function takeIssues(found: Iterable<ErrorDetail>): readonly ErrorDetail[] {
  const issues: ErrorDetail[] = [];
  for (const issue of found) {
    issues.push(issue);
    if (issues.length >= LIMITS.issues) break;
  }
  return issues;
}

/** Refuses input for these issues; the message names the first of them. */
export function invalidInput(issues: readonly ErrorDetail[]): FlagsError {
  const [first] = issues;
  const place = first?.path ? `${first.path} ` : '';
  const message = `The input is not valid: ${place}${first?.message ?? 'it has the wrong shape'}${othersOf(issues)}.`;
  return new FlagsError('invalid_input', message, issues);
}

/** Nobody has looked for issues beyond the limit. */
function othersOf({ length }: readonly ErrorDetail[]): string {
  if (length < 2) return '';
  return length < LIMITS.issues ? ` (and ${length - 1} more)` : ` (and at least ${LIMITS.issues - 1} more)`;
}
