/**
 * A copy of the caller's object, as JSON keeps it: what the caller does to it later changes nothing here. Give it members
 * that were validated alone: what is ignored may be nested too deeply to be copied.
 */
export function detached<T>(input: T): T {
  return JSON.parse(JSON.stringify(input));
}
