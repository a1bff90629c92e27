import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type ErrorDetail, FlagsError } from '../errors.js';
import { parseIsoDate } from './iso-date.js';
import type { JsonSchema } from './json-schema.js';

/** More faults than these are counted, not listed. */
const MAX_DETAILS = 100;

const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true, validateFormats: true });
ajv.addFormat('date-time', (text: string) => parseIsoDate(text) !== undefined);

/**
 * By the schema's text: engines and routers with the same settings share one compilation. Ajv keeps every compiled schema
 * object for ever, so a process that opens many engines, as tests do, must not compile a copy for each.
 */
const compiledSchemas = new Map<string, ValidateFunction>();

/**
 * Makes a validator: it gives its input back, typed, or refuses it with `invalid_input` and one detail per fault, each
 * with a JSON Pointer. Nothing is coerced and nothing is filled in; unknown members pass unless the schema forbids them.
 *
 * @param schema compiled when first used
 * @param findFaults rules that a schema cannot state; asked only about input that the schema accepts
 * @example
 * const validate = createValidator<{ name: string }>({
 *   type: 'object', properties: { name: { type: 'string' } }, required: ['name'],
 * });
 * validate({ name: 1 }); // FlagsError invalid_input: /name must be string
 */
export function createValidator<T>(
  schema: JsonSchema,
  findFaults: (input: T) => readonly ErrorDetail[] = () => [],
): (input: unknown) => T {
  let compiled: ValidateFunction<T> | undefined;
  return (input) => {
    compiled ??= compile<T>(schema);
    if (!compiled(input)) throw invalidInput(faultsOf(compiled.errors ?? []).map(toDetail));
    const faults = findFaults(input);
    if (faults.length > 0) throw invalidInput(faults);
    return input;
  };
}

function compile<T>(schema: JsonSchema): ValidateFunction<T> {
  const text = JSON.stringify(schema);
  const compiled = compiledSchemas.get(text) ?? ajv.compile(schema);
  compiledSchemas.set(text, compiled);
  return compiled as ValidateFunction<T>;
}

/** Refuses input for these faults; the message names the first of them. */
export function invalidInput(faults: readonly ErrorDetail[]): FlagsError {
  const [first] = faults;
  const place = first?.path ? `${first.path} ` : '';
  const rest = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  const message = `The input is not valid: ${place}${first?.message ?? 'it has the wrong shape'}${rest}.`;
  return new FlagsError('invalid_input', message, faults.slice(0, MAX_DETAILS));
}

/** `if` only repeats what the branch it chose has reported, and `enum` what the type has. */
function faultsOf(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const mistyped = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  return errors.filter(
    ({ keyword, instancePath }) => keyword !== 'if' && (keyword !== 'enum' || !mistyped.has(instancePath)),
  );
}

function toDetail(error: ErrorObject): ErrorDetail {
  const member = error.params.missingProperty ?? error.params.additionalProperty ?? error.params.propertyName;
  const path = member === undefined ? error.instancePath : `${error.instancePath}/${escapePointer(String(member))}`;
  return { message: messageOf(error), path };
}

function messageOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not known here';
    case 'enum':
      return `must be one of ${error.params.allowedValues.join(', ')}`;
    case 'pattern':
      return `must be ${String(error.parentSchema?.description ?? `text that matches ${error.params.pattern}`)}`;
    case 'format':
      return 'must be an ISO 8601 date and time';
    default:
      return error.message ?? 'is not valid';
  }
}

/** Escapes one member name for a JSON Pointer (RFC 6901). */
function escapePointer(member: string): string {
  return member.replaceAll('~', '~0').replaceAll('/', '~1');
}
