/** A copy of the caller's object, as JSON keeps it: what the caller does to it later changes nothing here. */
export function detached<T>(input: T): T {
  return JSON.parse(JSON.stringify(input));
}
