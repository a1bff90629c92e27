import { headerRulesOf } from '../actions.js';
import { invalidInput } from '../messages/errors.js';
import { type FlagsRequest, headerOf } from '../messages/request.js';
import { ID_HEADER, type Route } from './route.js';

/** Returns the text in a header, which is percent-encoded, because headers hold ASCII only. */
export function textIn(request: FlagsRequest, name: string): string | undefined {
  const header = headerOf(request, name.toLowerCase());
  if (!header) return undefined;
  try {
    return decodeURIComponent(header);
  } catch {
    throw invalidInput([{ message: `${name} must be percent-encoded UTF-8`, path: '' }]);
  }
}

/**
 * Returns the id in `Idempotency-Key`.
 *
 * @throws FlagsError `invalid_input` for a value that is not a UUID, and for changes that cannot be repeated
 */
export function idOf(request: FlagsRequest, route: Route): string | undefined {
  if (headerOf(request, ID_HEADER.toLowerCase()) === undefined) return undefined;
  if (!headerRulesOf(route).isRepeatable) {
    const why = route.action.endsWith('Token') ? ', because the secret of a token is shown only once' : '';
    const message = `${ID_HEADER} is not supported here${why}. Send the request without it`;
    throw invalidInput([{ message, path: '' }]);
  }
  const key = keyIn(request);
  if (key === undefined) throw invalidInput([{ message: `${ID_HEADER} must be a UUID`, path: '' }]);
  return key;
}

/** A UUID, with or without the quotes of a structured field. */
const KEY = /^(?<quote>"?)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\k<quote>$/i;

/** Returns the UUID in `Idempotency-Key` in lower case; undefined for another value. */
export function keyIn(request: FlagsRequest): string | undefined {
  return KEY.exec(headerOf(request, ID_HEADER.toLowerCase()) ?? '')?.[2]?.toLowerCase();
}
