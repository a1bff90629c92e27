const HIDDEN = '[hidden]';
/** The parameters of the query that this API documents, and that hold no more than names, times and numbers. */
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
 * A URL for a log, without secrets. `DELETE /api/admin/api-tokens/:token` may name a token by its secret: what follows
 * `api-tokens/` is hidden, and so is every path segment with 40 hexadecimal digits in a row, as created secrets have.
 * Values of the query are hidden too, but for the documented filters of lists.
 *
 * @example
 * logger.info({ method: request.method, url: redactUrl(request.originalUrl) });
 */
export function redactUrl(url: string): string {
  const [path = '', ...query] = url.split('?');
  const shown = redactSecrets(path.replace(/(\/api(?:-|%2d)tokens\/).+/i, `$1${HIDDEN}`));
  return query.length === 0 ? shown : `${shown}?${query.join('?').split('&').map(redactParameter).join('&')}`;
}

function redactParameter(parameter: string): string {
  const place = parameter.indexOf('=');
  if (place === -1) return PLAIN_PARAMETERS.has(parameter) ? parameter : redactLong(parameter);
  const name = parameter.slice(0, place);
  if (PLAIN_PARAMETERS.has(name.replace(/(?:\[\]|%5b%5d)$/i, ''))) return redactSecrets(parameter);
  return `${redactLong(name)}=${HIDDEN}`;
}

/** No documented name is so long: it may be a secret in the wrong place. */
function redactLong(name: string): string {
  return name.length > 30 ? HIDDEN : name;
}

function redactSecrets(text: string): string {
  const parts = text.split(/([/&=?])/);
  return parts.map((part) => (/[0-9a-f]{40}/i.test(part) ? HIDDEN : part)).join('');
}
