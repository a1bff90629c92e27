// The error codes, from their docstrings and their statuses.
import { code, phrase, table } from './markdown.mjs';
import { load, memberDocstrings } from './source.mjs';

const ENGINE = 'packages/core/src/base/errors.ts';
const ROUTER = 'packages/http/src/messages/errors.ts';

export async function errorCodes() {
  const { ERROR_CODES } = await load(ENGINE);
  const { ERROR_KINDS } = await load(ROUTER);
  const ofTheRouter = Object.keys(ERROR_KINDS).filter((name) => !ERROR_CODES.includes(name));
  const tableOf = (names, docstrings) =>
    table(
      ['Code', 'Status', 'Meaning'],
      names.map((name) => {
        if (!docstrings.get(name)) throw new Error(`The error code ${name} has no docstring.`);
        return [code(name), `${ERROR_KINDS[name].status}`, phrase(docstrings.get(name))];
      }),
    );
  return `# Error codes

Every code of a refused call, with its HTTP status. A refused operation throws a ${code('FlagsError')}. Nothing has changed, unless the code is
${code('outcome_unknown')}. ${code('details')} has one entry per issue, with a JSON Pointer to its place in the input. Over HTTP, the body is
${code('{ name, code, message, details }')}. The list of codes is closed: rely on codes, not on messages.

## Codes of the engine

${tableOf(ERROR_CODES, memberDocstrings(ENGINE, 'CODES'))}
## Codes of the HTTP API

${tableOf(ofTheRouter, memberDocstrings(ROUTER, 'ERROR_KINDS'))}`;
}
