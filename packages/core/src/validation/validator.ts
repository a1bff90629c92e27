import type { ValidateFunction } from 'ajv';
import { type ErrorDetail, FlagsError } from '../errors.js';
import { LIMITS } from './limits.js';
import type { JsonSchema } from './primitives.js';
import { compileSchema, listIssues, toSchemaNode } from './schema-issues.js';

/**
 * Creates a validator. The validator returns its input, typed, or throws `invalid_input` with one detail per issue,
 * each with a JSON Pointer. It converts nothing and adds no defaults. Unknown members pass unless the schema forbids
 * them.
 *
 * Validation stops at 100 issues. It does not look into a list or object that is too large.
 *
 * @param schema compiled at the first use
 * @param findIssues rules that a schema cannot state; called only with input that the schema accepts. Use a generator if
 * there may be many issues: the validator reads at most 100.
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
    decide ??= compileSchema<T>(schema);
    if (!decide(input)) {
      node ??= toSchemaNode(schema);
      const issues = listIssues(node, input);
      // Ajv also validates inherited members, which the list of issues does not cover.
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

/**
 * Returns a rule: a list has no text twice. The keyword `uniqueItems` would compare every two items of a list of any
 * length.
 */
export function uniqueTexts<T>(member: keyof T & string): (input: T) => readonly ErrorDetail[] {
  const message = `must be unique among the ${member}`;
  return (input) => {
    const texts = (input[member] ?? []) as readonly string[];
    return texts.flatMap((text, index) =>
      texts.indexOf(text) < index ? [{ message, path: `/${member}/${index}` }] : [],
    );
  };
}

/** Creates the `invalid_input` error for these issues. The message names the first one. */
export function invalidInput(issues: readonly ErrorDetail[]): FlagsError {
  const [first] = issues;
  const place = first?.path ? `${first.path} ` : '';
  const message = `The input is not valid: ${place}${first?.message ?? 'it has the wrong shape'}${othersOf(issues)}.`;
  return new FlagsError('invalid_input', message, issues);
}

/** At the limit, the total number of issues is unknown. */
function othersOf({ length }: readonly ErrorDetail[]): string {
  if (length < 2) return '';
  return length < LIMITS.issues ? ` (and ${length - 1} more)` : ` (and at least ${LIMITS.issues - 1} more)`;
}

/**
 * Copies the members of an input that are known and present. Inputs are not copied whole, because a request may have a
 * hundred thousand unknown members.
 */
export function pickMembers<T extends object>(input: T, members: readonly string[]): T {
  const given = input as Readonly<Record<string, unknown>>;
  const present = members.filter((member) => given[member] !== undefined);
  return Object.fromEntries(present.map((member) => [member, given[member]])) as T;
}
