/** Input for an operation that validates it at run time: the one place where a body gets a type without a look at it. */
export function unchecked<T>(input: unknown): T {
  return input as T;
}
