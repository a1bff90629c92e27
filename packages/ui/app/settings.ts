/** The options of the host. See `FlagsUiOptions` for each member. */
interface Settings {
  readonly api: string;
  readonly title: string;
  readonly banner?: { readonly text: string; readonly tone?: 'info' | 'warning' | 'danger' };
  readonly home?: string;
  readonly signIn?: string;
  readonly reviewIn?: readonly string[];
}

export const settings: Settings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}');

/** The address of `/ui/`. Derived from the URL of the script, so the mount path needs no configuration. */
export const ROOT = new URL('../', import.meta.url);

/** The base URL of the API. */
export const API = new URL(settings.api.replace(/\/?$/, '/'), ROOT);

/**
 * The address for signing in, which leads back to this page; undefined if the host has none. Another origin does not
 * get the context of "view as", which may be personal data.
 */
export function signInAddress(): string | undefined {
  if (settings.signIn === undefined) return undefined;
  const address = new URL(settings.signIn, ROOT);
  const page = new URL(location.href);
  if (address.origin !== page.origin) page.searchParams.delete('as');
  address.searchParams.set('return', `${page.pathname}${page.search}`);
  return address.href;
}
