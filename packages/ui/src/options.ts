/** Text shown on every page, such as the name of the deployment. */
export interface Banner {
  readonly text: string;
  /** Default: `info`. */
  readonly tone?: 'info' | 'warning' | 'danger';
}

/** Options of `createFlagsUi`. */
export interface FlagsUiOptions {
  /**
   * The address of the router: relative to `/ui/`, or absolute on the same origin. Default: `'../'`, the path where the
   * page itself is mounted.
   */
  readonly api?: string | undefined;
  /** The name in the browser tab and in the header. Default: `'Flags'`. */
  readonly title?: string | undefined;
  /** `{ text, tone }` on every page. `tone` is `info`, `warning` or `danger`. Default: none. */
  readonly banner?: Banner;
  /** The address of a link back to your application. Default: none. */
  readonly home?: string | undefined;
  /**
   * Where users sign in. Gets `?return=` with the path and query of the page; on another origin without the context of
   * "view as". Default: none.
   */
  readonly signIn?: string | undefined;
  /**
   * Environments in which every change that clients notice passes through the review. Default: `production`, or else
   * the last one.
   */
  readonly reviewIn?: readonly string[];
  /** Whether the page sends its own `Content-Security-Policy`. Default: true. Set false if your host sends one. */
  readonly csp?: boolean;
  /**
   * Whether pages of other origins may show this page in a frame. They could trick users into clicks. False also sends
   * `X-Frame-Options: DENY`, whatever `csp` is. Default: false.
   */
  readonly allowFraming?: boolean;
  /** The mount path, such as `/internal/flags`. Set it when the framework keeps this path in the URL. Default: `''`. */
  readonly basePath?: string | undefined;
}

const TONES: readonly unknown[] = ['info', 'warning', 'danger'];

/**
 * Validates the options.
 *
 * @throws TypeError when an option is unknown or has a wrong type
 */
export function assertOptions(options: FlagsUiOptions): void {
  const checks: Readonly<Record<keyof FlagsUiOptions, (value: unknown) => string | undefined>> = {
    api: expectText,
    title: expectText,
    banner: expectBanner,
    home: expectLink,
    signIn: expectLink,
    reviewIn: (value) =>
      Array.isArray(value) && value.every((name) => typeof name === 'string')
        ? undefined
        : 'must be a list of environment names',
    csp: expectBoolean,
    allowFraming: expectBoolean,
    basePath: (value) => (value === '' ? undefined : expectText(value)),
  };
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name as keyof FlagsUiOptions] : undefined;
    if (check === undefined) throw new TypeError(`createFlagsUi: there is no option ${name}.`);
    const fault = value === undefined ? undefined : check(value);
    if (fault !== undefined) throw new TypeError(`createFlagsUi: the option ${name} ${fault}.`);
  }
}

function expectBoolean(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : 'must be true or false';
}

function expectText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? undefined : 'must be a non-empty string';
}

/** A link may not carry a script. */
function expectLink(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'must be an address';
  const { protocol } = new URL(value, 'http://host.invalid');
  return protocol === 'http:' || protocol === 'https:' ? undefined : 'must be an http or https address';
}

function expectBanner(value: unknown): string | undefined {
  const { text, tone = 'info' } = (value ?? {}) as { text?: unknown; tone?: unknown };
  return typeof text === 'string' && TONES.includes(tone)
    ? undefined
    : 'must be { text, tone? } with tone info, warning or danger';
}
