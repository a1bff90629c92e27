const HIDDEN = '[hidden]';
/** The documented query parameters that hold only names, times and numbers. */
const PLAIN_PARAMETERS: ReadonlySet<string> = new Set([
  'after',
  'archived',
  'environment',
  'from',
  'limit',
  'namePrefix',
  'offset',
  'project',
  'strategyName',
  'to',
  'type',
]);

/**
 * Returns a URL without secrets, for logs.
 *
 * `DELETE /api/admin/api-tokens/:token` may name a token by its secret. Therefore the function hides everything after
 * `api-tokens/`, and every path segment with 40 consecutive hexadecimal digits. It also hides query values, except the
 * documented list filters.
 *
 * @param url A URL or a request target.
 * @returns The URL with `[hidden]` in place of secrets.
 * @example
 * logger.info({ method: request.method, url: redactUrl(request.originalUrl) });
 */
export function redactUrl(url: string): string {
  const [path = '', ...query] = url.split('?');
  const redactedPath = redactSecrets(path.replace(/(\/api(?:-|%2d)tokens\/).+/i, `$1${HIDDEN}`));
  return query.length === 0
    ? redactedPath
    : `${redactedPath}?${query.join('?').split('&').map(redactParameter).join('&')}`;
}

function redactParameter(parameter: string): string {
  const equalsIndex = parameter.indexOf('=');
  if (equalsIndex === -1) return PLAIN_PARAMETERS.has(parameter) ? parameter : redactLong(parameter);
  const name = parameter.slice(0, equalsIndex);
  if (PLAIN_PARAMETERS.has(name.replace(/(?:\[\]|%5b%5d)$/i, ''))) return redactSecrets(parameter);
  return `${redactLong(name)}=${HIDDEN}`;
}

/** No documented parameter name is this long. A long name may be a misplaced secret. */
function redactLong(name: string): string {
  return name.length > 30 ? HIDDEN : name;
}

function redactSecrets(text: string): string {
  const parts = text.split(/([/&=?])/);
  return parts.map((part) => (/[0-9a-f]{40}/i.test(part) ? HIDDEN : part)).join('');
}
