/**
 * Creates a function that reports errors which no caller could handle. Errors are process warnings without `onError`, and
 * so are the errors that `onError` throws.
 */
export function createErrorReporter(onError: (error: unknown) => void = warn): (error: unknown) => void {
  return (error) => {
    try {
      onError(error);
    } catch (failure) {
      warn(failure);
    }
  };
}

function warn(error: unknown): void {
  process.emitWarning(String(error), { type: 'FlagsWarning', detail: detailOf(error) });
}

function detailOf(error: unknown): string {
  const { stack } = Object(error) as { readonly stack?: unknown };
  return typeof stack === 'string' ? stack : '';
}
