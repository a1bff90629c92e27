import { createHash } from 'node:crypto';
import type { FlagsUiOptions } from './options.js';

/** The names of the built files. Each holds the hash of its content. */
export interface AssetNames {
  readonly script: string;
  readonly style: string;
}

const NO_FRAMES = "frame-ancestors 'none'";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  NO_FRAMES,
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/** Returns the headers of the page. They replace those of the host. */
export function pageHeaders({ csp = true, allowFraming = false }: FlagsUiOptions): Readonly<Record<string, string>> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    // Not only in the policy: a host that sends its own policy may not forbid frames.
    ...(!allowFraming && { 'x-frame-options': 'DENY' }),
    ...(csp && { 'content-security-policy': policyOf(allowFraming) }),
  };
}

function policyOf(allowFraming: boolean): string {
  return POLICY.filter((directive) => !allowFraming || directive !== NO_FRAMES).join('; ');
}

/**
 * Returns the way from an address of the page back to `/ui/`.
 *
 * @param rest The path after `/ui`: empty, or with a slash first.
 * @returns `''` or `'../'` repeated. From `/ui` without a slash, browsers resolve against its parent: `'ui/'`.
 */
export function relativeRoot(rest: string): string {
  if (rest === '') return 'ui/';
  return '../'.repeat(rest.split('/').length - 2);
}

/** Returns the HTML of the page. The settings are a data block, which every policy allows. */
export function pageHtml(options: FlagsUiOptions, { script, style }: AssetNames, root: string): string {
  const { api = '../', title = 'Flags', banner, home, signIn, reviewIn } = options;
  const settings = { api, title, banner, home, signIn, reviewIn };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:image/svg+xml,${ICON}">
<link rel="stylesheet" href="${root}assets/${style}">
<script type="module" src="${root}assets/${script}"></script>
<script type="application/json" id="settings">${escapeJson(settings)}</script>
</head>
<body>
<div id="app"><noscript>This page needs JavaScript.</noscript></div>
</body>
</html>
`;
}

/** Returns a strong entity tag. */
export function tagOf(content: string): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

const ICON = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#4f46e5"/>' +
    '<path d="M5 3.5v9M5.6 4.2h5.6l-1.6 2.2 1.6 2.2H5.6" fill="none" stroke="#fff" stroke-width="1.5" ' +
    'stroke-linecap="round" stroke-linejoin="round"/></svg>',
);

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** A data block ends at its closing tag only. */
function escapeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
